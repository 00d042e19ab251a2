import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import type { Log } from '../../src/core/log.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { relayed } from '../helpers/proxy.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { silent } from '../helpers/silent-log.ts';
import { describeShares } from '../platforms/shares.ts';
import { describeSharedState, spend } from '../stores/shared-state.ts';

waitsInRealTime('Redis goes by the time of the machine');

const { REDIS_URL = '' } = process.env;
const prefix = `forecastle-test-${randomUUID()}:`;
const admin = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
admin.on('error', () => {});
const opened: Shared[] = [];
const open = async (url = REDIS_URL, log: Log = silent): Promise<Shared> => {
  const shared = await openShared({ REDIS_URL: url }, log, { prefix, clock: systemClock });
  opened.push(shared);
  return shared;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  const keys = await admin.keys(`${prefix}*`);
  if (keys.length > 0) await admin.del(keys);
});
afterAll(() => admin.disconnect());

describeSharedState('in Redis', systemClock, open);
describeShares('through Redis', systemClock, () => Promise.all([open(), open()]));

describe('several processes on one Redis', () => {
  test('spend one budget together', async () => {
    const [a, b] = [await open(), await open()];
    const budget = { name: randomUUID(), capacity: 4, refillPerSecond: 20 };
    const both = await Promise.all([spend(systemClock, a, budget, 7), spend(systemClock, b, budget, 7)]);
    const granted = both.flatMap((one) => one.granted);
    expect(granted.filter((at) => at < 40).length).toBeLessThanOrEqual(5);
    expect(Math.max(...granted)).toBeGreaterThanOrEqual(490);
  });

  test('read what one of them has cached', async () => {
    const [a, b] = [await open(), await open()];
    const key = randomUUID();
    await a.cached(key, 1000, async () => 'body');
    await sleep(20);
    expect(await b.cached(key, 1000, async () => 'loaded again')).toEqual({ value: 'body', hit: true });
  });

  test('share the places of a slot', async () => {
    const [a, b] = [await open(), await open()];
    const name = randomUUID();
    expect(await a.slot(name, 2, 5000)).not.toBeNull();
    expect(await b.slot(name, 2, 5000)).not.toBeNull();
    expect(await a.slot(name, 2, 5000)).toBeNull();
  });

  test('count members of a set together, each once, and drop those that are not renewed', async () => {
    const [a, b] = [await open(), await open()];
    const set = randomUUID();
    expect(await a.claim(set, ['1', '2'], 3, 5000)).toBe(true);
    expect(await b.claim(set, ['2', '3'], 3, 400)).toBe(true);
    expect(await a.claim(set, ['4'], 3, 5000)).toBe(false);
    expect(await a.claim(set, ['1', '2'], 3, 5000)).toBe(true);
    await sleep(420);
    expect(await a.claim(set, ['4'], 3, 5000)).toBe(true);
    await b.unclaim(set, ['1']);
    expect(await b.claim(set, ['5', '6'], 3, 5000)).toBe(false);
    expect(await b.claim(set, ['5'], 3, 5000)).toBe(true);
  });

  test('a lease has one holder, passes on when it expires, and its old holder cannot renew or free it', async () => {
    const [a, b] = [await open(), await open()];
    const name = randomUUID();
    const first = await a.lease(name, 500);
    expect(first).not.toBeNull();
    expect(await b.lease(name, 1000)).toBeNull();
    await sleep(520);
    expect(first?.remainingMs()).toBe(0);
    const second = await b.lease(name, 5000);
    expect(second).not.toBeNull();
    expect(await first?.renew(1000)).toBe(false);
    await first?.release();
    expect(await second?.renew(5000)).toBe(true);
    await second?.release();
    expect(await a.lease(name, 100)).not.toBeNull();
  });

  test('hear each other once, and themselves once', async () => {
    const [a, b] = [await open(), await open()];
    const heard: string[] = [];
    await a.subscribe('news', (message) => heard.push(`a ${message}`));
    await b.subscribe('news', (message) => heard.push(`b ${message}`));
    await a.publish('news', 'x');
    await sleep(50);
    expect(heard.toSorted()).toEqual(['a x', 'b x']);
  });
});

/** Connections that only listen, by id, on the database that a test has for itself. */
const listeners = async (): Promise<string[]> => {
  const list = String(await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
  return [...list.matchAll(/^id=(\d+) .* db=13 /gm)].map(([, id = '']) => id);
};

describe('Redis lost while running', () => {
  test('callers see no error: cache, budget and places go on in the process, leases are not sure; then it recovers', async () => {
    const { proxy, url } = await relayed(REDIS_URL);
    const lines: string[] = [];
    const note = (_: unknown, text?: string) => lines.push(text ?? String(_));
    const shared = await open(url, { info: note, warn: note } as unknown as Log);
    const lease = await shared.lease('ingest', 60_000);
    const heard: string[] = [];
    await shared.subscribe('news', (message) => heard.push(message));
    expect(shared.healthy()).toBe(true);

    await proxy.cut();
    await sleep(30);
    const key = randomUUID();
    expect(await shared.cached(key, 5000, async () => 'local')).toEqual({ value: 'local', hit: false });
    expect(await shared.cached(key, 5000, async () => 'again')).toEqual({ value: 'local', hit: true });
    const budget = { name: randomUUID(), capacity: 1, refillPerSecond: 1 };
    expect(await shared.takeBudget(budget, 1, 0)).toBe(0);
    expect(await shared.takeBudget(budget, 1, 0)).toBeNull();
    expect(await shared.slot('place', 1, 1000)).not.toBeNull();
    expect(await lease?.renew(60_000)).toBe(false);
    expect(lease?.remainingMs()).toBe(0);
    expect(await shared.lease('other', 1000)).toBeNull();
    await shared.publish('news', 'local');
    expect(heard).toEqual(['local']);
    expect(shared.healthy()).toBe(false);

    await proxy.restore();
    await expect.poll(() => shared.healthy(), { timeout: 5000 }).toBe(true);
    expect(await shared.lease('ingest', 1000)).not.toBeNull();
    const other = await open();
    await expect
      .poll(async () => {
        await other.publish('news', 'again');
        return heard.includes('again');
      })
      .toBe(true);
    expect(lines).toEqual([
      'Redis is unavailable: caches and budgets are kept per process until it returns',
      'Redis is available again',
    ]);
    await shared.close();
    await proxy.close();
  });

  test('while messages alone are missed it is not healthy, long enough to be noticed; then it hears again', async () => {
    const url = new URL(REDIS_URL);
    url.pathname = '/13';
    const before = new Set(await listeners());
    const shared = await open(url.href);
    const heard: string[] = [];
    await shared.subscribe('news', (message) => heard.push(message));
    expect(shared.healthy()).toBe(true);
    const mine = (await listeners()).filter((id) => !before.has(id));
    expect(mine.length).toBeGreaterThan(0);
    for (const id of mine) await admin.call('CLIENT', 'KILL', 'ID', id);
    const unwell: number[] = [];
    for (const end = performance.now() + 2500; performance.now() < end; await sleep(10))
      if (!shared.healthy()) unwell.push(performance.now());
    expect((unwell.at(-1) ?? 0) - (unwell[0] ?? 0)).toBeGreaterThan(400);
    expect(shared.healthy()).toBe(true);
    const other = await open(url.href);
    await other.publish('news', 'again');
    await sleep(200);
    expect(heard).toEqual(['again']);
  });

  test('a Redis that accepts but does not answer delays one call, not every call', async () => {
    const { proxy, url } = await relayed(REDIS_URL);
    const shared = await open(url);
    proxy.hang();
    const start = performance.now();
    expect((await shared.cached(randomUUID(), 1000, async () => 1)).value).toBe(1);
    for (let call = 0; call < 20; call++) await shared.cached(randomUUID(), 1000, async () => 1);
    expect(performance.now() - start).toBeLessThan(2500);
    await proxy.restore();
    await expect.poll(() => shared.healthy(), { timeout: 10_000 }).toBe(true);
    await shared.close();
    await proxy.close();
  });
});
