import { expect, test } from 'vitest';
import type { JobRun } from '../../ingest/job-runner.ts';
import { MarketSweeper } from '../../ingest/markets/market-sweep.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { MarketWriter } from '../../src/markets/writer.ts';
import { PlatformError, type PlatformErrorKind } from '../../src/core/errors.ts';
import type { PlatformData, ReadContext } from '../../src/platforms/contract.ts';
import { LEASE, market } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

const MINUTE = 60_000;
const run: JobRun = {
  lease: LEASE,
  signal: new AbortController().signal,
  context: (priority) => ({ priority, onBadRow: () => {} }),
};

/** A writer that has written these markets as open, and writes nothing more. */
const writerOf = (refs: () => readonly string[]) =>
  ({
    recall: async () => {},
    unwritten: () => [],
    write: async () => 0,
    hasWritten: () => true,
    unsettled: () => refs().map((ref) => ({ ref, writtenMs: 0 })),
    isUnsettled: (_platform: string, ref: string) => refs().includes(ref),
    settled: () => {},
  }) as unknown as MarketWriter;

/** A sweeper of unlisted markets that the platform answers by `read`; `pass` returns what the run names. */
function unlisted(refs: readonly string[], read: (ref: string, context: ReadContext) => Promise<null>) {
  const world = { now: MINUTE, refs: [...refs], listed: [] as string[] };
  const data = {
    platform: 'kalshi',
    async *sweep() {
      yield { markets: world.listed.map((ref) => market({ platform: 'kalshi', ref })) };
    },
    market: read,
  };
  const sweeper = new MarketSweeper({
    clickhouse: {
      query: async () => world.refs.map((ref) => ({ ref, status: 'open', end_ms: 0, provisional: false })),
    } as unknown as ClickHouse,
    writer: writerOf(() => world.refs),
    data: data as unknown as PlatformData,
    log: silent,
    clock: { now: () => world.now },
  });
  const pass = async (): Promise<string[]> => {
    const named: string[] = [];
    const context = (): ReadContext => ({ priority: 'poll', onBadRow: ({ id }) => named.push(id) });
    await sweeper.sweep({ kind: 'open' }, { ...run, context });
    world.now += MINUTE;
    return named.toSorted();
  };
  return { world, pass };
}
const failing = (status: number, kind: PlatformErrorKind = 'unavailable') =>
  new PlatformError('kalshi', kind, { status, detail: 'no' });

test('an unlisted market that cannot be read is named by each run until it can be, or is listed', async () => {
  const bad = new Set(['A', 'B', 'C']);
  const asked: string[] = [];
  const { world, pass } = unlisted(['A', 'B', 'C', 'D'], async (ref) => {
    asked.push(ref);
    if (bad.has(ref)) throw failing(500);
    return null;
  });
  for (let minutes = 0; minutes < 60; minutes += 1) expect(await pass()).toEqual(['A', 'B', 'C']);
  // They are asked for less and less often.
  expect(asked.filter((ref) => ref === 'A').length).toBeLessThan(16);
  bad.delete('A');
  world.listed = ['B', 'C'];
  for (let minutes = 0; minutes < 60; minutes += 1) await pass();
  expect(await pass()).toEqual([]);
});

test.each([
  ['unavailable', 502],
  ['maintenance', 503],
  ['timeout', 0],
] as const)('unlisted markets that get %s %i are left out, and asked for once from then on', async (kind, status) => {
  const contexts: ReadContext[] = [];
  const { pass } = unlisted(['A', 'B', 'C'], async (ref, context) => {
    if (ref === 'C') return null;
    if (ref === 'B') contexts.push(context);
    throw failing(status, kind);
  });
  for (let minutes = 0; minutes < 3; minutes += 1) expect(await pass()).toEqual(['A', 'B']);
  expect(contexts.map((context) => [context.isAskedOnce, context.failedBefore])).toEqual([
    [undefined, undefined],
    [true, true],
    [true, true],
  ]);
});

test('an unlisted market that could not be read is no longer named once it is settled or dropped in the store', async () => {
  const { world, pass } = unlisted(['A', 'B'], async () => {
    throw failing(500);
  });
  expect(await pass()).toEqual(['A', 'B']);
  // A socket or a caller had it read meanwhile.
  world.refs = ['B'];
  expect(await pass()).toEqual(['B']);
});

test('a platform that is away fails the run', async () => {
  const refs = Array.from({ length: 40 }, (_, n) => `M${n}`);
  let asked = 0;
  const { pass } = unlisted(refs, async () => {
    asked += 1;
    throw failing(503);
  });
  await expect(pass()).rejects.toMatchObject({ status: 503 });
  expect(asked).toBe(5);
});

test('a market that was long unknown and is listed again is asked for as soon as it is listed no more', async () => {
  let [now, asked, isListed] = [MINUTE, 0, false];
  const record = market({ platform: 'kalshi', ref: 'BACK' });
  const row = { ref: 'BACK', status: 'open', end_ms: 0, provisional: false };
  const data = {
    platform: 'kalshi',
    async *sweep() {
      yield { markets: isListed ? [record] : [], remaining: 0 };
    },
    async market() {
      asked += 1;
      return null;
    },
  };
  const sweeper = new MarketSweeper({
    clickhouse: { query: async () => [row] } as unknown as ClickHouse,
    writer: writerOf(() => ['BACK']),
    data: data as unknown as PlatformData,
    log: silent,
    clock: { now: () => now },
  });
  const pass = () => sweeper.sweep({ kind: 'open' }, run);
  for (let minutes = 0; minutes < 60 * 24; minutes += 1, now += MINUTE) await pass();
  const before = asked;
  isListed = true;
  await pass();
  isListed = false;
  now += MINUTE;
  await pass();
  expect(asked).toBe(before + 1);
});

test('a listing that fails names its own failure, also while the store fails', async () => {
  const data = {
    platform: 'kalshi',
    async *sweep() {
      yield { markets: [market({ platform: 'kalshi', ref: 'A' })] };
      throw failing(503, 'maintenance');
    },
  };
  const writer = {
    ...writerOf(() => []),
    unwritten: (records: readonly unknown[]) => records,
    write: () => Promise.reject(new Error('the store is away')),
  };
  const sweeper = new MarketSweeper({
    clickhouse: {} as ClickHouse,
    writer: writer as unknown as MarketWriter,
    data: data as unknown as PlatformData,
    log: silent,
    clock: { now: () => MINUTE },
  });
  await expect(sweeper.sweep({ kind: 'open' }, run)).rejects.toMatchObject({ kind: 'maintenance' });
});
