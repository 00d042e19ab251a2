import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { type PlatformHttp } from '../../src/platforms/http/request.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import { type Shared } from '../../src/stores/shared/shared.ts';
import { createSimServer, json, type SimServer } from '../simulators/lib/index.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { silent } from '../helpers/silent-log.ts';

const clock = virtualClock();
const MINUTE_MS = 60_000;
let server: SimServer;
let shared: Shared;
let http: PlatformHttp;

beforeAll(async () => {
  server = await createSimServer({ handle: () => json(200, {}) });
  shared = await openShared({ REDIS_URL: undefined }, silent, { clock });
  http = createPlatformHttp({ shared, log: silent, clock });
});
afterEach(() => server.clearFaults());
afterAll(async () => {
  await http.close();
  await shared.close();
  await server.close();
});

/** Milliseconds that `count` orders of an account take; each costs a tenth of a second's budget, the first five are free. */
async function orders(account: string, count: number): Promise<number> {
  const started = clock.elapsed();
  const order = { platform: 'kalshi', group: 'kalshi:write', method: 'POST', priority: 'live', retry: false } as const;
  const send = (): Promise<unknown> => http.send({ ...order, account, url: `${server.origin}/orders` });
  await Promise.all(Array.from({ length: count }, send));
  return clock.elapsed() - started;
}

/** Whose orders are through first. */
const firstOf = (accounts: Record<string, Promise<number>>): Promise<string> =>
  Promise.race(Object.entries(accounts).map(([name, done]) => done.then(() => name)));

test('an account that has used up its budget holds up nobody else', async () => {
  const busy = orders('busy', 15);
  expect(await clock.complete(firstOf({ busy, idle: orders('idle', 3) }), MINUTE_MS)).toBe('idle');
  expect(await clock.complete(busy, MINUTE_MS)).toBeGreaterThan(800);
});

test('a rate limit pauses the account that met it, and no other', async () => {
  server.inject({ match: /orders/, times: 1, kind: 'status', status: 429, body: '{"error":"too many requests"}' });
  await expect(clock.complete(orders('limited', 1), MINUTE_MS)).rejects.toThrow('rate_limited');
  const limited = orders('limited', 1);
  expect(await clock.complete(firstOf({ limited, other: orders('other', 1) }), MINUTE_MS)).toBe('other');
  expect(await clock.complete(limited, MINUTE_MS)).toBeGreaterThan(300);
});

test('twenty orders of Limitless, which takes one every 0.35 s, are all sent if they may wait for each other', async () => {
  const order = { platform: 'limitless', group: 'limitless:all', method: 'POST', priority: 'live' } as const;
  const sent = async (account: string, waitMs?: number): Promise<number> => {
    const wait = waitMs === undefined ? {} : { waitMs };
    const one = () => http.send({ ...order, ...wait, account, retry: false, url: `${server.origin}/orders` });
    const results = await Promise.allSettled(Array.from({ length: 20 }, one));
    return results.filter(({ status }) => status === 'fulfilled').length;
  };
  expect(await clock.complete(sent('patient', 9000), MINUTE_MS)).toBe(20);
  expect(await clock.complete(sent('hurried'), MINUTE_MS)).toBeLessThan(20);
});
