import { describe, expect, test } from 'vitest';
import { PlatformError, type PlatformErrorKind } from '../../src/core/errors.ts';
import { ItemReader } from '../../src/platforms/read-items.ts';
import { readContext } from '../fixtures/canned-http.ts';

type Fault = [PlatformErrorKind, number];
const ERROR_500: Fault = ['unavailable', 500];
const DOUBTFUL: Fault[] = [
  ['unavailable', 502],
  ['unavailable', 503],
  ['unavailable', 504],
  ['maintenance', 503],
  ['timeout', 0],
  ['unavailable', 0],
];

/** A platform that fails every request that contains one of the bad ids; without them, it is `away`. */
function platform(bad: Set<string> | 'away', groupSize: number, [kind, status] = ERROR_500) {
  const asked: string[][] = [];
  const once: boolean[] = [];
  /** Failures in a row that count against the host, with four for a request that is retried. */
  const counted = { now: 0, most: 0 };
  const world = { bad };
  const reader = new ItemReader<string>({
    platform: 'kalshi',
    kind: 'event',
    groupSize,
    async read(ids, context) {
      asked.push([...ids]);
      once.push(context.isAskedOnce === true);
      if (world.bad === 'away' || ids.some((id) => world.bad !== 'away' && world.bad.has(id))) {
        if (!context.failedBefore) counted.now += context.isAskedOnce ? 1 : 4;
        counted.most = Math.max(counted.most, counted.now);
        throw new PlatformError('kalshi', kind, { status, detail: 'no' });
      }
      counted.now = 0;
      return ids.filter((id) => id !== 'absent').map((id) => `row of ${id}`);
    },
  });
  return { reader, asked, once, counted, world };
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

describe.each(DOUBTFUL)('an item that answers %s %i', (...fault) => {
  test.each([
    [1, ['e1']],
    [1, ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6']],
    [10, ['e0']],
    [10, ['e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e8']],
    [20, ['e3', 'e17']],
  ])(
    'in groups of %i is left out, named, and tried again alone, if others are answered: %j',
    async (groupSize, names) => {
      const { reader, asked, world, counted } = platform(new Set(), groupSize, fault);
      await reader.readAll(['known'], readContext());
      world.bad = new Set(names);
      const context = readContext();
      const all = ids(20);
      expect((await reader.readAll(all, context)).toSorted()).toEqual(
        rows(all.filter((id) => !names.includes(id))).toSorted(),
      );
      expect(context.badRows.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
      expect(counted.most).toBeLessThan(8);
      world.bad = new Set();
      asked.length = 0;
      expect((await reader.readLeftOut(readContext())).toSorted()).toEqual(rows(names).toSorted());
      expect(asked).toEqual(names.map((id) => [id]));
    },
  );

  test('that is the last one of a list is left out as well', async () => {
    const { reader, world } = platform(new Set(), 1, fault);
    await reader.readAll(['known'], readContext());
    world.bad = new Set(['e2']);
    const context = readContext();
    expect(await reader.readAll(ids(3), context)).toEqual(rows(['e0', 'e1']));
    expect(context.badRows.map(({ id }) => id)).toEqual(['e2']);
  });

  test.each([1, 10, 100])('fails the read, in groups of %i, if the platform is away', async (groupSize) => {
    const { reader, world, asked } = platform(new Set(), groupSize, fault);
    await reader.readAll(['known'], readContext());
    world.bad = 'away';
    asked.length = 0;
    const context = readContext();
    await expect(reader.readAll(ids(100), context)).rejects.toMatchObject({ kind: fault[0] });
    expect(context.badRows).toEqual([]);
    expect(asked.length).toBeLessThanOrEqual(4);
    world.bad = new Set();
    expect(await reader.readAll(ids(100), readContext())).toHaveLength(100);
  });
});

test('items that failed before do not count against the host, and those behind one that hangs wait for their turn', async () => {
  const { reader, asked, counted, world } = platform(new Set(), 1, ['timeout', 0]);
  await reader.readAll(['known'], readContext());
  world.bad = new Set(ids(3));
  await reader.readAll(ids(4), readContext());
  const tried = new Set<string>();
  counted.most = 0;
  for (let sweep = 0; sweep < 3; sweep += 1) {
    asked.length = 0;
    const context = readContext();
    await reader.readLeftOut(context);
    expect(asked).toHaveLength(1);
    expect(context.badRows).toHaveLength(3);
    for (const [id = ''] of asked) tried.add(id);
  }
  expect(tried.size).toBe(3);
  expect(counted.most).toBe(0);
});

test('a read that was cancelled leaves nothing out', async () => {
  const { reader, world } = platform(new Set(), 1, ['unavailable', 0]);
  await reader.readAll(['known'], readContext());
  world.bad = new Set(['e0']);
  const context = { ...readContext(), signal: AbortSignal.abort() };
  await expect(reader.readAll(ids(3), context)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(context.badRows).toEqual([]);
});
