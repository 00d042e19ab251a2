import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, storeTime, systemClock } from '../../../src/core/time.ts';
import { backfillTrades } from '../../../ingest/backfill.ts';
import { readCoverage, Watermarks } from '../../../ingest/watermarks.ts';
import { MarketSweeper } from '../../../ingest/markets/market-sweep.ts';
import { OpenInterestReader } from '../../../ingest/markets/open-interest.ts';
import { fillTradeGaps, pollMarketTrades } from '../../../ingest/trades.ts';
import { FailureBackoff } from '../../../ingest/failure-backoff.ts';
import type { PlatformError } from '../../../src/core/errors.ts';
import { MarketWriter } from '../../../src/markets/writer.ts';
import type { PlatformData, TradeQuery } from '../../../src/platforms/contract.ts';
import { applyRetention } from '../../../src/stores/clickhouse/retention.ts';
import type { Platform, TradeRecord } from '../../../src/core/model.ts';
import { microsecondText } from '../../../src/stores/clickhouse/insert-rows.ts';
import { directory, run } from '../../helpers/job-run.ts';
import { LEASE, type MarketStore, market, startMarketStore, trade, usd } from '../../helpers/market-store.ts';
import { silent } from '../../helpers/silent-log.ts';
import { noCopier, noListeners } from '../../helpers/trade-writer.ts';

/** What only shows after days, weeks or months of service. */
const log = pino({ level: 'silent' });
const platformThat = (does: object): PlatformData => does as unknown as PlatformData;

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const tradesOf = (platform: Platform, now: () => number) => ({
  clickhouse: store.clickhouse,
  writer: store.writers[platform],
  watermarks: new Watermarks(store.clickhouse, platform, systemClock, noCopier),
  log,
  directory,
  backfillDays: 7,
  clock: { now },
  backoff: new FailureBackoff<PlatformError>({ now }),
  ...noListeners,
});
const rollups = async (ref: string): Promise<string[]> => {
  const rows = await store.clickhouse.sql<{ name: string; n: string; v: string }>(
    ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals']
      .map(
        (table) =>
          `SELECT '${table}' AS name, toString(sum(n)) AS n, toString(sum(v)) AS v FROM ${table} WHERE market_key = sipHash64('limitless', '${ref}')`,
      )
      .join(' UNION ALL '),
  );
  return rows.map(({ name, n, v }) => `${name} ${n} ${v}`).toSorted();
};
const each = (figures: string): string[] =>
  ['candles_1h', 'candles_1m', 'market_totals', 'volume_1h'].map((table) => `${table} ${figures}`);

const quiet = (total: string, atMs: number) =>
  market({
    platform: 'limitless',
    ref: 'quiet-1',
    fetchedAt: new Date(atMs).toISOString(),
    state: { volumeTotal: usd(total) },
  });

test('a market that was quiet for longer than trades are kept counts its last trade once when it trades again', async () => {
  const of = quiet('150', 0);
  const tape: TradeRecord[] = [trade({ of, atMs: Date.now() - 50 * DAY_MS, price: '0.5', size: '300' })];
  const data = platformThat({
    platform: 'limitless',
    tradeOverlapMs: 300_000,
    async *trades({ sinceUs }: TradeQuery) {
      yield { trades: tape.filter(({ executedAtUs }) => executedAtUs >= sinceUs), completeFromUs: sinceUs };
    },
    market: async () => null,
  });
  const poll = (now: number) =>
    pollMarketTrades(
      tradesOf('limitless', () => now),
      data,
      run,
    );
  await store.list(quiet('150', Date.now() - 50 * DAY_MS));
  await poll(Date.now() - 50 * DAY_MS + 60_000);
  await applyRetention(
    store.clickhouse,
    {
      RETENTION_TRADES_DAYS: 40,
      RETENTION_SNAPSHOTS_DAYS: 0,
      RETENTION_STREAM_DAYS: 30,
      RETENTION_BOOKS_DAYS: 30,
      COLD_AFTER_DAYS: 0,
    },
    silent,
  );
  await store.clickhouse.command('OPTIMIZE TABLE trades FINAL');
  // A restart on the way, as any service of fifty days has one.
  await store.writers.limitless.open(LEASE, new Date());
  tape.unshift(trade({ of, atMs: Date.now() - 60_000, price: '0.5', size: '1' }));
  await store.list(quiet('150.5', Date.now()));
  await poll(Date.now());
  expect(await rollups('quiet-1')).toEqual(each('2 301'));
  // What was never stored is still taken, old as it is.
  const late = trade({ of, atMs: Date.now() - 51 * DAY_MS, price: '0.5', size: '2' });
  expect(await store.writers.limitless.write([late], LEASE)).toBe(1);
  expect(await rollups('quiet-1')).toEqual(each('3 303'));
});

test.each([
  ['reaches back further', 'moved', 1],
  ['was read for a history that somebody asked for', '', 30],
] as const)(
  'of a market whose span %s, the volume is stored at its next sweep, though no trade came',
  async (_, seen, days) => {
    const now = Date.now();
    const ref = `still-${days}`;
    const listing = (atMs: number) => ({
      ...market({
        platform: 'limitless',
        ref,
        fetchedAt: new Date(atMs).toISOString(),
        state: { volumeTotal: usd('150'), volume24h: null, volume7d: null },
      }),
      fromTrades: { volumes: 'market' } as const,
    });
    await store.trade(trade({ of: listing(now), atMs: now - 3_600_000, price: '0.5', size: '300' }));
    // Too long ago for the span to count as up to date by its age.
    const before = { ...systemClock, now: () => now - 20 * 60_000 };
    await new Watermarks(store.clickhouse, 'limitless', before, noCopier).move(ref, LEASE, () => ({
      fromUs: (now - days * DAY_MS + 7_200_000) * 1000,
      toUs: now * 1000,
      marker: seen,
    }));
    const writer = new MarketWriter(store.clickhouse, systemClock);
    const sold = async () => {
      const [row] = await store.clickhouse.sql<{ sold: string | null }>(
        `SELECT volume_24h AS sold FROM market_state FINAL WHERE market_key = sipHash64('limitless', '${ref}')`,
      );
      return row?.sold;
    };
    await writer.write('limitless', [listing(now)]);
    expect(await sold()).toBeNull();
    const data = platformThat({
      platform: 'limitless',
      tradeOverlapMs: 300_000,
      async *trades({ sinceUs }: TradeQuery) {
        yield { trades: [], completeFromUs: sinceUs };
      },
      market: async () => null,
    });
    const deps = {
      ...tradesOf('limitless', () => now),
      onTradesStored: (refs: Iterable<string>) => writer.onTradesStored('limitless', refs),
    };
    await pollMarketTrades(deps, data, run);
    await writer.write('limitless', [listing(now + 1000)]);
    expect(Number(await sold())).toBe(150);
  },
);

test('a gap of a long stop is filled of every market that moved meanwhile, though none was listed in it', async () => {
  const now = Date.now();
  const [fromMs, toMs] = [now - 60 * DAY_MS, now - 45 * DAY_MS];
  const listed = async (ref: string, totals: [number, string][]) => {
    for (const [atMs, total] of totals) {
      const fetchedAt = new Date(atMs).toISOString();
      await store.list(market({ platform: 'polymarket', ref, fetchedAt, state: { volumeTotal: usd(total) } }));
    }
  };
  // Listed as the service stopped, twice, and when it started again.
  await listed('0xmoved', [
    [fromMs - 120_000, '100'],
    [fromMs - 30_000, '100'],
    [now, '900'],
  ]);
  await listed('0xstill', [
    [fromMs - 30_000, '100'],
    [now, '100'],
  ]);
  await listed('0xnew', [[now, '5']]);
  await listed('0xidle', [[now, '0']]);
  const at = storeTime(now);
  const listing = { platform: 'polymarket', job: 'markets', ok: true, started_at: at, finished_at: at, fresh_to: at };
  await store.clickhouse.insert('ingestion_runs', [listing]);
  const gap = { gap_from: microsecondText(fromMs * 1000), gap_to: microsecondText(toMs * 1000) };
  await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [
    { platform: 'polymarket', ...gap, filled: 0 },
  ]);
  const asked: string[] = [];
  const data = platformThat({
    platform: 'polymarket',
    async *trades({ market: { ref } }: { market: { ref: string } }) {
      asked.push(ref);
      yield { trades: [], completeFromUs: null };
    },
  });
  const complete: number[] = [];
  const deps = { ...tradesOf('polymarket', () => now), onAllStored: async (us: number) => void complete.push(us) };
  await fillTradeGaps(deps, data, run);
  expect(asked.toSorted()).toEqual(['0xmoved', '0xnew']);
  expect(complete).toEqual([fromMs * 1000]);
});

test('a backfill never takes back what was reported as stored', async () => {
  let now = Date.now();
  const started = now;
  await store.cover('polymarket', now - DAY_MS, now);
  const spans: number[] = [];
  const data = platformThat({
    platform: 'polymarket',
    // A feed without an upper bound of its own begins above the span.
    async *trades() {
      for (const us of [(now - 1000) * 1000, (now - 2 * DAY_MS) * 1000]) {
        now += 3000;
        yield { trades: [], completeFromUs: us };
        await sleep(300);
        spans.push((await readCoverage(store.clickhouse, 'polymarket', ''))?.fromUs ?? Infinity);
      }
    },
  });
  await backfillTrades(
    tradesOf('polymarket', () => now),
    data,
    run,
    () => {},
  );
  expect(spans).toHaveLength(2);
  expect(Math.max(...spans)).toBeLessThanOrEqual((started - DAY_MS) * 1000);
});

test('open interest is read of every market that trades, not of the busiest only', async () => {
  const refs = Array.from({ length: 120 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
  const asked = new Set<string>();
  const data = platformThat({
    platform: 'polymarket',
    openInterest: async (ids: string[]) => {
      for (const id of ids) asked.add(id);
      return new Map();
    },
  });
  const reader = new OpenInterestReader({
    lists: store.clickhouse,
    writer: new MarketWriter(store.clickhouse, systemClock),
    data,
    clock: { now: Date.now },
  });
  for (let round = 0; round < 5; round += 1) {
    const fetchedAt = new Date(Date.now() + round * 1000).toISOString();
    const state = (i: number) => ({ volumeTotal: usd(String(9000 + round)), volume24h: usd(String(9000 - i)) });
    await store.list(...refs.map((ref, i) => market({ platform: 'polymarket', ref, fetchedAt, state: state(i) })));
    await reader.read(run);
  }
  expect(refs.filter((ref) => !asked.has(ref))).toEqual([]);
});

const heron = (ref: string, status: 'unopened' | 'open', atMs: number) =>
  market({
    platform: 'polymarket',
    ref,
    platformId: '777',
    title: 'Heron',
    fetchedAt: new Date(atMs).toISOString(),
    state: { status },
  });

test('a market that has got its condition id is listed once', async () => {
  const named = heron(`0x${'b'.repeat(64)}`, 'open', Date.now());
  let listed = [heron('gamma:777', 'unopened', Date.now() - 60_000)];
  const data = platformThat({
    platform: 'polymarket',
    async *sweep() {
      yield { markets: listed, remaining: null };
    },
    market: async (id: string) => (id === 'gamma:777' ? named : null),
  });
  const { clickhouse } = store;
  const { present } = store.app.deps;
  const writer = new MarketWriter(clickhouse, systemClock, { present });
  const sweeper = new MarketSweeper({ clickhouse, writer, data, log, clock: { now: Date.now } });
  await sweeper.sweep({ kind: 'full' }, run);
  listed = [named];
  await sweeper.sweep({ kind: 'full' }, run);
  await present.settled();
  const { markets } = await store.get<{ markets: { id: string; status: string }[] }>(
    'markets?provider=polymarket&query=heron',
  );
  expect(markets.map(({ id, status }) => `${id} ${status}`)).toEqual(['polymarket:777 open']);
});
