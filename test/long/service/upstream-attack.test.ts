import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { filled, startWholeService, type WholeService } from '../../helpers/whole-service.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('platforms answer slowly, hugely or never');

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 });

const POLL = { timeout: 120_000, interval: 500 };
/** Jobs run every two seconds: a lag of less is the machine's, on which other tests run. */
const BUSY_MACHINE_S = 5;
const QUIET_MS = 8000;
const ATTACK_MS = 20_000;
const LOOKUPS = 131;
const PLATFORMS = ['kalshi', 'polymarket', 'limitless'] as const;
type Platform = (typeof PLATFORMS)[number];
type Lags = Record<Platform, number>;

let whole: WholeService;
beforeAll(async () => {
  whole = await startWholeService();
  await filled(whole);
});
afterAll(() => whole?.close());

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const reply = await fetch(`${whole.service.url}/v1/api/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(201);
  return reply;
}

/** A key of a new account. */
async function newKey(): Promise<string> {
  const account = { email: `${randomUUID()}@example.com`, password: 'quiet plum tree orchard' };
  const registered = await post('register', account);
  const cookie = registered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const { key } = (await (await post('api-keys', { name: 'attack' }, { cookie })).json()) as { key: string };
  return key;
}

interface Feed {
  platform: Platform;
  feed: string;
  lag_seconds: number | null;
}

/** What /health says of each platform. */
async function feeds(): Promise<Feed[]> {
  const reply = await whole.get('/v1/api/health');
  const { checks } = (await reply.json()) as { checks: (Feed | { name: string })[] };
  return checks.filter((check) => 'platform' in check);
}

/** The largest lag of each platform that /health shows within `ms`. */
async function largestLags(ms: number): Promise<Lags> {
  const largest: Lags = { kalshi: 0, polymarket: 0, limitless: 0 };
  for (const end = Date.now() + ms; Date.now() < end; await sleep(500)) {
    for (const { platform, lag_seconds: lag } of await feeds())
      largest[platform] = Math.max(largest[platform], lag ?? Infinity);
  }
  return largest;
}

const randomId = (platform: Platform, n: number): string => {
  const noise = randomUUID().replaceAll('-', '');
  if (platform === 'polymarket') return `0x${noise}${noise}`;
  return platform === 'kalshi' ? `KX${noise.toUpperCase()}-${n}` : `no-market-${noise}`;
};

/** Look-ups of ids that no platform has, spread over `ms`. Resolves with the statuses of the answers. */
async function lookUp(platform: Platform, key: string, ms: number): Promise<number[]> {
  const asked: Promise<number>[] = [];
  for (let n = 0; n < LOOKUPS; n += 1) {
    const path = `/v1/api/markets/id/${randomId(platform, n)}?provider=${platform}`;
    asked.push(fetch(`${whole.service.url}${path}`, { headers: { 'x-api-key': key } }).then(({ status }) => status));
    await sleep(ms / LOOKUPS);
  }
  return Promise.all(asked);
}

test('look-ups of made-up ids leave ingestion within twice its normal lag, on every platform', async () => {
  // A lag is known once the first sync is complete.
  await expect.poll(async () => (await feeds()).some(({ lag_seconds: lag }) => lag === null), POLL).toBe(false);
  const normal = await largestLags(QUIET_MS);
  const keys = await Promise.all(PLATFORMS.map(newKey));
  const attack = PLATFORMS.map((platform, n) => lookUp(platform, keys[n] ?? '', ATTACK_MS));
  const attacked = await largestLags(ATTACK_MS);
  const statuses = await Promise.all(attack);
  for (const [n, platform] of PLATFORMS.entries()) {
    expect
      .soft(attacked[platform], `${platform}, ${normal[platform]} s when quiet`)
      .toBeLessThanOrEqual(2 * Math.max(normal[platform], BUSY_MACHINE_S));
    const met = new Set(statuses[n]);
    // Those within their share are answered, or 503 while all of them together ask too much.
    expect
      .soft(
        [...met].filter((status) => ![404, 429, 503].includes(status)),
        platform,
      )
      .toEqual([]);
    expect.soft([met.has(404), met.has(429)], platform).toEqual([true, true]);
  }
});
