import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { PlatformError, toApiError } from '../../src/core/errors.ts';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';
import { failedPlacement } from '../../src/platforms/failed-placement.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { PlatformClocks } from '../../src/platforms/http/clocks.ts';
import type { PlatformRequest } from '../../src/platforms/http/request.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import { silent } from '../helpers/silent-log.ts';

const NOW = Date.parse('2026-11-25T12:00:00.400Z');
/** A reply of a platform whose clock is `behindMs` behind ours, that took `tookMs`. */
function replied(clocks: PlatformClocks, behindMs: number, tookMs = 80, headers: Record<string, string> = {}): void {
  const answeredMs = NOW - tookMs / 2;
  const date = new Date(answeredMs - behindMs).toUTCString();
  clocks.note('kalshi', { status: 200, text: '', headers: { date, ...headers } }, NOW - tookMs, NOW);
}

describe("this server's clock against the Date header", () => {
  test.each([61_000, -61_000, 5000, -3200, 3_600_000])('a platform %d ms behind is noticed within a second', (ms) => {
    const clocks = new PlatformClocks();
    for (let n = 0; n < 5; n++) replied(clocks, ms);
    expect(Math.abs(clocks.skewMs('kalshi') - ms)).toBeLessThan(1000);
    expect(clocks.skewMs('polymarket')).toBe(0);
  });

  test('one odd header changes nothing, wherever it stands', () => {
    for (const at of [0, 3, 6]) {
      const clocks = new PlatformClocks();
      for (let n = 0; n < 7; n++) replied(clocks, n === at ? 86_400_000 : 0);
      expect(clocks.skewMs('kalshi')).toBe(0);
      for (let n = 0; n < 9; n++) replied(clocks, n === at ? 0 : 61_000);
      expect(Math.abs(clocks.skewMs('kalshi') - 61_000)).toBeLessThan(1000);
    }
  });

  test('an answer that was long on its way proves nothing smaller than its way', () => {
    const clocks = new PlatformClocks();
    for (let n = 0; n < 5; n++) replied(clocks, 4000, 9000);
    expect(clocks.skewMs('kalshi')).toBe(0);
    for (let n = 0; n < 9; n++) replied(clocks, 61_000, 9000);
    expect(Math.abs(clocks.skewMs('kalshi') - 61_000)).toBeLessThan(1000);
  });

  test('a cached reply, a missing header and one that is no date are ignored', () => {
    const clocks = new PlatformClocks();
    replied(clocks, 0);
    for (let n = 0; n < 5; n++) replied(clocks, 61_000, 80, { age: '61' });
    for (let n = 0; n < 5; n++) replied(clocks, 61_000, 80, { date: 'yesterday' });
    clocks.note('kalshi', { status: 200, text: '', headers: {} }, NOW - 80, NOW);
    expect(clocks.skewMs('kalshi')).toBe(0);
  });
});

let closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  closers = [];
});

/** A host that answers 401 with a clock of its own. */
async function refuses(aheadMs: number) {
  const body = '{"error":{"code":"unauthorized","message":"bad signature"}}';
  const server = createServer((request, response) => {
    request.resume();
    response.sendDate = false;
    response.writeHead(401, { date: new Date(Date.now() + aheadMs).toUTCString() }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  const shared = await openShared({ REDIS_URL: undefined }, silent, { clock: systemClock });
  const http = createPlatformHttp({
    shared: { ...shared, takeBudget: async () => 0 },
    log: silent,
    clock: systemClock,
  });
  closers.push(() => http.close());
  const { port } = server.address() as AddressInfo;
  const groups = { kalshi: 'kalshi:write', polymarket: 'polymarket:clob/order', limitless: 'limitless:all' } as const;
  return (platform: Platform): Promise<unknown> => {
    const url = `http://127.0.0.1:${port}/orders`;
    const request: PlatformRequest = {
      platform,
      group: groups[platform],
      method: 'POST',
      url,
      priority: 'live',
      retry: false,
    };
    return http.send(request).catch((error: unknown) => error);
  };
}

describe.each(PLATFORMS)('a signature that %s refuses', (platform) => {
  test.each([
    [61_000, /^The signed time may be the reason: this server's clock is 6[012] s behind \w+'s: set it\.$/],
    [-7000, /^The signed time may be the reason: this server's clock is [678] s ahead of \w+'s: set it\.$/],
  ])('with a clock %d ms ahead: the advice names the clock', async (aheadMs, advice) => {
    const send = await refuses(aheadMs);
    const placement = failedPlacement(platform, await send(platform), () => 'Correct price, size or side.');
    expect(placement).toMatchObject({ result: 'rejected', refusal: { resolution: expect.stringMatching(advice) } });
    const read = await send(platform);
    expect(read).toBeInstanceOf(PlatformError);
    if (read instanceof PlatformError) expect(toApiError(read).resolution).toMatch(advice);
  });

  test('with the same clock: the advice is that of the platform', async () => {
    const send = await refuses(300);
    const placement = failedPlacement(platform, await send(platform), () => 'Renew the key.');
    expect(placement).toMatchObject({ result: 'rejected', refusal: { resolution: 'Renew the key.' } });
  });
});

test.each(PLATFORMS)('a web page in place of an answer of %s leaves an order unknown, and says why', (platform) => {
  const page = { status: 403, detail: 'Attention Required! | Cloudflare' };
  const placement = failedPlacement(platform, new PlatformError(platform, 'geo_blocked', page), () => 'unused');
  expect(placement).toMatchObject({ result: 'unknown', httpStatus: 403 });
  expect(placement.detail).toBe(
    'a page without JSON (HTTP 403: Attention Required! | Cloudflare) instead of an answer',
  );
});
