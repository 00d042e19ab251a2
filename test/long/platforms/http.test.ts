import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlatformError } from '../../../src/core/errors.ts';
import { answerError, NotSentError } from '../../../src/platforms/http/errors.ts';
import { createPlatformHttp, type AttemptReport } from '../../../src/platforms/http/client.ts';
import { type PlatformHttp, type PlatformRequest } from '../../../src/platforms/http/request.ts';
import type { LimitGroup } from '../../../src/platforms/http/limit-group.ts';
import { limitGroup } from '../../../src/platforms/http/limit-groups.ts';
import { MANIFESTS } from '../../../src/platforms/manifests.ts';
import { openShared } from '../../../src/stores/shared/open.ts';
import type { Shared } from '../../../src/stores/shared/shared.ts';
import type { Platform } from '../../../src/core/model.ts';
import type { Stop } from '../../../src/core/time.ts';
import { isAtWork } from '../../helpers/at-work.ts';
import { passes } from '../../helpers/flowing-clock.ts';
import { type VirtualClock, virtualClock } from '../../helpers/virtual-clock.ts';
import { silent } from '../../helpers/silent-log.ts';

type Reply = (request: IncomingMessage, response: ServerResponse, n: number) => void;

let clock: VirtualClock;
/** From then on time stands still: for what is exact to the millisecond, and for unpacking, which takes a thread. */
let stopFlow: Stop;
beforeEach(() => {
  clock = virtualClock();
  stopFlow = clock.flow(isAtWork);
});
let closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  closers = [];
  stopFlow();
});

/** A platform of our own: counts what arrives and answers as configured. */
async function platform(reply: Reply) {
  const seen = { count: 0, at: [] as number[], paths: [] as string[], open: 0, sockets: 0 };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      seen.count++;
      seen.at.push(clock.elapsed());
      seen.paths.push(`${request.method} ${request.url}`);
      seen.open++;
      response.on('close', () => seen.open--);
      reply(request, response, seen.count);
    });
  });
  server.on('connection', () => seen.sockets++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const close = (): void => {
    server.close().closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close };
}

const ok: Reply = (_, response) => response.end('{"ok":true}');
const status =
  (code: number, body = '{}', headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    response.writeHead(code, headers).end(body);

async function http(shared?: Shared, onRequest?: (report: AttemptReport) => void): Promise<PlatformHttp> {
  const own = shared ?? (await openShared({ REDIS_URL: undefined }, silent, { clock }));
  const client = createPlatformHttp({ shared: own, log: silent, clock, ...(onRequest ? { onRequest } : {}) });
  closers.push(async () => {
    await client.close();
    await own.close();
  });
  return client;
}

const get = (url: string, more: Partial<PlatformRequest> = {}): PlatformRequest => ({
  platform: 'kalshi',
  group: 'kalshi:read',
  method: 'GET',
  url,
  priority: 'live',
  retry: true,
  ...more,
});
const order = (url: string): PlatformRequest =>
  get(url, { group: 'kalshi:write', method: 'POST', body: '{"size":1}', retry: false });
const failure = (promise: Promise<unknown>): Promise<PlatformError> =>
  promise.then(
    () => expect.unreachable('must fail'),
    (error: PlatformError) => error,
  );

describe('answers', () => {
  test('a reply carries its parsed body, headers and time of receipt, packed or not', async () => {
    stopFlow();
    const body = JSON.stringify({ token: '8'.repeat(78), text: 'é🙂'.repeat(100) });
    const packings: Record<string, (text: string) => Buffer> = { gzip: gzipSync, br: brotliCompressSync };
    for (const encoding of ['', 'gzip', 'br']) {
      const { url } = await platform((request, response) => {
        expect(request.headers['accept-encoding']).toBe('gzip, br');
        if (encoding) response.setHeader('content-encoding', encoding);
        response.setHeader('x-trace-id', 't1').end(packings[encoding]?.(body) ?? body);
      });
      const reply = await (await http()).send(get(url));
      expect(reply).toMatchObject({ status: 200, text: body, json: JSON.parse(body), headers: { 'x-trace-id': 't1' } });
      expect(Math.abs(Date.parse(reply.receivedAt) - clock.now())).toBeLessThan(2000);
    }
  });

  test('an empty 2xx body is null, a body that is not JSON is asked for once more and then a bad answer', async () => {
    const empty = await platform(status(200, ''));
    expect((await (await http()).send(get(empty.url))).json).toBeNull();
    const page = await platform(status(200, '<html><title>Just a moment…</title></html>'));
    const error = await failure((await http()).send(get(page.url)));
    expect(error).toMatchObject({ kind: 'bad_answer', status: 200, detail: 'not JSON: Just a moment…' });
    expect(page.seen.count).toBe(2);
  });

  test('a text that the stores would refuse arrives with the mark of an unreadable character, and nothing else changes', async () => {
    const body = String.raw`{"a\u0000":"x\u0000\ud800y\udc00","b":"\ud83d\ude42 \\u0000 \\\u0000","c":"\uD83D\uDE42\uDbFf"}`;
    const { url } = await platform(status(200, body));
    expect((await (await http()).send(get(url))).json).toEqual({
      'a\ufffd': 'x\ufffd\ufffdy\ufffd',
      b: '🙂 \\u0000 \\\ufffd',
      c: '🙂\ufffd',
    });
  });

  test('a redirect is not followed', async () => {
    const target = await platform(ok);
    const { url } = await platform(status(302, '', { location: target.url }));
    expect(await failure((await http()).send(get(url)))).toMatchObject({ kind: 'bad_answer', status: 302 });
    expect(target.seen.count).toBe(0);
  });

  test('a body beyond the limit is cut off, unpacked size included', async () => {
    stopFlow();
    let written = 0;
    const endless = await platform((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written++;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const client = await http();
    const request = { maxBytes: 1_000_000, retry: false };
    expect(await failure(client.send(get(endless.url, request)))).toMatchObject({
      kind: 'bad_answer',
      detail: 'more than 1000000 bytes',
    });
    await expect.poll(() => endless.seen.open).toBe(0);
    expect(written * 65_536).toBeLessThan(20_000_000);
    const bomb = await platform((_, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(5_000_000))),
    );
    expect(await failure(client.send(get(bomb.url, request)))).toMatchObject({ detail: 'more than 1000000 bytes' });
  });

  test.each([
    ['gzip', 'not gzip'],
    ['gzip', gzipSync('{"half":1}').subarray(0, 12)],
    ['br', 'not brotli'],
    ['br', brotliCompressSync('{"half":"of it"}').subarray(0, 6)],
    ['zstd', '{}'],
  ])('a damaged or unknown packing (%s) is a bad answer, not a crash', async (encoding, body) => {
    stopFlow();
    const { url } = await platform((_, response) => response.setHeader('content-encoding', encoding).end(body));
    expect(await failure((await http()).send(get(url, { retry: false })))).toMatchObject({ kind: 'bad_answer' });
  });
});

const html = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head><body>x</body></html>`;
const waitAsked = (headers: Record<string, string>, body: unknown) =>
  answerError('polymarket', { status: 503, headers, text: '' }, body, { nowMs: clock.now() }).retryAfterMs;

describe('what a failure means', () => {
  const cases: [Platform, number, string, string, string][] = [
    [
      'kalshi',
      400,
      '{"error":{"code":"invalid_order","message":"bad price","details":"tick 0.01"}}',
      'refused',
      'bad price: tick 0.01',
    ],
    ['kalshi', 401, '', 'unauthorized', ''],
    ['kalshi', 403, '{"error":{"code":"forbidden","message":"scope"}}', 'unauthorized', 'scope'],
    [
      'kalshi',
      403,
      html('ERROR: The request could not be satisfied'),
      'geo_blocked',
      'ERROR: The request could not be satisfied',
    ],
    ['kalshi', 404, '{"error":{"code":"not_found","message":"not found"}}', 'not_found', 'not found'],
    ['kalshi', 409, '{"error":{"code":"trading_is_paused","message":"paused"}}', 'maintenance', 'paused'],
    ['kalshi', 409, '{"error":{"code":"order_already_exists","message":"again"}}', 'refused', 'again'],
    ['kalshi', 429, '{"error":"too many requests"}', 'rate_limited', 'too many requests'],
    ['kalshi', 503, '{"error":{"code":"service_unavailable","message":"down"}}', 'unavailable', 'down'],
    ['kalshi', 502, html('502 Bad Gateway'), 'unavailable', '502 Bad Gateway'],
    ['polymarket', 400, '{"error":"not enough balance / allowance"}', 'refused', 'not enough balance / allowance'],
    ['polymarket', 403, html('Attention Required! | Cloudflare'), 'geo_blocked', 'Attention Required! | Cloudflare'],
    [
      'polymarket',
      403,
      '{"error":"Trading restricted in your region"}',
      'geo_blocked',
      'Trading restricted in your region',
    ],
    ['polymarket', 404, '{"type":"not found error","error":"id not found"}', 'not_found', 'id not found'],
    ['polymarket', 422, '{"type":"validation error","error":"offset"}', 'refused', 'offset'],
    ['polymarket', 425, '', 'maintenance', ''],
    [
      'polymarket',
      429,
      html('Error 1015: You are being rate limited'),
      'rate_limited',
      'Error 1015: You are being rate limited',
    ],
    ['polymarket', 500, '{"error":"could not insert order"}', 'unavailable', 'could not insert order'],
    [
      'polymarket',
      503,
      '{"error":"post-only mode: only post-only orders","code":"post_only_mode"}',
      'maintenance',
      'post-only mode: only post-only orders',
    ],
    [
      'polymarket',
      503,
      '{"error":"Trading is currently disabled. Check"}',
      'maintenance',
      'Trading is currently disabled. Check',
    ],
    ['polymarket', 503, '{"error":"upstream"}', 'unavailable', 'upstream'],
    [
      'limitless',
      400,
      '{"message":"Invalid slug format. Expected","error":"Bad Request","statusCode":400}',
      'not_found',
      'Invalid slug format. Expected',
    ],
    [
      'limitless',
      400,
      '{"message":["price must be a number","size is missing"],"error":"Bad Request"}',
      'refused',
      'price must be a number; size is missing',
    ],
    [
      'limitless',
      400,
      '{"message":[{"property":"price","constraints":{"isNumber":"price must be a number"}}]}',
      'refused',
      'price must be a number',
    ],
    ['limitless', 400, '{"message":{"code":7}}', 'refused', '7'],
    ['limitless', 403, 'error code: 1015', 'rate_limited', 'error code: 1015'],
    ['limitless', 403, html('Access denied | Error 1020'), 'geo_blocked', 'Access denied | Error 1020'],
    ['limitless', 404, '{"message":"Market not found for slug: x-1"}', 'not_found', 'Market not found for slug: x-1'],
    ['limitless', 425, '{"code":"cancel_only_mode","message":"maintenance"}', 'maintenance', 'maintenance'],
    ['limitless', 425, '{"message":"outside the receive window"}', 'unavailable', 'outside the receive window'],
    ['limitless', 429, 'error code: 1015', 'rate_limited', 'error code: 1015'],
    ['limitless', 503, '{"code":"trading_disabled","message":"maintenance"}', 'maintenance', 'maintenance'],
    ['limitless', 503, '{"message":"Service Unavailable"}', 'maintenance', 'Service Unavailable'],
    ['limitless', 503, html('Service Unavailable'), 'maintenance', 'Service Unavailable'],
  ];
  test.each(cases)('%s %i %s is %s', (name, code, text, kind, detail) => {
    const body = text.startsWith('{') ? JSON.parse(text) : text === '' ? null : undefined;
    const error = answerError(name, { status: code, headers: {}, text }, body, { nowMs: clock.now() });
    expect(error).toMatchObject({ kind, detail, status: code, body, platform: name });
  });

  test("the platform's words are at most 500 characters on one line and never [object Object]", () => {
    const long = answerError(
      'kalshi',
      { status: 500, headers: {}, text: `a\n\tb\u0000${'c'.repeat(9000)}` },
      undefined,
      { nowMs: clock.now() },
    );
    expect(long.detail).toHaveLength(500);
    expect(long.detail.startsWith('a b ccc')).toBe(true);
    for (const body of [{ error: { a: { b: {} } } }, { message: [{}, { x: [1, true, null] }] }, [[['deep']]], 5, null])
      expect(
        answerError('kalshi', { status: 400, headers: {}, text: '' }, body, { nowMs: clock.now() }).detail,
      ).not.toContain('[object');
  });

  test('the wait asked for is read as seconds, as a date or from the body', () => {
    expect(waitAsked({ 'retry-after': '79' }, { retry_after_seconds: 5 })).toBe(79_000);
    expect(waitAsked({}, { retry_after_seconds: 5 })).toBe(5000);
    expect(waitAsked({}, { retryAfterSeconds: 2 })).toBe(2000);
    const inTenSeconds = new Date(clock.now() + 10_000).toUTCString();
    expect(waitAsked({ 'retry-after': inTenSeconds }, null)).toBeGreaterThan(7000);
    expect(waitAsked({ 'retry-after': 'soon' }, null)).toBeUndefined();
    expect(waitAsked({ 'retry-after': '999999999' }, null)).toBe(3_600_000);
  });
});

describe('attempts', () => {
  test('a read survives a broken host: three more attempts, each reported', async () => {
    const reports: AttemptReport[] = [];
    const client = await http(undefined, (report) => reports.push(report));
    const { url, seen } = await platform((request, response, n) =>
      (n <= 3 ? status(502, '') : ok)(request, response, n),
    );
    expect((await client.send(get(url))).json).toEqual({ ok: true });
    expect(seen.count).toBe(4);
    expect(reports.map((one) => [one.status, one.outcome])).toEqual([
      [502, 'unavailable'],
      [502, 'unavailable'],
      [502, 'unavailable'],
      [200, 'ok'],
    ]);
  });

  test('each attempt carries headers made for it, so that a signature is never old', async () => {
    const stamps: unknown[] = [];
    const { url } = await platform((request, response, n) => {
      stamps.push(request.headers['x-stamp']);
      (n === 1 ? status(500, '') : ok)(request, response, n);
    });
    let made = 0;
    await (await http()).send(get(url, { headers: () => ({ 'x-stamp': `${++made}` }) }));
    expect(stamps).toEqual(['1', '2']);
  });

  test('a refusal is final', async () => {
    const { url, seen } = await platform(status(400, '{"error":"no"}'));
    expect(await failure((await http()).send(get(url)))).toMatchObject({ kind: 'refused', detail: 'no' });
    expect(seen.count).toBe(1);
  });

  test.each([
    ['reset after it arrived, on a reused connection', (r: IncomingMessage) => r.socket.destroy(), 'unavailable'],
    ['500', (_: unknown, response: ServerResponse) => response.writeHead(500).end(), 'unavailable'],
    ['429', (_: unknown, response: ServerResponse) => response.writeHead(429).end('{}'), 'rate_limited'],
    [
      'a cut body',
      (r: IncomingMessage, response: ServerResponse) => {
        response.writeHead(201, { 'content-length': '50' }).write('{"order":');
        clock.timeout(10, () => r.socket.destroy());
      },
      'unavailable',
    ],
  ] as const)('an order is sent once and only once: %s', async (_name, act, kind) => {
    const { url, seen } = await platform((request, response, n) =>
      n === 1 ? response.end('{}') : act(request, response),
    );
    const client = await http();
    await client.send(get(url));
    await clock.sleep(20);
    const error = await failure(client.send(order(`${url}/orders`)));
    expect(error).toMatchObject({ kind });
    expect(error).not.toBeInstanceOf(NotSentError);
    await clock.sleep(100);
    expect(seen.paths).toEqual(['GET /', 'POST /orders']);
    expect(seen.sockets).toBe(1);
  });

  test('an order without an answer is sent once and ends with its time-out', async () => {
    const { url, seen } = await platform(() => {});
    const error = await failure((await http()).send({ ...order(url), timeoutMs: 100 }));
    expect(error).toMatchObject({ kind: 'timeout', status: 0 });
    expect(seen.count).toBe(1);
  });

  test('the time-out covers a body that hangs; a read is tried once more', async () => {
    const { url, seen } = await platform((_, response) => response.write('{"half":'));
    const start = clock.elapsed();
    const error = await failure((await http()).send(get(url, { timeoutMs: 150 })));
    expect(error).toMatchObject({ kind: 'timeout', detail: 'no answer within 150 ms' });
    expect(clock.elapsed() - start).toBeLessThan(1500);
    expect(seen.count).toBe(2);
    await passes(clock, () => expect(seen.open).toBe(0));
  });

  test.each([
    ['refuses connections', 'http://127.0.0.1:1', /^ECONNREFUSED$/],
    ['has no address', 'http://nobody.invalid', /^(ENOTFOUND|EAI_AGAIN)$/],
  ])('a host that %s is unavailable: an order was not sent, a read is tried again', async (_, url, detail) => {
    const attempts: AttemptReport[] = [];
    const client = await http(undefined, (report) => attempts.push(report));
    const placed = await failure(client.send(order(url)));
    expect(placed).toBeInstanceOf(NotSentError);
    expect(placed).toMatchObject({ kind: 'unavailable', status: 0, detail: expect.stringMatching(detail) });
    expect(attempts).toHaveLength(1);
    expect(await failure(client.send(get(url)))).toMatchObject({ kind: 'unavailable', status: 0 });
    expect(attempts).toHaveLength(1 + 4);
  });

  test('an order whose connection broke after it was made may have been sent', async () => {
    const { url } = await platform((request) => request.socket.destroy());
    const error = await failure((await http()).send(order(url)));
    expect(error).not.toBeInstanceOf(NotSentError);
    expect(error).toMatchObject({ kind: 'unavailable', status: 0 });
  });

  test('what reached a host once is shown with its answer, though the host was gone when it was tried again', async () => {
    const first = await platform((request, response) => {
      status(500, '{"error":"broken"}')(request, response, 1);
      response.on('finish', () => first.close());
    });
    const error = await failure((await http()).send(get(first.url)));
    expect(error).not.toBeInstanceOf(NotSentError);
    expect(error).toMatchObject({ status: 500 });
  });

  test('a header no request can carry is known not to have been sent', async () => {
    const { url, seen } = await platform(ok);
    const request = { ...order(url), headers: { 'x-key': 'two\r\nlines' } };
    expect(await failure((await http()).send(request))).toBeInstanceOf(NotSentError);
    expect(seen.count).toBe(0);
  });
});

describe('rate limits', () => {
  test('Retry-After holds back the request, its whole group and every process', async () => {
    const shared = await openShared({ REDIS_URL: undefined }, silent, { clock });
    const { url, seen } = await platform((request, response, n) =>
      (n === 1 ? status(429, '{"error":"slow"}', { 'retry-after': '1' }) : ok)(request, response, n),
    );
    const [a, b] = [await http(shared), await http(shared)];
    const first = a.send(get(url, { priority: 'poll' }));
    await passes(clock, () => expect(seen.count).toBe(1));
    await clock.sleep(20);
    await Promise.all([first, a.send(get(url)), b.send(get(url)), b.send(get(url, { priority: 'poll' }))]);
    expect(seen.at.slice(1).every((at) => at - (seen.at[0] ?? 0) >= 990)).toBe(true);
    expect(seen.count).toBe(5);
  });

  test('a caller does not wait longer than it can: the wait asked for is passed on, other groups go on', async () => {
    const { url, seen } = await platform((request, response, n) =>
      (n === 1 ? status(429, '{}', { 'retry-after': '30' }) : ok)(request, response, n),
    );
    const client = await http();
    expect(await failure(client.send(get(url)))).toMatchObject({
      kind: 'rate_limited',
      retryAfterMs: 30_000,
      status: 429,
    });
    const held = await failure(client.send(get(url)));
    expect(held).toBeInstanceOf(NotSentError);
    expect(held.kind).toBe('rate_limited');
    expect(held.retryAfterMs).toBeGreaterThan(28_000);
    await client.send(order(url));
    expect(seen.count).toBe(2);
  });

  test('without Retry-After the wait grows from attempt to attempt', async () => {
    const { url, seen } = await platform((request, response, n) =>
      (n <= 2 ? status(429, '{"error":"too many requests"}') : ok)(request, response, n),
    );
    await (await http()).send(get(url));
    const [first = 0, second = 0, third = 0] = seen.at;
    expect(second - first).toBeGreaterThanOrEqual(495);
    expect(third - second).toBeGreaterThanOrEqual(995);
  });

  test('Limitless is called at half the pace after a 429', async () => {
    const { url, seen } = await platform((request, response, n) =>
      (n === 1 ? status(429, 'error code: 1015', { 'retry-after': '0' }) : ok)(request, response, n),
    );
    const client = await http();
    const call = get(url, { platform: 'limitless', group: 'limitless:all' });
    await client.send(call);
    await client.send(call);
    expect((seen.at[2] ?? 0) - (seen.at[1] ?? 0)).toBeGreaterThanOrEqual(600);
  });

  test.each([
    { timeouts: 1, pace: 'half the pace' },
    { timeouts: 2, pace: 'the pace before' },
  ])('after $timeouts time-outs in a row and a 429 Limitless is called at $pace', async ({ timeouts, pace }) => {
    const { url, seen } = await platform((request, response, n) => {
      if (n <= timeouts) return;
      (n === timeouts + 1 ? status(429, 'error code: 1015', { 'retry-after': '0' }) : ok)(request, response, n);
    });
    const client = await http();
    const call = get(url, { platform: 'limitless', group: 'limitless:all', priority: 'poll', retry: false });
    for (let n = 0; n < timeouts; n++) await failure(client.send({ ...call, timeoutMs: 400 }));
    expect((await failure(client.send(call))).kind).toBe('rate_limited');
    const refusedAt = seen.at.length;
    for (let n = 0; n < 5; n++) await client.send(call);
    const times = seen.at.slice(refusedAt);
    const least = Math.min(...times.slice(1).map((at, n) => at - (times[n] ?? 0)));
    expect(least < 600 ? 'the pace before' : 'half the pace').toBe(pace);
  });

  test('Kalshi is never asked beyond its bucket, callers and sweeps together', async () => {
    let tokens = 600;
    let last = clock.elapsed();
    let refused = 0;
    const { url, seen } = await platform((_, response) => {
      tokens = Math.min(600, tokens + (clock.elapsed() - last) * 0.2);
      last = clock.elapsed();
      if (tokens < 10) refused++;
      tokens -= 10;
      response.end('{}');
    });
    const client = await http();
    const end = clock.elapsed() + 1000;
    const loop = async (priority: 'live' | 'poll') => {
      while (clock.elapsed() < end) await client.send(get(url, { priority }));
    };
    await Promise.all([...Array(8).fill('live'), ...Array(8).fill('poll')].map(loop));
    expect(refused).toBe(0);
    expect(seen.count).toBeGreaterThan(60);
  });

  test('a shared budget that is far away slows the calls down but does not stop them', async () => {
    const near = await openShared({ REDIS_URL: undefined }, silent, { clock });
    const far: Shared = {
      ...near,
      takeBudget: async (...asked) => {
        await clock.sleep(25);
        const wait = await near.takeBudget(...asked);
        await clock.sleep(25);
        return wait;
      },
    };
    const { url, seen } = await platform(ok);
    const client = await http(far);
    const call = get(url, { platform: 'limitless', group: 'limitless:all' });
    await client.send(call);
    await client.send(call);
    expect((seen.at[1] ?? 0) - (seen.at[0] ?? 0)).toBeGreaterThanOrEqual(300);
    expect((seen.at[1] ?? 0) - (seen.at[0] ?? 0)).toBeLessThan(600);
  });

  const windowed = Object.entries<LimitGroup>(MANIFESTS.polymarket.limits);
  test('every budget of Polymarket is held against its limit', () => {
    expect(Object.keys(POLYMARKET_LIMITS)).toEqual(windowed.map(([name]) => name));
  });
  test.each(windowed)('%s stays inside the window of the platform however its calls are spread', (name, group) => {
    expect(spent([group], 10)).toBeLessThanOrEqual(POLYMARKET_LIMITS[name] ?? 0);
  });

  test.each([
    [/^polymarket:gamma\/(markets|events)$/, 900],
    [/^polymarket:gamma\//, 4000],
    [/^polymarket:clob\//, 9000],
    [/^polymarket:data-v2\//, 800],
  ])('groups %s stay inside the limit that Polymarket sets them together', (names, requests) => {
    const groups = windowed.filter(([name]) => names.test(name)).map(([, group]) => group);
    expect(groups.length).toBeGreaterThan(1);
    expect(spent(groups, 10)).toBeLessThanOrEqual(requests);
  });

  test('Kalshi reads and writes stay inside the buckets of the Basic tier over any time', () => {
    for (const seconds of [0, 1, 60]) {
      expect(spent([limitGroup('kalshi:read')], seconds)).toBeLessThanOrEqual(600 + 200 * seconds);
      expect(spent([limitGroup('kalshi:write')], seconds)).toBeLessThanOrEqual(100 + 100 * seconds);
    }
    expect(limitGroup('kalshi:read').background.refillPerSecond).toBeLessThanOrEqual(100);
  });
});

/** Requests that Polymarket allows in 10 s, of each group the tightest of its routes. */
const POLYMARKET_LIMITS: Record<string, number> = {
  'polymarket:gamma/markets': 300,
  'polymarket:gamma/events': 500,
  'polymarket:gamma/other': 200,
  'polymarket:clob/book': 1500,
  'polymarket:clob/books': 500,
  'polymarket:clob/other': 200,
  'polymarket:clob/order': 5000,
  'polymarket:clob/cancel': 5000,
  'polymarket:clob/ledger': 500,
  'polymarket:clob/balance': 50,
  'polymarket:clob/auth': 100,
  'polymarket:data-v2/trades': 300,
  'polymarket:data-v2/prices-history': 200,
  'polymarket:data-v2/positions': 200,
  'polymarket:data-v2/other': 100,
};

/** The most tokens these groups can spend in any `seconds`, calls that leave late included. */
function spent(groups: LimitGroup[], seconds: number): number {
  let tokens = 0;
  for (const { live, background, lateMs } of groups)
    for (const rule of new Set([live, background]))
      tokens += rule.capacity + rule.refillPerSecond * (seconds + lateMs / 1000);
  return tokens;
}

describe('waiting for a departure', () => {
  test('callers leave before polling, polling before backfill', async () => {
    const { url, seen } = await platform(ok);
    const client = await http();
    const call = (path: string, priority: PlatformRequest['priority']) =>
      client.send(get(`${url}/${path}`, { group: 'kalshi:anonymous', priority }));
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => call(`backfill${n}`, 'backfill'));
    await passes(clock, () => expect(seen.count).toBe(5));
    all.push(call('poll', 'poll'), call('live', 'live'));
    await Promise.all(all);
    expect(seen.paths.slice(6)).toEqual(['GET /live', 'GET /poll', 'GET /backfill6', 'GET /backfill7']);
  });

  test('an order leaves before the reads of other callers, where a platform counts them together', async () => {
    const { url, seen } = await platform(ok);
    const client = await http();
    const call = (path: string, method: PlatformRequest['method'], priority: PlatformRequest['priority'] = 'live') => {
      const read = { platform: 'limitless', group: 'limitless:all', method, priority } as const;
      return client.send(get(`${url}/${path}`, { ...read, retry: method === 'GET' }));
    };
    const all = [0, 1, 2, 3].map((n) => call(`read${n}`, 'GET'));
    await passes(clock, () => expect(seen.count).toBe(1));
    all.push(call('order', 'POST'), call('cancel', 'DELETE'), call('swept', 'POST', 'poll'));
    await Promise.all(all);
    // One read had its turn already.
    expect(seen.paths.slice(2)).toEqual(['POST /order', 'DELETE /cancel', 'GET /read2', 'GET /read3', 'POST /swept']);
  });

  test('a cancelled request leaves the queue unsent, one in flight loses its connection', async () => {
    const { url, seen } = await platform(() => {});
    const client = await http();
    const call = (signal: AbortSignal) =>
      client.send(get(url, { platform: 'limitless', group: 'limitless:all', signal }));
    const [flying, queued] = [new AbortController(), new AbortController()];
    const first = failure(call(flying.signal));
    await passes(clock, () => expect(seen.count).toBe(1));
    const second = failure(call(queued.signal));
    queued.abort();
    expect(await second).toBeInstanceOf(NotSentError);
    flying.abort();
    expect(await first).toMatchObject({ kind: 'unavailable', detail: 'cancelled' });
    await passes(clock, () => expect(seen.open).toBe(0));
    expect(await failure(call(queued.signal))).toBeInstanceOf(NotSentError);
    expect(seen.count).toBe(1);
  });

  test('cancelled requests give back their places', async () => {
    const { url, seen } = await platform((request, response, n) => n > 4 && ok(request, response, n));
    const client = await http();
    const call = (signal?: AbortSignal) =>
      client.send(get(url, { platform: 'limitless', group: 'limitless:all', ...(signal ? { signal } : {}) }));
    for (let n = 1; n <= 4; n++) {
      const controller = new AbortController();
      const failed = failure(call(controller.signal));
      await passes(clock, () => expect(seen.count).toBe(n));
      controller.abort();
      await failed;
    }
    expect((await call()).status).toBe(200);
  });

  test('a request cancelled while its budget is asked for keeps no place', async () => {
    const near = await openShared({ REDIS_URL: undefined }, silent, { clock });
    const slow: Shared = {
      ...near,
      takeBudget: async (...asked) => {
        await clock.sleep(30);
        return near.takeBudget(...asked);
      },
    };
    const { url } = await platform(ok);
    const client = await http(slow);
    for (let n = 0; n < limitGroup('kalshi:read').concurrency; n++)
      expect(await failure(client.send(get(url, { signal: clock.deadline(5) })))).toBeInstanceOf(NotSentError);
    await clock.sleep(60);
    expect((await client.send(get(url))).status).toBe(200);
  });

  test('no more calls of one budget are in flight than its group allows', async () => {
    const { url, seen } = await platform(() => {});
    const client = await http();
    const calls = Array.from({ length: 20 }, () => failure(client.send(get(url, { timeoutMs: 400, retry: false }))));
    await passes(clock, () => expect(seen.open).toBe(limitGroup('kalshi:read').concurrency));
    await clock.sleep(100);
    expect(seen.count).toBe(limitGroup('kalshi:read').concurrency);
    await Promise.all(calls);
  });

  test('a caller that no budget is left for is refused within its time-out', async () => {
    const { url, seen } = await platform(ok);
    const client = await http();
    const calls = Array.from({ length: 30 }, () =>
      client.send(get(url, { group: 'kalshi:social', timeoutMs: 300 })).catch((error: unknown) => error),
    );
    const refused = (await Promise.all(calls)).filter((one) => one instanceof NotSentError);
    expect(seen.count + refused.length).toBe(30);
    expect(seen.count).toBeLessThanOrEqual(6);
    expect(refused[0]).toMatchObject({ kind: 'unavailable', retryAfterMs: 1000 });
  });

  test('the queue is bounded', async () => {
    const { url } = await platform(() => {});
    const client = await http();
    const calls = Array.from({ length: 1010 }, () =>
      failure(client.send(get(url, { platform: 'limitless', group: 'limitless:all', priority: 'poll' }))),
    );
    const error = await Promise.race(calls);
    expect(error.detail).toBe('limitless:all: queue full');
    await client.close();
    await Promise.all(calls);
  });

  test('close refuses what waits at once and ends what is in flight after a bounded time', async () => {
    const { url, seen } = await platform(() => {});
    const client = await http();
    const call = get(url, { platform: 'limitless', group: 'limitless:all', priority: 'poll', timeoutMs: 60_000 });
    const flying = failure(client.send(call));
    await passes(clock, () => expect(seen.count).toBe(1));
    const waiting = failure(client.send(call));
    const start = clock.elapsed();
    const closed = client.close();
    expect(await Promise.race([waiting, closed])).toBeInstanceOf(NotSentError);
    expect(await failure(client.send(call))).toBeInstanceOf(NotSentError);
    await closed;
    expect(await flying).toMatchObject({ kind: 'unavailable' });
    expect(clock.elapsed() - start).toBeLessThan(4000);
    expect(seen.count).toBe(1);
  });
});

const account = (url: string): PlatformRequest => get(url, { circuit: 'account', retry: false });
const places = (url: string): PlatformRequest => ({ ...order(url), circuit: 'order' });
const cancels = (url: string, method: 'DELETE' | 'POST'): PlatformRequest => ({
  ...order(url),
  method,
  circuit: 'cancel',
});
const calls: [string, (url: string) => PlatformRequest][] = [
  ['a public read', (url) => get(url, { retry: false })],
  ['a read of an account', account],
  ['an order', places],
];

/** Headers of a call that its caller gives up right before it leaves. */
const late = (): never => {
  throw new NotSentError('kalshi', 'refused', { detail: 'waited too long' });
};

describe('a host that keeps failing', () => {
  let broken = true;
  beforeEach(() => {
    broken = true;
  });
  const flaky: Reply = (request, response, n) => (broken ? status(500, '') : ok)(request, response, n);
  /** Answers 500 to the path /bad, and 200 to the others. */
  const partly: Reply = (request, response, n) => (request.url === '/bad' ? flaky : ok)(request, response, n);

  test('is left alone for a while; one call tries whether it is back', async () => {
    stopFlow();
    const { url, seen } = await platform(flaky);
    const client = await http();
    const once = () => client.send(get(url, { retry: false }));
    for (let n = 0; n < 8; n++) expect(await failure(once())).toMatchObject({ kind: 'unavailable', status: 500 });
    const refused = await failure(once());
    expect(refused).toBeInstanceOf(NotSentError);
    expect(refused).toMatchObject({ kind: 'unavailable', retryAfterMs: 5000 });
    expect(seen.count).toBe(8);

    clock.stall(5000);
    const probes = await Promise.all([failure(once()), failure(once())]);
    expect(probes.filter((error) => error instanceof NotSentError)).toHaveLength(1);
    expect(seen.count).toBe(9);
    expect(await failure(once())).toBeInstanceOf(NotSentError);

    clock.stall(5000);
    broken = false;
    expect((await once()).status).toBe(200);
    expect((await Promise.all([once(), once()])).map((reply) => reply.status)).toEqual([200, 200]);
  });

  test('does not count refusals, limits and announced maintenance', async () => {
    const answers = [status(400), status(404), status(503, '{"error":"Trading is currently cancel-only"}')];
    const { url, seen } = await platform((request, response, n) => answers[n % 3]?.(request, response, n));
    const client = await http();
    for (let n = 0; n < 12; n++)
      await failure(client.send(get(url, { platform: 'polymarket', group: 'polymarket:clob/book', retry: false })));
    expect(seen.count).toBe(12);
  });

  test('does not count reads of items that failed before, nor are these sent while it is left alone', async () => {
    const { url, seen } = await platform(partly);
    const client = await http();
    const again = () => client.send(get(`${url}/bad`, { retry: false, failedBefore: true }));
    for (let n = 0; n < 12; n++) expect(await failure(again())).toMatchObject({ status: 500 });
    expect((await client.send(get(`${url}/good`))).status).toBe(200);
    expect(seen.count).toBe(13);
    for (let n = 0; n < 8; n++) await failure(client.send(get(`${url}/bad`, { retry: false })));
    expect(await failure(again())).toBeInstanceOf(NotSentError);
  });

  test("counts a gateway's 503 without JSON, even where it stands for maintenance", async () => {
    const { url, seen } = await platform(status(503, '<html>Service Unavailable</html>'));
    const client = await http();
    for (let n = 0; n < 12; n++)
      await failure(client.send(get(url, { platform: 'limitless', group: 'limitless:all', retry: false })));
    expect(seen.count).toBe(8);
  });

  test('does not count a call that was never sent as an answer of the host', async () => {
    const { url, seen } = await platform(flaky);
    const client = await http();
    const fail = (more: Partial<PlatformRequest> = {}) => failure(client.send(get(url, { retry: false, ...more })));
    for (let n = 0; n < 7; n++) await fail();
    expect(await fail({ headers: late })).toMatchObject({ detail: 'waited too long' });
    await fail();
    expect(seen.count).toBe(8);
    expect(await fail()).toMatchObject({ name: 'NotSentError', kind: 'unavailable' });
    expect(seen.count).toBe(8);
  });

  describe('has one circuit for public reads, one for reads of accounts, one for orders, one for cancels', () => {
    test.each(calls)('%s that keeps failing stops its own kind only', async (_, failing) => {
      const { url, seen } = await platform(partly);
      const client = await http();
      for (let n = 0; n < 8; n++) await failure(client.send(failing(`${url}/bad`)));
      expect(await failure(client.send(failing(`${url}/good`)))).toBeInstanceOf(NotSentError);
      expect(seen.count).toBe(8);
      for (const [, other] of calls) {
        if (other !== failing) expect((await client.send(other(`${url}/good`))).status).toBe(200);
      }
      expect((await client.send(cancels(`${url}/good`, 'DELETE'))).status).toBe(200);
      expect((await client.send(cancels(`${url}/good`, 'POST'))).status).toBe(200);
    });

    test('a cancel is always tried, whatever failed before', async () => {
      const { url, seen } = await platform(flaky);
      const client = await http();
      for (let n = 0; n < 20; n++) {
        expect(await failure(client.send(cancels(url, 'DELETE')))).toMatchObject({ kind: 'unavailable', status: 500 });
      }
      expect(seen.count).toBe(20);
      broken = false;
      expect((await client.send(cancels(url, 'DELETE'))).status).toBe(200);
    });

    test('a read that an order waits for is tried while other reads are suspended, and ends their wait', async () => {
      const { url } = await platform(flaky);
      const client = await http();
      const needed = () => client.send(get(url, { retry: false, forOrder: true }));
      for (let n = 0; n < 8; n++) await failure(client.send(get(url, { retry: false })));
      expect(await failure(client.send(get(url)))).toBeInstanceOf(NotSentError);
      expect(await failure(needed())).toMatchObject({ status: 500 });
      broken = false;
      expect((await needed()).status).toBe(200);
      expect((await client.send(get(url))).status).toBe(200);
    });
  });

  test('does not stop calls to another host', async () => {
    const bad = await platform(flaky);
    const good = await platform(ok);
    const client = await http();
    for (let n = 0; n < 8; n++) await failure(client.send(get(bad.url, { retry: false })));
    expect((await client.send(get(good.url))).status).toBe(200);
  });
});
