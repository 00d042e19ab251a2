import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/time.ts';
import type { BudgetRule, Shared } from '../../src/stores/shared/shared.ts';

/** Takes `calls` tokens, waiting as long as required; returns for how long, and when each was granted (ms from the start). */
export async function spend(clock: Clock, shared: Shared, budget: BudgetRule, calls: number) {
  const start = clock.elapsed();
  const granted: number[] = [];
  const waits: (number | null)[] = [];
  for (let call = 0; call < calls; call++) {
    const wait = await shared.takeBudget(budget, 1, 10_000);
    waits.push(wait);
    if (wait) await clock.sleep(wait);
    granted.push(clock.elapsed() - start);
  }
  return { granted, waits };
}

/** What is true of the state that processes share, wherever it is kept. */
export function describeSharedState(where: string, clock: Clock, open: () => Promise<Shared>): void {
  const { sleep } = clock;
  describe(`shared state ${where}`, () => {
    test('a value is loaded once and then comes from the cache until it expires', async () => {
      const shared = await open();
      const key = randomUUID();
      let loads = 0;
      const load = async () => ({ load: ++loads, price: '0.5000' });
      expect(await shared.cached(key, 600, load)).toEqual({ value: { load: 1, price: '0.5000' }, hit: false });
      expect(await shared.cached(key, 600, load)).toEqual({ value: { load: 1, price: '0.5000' }, hit: true });
      await sleep(620);
      expect(await shared.cached(key, 600, load)).toMatchObject({ value: { load: 2 }, hit: false });
    });

    test('concurrent callers of one key wait for one load, other keys do not', async () => {
      const shared = await open();
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
      const shared = await open();
      const key = randomUUID();
      const fail = async () => {
        throw new Error(`no data for ${key}`);
      };
      const both = await Promise.allSettled([shared.cached(key, 1000, fail), shared.cached(key, 1000, fail)]);
      expect(both.map((one) => one.status)).toEqual(['rejected', 'rejected']);
      expect(await shared.cached(key, 1000, async () => 'now')).toEqual({ value: 'now', hit: false });
    });

    test('every kind of JSON value survives the cache, text with any letters included', async () => {
      const shared = await open();
      for (const value of ['', 'sj', '{"a":"é🙂"}', 0, false, null, [1, 'x'], { a: { b: null } }]) {
        const key = randomUUID();
        await shared.cached<unknown>(key, 1000, async () => value);
        expect(await shared.cached<unknown>(key, 1000, async () => 'loaded again')).toEqual({ value, hit: true });
      }
    });

    test('a budget gives its capacity at once and then only its refill', async () => {
      const shared = await open();
      const { granted, waits } = await spend(
        clock,
        shared,
        { name: randomUUID(), capacity: 5, refillPerSecond: 20 },
        15,
      );
      expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
      expect(granted[14]).toBeGreaterThanOrEqual(495);
    });

    test('a wait longer than allowed takes nothing from the budget', async () => {
      const shared = await open();
      const budget = { name: randomUUID(), capacity: 10, refillPerSecond: 10 };
      expect(await shared.takeBudget(budget, 10, 0)).toBe(0);
      expect(await shared.takeBudget(budget, 10, 500)).toBeNull();
      const wait = await shared.takeBudget(budget, 1, 500);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(100);
    });

    test('a new budget gives its capacity without a wait, whatever its refill', async () => {
      const shared = await open();
      for (let refillPerSecond = 0.1; refillPerSecond < 40; refillPerSecond += 0.1) {
        const budget = { name: randomUUID(), capacity: 10, refillPerSecond };
        expect([refillPerSecond, await shared.takeBudget(budget, 10, 0)]).toEqual([refillPerSecond, 0]);
      }
    });

    test('a full bucket never holds more than its capacity', async () => {
      const shared = await open();
      const budget = { name: randomUUID(), capacity: 2, refillPerSecond: 100 };
      await shared.takeBudget(budget, 1, 0);
      await sleep(60);
      const waits = [0, 0, 0].map(() => shared.takeBudget(budget, 1, 0));
      expect(await Promise.all(waits)).toEqual([0, 0, null]);
    });

    test('places are limited, come back when released, and expire when their holder is gone', async () => {
      const shared = await open();
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
      const shared = await open();
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
      const shared = await open();
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
}
