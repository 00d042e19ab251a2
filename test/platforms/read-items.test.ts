import { describe, expect, test } from 'vitest';
import { PlatformError } from '../../src/core/errors.ts';
import { ItemReader } from '../../src/platforms/read-items.ts';
import { readContext } from '../fixtures/canned-http.ts';

/** A platform that answers 500 to every request that contains one of the bad ids. */
function platform(bad: Set<string>, groupSize: number) {
  const asked: string[][] = [];
  const once: boolean[] = [];
  const reader = new ItemReader<string>({
    platform: 'kalshi',
    kind: 'event',
    groupSize,
    async read(ids, context) {
      asked.push([...ids]);
      once.push(context.isAskedOnce === true);
      if (ids.some((id) => bad.has(id)))
        throw new PlatformError('kalshi', 'unavailable', { status: 500, detail: 'no' });
      return ids.filter((id) => id !== 'absent').map((id) => `row of ${id}`);
    },
  });
  return { reader, asked, once };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `e${n}`);
const rows = (names: readonly string[]): string[] => names.map((id) => `row of ${id}`);

describe.each([
  [10, 10],
  [20, 20],
  [100, 100],
  [100, 25],
  [7, 3],
])('of %i items in groups of %i', (count, groupSize) => {
  test.each([[[0]], [[3]], [[1, 2]], [[0, 5, 6]], [ids(7).map((_, n) => n)]])(
    'those that fail (%j) are left out and named, and the others are read',
    async (places) => {
      const all = ids(count);
      const bad = new Set(places.flatMap((n) => all[n] ?? []));
      const { reader } = platform(bad, groupSize);
      const context = readContext();
      const found = await reader.readAll(all, context);
      expect(found.toSorted()).toEqual(rows(all.filter((id) => !bad.has(id))).toSorted());
      expect(context.badRows.map(({ id }) => id).toSorted()).toEqual([...bad].toSorted());
      for (const row of context.badRows) {
        expect(row).toMatchObject({ platform: 'kalshi', kind: 'event', reason: expect.stringContaining('no') });
        expect(row.field).toBeUndefined();
      }
    },
  );
});

test('a group is divided once; later reads ask for its bad item alone, once, after the others', async () => {
  const { reader, asked, once } = platform(new Set(['e4']), 10);
  await reader.readAll(ids(10), readContext());
  expect(asked).toHaveLength(11);
  expect(once).toEqual([false, ...Array.from({ length: 10 }, () => true)]);
  asked.length = 0;
  const context = readContext();
  expect(await reader.readAll(ids(10), context)).toHaveLength(9);
  expect(asked).toEqual([ids(10).filter((id) => id !== 'e4'), ['e4']]);
  // Not again within the same sweep.
  expect(await reader.readAll(ids(10), context)).toHaveLength(9);
  expect(await reader.readLeftOut(context)).toEqual([]);
  expect(asked).toHaveLength(3);
});

test('an item that heals is returned by the next look at what was left out, and never again', async () => {
  const bad = new Set(['e1', 'e2']);
  const { reader } = platform(bad, 10);
  await reader.readAll(ids(4), readContext());
  bad.delete('e1');
  const context = readContext();
  expect(await reader.readLeftOut(context)).toEqual(rows(['e1']));
  expect(context.badRows.map(({ id }) => id)).toEqual(['e2']);
  bad.clear();
  expect(await reader.readLeftOut(readContext())).toEqual(rows(['e2']));
  expect(await reader.readLeftOut(readContext())).toEqual([]);
});

test('of many bad items a few are tried each time, in turn, and all are named', async () => {
  const bad = new Set(ids(9));
  const { reader, asked } = platform(bad, 10);
  await reader.readAll(ids(10), readContext());
  const tried = new Set<string>();
  for (let sweep = 0; sweep < 3; sweep += 1) {
    asked.length = 0;
    const context = readContext();
    await reader.readLeftOut(context);
    expect(asked).toHaveLength(4);
    expect(context.badRows).toHaveLength(9);
    for (const [id = ''] of asked) tried.add(id);
  }
  expect(tried.size).toBe(9);
});

test('an item that the platform does not have is no failure', async () => {
  const { reader } = platform(new Set(), 10);
  const context = readContext();
  expect(await reader.readAll(['absent', 'e1'], context)).toEqual(rows(['e1']));
  expect(context.badRows).toEqual([]);
});

test.each(['rate_limited', 'timeout', 'geo_blocked'] as const)('%s concerns more than an item', async (kind) => {
  const reader = new ItemReader<string>({
    platform: 'kalshi',
    kind: 'event',
    groupSize: 10,
    read: async () => Promise.reject(new PlatformError('kalshi', kind, { status: 0 })),
  });
  await expect(reader.readAll(ids(3), readContext())).rejects.toMatchObject({ kind });
});
