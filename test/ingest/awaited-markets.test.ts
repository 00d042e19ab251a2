import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { MINUTE_MS, systemClock } from '../../src/core/time.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import { MarketSweeper } from '../../ingest/markets/market-sweep.ts';
import type { MarketRecord, MarketState } from '../../src/core/model.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { LEASE, market } from '../helpers/market-store.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';

let clickhouse: ClickHouse;
beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
});
afterAll(() => clickhouse?.close());
beforeEach(async () => {
  for (const table of ['market_state', 'markets']) await clickhouse.command(`TRUNCATE TABLE ${table}`);
});

const START_MS = Date.UTC(2026, 10, 20, 12);

/** A platform with these markets, a process that sweeps it, and another one that stores markets too. */
function startWorld() {
  const world = {
    now: START_MS,
    statuses: new Map<string, MarketState['status']>(),
    asked: [] as string[],
    endAt: null as string | null,
    /** Before rows are inserted. */
    onInsert: async () => {},
  };
  const statements: string[] = [];
  const store: ClickHouse = {
    ...clickhouse,
    query: (name, ...rest) => (statements.push(name), clickhouse.query(name, ...rest)),
    insert: async (...rows) => {
      await world.onInsert();
      await clickhouse.insert(...rows);
    },
  };
  const recordOf = (ref: string): MarketRecord => {
    const record = market({ platform: 'kalshi', ref, state: { status: world.statuses.get(ref) ?? 'open' } });
    const info = { ...record.info, tradingEndAt: world.endAt };
    return { ...record, info, fetchedAt: new Date(world.now).toISOString() };
  };
  const refs = (): string[] => [...world.statuses.keys()];
  const data = {
    platform: 'kalshi',
    async *sweep() {
      yield { markets: refs().flatMap((ref) => (world.statuses.get(ref) === 'open' ? [recordOf(ref)] : [])) };
    },
    market: async (ref: string) => {
      world.asked.push(ref);
      return recordOf(ref);
    },
  };
  const process = () => {
    const writer = new MarketWriter(store, systemClock);
    const log = pino({ level: 'silent' });
    const sweeper = new MarketSweeper({
      clickhouse: store,
      writer,
      data: data as unknown as PlatformData,
      log,
      clock: { now: () => world.now },
    });
    return {
      writer,
      sweeper,
      /** A sweep a minute later: the markets that were asked for one by one, and its statements. */
      async sweep(kind: 'open' | 'full' = 'open') {
        world.now += MINUTE_MS;
        world.asked.length = 0;
        statements.length = 0;
        const run: JobRun = {
          lease: LEASE,
          signal: new AbortController().signal,
          context: (priority) => ({ priority, onBadRow: () => {} }),
        };
        await sweeper.sweep({ kind }, run);
        return { asked: [...world.asked], statements: [...statements] };
      },
    };
  };
  return { world, recordOf, process };
}

test('a sweep in which nothing changed and nothing is missing costs no statement', async () => {
  const { world, process } = startWorld();
  for (const ref of ['SAME-1', 'SAME-2']) world.statuses.set(ref, 'open');
  const { sweep } = process();
  await sweep();
  expect(await sweep()).toEqual({ asked: [], statements: [] });
});

test.each([
  ['', null],
  [' a year before its end', '2027-11-20T12:00:00.000Z'],
])('a market that left the lists%s is asked for until it is settled, less and less often', async (_, endAt) => {
  const { world, process } = startWorld();
  world.endAt = endAt;
  world.statuses.set('LEFT', 'open');
  const { sweep } = process();
  await sweep();
  world.statuses.set('LEFT', 'closed');
  let asked = 0;
  for (let minutes = 0; minutes < 60; minutes += 1) asked += (await sweep()).asked.length;
  expect(asked).toBeGreaterThan(4);
  expect(asked).toBeLessThan(16);
  world.statuses.set('LEFT', 'settled');
  while ((await sweep()).asked.length === 0);
  expect(await sweep()).toEqual({ asked: [], statements: [] });
});

test('markets that are asked for one by one are stored together', async () => {
  const { world, process } = startWorld();
  const left = ['LEFT-1', 'LEFT-2', 'LEFT-3'];
  for (const ref of left) world.statuses.set(ref, 'open');
  const { sweep } = process();
  await sweep();
  for (const ref of left) world.statuses.set(ref, 'closed');
  world.onInsert = () => vi.waitFor(() => expect(world.asked).toHaveLength(3));
  expect((await sweep()).asked.toSorted()).toEqual(left);
});

test('a process that takes over awaits what the one before awaited', async () => {
  const { world, process } = startWorld();
  world.statuses.set('TAKEN', 'open');
  await process().sweep();
  world.statuses.set('TAKEN', 'closed');
  expect((await process().sweep()).asked).toEqual(['TAKEN']);
});

test('a market that another process stored is awaited, one that it settled is not', async () => {
  const { world, recordOf, process } = startWorld();
  const { sweep, sweeper } = process();
  world.statuses.set('MINE', 'open');
  await sweep();
  const other = process();
  world.statuses.set('THEIRS', 'closed');
  world.statuses.set('OVER', 'settled');
  world.statuses.set('MINE', 'settled');
  const theirs = ['THEIRS', 'OVER', 'MINE'];
  world.now += 1;
  await other.writer.write('kalshi', theirs.map(recordOf));
  sweeper.stored(theirs);
  expect(await sweep()).toMatchObject({ asked: ['THEIRS'], statements: ['awaited_markets', expect.anything()] });
  world.statuses.set('THEIRS', 'settled');
  while ((await sweep()).asked.length === 0);
  expect(await sweep()).toEqual({ asked: [], statements: [] });
});

test('a sweep reads again what is stored where messages may have been missed', async () => {
  const { world, recordOf, process } = startWorld();
  const { sweep, sweeper } = process();
  await sweep();
  world.statuses.set('MISSED', 'closed');
  await process().writer.write('kalshi', [recordOf('MISSED')]);
  expect((await sweep()).asked).toEqual([]);
  sweeper.recallAgain();
  expect((await sweep()).asked).toEqual(['MISSED']);
});

test('a full sweep finds what a killed process stored, and a market that was taken for settled', async () => {
  const { world, recordOf, process } = startWorld();
  const { writer, sweep } = process();
  for (const ref of ['TAKEN', 'KILLED']) world.statuses.set(ref, 'closed');
  await sweep();
  await writer.write('kalshi', [recordOf('TAKEN')]);
  writer.settled('kalshi', ['TAKEN']);
  await process().writer.write('kalshi', [recordOf('KILLED')]);
  expect((await sweep()).asked).toEqual([]);
  expect((await sweep('full')).asked.toSorted()).toEqual(['KILLED', 'TAKEN']);
});
