import { once } from 'node:events';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { Watermarks } from '../../ingest/watermarks.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { Lease } from '../../src/stores/shared/shared.ts';
import { noCopier } from '../helpers/trade-writer.ts';

const leaseOf = (remainingMs: number): Lease => ({
  name: 'kalshi:trades',
  renew: async () => true,
  remainingMs: () => remainingMs,
  release: async () => {},
});

/** A store of one span, and how often it was read. */
function startStore() {
  const store = { span: null as object | null, reads: 0, fails: false, answers: Promise.resolve() };
  const clickhouse = {
    query: async (_: string, __: unknown, { refs }: { refs: string[] }) => {
      store.reads += 1;
      const { span } = store;
      await store.answers;
      return span ? refs.map((ref) => [ref, span]) : [];
    },
    insert: async (_: string, [row]: Record<string, string>[]) => {
      if (store.fails) throw new Error('refused');
      const us = (name: string): number => Date.parse(`${row?.[name]?.slice(0, 23).replace(' ', 'T')}Z`) * 1000;
      const [fromUs, toUs, versionUs] = [us('complete_from'), us('complete_to'), us('version')];
      store.span = { fromUs, toUs, marker: row?.['marker'], versionUs };
    },
  } as unknown as ClickHouse;
  return { store, watermarks: new Watermarks(clickhouse, 'kalshi', systemClock, noCopier) };
}
const to = (toUs: number) => () => ({ fromUs: 0, toUs, marker: '' });

test('a span is read once under a lease, however often it moves, and again under the next', async () => {
  const { store, watermarks } = startStore();
  const lease = leaseOf(60_000);
  expect(await watermarks.read('', lease)).toBeNull();
  await watermarks.move('', lease, to(1_000_000));
  await watermarks.move('', lease, (span) => ({ ...span!, toUs: 2_000_000 }));
  expect(await watermarks.read('', lease)).toMatchObject({ fromUs: 0, toUs: 2_000_000 });
  expect(store.reads).toBe(1);
  store.span = { fromUs: 0, toUs: 5_000_000, marker: '', versionUs: 1 };
  expect(await watermarks.read('', leaseOf(60_000))).toMatchObject({ toUs: 5_000_000 });
  expect(store.reads).toBe(2);
});

test('a span is read again after a move that failed, and each time once the lease has ended', async () => {
  const { store, watermarks } = startStore();
  const lease = leaseOf(60_000);
  await watermarks.move('', lease, to(1_000_000));
  store.fails = true;
  await expect(watermarks.move('', lease, to(2_000_000))).rejects.toThrow('refused');
  expect(await watermarks.read('', lease)).toMatchObject({ toUs: 1_000_000 });
  expect(store.reads).toBe(2);
  const ended = leaseOf(0);
  await watermarks.read('', ended);
  await watermarks.read('', ended);
  expect(store.reads).toBe(4);
});

test('moves of one span follow one another, and one that fails keeps no other waiting', async () => {
  const { store, watermarks } = startStore();
  const lease = leaseOf(60_000);
  const failing = watermarks.move('', lease, () => {
    throw new Error('nothing to move');
  });
  const moves = [1, 2, 3].map((n) =>
    watermarks.move('', lease, (span) => ({ fromUs: 0, toUs: (span?.toUs ?? 0) + n * 1_000_000, marker: '' })),
  );
  await expect(failing).rejects.toThrow('nothing to move');
  await Promise.all(moves);
  expect(store.span).toMatchObject({ toUs: 6_000_000 });
  expect(store.reads).toBe(1);
});

test('spans of many feeds are read at once, and a read that a move overtakes changes nothing', async () => {
  const { store, watermarks } = startStore();
  const lease = leaseOf(60_000);
  store.span = { fromUs: 0, toUs: 1_000_000, marker: '', versionUs: 1 };
  await watermarks.readAll(['a', 'b', 'c'], lease);
  for (const ref of ['a', 'b', 'c']) expect(await watermarks.read(ref, lease)).toMatchObject({ toUs: 1_000_000 });
  await watermarks.readAll(['a', 'b'], lease);
  expect(store.reads).toBe(1);
  const held = new AbortController();
  store.answers = once(held.signal, 'abort').then(() => {});
  const reading = watermarks.readAll(['d'], lease);
  store.answers = Promise.resolve();
  await watermarks.move('d', lease, to(5_000_000));
  held.abort();
  await reading;
  expect(await watermarks.read('d', lease)).toMatchObject({ toUs: 5_000_000 });
});
