import { expect, test } from 'vitest';
import { Cache } from '../../src/core/cache.ts';
import { SingleFlight } from '../../src/core/single-flight.ts';

class Later<T> {
  resolve!: (value: T) => void;
  readonly promise = new Promise<T>((resolve) => {
    this.resolve = resolve;
  });
}

test('a full cache drops what was not used for longest', () => {
  const cache = new Cache<string, number>({ limit: 2 });
  cache.set('a', 1);
  cache.set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([1, undefined, 3, 2]);
  expect([cache.peek('a'), cache.has('a'), cache.entries()]).toEqual([
    1,
    true,
    [
      ['a', 1],
      ['c', 3],
    ],
  ]);
  expect(() => new Cache({ limit: 0 })).toThrow('limit: a whole number from 1, received 0');
});

test('the bound is a weight where entries have one; a value heavier than all of it is not kept', () => {
  const cache = new Cache<string, string>({ limit: 3000 });
  for (const key of ['a', 'b', 'c']) cache.set(key, key, { weight: 1000 });
  cache.get('a');
  cache.set('d', 'd', { weight: 1000 });
  cache.set('e', 'e', { weight: 3001 });
  const kept = ['a', 'b', 'c', 'd', 'e'].map((key) => cache.get(key) !== undefined);
  expect(kept).toEqual([true, false, true, true, false]);
});

test('a value expires, also one that was set at the time 0; null is a value like any other', () => {
  let now = 0;
  const cache = new Cache<string, number | null>({ limit: 10, ttlMs: 1000, now: () => now });
  cache.set('a', null);
  cache.set('b', 2, { ttlMs: 10 });
  cache.set('c', 3, { ttlMs: 0 });
  now = 11;
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([null, undefined, undefined]);
  now = 1001;
  expect([cache.get('a'), cache.has('a')]).toEqual([undefined, false]);
});

test('concurrent callers share one load, and a load that failed is not kept', async () => {
  const cache = new Cache<string, number>({ limit: 10 });
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads === 1) throw new Error('failed');
    return loads;
  };
  const failed = await Promise.allSettled([cache.read('a', load), cache.read('a', load)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([cache.read('a', load), cache.read('a', load)])).toEqual([2, 2]);
  expect([await cache.read('a', load), loads]).toEqual([2, 2]);
});

test.each(['delete', 'clear'] as const)('%s during a load: its value is answered and not kept', async (way) => {
  const cache = new Cache<string, number>({ limit: 10 });
  const [first, many] = [new Later<number>(), new Later<[string, number][]>()];
  const read = cache.read('a', () => first.promise);
  const readAll = cache.readAll(['b', 'c'], () => many.promise);
  await Promise.resolve();
  if (way === 'clear') cache.clear();
  else for (const key of ['a', 'b']) cache.delete(key);
  const second = cache.read('a', async () => 2);
  first.resolve(1);
  many.resolve([
    ['b', 3],
    ['c', 4],
  ]);
  expect([await read, await second]).toEqual([1, 2]);
  await readAll;
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([2, undefined, way === 'clear' ? undefined : 4]);
});

test('reads of one key at the same time are one, and those of other keys are not', async () => {
  const flights = new SingleFlight<string>();
  let reads = 0;
  const read = async () => (reads += 1);
  expect(await Promise.all([flights.run('a', read), flights.run('a', read), flights.run('b', read)])).toEqual([
    1, 1, 2,
  ]);
  expect(await flights.run('a', read)).toBe(3);
});
