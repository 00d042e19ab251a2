import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { Spool } from '../../ingest/spool/spool.ts';
import { LOG_COLUMNS } from '../../ingest/event-appender.ts';
import { TradeLog } from '../../ingest/trade-log.ts';
import { TradeWriter } from '../../ingest/trade-writer.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { TRADE_COLUMNS } from '../../src/stores/clickhouse/insert-rows.ts';
import { createLog } from '../../src/core/log.ts';
import { LEASE, market, trade } from '../helpers/market-store.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { rollupDifferences } from '../helpers/rollups.ts';
import { tradeWriter } from '../helpers/trade-writer.ts';

const log = createLog({ LOG_LEVEL: 'silent' });
let directory: string;
let clickhouse: ClickHouse;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-writer-'));
  ({ clickhouse } = await openOwnClickHouse());
});
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  await clickhouse?.close();
  await rm(directory, { recursive: true, force: true });
});

/** A writer of a worker of its own. */
const worker = async (name: string, store = clickhouse, onStored = (_refs: Set<string>): void => {}) => {
  const spool = await Spool.open(join(directory, name));
  return tradeWriter({ clickhouse: store, spool, log, platform: 'kalshi', onStored, clock: systemClock });
};
const differences = async (): Promise<string[]> => {
  await clickhouse.command('OPTIMIZE TABLE trades FINAL');
  return rollupDifferences(clickhouse);
};

test('what a worker that lost its lease stores late is rolled up once', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXLATE-1' });
  const trades = ['1', '300', '70'].map((size, i) => trade({ of, atMs: Date.now() - i, price: '0.5', size }));
  const [first, second] = await Promise.all([worker('first'), worker('second')]);
  await first.open(LEASE, null);
  await second.open(LEASE, new Date());
  expect(await second.write(trades, LEASE)).toBe(3);
  // Read and sent before its lease was over, this arrives only now.
  expect(await first.write(trades, LEASE)).toBe(3);
  expect(await rollupDifferences(clickhouse)).not.toEqual([]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 });
  expect(await second.write(trades, LEASE)).toBe(0);
  expect(await clickhouse.sql('SELECT toString(count()) AS stored FROM trades')).toEqual([{ stored: '6' }]);
  expect(await clickhouse.sql('SELECT toString(count()) AS n, sum(size) AS size FROM v_trades')).toEqual([
    { n: '3', size: '371' },
  ]);
  expect(await differences()).toEqual([]);
});

test('a write whose trades another one is storing ends after that one, and fails with it', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXTWICE-1' });
  const [known, own] = [0, 1].map((i) => trade({ of, atMs: Date.now() - i, price: '0.5', size: '10' }));
  let fail: () => void = Object;
  const answer = new Promise<never>((_, reject) => {
    fail = () => reject(new Error('no answer'));
  });
  let isHeld = true;
  const held: ClickHouse = {
    ...clickhouse,
    insert: (table, ...rest) => (isHeld && table === TRADE_COLUMNS ? answer : clickhouse.insert(table, ...rest)),
  };
  const writer = await worker('twice', held);
  await writer.open(LEASE, null);
  const ended: string[] = [];
  const outcome = async (name: string, write: Promise<number>): Promise<void> => {
    await write.catch(() => ended.push(`${name} failed`));
  };
  const writes = [
    outcome('first', writer.write([known!], LEASE)),
    outcome('same', writer.write([known!], LEASE)),
    outcome('more', writer.write([known!, own!], LEASE)),
  ];
  // The third is spooled, so the second has been looked at.
  await vi.waitFor(async () =>
    expect(await (await Spool.open(join(directory, 'twice'))).pending('kalshi-')).toHaveLength(2),
  );
  expect(ended).toEqual([]);
  isHeld = false;
  fail();
  await Promise.all(writes);
  expect(ended).toEqual(['first failed', 'same failed', 'more failed']);
  expect(await writer.write([known!, own!], LEASE)).toBe(0);
  const rows = await clickhouse.sql<{ n: string }>(
    "SELECT toString(count()) AS n FROM trades WHERE market_key = sipHash64('kalshi', 'KXTWICE-1')",
  );
  expect(rows).toEqual([{ n: '2' }]);
});

test('batches that wait for each other are named together, and no event of theirs waits for other rows', async () => {
  const batches = ['KXQUEUE-1', 'KXQUEUE-2', 'KXQUEUE-3'].map((ref, i) => [
    trade({ of: market({ platform: 'kalshi', ref }), atMs: Date.now() + 1000 + i, price: '0.5', size: '10' }),
  ]);
  const spool = await Spool.open(join(directory, 'queue'));
  let spooled: Promise<void> | undefined;
  const inserted: Record<string, unknown[]> = { 'market_refs (platform, ref)': [], [LOG_COLUMNS]: [] };
  const store: ClickHouse = {
    ...clickhouse,
    insert: async (table, rows, options) => {
      inserted[table]?.push(options?.isUrgent);
      if (table === 'market_refs (platform, ref)') {
        await vi.waitFor(() => expect(inserted[table]).toHaveLength(3));
      }
      if (table === TRADE_COLUMNS) {
        spooled ??= vi.waitFor(async () => expect(await spool.pending('kalshi-')).toHaveLength(3));
        await spooled;
      }
      await clickhouse.insert(table, rows, options);
    },
  };
  const markets = { storedByRef: async () => new Map<string, never>() };
  const deps = { clickhouse: store, log, platform: 'kalshi', clock: systemClock } as const;
  const events = new TradeLog({ ...deps, shared: { publish: async () => {} }, markets, isUrgent: () => false });
  const writer = tradeWriter({ ...deps, spool, events });
  await writer.open(LEASE, null);
  expect(await Promise.all(batches.map((batch) => writer.write(batch, LEASE)))).toEqual([1, 1, 1]);
  expect(inserted[LOG_COLUMNS]).toEqual([true, true, false]);
});

test('each market whose trades are stored is named, also when a repair stores them', async () => {
  const [first, second] = ['KXNAMED-1', 'KXNAMED-2'].map((ref) =>
    trade({ of: market({ platform: 'kalshi', ref }), atMs: Date.now(), price: '0.5', size: '10' }),
  );
  let isAway = false;
  const store: ClickHouse = {
    ...clickhouse,
    insert: (table, ...rest) =>
      isAway && table === TRADE_COLUMNS ? Promise.reject(new Error('no answer')) : clickhouse.insert(table, ...rest),
  };
  const named: string[] = [];
  const writer = await worker('named', store, (refs) => void named.push(...refs));
  await writer.open(LEASE, null);
  await writer.write([first!], LEASE);
  expect(named).toEqual(['KXNAMED-1']);
  isAway = true;
  await expect(writer.write([second!], LEASE)).rejects.toThrow('no answer');
  isAway = false;
  expect(await writer.write([second!], LEASE)).toBe(0);
  expect(named).toEqual(['KXNAMED-1', 'KXNAMED-2']);
});

test('an old trade that a feed lists again is looked up once', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXOLD-1' });
  const listed = [0, 1, 180, 181].map((minutes) =>
    trade({ of, atMs: Date.now() - minutes * 60_000, price: '0.5', size: '10' }),
  );
  expect(await (await opened('old')).write(listed, LEASE)).toBe(4);
  let lookUps = 0;
  const counted: ClickHouse = {
    ...clickhouse,
    query: (name, ...rest) => {
      if (name === 'stored_trade_ids') lookUps += 1;
      return clickhouse.query(name, ...rest);
    },
  };
  const writer = await opened('again', counted);
  expect([await writer.write(listed, LEASE), await writer.write(listed, LEASE), lookUps]).toEqual([0, 0, 1]);
  await writer.open(LEASE, new Date());
  expect([await writer.write(listed, LEASE), lookUps]).toEqual([0, 2]);
});

async function opened(name: string, store = clickhouse): Promise<TradeWriter> {
  const writer = await worker(name, store);
  await writer.open(LEASE, null);
  return writer;
}

test('trades whose batch cannot be removed from the spool are stored and rolled up once', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXSTUCK-1' });
  const trades = ['2', '40'].map((size, i) => trade({ of, atMs: Date.now() - i, price: '0.5', size }));
  const writer = await worker('stuck');
  await writer.open(LEASE, null);
  const remove = vi.spyOn(Spool.prototype, 'remove').mockRejectedValueOnce(new Error('EIO'));
  await expect(writer.write(trades, LEASE)).rejects.toThrow('EIO');
  remove.mockRestore();
  expect(await writer.write(trades, LEASE)).toBe(0);
  expect(
    await clickhouse.sql(
      "SELECT toString(count()) AS n FROM trades WHERE market_key = sipHash64('kalshi', 'KXSTUCK-1')",
    ),
  ).toEqual([{ n: '2' }]);
  expect(await differences()).toEqual([]);
});
