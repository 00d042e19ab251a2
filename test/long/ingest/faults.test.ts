import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, systemClock } from '../../../src/core/time.ts';
import { backfillTrades } from '../../../ingest/backfill.ts';
import { refreshCandles } from '../../../ingest/candles.ts';
import { readCoverage, Watermarks } from '../../../ingest/watermarks.ts';
import { fillTradeGaps, pollGlobalTrades, pollMarketTrades } from '../../../ingest/trades.ts';
import type { PlatformError } from '../../../src/core/errors.ts';
import { FailureBackoff } from '../../../ingest/failure-backoff.ts';
import { microsecondText } from '../../../src/stores/clickhouse/insert-rows.ts';
import { type IngestRig, startIngestRig } from '../../helpers/ingest-rig.ts';
import { LEASE, market, trade, usd } from '../../helpers/market-store.ts';
import { kalshiTrades } from '../../oracle/kalshi.ts';
import { limitlessTrades, listedMarkets } from '../../oracle/limitless.ts';
import { polymarketTrades } from '../../oracle/polymarket.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import type { Market } from '../../simulators/limitless/model.ts';
import type { LimitlessWorld } from '../../simulators/limitless/world.ts';
import { type PolymarketWorld, startPolymarket } from '../../simulators/polymarket.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { noCopier } from '../../helpers/trade-writer.ts';

const refused = { kind: 'status', status: 400, body: '{"message":"broken on purpose"}', times: 1e6 } as const;
const gone = { kind: 'status', status: 404, body: '{"message":"not found"}', times: 1e6 } as const;

const idsOf = (rows: readonly { trade_id: string }[]): string[] => rows.map((row) => row.trade_id).toSorted();
const without = (all: readonly string[], some: readonly string[]): string[] => all.filter((one) => !some.includes(one));
const apart = (a: readonly string[], b: readonly string[]): string[] => [...without(a, b), ...without(b, a)];
const asked = (sim: Simulator<unknown>, part: string): number =>
  [...sim.requests].reduce((sum, [line, times]) => sum + (line.includes(part) ? times : 0), 0);

describe('of Kalshi', () => {
  let sim: Simulator<KalshiWorld>;
  let rig: IngestRig;
  const truth = (sinceMs = 0) =>
    idsOf(
      sim.world.markets
        .flatMap(({ ticker }) => kalshiTrades(sim.world, ticker))
        .filter((row) => Date.parse(String(row.metadata['executed_at'])) >= sinceMs),
    );

  beforeAll(async () => {
    sim = await startKalshi({ seed: 5, markets: 20, tradesPerMarket: 20, historyDays: 3 });
    sim.enforceLimits = false;
    rig = await startIngestRig(sim, 'kalshi');
    await rig.writer.open(LEASE, null);
  });
  afterEach(() => sim.clearFaults());
  afterAll(async () => {
    await rig?.close();
    await sim?.close();
  });

  test('a server whose clock is an hour ahead loses no trade', async () => {
    const startedMs = Date.now();
    rig.clock.now = startedMs + HOUR_MS;
    await pollGlobalTrades(rig.deps(1), rig.data, rig.run);
    sim.trade(15);
    await pollGlobalTrades(rig.deps(1), rig.data, rig.run);
    expect(truth(startedMs).length).toBeGreaterThan(10);
    expect(without(truth(startedMs), await rig.tradeIds())).toEqual([]);
    const span = await readCoverage(rig.clickhouse, 'kalshi', '');
    expect(span!.toUs).toBeLessThanOrEqual(Date.now() * 1000);
  });

  test('nor does one that was an hour ahead when it last read', async () => {
    rig.clock.now = Date.now();
    const aheadUs = (rig.clock.now + HOUR_MS) * 1000;
    await new Watermarks(rig.clickhouse, 'kalshi', systemClock, noCopier).move('', LEASE, (span) => ({
      ...span!,
      toUs: aheadUs,
    }));
    sim.trade(15);
    rig.clock.now = Date.now();
    const { freshTo } = await pollGlobalTrades(rig.deps(1), rig.data, rig.run);
    expect(without(truth(rig.clock.now - 60_000), await rig.tradeIds())).toEqual([]);
    expect(freshTo.getTime()).toBeLessThanOrEqual(rig.clock.now);
  });

  test('bars that cannot be read of one market are read of the others, and asked for ever less often', async () => {
    await rig.sweeper.sweep({ kind: 'open' }, rig.run);
    const tickers = await rig.clickhouse.sql<{ ref: string }>(
      'SELECT ref FROM market_refs WHERE market_key IN (SELECT market_key FROM market_state WHERE NOT is_combo) ORDER BY ref',
    );
    const broken = tickers[0]!.ref;
    sim.inject({ ...refused, match: new RegExp(`/${broken}/candlesticks`) });
    const deps = {
      ...rig.deps(1),
      backoff: new FailureBackoff<PlatformError>({ now: () => rig.clock.now }),
    };
    const refresh = () => refreshCandles(deps, rig.data, rig.run);
    await expect(refresh()).rejects.toThrow('kalshi refused');
    const [read] = await rig.clickhouse.sql<{ n: string }>(
      'SELECT uniqExact(market_key) AS n FROM platform_candles FINAL',
    );
    expect(tickers.length).toBeGreaterThan(3);
    expect(Number(read?.n)).toBe(tickers.length - 1);
    const before = asked(sim, `/${broken}/candlesticks`);
    rig.clock.now += 900;
    await expect(refresh()).rejects.toThrow('kalshi refused');
    expect(asked(sim, `/${broken}/candlesticks`)).toBe(before);
    sim.clearFaults();
    rig.clock.now += DAY_MS;
    await refresh();
    rig.clock.now = Date.now();
  });

  test('a spooled batch that a power cut has torn does not keep the feed from starting', async () => {
    await writeFile(join(rig.spoolDirectory, 'kalshi-1-torn.jsonl'), '{"platform":"kalshi","ref":"KX');
    await rig.writer.open(LEASE, null);
    sim.trade(3);
    rig.clock.now = Date.now();
    await pollGlobalTrades(rig.deps(1), rig.data, rig.run);
    expect(without(truth(rig.clock.now - 60_000), await rig.tradeIds())).toEqual([]);
    expect(await readdir(rig.spoolDirectory)).toEqual([]);
  });
});

describe('of Polymarket', () => {
  let sim: Simulator<PolymarketWorld>;
  let rig: IngestRig;
  const tradesOf = (wanted: (condition: string) => boolean = () => true) =>
    sim.world.markets
      .filter(({ conditionId }) => wanted(conditionId))
      .flatMap((one) => polymarketTrades(sim.world, one));

  beforeAll(async () => {
    sim = await startPolymarket({ seed: 5, markets: 20, tradesPerMarket: 20, historyDays: 80 });
    sim.enforceLimits = false;
    rig = await startIngestRig(sim, 'polymarket');
    await rig.writer.open(LEASE, null);
    rig.clock.now = Date.now();
    await pollGlobalTrades(rig.deps(90), rig.data, rig.run);
  });
  afterEach(() => sim.clearFaults());
  afterAll(async () => {
    await rig?.close();
    await sim?.close();
  });

  test('a backfill ends where the feed ends, and is not begun again', async () => {
    const date = new Date(rig.clock.now);
    const lastMonth = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1);
    // Of half of the markets Gamma says what nobody understands.
    sim.inject({
      match: /\/gamma\/markets\?condition_ids=0x[0-7]/,
      times: 1e6,
      kind: 'status',
      status: 200,
      body: '[{}]',
    });
    const backfill = () => backfillTrades(rig.deps(90), rig.data, rig.run, () => {});
    expect(await backfill()).not.toBeNull();
    const span = await readCoverage(rig.clickhouse, 'polymarket', '');
    expect(span!.fromUs).toBe(lastMonth * 1000);
    const before = asked(sim, '/v2/trades');
    expect(await backfill()).toBeNull();
    expect(asked(sim, '/v2/trades')).toBe(before);
  });

  test('trades of markets that cannot be read are stored by their labels, and keep no others waiting', async () => {
    const since = new Date(rig.clock.now);
    const lastMonth = Date.UTC(since.getUTCFullYear(), since.getUTCMonth() - 1, 1);
    const inReach = tradesOf().filter((row) => Date.parse(String(row.metadata['executed_at'])) >= lastMonth);
    expect(inReach.some((row) => /^0x[0-7]/.test(String(row.metadata['condition_id'])))).toBe(true);
    expect(apart(idsOf(inReach), await rig.tradeIds())).toEqual([]);
  });

  test('a gap is filled as far as its markets can be read, and stays open for the rest', async () => {
    await rig.sweeper.sweep({ kind: 'full' }, rig.run);
    await rig.clickhouse.command('TRUNCATE TABLE trades');
    await rig.writer.open(LEASE, null);
    const [fromUs, toUs] = [(rig.clock.now - 20 * DAY_MS) * 1000, rig.clock.now * 1000];
    const gap = { platform: 'polymarket', gap_from: microsecondText(fromUs), gap_to: microsecondText(toUs), filled: 0 };
    await rig.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [gap]);
    const stored = await rig.clickhouse.sql<{ ref: string }>('SELECT ref FROM markets ORDER BY ref');
    const inGap = tradesOf((condition) => stored.some(({ ref }) => ref === condition)).filter(
      (row) => Date.parse(String(row.metadata['executed_at'])) >= rig.clock.now - 20 * DAY_MS,
    );
    const broken = String(inGap[0]!.metadata['condition_id']);
    sim.inject({ ...refused, match: new RegExp(`/v2/trades.*condition=${broken}`) });
    // Volumes that were listed before the gap do not say which markets traded in it.
    expect(await fillTradeGaps(rig.deps(90), rig.data, rig.run)).toBeNull();
    await rig.list();
    await expect(fillTradeGaps(rig.deps(90), rig.data, rig.run)).rejects.toThrow('polymarket refused');
    const readable = inGap.filter((row) => row.metadata['condition_id'] !== broken);
    expect(readable.length).toBeGreaterThan(5);
    expect(apart(idsOf(readable), await rig.tradeIds())).toEqual([]);
    // Not at once again, but when its time has come.
    expect(await fillTradeGaps(rig.deps(90), rig.data, rig.run)).toBeNull();
    sim.clearFaults();
    rig.clock.now += DAY_MS;
    expect(await fillTradeGaps(rig.deps(90), rig.data, rig.run)).not.toBeNull();
    expect(apart(idsOf(inGap), await rig.tradeIds())).toEqual([]);
    expect(
      await rig.clickhouse.query('trade_gaps', { parse: (row: unknown) => row } as never, { platform: 'polymarket' }),
    ).toEqual([]);
  });

  test('half a character in what a trader wrote is stored as a replacement', async () => {
    const of = market({
      platform: 'polymarket',
      ref: `0x${'9'.repeat(64)}`,
      category: 'Half \ud83d',
      imageUrl: '\udc00',
    });
    await rig.markets.write('polymarket', [of]);
    const trader = {
      address: `0x${'8'.repeat(40)}`,
      name: '\ud83d',
      pseudonym: '\ud83d',
      profileImage: 'https://x/\ud83d',
    };
    expect(await rig.writer.write([trade({ of, atMs: Date.now(), price: '0.5', size: '1', trader })], LEASE)).toBe(1);
  });
});

/** A listed market of Limitless that its simulator has never heard of. */
const ghost = (ref: string, fetchedAt: string) =>
  market({ platform: 'limitless', ref, fetchedAt, state: { volumeTotal: usd('5') } });

describe('of Limitless', () => {
  let sim: Simulator<LimitlessWorld>;
  let rig: IngestRig;
  /** Those that were listed when the markets were read: some expire while the tests run. */
  let listed: Market[];
  const truth = () => idsOf(listed.flatMap((one) => (one.kind === 'clob' ? limitlessTrades(sim.world, one) : [])));
  const poll = (days: number) => pollMarketTrades(rig.deps(days), rig.data, rig.run);
  beforeAll(async () => {
    sim = await startLimitless({ seed: 5, markets: 12, tradesPerMarket: 20, historyDays: 20 });
    sim.enforceLimits = false;
    rig = await startIngestRig(sim, 'limitless');
    await rig.writer.open(LEASE, null);
    rig.clock.now = Date.now();
    listed = listedMarkets(sim.world);
    await rig.list();
  });
  afterEach(() => sim.clearFaults());
  afterAll(async () => {
    await rig?.close();
    await sim?.close();
  });

  test('a longer backfill reads what is older of each market, once', async () => {
    await poll(2);
    await poll(2);
    const short = await rig.tradeIds();
    expect(short.length).toBeLessThan(truth().length);
    await poll(60);
    expect(apart(truth(), await rig.tradeIds())).toEqual([]);
    const span = await readCoverage(rig.clickhouse, 'limitless', '');
    expect(span!.fromUs).toBeLessThan((rig.clock.now - 59 * DAY_MS) * 1000);
    const before = asked(sim, '/events');
    await poll(60);
    expect(asked(sim, '/events')).toBe(before);
  });

  test('a market that its platform has dropped is read no more, and keeps the feed complete', async () => {
    await rig.markets.write('limitless', [ghost('forgotten-1', new Date(rig.clock.now).toISOString())]);
    await poll(60);
    rig.clock.now += 1000;
    await rig.list();
    const { freshTo, note } = await poll(60);
    expect([freshTo.getTime(), note]).toEqual([rig.clock.now, undefined]);
  });

  test('while no listing shows what moved, the feed is complete up to the last one only', async () => {
    const listedMs = rig.clock.now;
    // A run that is recorded more than a minute ahead of the store's clock counts as none.
    rig.clock.now += 30_000;
    const { freshTo } = await poll(60);
    const span = await readCoverage(rig.clickhouse, 'limitless', '');
    expect([freshTo.getTime(), span!.toUs]).toEqual([listedMs, listedMs * 1000]);
    await rig.list();
    expect((await poll(60)).freshTo.getTime()).toBe(rig.clock.now);
    rig.clock.now = listedMs;
  });

  test.each([500, 502, 504])(
    'a market for which its platform answers %i each time does not keep the others waiting',
    async (status) => {
      const slug = `a-breaking-${status}`;
      await rig.markets.write('limitless', [ghost(slug, new Date(rig.clock.now).toISOString())]);
      const match = new RegExp(`${slug}/events`);
      sim.inject({ kind: 'status', status, body: '{"message":"Internal server error"}', times: 1e6, match });
      sim.trade(10);
      await rig.list();
      await expect(poll(60)).rejects.toThrow(`limitless unavailable (HTTP ${status})`);
      expect(without(truth(), await rig.tradeIds())).toEqual([]);
      sim.clearFaults();
      rig.clock.now += 5000;
      await poll(60);
    },
  );

  test('more unreadable markets than one run reads do not keep the others waiting', async () => {
    const at = new Date(rig.clock.now).toISOString();
    const broken = Array.from({ length: 61 }, (_, i) => ghost(`a-broken-${100 + i}`, at));
    await rig.markets.write('limitless', broken);
    sim.inject({ ...refused, match: /\/markets\/a-broken-\d+\/events/ });
    sim.trade(10);
    await rig.sweeper.sweep({ kind: 'open' }, rig.run);
    await expect(poll(60)).rejects.toThrow('limitless refused');
    await expect(poll(60)).rejects.toThrow('limitless refused');
    expect(without(truth(), await rig.tradeIds())).toEqual([]);
    // They stand for open markets of which nothing more is reported.
    sim.clearFaults();
    rig.clock.now += HOUR_MS;
    await poll(60).catch(() => {});
    expect((await poll(60)).note).toBeUndefined();
  });

  test('more silent markets than one pass asks for do not hide that another has ended; a refused one ends no pass', async () => {
    const settled = [...sim.world.markets.values()].find(
      ({ kind, status }) => kind === 'clob' && status === 'RESOLVED',
    );
    const slug = settled!.slug;
    // Later than its settled row, though an hour old.
    rig.clock.now = Math.max(rig.clock.now, Date.now()) + 2 * HOUR_MS;
    const old = new Date(rig.clock.now - DAY_MS).toISOString();
    sim.inject({ ...refused, match: /\/markets\/silent-100$/ });
    sim.inject({ ...gone, match: /\/markets\/silent-\d+$/ });
    await rig.markets.write('limitless', [
      ...Array.from({ length: 60 }, (_, i) => ghost(`silent-${100 + i}`, old)),
      ghost(slug, new Date(rig.clock.now - HOUR_MS).toISOString()),
    ]);
    const statusOf = async () => {
      const [row] = await rig.clickhouse.sql<{ status: string }>(
        "SELECT status FROM market_state FINAL WHERE market_key = sipHash64('limitless', {slug:String})",
        { slug },
      );
      return row?.status;
    };
    expect(await statusOf()).toBe('open');
    for (let pass = 0; pass < 4; pass += 1) {
      rig.clock.now += 60_000;
      await rig.sweeper.sweep({ kind: 'open' }, rig.run);
    }
    expect(await statusOf()).toBe('settled');
    expect(rig.badRows).toContain('silent-100');
  });
});
