import { randomUUID } from 'node:crypto';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/config-error.ts';
import { systemClock } from '../../src/core/time.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import { type BudgetRule, type Log, type Shared } from '../../src/stores/shared/shared.ts';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

if (process.env['REDIS_URL']) waitsInRealTime('Redis goes by the time of the machine');

const { REDIS_URL = '' } = process.env;
const clock = REDIS_URL === '' ? flowingClock() : systemClock;
/** Redis of the run: none on embedded stores, one in `npm run test:stores`. */
const SERVERS = REDIS_URL === '' ? [] : [REDIS_URL];
const prefix = `forecastle-test-${randomUUID()}:`;
const quiet: Log = { info() {}, warn() {} };
const { sleep } = clock;

const admin = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
admin.on('error', () => {});
const opened: { close(): Promise<void> }[] = [];
const open = async (url: string | undefined, log: Log = quiet): Promise<Shared> => {
  const shared = await openShared({ REDIS_URL: url }, log, { prefix, clock });
  opened.push(shared);
  return shared;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  if (REDIS_URL !== '') {
    const keys = await admin.keys(`${prefix}*`);
    if (keys.length > 0) await admin.del(keys);
  }
  admin.disconnect();
});

/** Takes `calls` tokens, waiting as long as required; returns for how long, and when each was granted (ms from the start). */
async function spend(shared: Shared, budget: BudgetRule, calls: number) {
  const start = clock.elapsed();
  const granted: number[] = [];
  const waits: (number | null)[] = [];
  for (let call = 0; call < calls; call++) {
    const wait = await shared.takeBudget(budget, 1, 10_000);
    waits.push(wait);
    if (wait) await sleep(wait);
    granted.push(clock.elapsed() - start);
  }
  return { granted, waits };
}

const variants = [{ name: 'in the process', url: undefined }, ...SERVERS.map((url) => ({ name: 'in Redis', url }))];

describe.each(variants)('shared state $name', ({ url }) => {
  test('a value is loaded once and then comes from the cache until it expires', async () => {
    const shared = await open(url);
    const key = randomUUID();
    let loads = 0;
    const load = async () => ({ load: ++loads, price: '0.5000' });
    expect(await shared.cached(key, 600, load)).toEqual({ value: { load: 1, price: '0.5000' }, hit: false });
    expect(await shared.cached(key, 600, load)).toEqual({ value: { load: 1, price: '0.5000' }, hit: true });
    await sleep(620);
    expect(await shared.cached(key, 600, load)).toMatchObject({ value: { load: 2 }, hit: false });
  });

  test('concurrent callers of one key wait for one load, other keys do not', async () => {
    const shared = await open(url);
    const key = randomUUID();
    let loads = 0;
    const load = async () => {
      await sleep(50);
      return ++loads;
    };
    const all = await Promise.all(Array.from({ length: 20 }, () => shared.cached(key, 1000, load)));
    expect(loads).toBe(1);
    expect(new Set(all.map((one) => one.value))).toEqual(new Set([1]));
    expect((await shared.cached(`${key}/other`, 1000, load)).value).toBe(2);
  });

  test('a failed load is reported to its callers and not cached', async () => {
    const shared = await open(url);
    const key = randomUUID();
    const fail = async () => {
      throw new Error(`no data for ${key}`);
    };
    const both = await Promise.allSettled([shared.cached(key, 1000, fail), shared.cached(key, 1000, fail)]);
    expect(both.map((one) => one.status)).toEqual(['rejected', 'rejected']);
    expect(await shared.cached(key, 1000, async () => 'now')).toEqual({ value: 'now', hit: false });
  });

  test('every kind of JSON value survives the cache, text with any letters included', async () => {
    const shared = await open(url);
    for (const value of ['', 'sj', '{"a":"é🙂"}', 0, false, null, [1, 'x'], { a: { b: null } }]) {
      const key = randomUUID();
      await shared.cached<unknown>(key, 1000, async () => value);
      expect(await shared.cached<unknown>(key, 1000, async () => 'loaded again')).toEqual({ value, hit: true });
    }
  });

  test('a budget gives its capacity at once and then only its refill', async () => {
    const shared = await open(url);
    const { granted, waits } = await spend(shared, { name: randomUUID(), capacity: 5, refillPerSecond: 20 }, 15);
    expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    expect(granted[14]).toBeGreaterThanOrEqual(495);
  });

  test('a wait longer than allowed takes nothing from the budget', async () => {
    const shared = await open(url);
    const budget = { name: randomUUID(), capacity: 10, refillPerSecond: 10 };
    expect(await shared.takeBudget(budget, 10, 0)).toBe(0);
    expect(await shared.takeBudget(budget, 10, 500)).toBeNull();
    const wait = await shared.takeBudget(budget, 1, 500);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(100);
  });

  test('a new budget gives its capacity without a wait, whatever its refill', async () => {
    const shared = await open(url);
    for (let refillPerSecond = 0.1; refillPerSecond < 40; refillPerSecond += 0.1) {
      const budget = { name: randomUUID(), capacity: 10, refillPerSecond };
      expect([refillPerSecond, await shared.takeBudget(budget, 10, 0)]).toEqual([refillPerSecond, 0]);
    }
  });

  test('a full bucket never holds more than its capacity', async () => {
    const shared = await open(url);
    const budget = { name: randomUUID(), capacity: 2, refillPerSecond: 100 };
    await shared.takeBudget(budget, 1, 0);
    await sleep(60);
    const waits = [0, 0, 0].map(() => shared.takeBudget(budget, 1, 0));
    expect(await Promise.all(waits)).toEqual([0, 0, null]);
  });

  test('places are limited, come back when released, and expire when their holder is gone', async () => {
    const shared = await open(url);
    const name = randomUUID();
    const first = await shared.slot(name, 2, 5000);
    expect(await shared.slot(name, 2, 400)).not.toBeNull();
    expect(await shared.slot(name, 2, 400)).toBeNull();
    await first?.release();
    expect(await shared.slot(name, 2, 5000)).not.toBeNull();
    expect(await shared.slot(name, 2, 400)).toBeNull();
    await sleep(420);
    expect(await shared.slot(name, 2, 400)).not.toBeNull();
  });

  test('the holder of a lease renews it, and knows when it can no longer be sure of it', async () => {
    const shared = await open(url);
    const lease = await shared.lease(randomUUID(), 3000);
    expect(lease?.remainingMs()).toBeGreaterThan(2000);
    expect(lease?.remainingMs()).toBeLessThanOrEqual(2700);
    expect(await lease?.renew(9000)).toBe(true);
    expect(lease?.remainingMs()).toBeGreaterThan(7000);
    expect(lease?.remainingMs()).toBeLessThanOrEqual(8100);
    await lease?.release();
    expect(lease?.remainingMs()).toBe(0);
    expect(await lease?.renew(300)).toBe(false);
  });

  test('a message reaches every listener of its channel only, even when one of them fails', async () => {
    const shared = await open(url);
    const heard: string[] = [];
    await shared.subscribe('news', () => {
      throw new Error('broken listener');
    });
    await shared.subscribe('news', (message) => heard.push(message));
    await shared.subscribe('other', () => heard.push('wrong channel'));
    await shared.publish('news', 'hello');
    await sleep(50);
    expect(heard).toEqual(['hello']);
  });
});

test('a Redis that cannot be reached stops the start with one line that shows no password', async () => {
  const error = await open('redis://user:hidden-password@127.0.0.1:1/0').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toBe('ConfigError: REDIS_URL: no Redis at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1');
});

describe.each(SERVERS)('several processes on one Redis', () => {
  test('spend one budget together', async () => {
    const [a, b] = [await open(REDIS_URL), await open(REDIS_URL)];
    const budget = { name: randomUUID(), capacity: 4, refillPerSecond: 20 };
    const both = await Promise.all([spend(a, budget, 7), spend(b, budget, 7)]);
    const granted = both.flatMap((one) => one.granted);
    expect(granted.filter((at) => at < 40).length).toBeLessThanOrEqual(5);
    expect(Math.max(...granted)).toBeGreaterThanOrEqual(490);
  });

  test('read what one of them has cached', async () => {
    const [a, b] = [await open(REDIS_URL), await open(REDIS_URL)];
    const key = randomUUID();
    await a.cached(key, 1000, async () => 'body');
    await sleep(20);
    expect(await b.cached(key, 1000, async () => 'loaded again')).toEqual({ value: 'body', hit: true });
  });

  test('share the places of a slot', async () => {
    const [a, b] = [await open(REDIS_URL), await open(REDIS_URL)];
    const name = randomUUID();
    expect(await a.slot(name, 2, 5000)).not.toBeNull();
    expect(await b.slot(name, 2, 5000)).not.toBeNull();
    expect(await a.slot(name, 2, 5000)).toBeNull();
  });

  test('count members of a set together, each once, and drop those that are not renewed', async () => {
    const [a, b] = [await open(REDIS_URL), await open(REDIS_URL)];
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
    const [a, b] = [await open(REDIS_URL), await open(REDIS_URL)];
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
    const [a, b] = [await open(REDIS_URL), await open(REDIS_URL)];
    const heard: string[] = [];
    await a.subscribe('news', (message) => heard.push(`a ${message}`));
    await b.subscribe('news', (message) => heard.push(`b ${message}`));
    await a.publish('news', 'x');
    await sleep(50);
    expect(heard.toSorted()).toEqual(['a x', 'b x']);
  });
});

/** A way to Redis that can be cut (connections die, new ones are refused) or held (bytes go nowhere). */
async function cuttableWay() {
  const target = new URL(REDIS_URL);
  const sockets = new Set<Socket>();
  let held = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 6379), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => held || to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    cut,
    mend: () => listen(port),
    hold: (on: boolean) => {
      held = on;
    },
  };
}

/** Connections that only listen, by id, on the database that a test has for itself. */
const listeners = async (): Promise<string[]> => {
  const list = String(await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
  return [...list.matchAll(/^id=(\d+) .* db=13 /gm)].map(([, id = '']) => id);
};

describe.each(SERVERS)('Redis lost while running', () => {
  test('callers see no error: cache, budget and places go on in the process, leases are not sure; then it recovers', async () => {
    const way = await cuttableWay();
    const lines: string[] = [];
    const note = (_: unknown, text?: string) => lines.push(text ?? String(_));
    const shared = await open(way.url, { info: note, warn: note } as unknown as Log);
    const lease = await shared.lease('ingest', 60_000);
    const heard: string[] = [];
    await shared.subscribe('news', (message) => heard.push(message));
    expect(shared.healthy()).toBe(true);

    way.cut();
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

    await way.mend();
    await expect.poll(() => shared.healthy(), { timeout: 5000 }).toBe(true);
    expect(await shared.lease('ingest', 1000)).not.toBeNull();
    const other = await open(REDIS_URL);
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
    way.cut();
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
    const way = await cuttableWay();
    const shared = await open(way.url);
    way.hold(true);
    const start = performance.now();
    expect((await shared.cached(randomUUID(), 1000, async () => 1)).value).toBe(1);
    for (let call = 0; call < 20; call++) await shared.cached(randomUUID(), 1000, async () => 1);
    expect(performance.now() - start).toBeLessThan(2500);
    way.hold(false);
    await expect.poll(() => shared.healthy(), { timeout: 10_000 }).toBe(true);
    await shared.close();
    way.cut();
  });
});
