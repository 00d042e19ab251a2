import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PlatformError, toApiError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/time.ts';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import { accountName } from '../../../src/platforms/http/limit-group.ts';
import { budgetKind } from '../../../src/platforms/http/limit-groups.ts';
import { createKalshiAccount } from '../../../src/platforms/kalshi/signed-client.ts';
import type { PlatformHttp, PlatformRequest } from '../../../src/platforms/http/request.ts';
import { openShared } from '../../../src/stores/shared/open.ts';
import type { Shared } from '../../../src/stores/shared/shared.ts';
import { createSimServer, json, type SimServer } from '../../simulators/lib/index.ts';
import { SETTINGS } from '../../fixtures/canned-http.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

const { REDIS_URL } = process.env;
if (process.env['REDIS_URL']) waitsInRealTime('Redis goes by the time of the machine');

const clock = REDIS_URL ? systemClock : flowingClock();
/** Through a Redis in `npm run test:stores`. */
const PLACES = ['in one process', ...(REDIS_URL ? ['through Redis'] : [])];

const log = { info() {}, warn() {} };
const markets = { byRef: async () => new Map() };

let server: SimServer;
let paths: string[] = [];
beforeAll(async () => {
  server = await createSimServer({
    handle: ({ path }) => {
      paths.push(path);
      return json(200, {});
    },
  });
});
afterAll(() => server.close());

const read = (path: string, given: Partial<PlatformRequest> = {}): PlatformRequest => ({
  platform: 'kalshi',
  group: 'kalshi:anonymous',
  method: 'GET',
  url: `${server.origin}/${path}`,
  priority: 'live',
  retry: true,
  ...given,
});
const count = (part: string): number => paths.filter((path) => path.includes(part)).length;
/** What became of each call: 'sent', or the kind of its refusal. */
const outcomesOf = (calls: Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    calls.map((call) =>
      call.then(
        () => 'sent',
        (error: PlatformError) => error.kind,
      ),
    ),
  );
const times = <T>(n: number, make: (n: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

describe.each(PLACES)('shares of the budgets of a platform, %s', (where) => {
  const prefix = `forecastle-shares-${randomUUID()}:`;
  const clients: PlatformHttp[] = [];
  const shareds: Shared[] = [];
  /** Two processes where they share a Redis. */
  const open = async (): Promise<[PlatformHttp, PlatformHttp]> => {
    const isShared = where === 'through Redis';
    const made = await Promise.all(
      times(isShared ? 2 : 1, () =>
        openShared({ REDIS_URL: isShared ? REDIS_URL : undefined }, log, { prefix, clock }),
      ),
    );
    shareds.push(...made);
    const [first, second = first] = made.map((shared) => createPlatformHttp({ shared, log, clock }));
    if (!first || !second) throw new Error('no client');
    clients.push(first, second);
    return [first, second];
  };
  afterEach(async () => {
    paths = [];
    for (const client of clients.splice(0)) await client.close();
    for (const shared of shareds.splice(0)) await shared.close();
    if (where !== 'through Redis') return;
    const redis = new Redis(REDIS_URL ?? '');
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
  });

  test('callers leave half of a common budget to polling, however many they are', async () => {
    const [api, ingest] = await open();
    const users = outcomesOf(
      times(80, (n) => api.send(read(`caller${n}`, { user: `user${n % 20}`, timeoutMs: 4000 }))),
    );
    const polls = times(14, (n) => ingest.send(read(`poll${n}`, { priority: 'poll' })));
    const started = clock.elapsed();
    expect(new Set(await outcomesOf(polls))).toEqual(new Set(['sent']));
    // Fourteen calls at 2.5 a second, less the burst.
    expect(clock.elapsed() - started).toBeLessThan(7500);
    expect(new Set(await users)).toEqual(new Set(['sent', 'unavailable']));
    expect(count('caller')).toBeGreaterThan(5);
  });

  test('one user cannot take what is left to callers, and is answered 429 with the wait', async () => {
    const [api, other] = await open();
    const greedy = times(60, (n) => api.send(read(`greedy${n}`, { user: 'greedy' })));
    const ended = outcomesOf(greedy);
    const refused: unknown = await Promise.any(
      greedy.map((call) =>
        call.then(
          () => Promise.reject(),
          (error: unknown) => error,
        ),
      ),
    );
    expect(refused).toMatchObject({ kind: 'over_share', retryAfterMs: 800 });
    expect(toApiError(refused as PlatformError)).toMatchObject({ status: 429, retryAfter: 1 });
    const started = clock.elapsed();
    expect(await outcomesOf([other.send(read('modest', { user: 'modest' }))])).toEqual(['sent']);
    expect(clock.elapsed() - started).toBeLessThan(4000);
    const all = await ended;
    const countOf = (wanted: string): number => all.filter((outcome) => outcome === wanted).length;
    // A burst of ten, and 1.25 a second for the seconds that a call may wait.
    expect(countOf('sent')).toBeLessThanOrEqual(15);
    expect(countOf('over_share')).toBeGreaterThanOrEqual(45);
  });

  test('the share is counted by upstream calls and their cost, by platform', async () => {
    const [api] = await open();
    const dear = times(20, () => api.send(read('dear', { user: 'one', cost: 50, timeoutMs: 500 })));
    expect((await outcomesOf(dear)).filter((outcome) => outcome === 'sent').length).toBeLessThanOrEqual(2);
    const elsewhere = read('elsewhere', { platform: 'polymarket', group: 'polymarket:gamma/markets', user: 'one' });
    expect(await outcomesOf([api.send(elsewhere)])).toEqual(['sent']);
  });

  test('an order leaves at once while every share of reads is used up', async () => {
    const [api, ingest] = await open();
    const limitless = { platform: 'limitless', group: 'limitless:all' } as const;
    const reads = outcomesOf(times(60, (n) => api.send(read(`read${n}`, { ...limitless, user: `user${n % 9}` }))));
    const polls = outcomesOf(times(10, (n) => ingest.send(read(`poll${n}`, { ...limitless, priority: 'poll' }))));
    const account = accountName('id', 'secret');
    const started = clock.elapsed();
    await api.send(read('order', { ...limitless, account, method: 'POST', retry: false }));
    expect(clock.elapsed() - started).toBeLessThan(1000);
    await clients[0]?.close();
    await clients[1]?.close();
    await Promise.all([reads, polls]);
  });
});

test('a refusal names the budget, and nothing of the credential it is kept for', async () => {
  const shared = await openShared({ REDIS_URL: undefined }, log, { clock });
  const budgets = new Set<string>();
  const takeBudget: Shared['takeBudget'] = (budget, ...rest) => {
    budgets.add(budget.name);
    return shared.takeBudget(budget, ...rest);
  };
  const http = createPlatformHttp({ shared: { ...shared, takeBudget }, log, clock });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const credential = {
    api_key_id: '0f5c2a7e-58d1-4f2b-9c3e-7b1d6a90e4f8',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  const settings = { ...SETTINGS, KALSHI_API_URL: server.origin };
  const access = { credential, priority: 'live' } as const;
  const account = createKalshiAccount({ http, settings, now: clock.now }, { ...access, markets, onBadRow() {} });
  const errors = await Promise.all(
    times(150, () =>
      account.send('DELETE', '/orders', null).then(
        () => null,
        (error: PlatformError) => error,
      ),
    ),
  );
  await http.close();
  const refused = errors.filter((error) => error !== null);
  const details = refused.map(({ detail }) => detail);
  expect(details).toContain('kalshi:write: no request budget left');
  // Those that come when the queue is full say so.
  expect(details.filter((detail) => !/^kalshi:write: [a-z ]+$/.test(detail))).toEqual([]);
  expect([...budgets]).toEqual([
    `kalshi:write/live/account/${accountName(credential.api_key_id, credential.private_key)}`,
  ]);
});

test('an account is named by a digest of id and secret: a junk secret draws on another budget', () => {
  const [own, junk] = [accountName('key-id', 'secret'), accountName('key-id', 'junk')];
  expect(own).not.toBe(junk);
  expect(own).not.toContain('key-id');
  expect(budgetKind(`kalshi:read/live/account/${own}`)).toBe('kalshi:read/live/account');
  expect(budgetKind(`kalshi:read/live/account/${own}/user/1`)).toBe('kalshi:read/live/user');
  expect(budgetKind('kalshi:anonymous/callers/user/1')).toBe('kalshi:anonymous/callers/user');
  expect(budgetKind('kalshi:anonymous/callers')).toBe('kalshi:anonymous/callers');
  expect(budgetKind('nothing/of/ours')).toBe('other');
});
