import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decimalNumber, parsePrice, parseSize, parseUsd } from '../../src/core/decimal.ts';
import type { PlatformHttp } from '../../src/platforms/http/request.ts';
import { createKalshiData } from '../../src/platforms/kalshi/data.ts';
import { createLimitlessData } from '../../src/platforms/limitless/data.ts';
import type { StoredMarket, PlatformData, SweepScope, TradeQuery } from '../../src/platforms/contract.ts';
import type { MarketRecord, TradeRecord } from '../../src/core/model.ts';
import { SETTINGS, collect, readContext } from '../fixtures/canned-http.ts';
import { unmeteredHttp } from '../fixtures/unmetered-http.ts';
import { manualClock } from '../simulators/lib/index.ts';
import { startKalshi, type KalshiWorld, type TrueMarket } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import type { Simulator } from '../simulators/simulator.ts';

const NOW = Date.parse('2026-11-21T12:34:56Z');
const HOUR_S = Math.floor(NOW / 3_600_000) * 3600;
const now = () => NOW;
const directory = { byRef: async () => new Map<string, StoredMarket>() };
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

const traded = (market: TrueMarket) => Number(market.volume) > 0;
const keysOf = ({ info, state }: MarketRecord): StoredMarket => ({ ...info, status: state.status });

async function sweep(data: PlatformData, scope: SweepScope): Promise<Map<string, MarketRecord>> {
  const context = readContext();
  const pages = await collect(data.sweep(scope, context));
  expect(context.badRows).toEqual([]);
  return new Map(pages.flatMap(({ markets }) => markets.map((record) => [record.info.ref, record])));
}

async function trades(data: PlatformData, query: Partial<TradeQuery>, onPage = () => {}): Promise<TradeRecord[]> {
  const context = readContext();
  const found: TradeRecord[] = [];
  for await (const page of data.trades({ sinceUs: 0, untilUs: null, market: null, ...query }, directory, context)) {
    found.push(...page.trades);
    onPage();
  }
  expect(context.badRows).toEqual([]);
  return [...new Map(found.map((trade) => [trade.tradeId, trade])).values()];
}

let http: PlatformHttp;
beforeAll(async () => {
  http = await unmeteredHttp();
});
afterAll(() => http.close());

describe('Kalshi as a whole', () => {
  let sim: Simulator<KalshiWorld>;
  let data: PlatformData;
  const truth = (wanted: (market: TrueMarket) => boolean) =>
    sim.world.markets.filter((market) => !market.combo && !market.vanished && wanted(market));

  beforeAll(async () => {
    sim = await startKalshi({ seed: 7, clock: manualClock(NOW), markets: 66, tradesPerMarket: 60 });
    sim.enforceLimits = false;
    sim.trade(1500);
    data = createKalshiData({ http, settings: { ...SETTINGS, ...sim.env }, now });
  });
  afterAll(() => sim.close());

  test('the live tier and the archive together list every market once, as it truly stands', async () => {
    const live = await sweep(data, { kind: 'full' });
    const archived = await sweep(data, { kind: 'historical', sinceMs: 0 });
    expect([...live.keys()].toSorted()).toEqual(
      truth((m) => !m.archived)
        .map(({ ticker }) => ticker)
        .toSorted(),
    );
    expect([...archived.keys()].toSorted()).toEqual(
      truth((m) => m.archived)
        .map(({ ticker }) => ticker)
        .toSorted(),
    );
    for (const market of truth(() => true)) {
      const { info, state } = (live.get(market.ticker) ?? archived.get(market.ticker))!;
      expect(state.volumeTotal).toBe(parseUsd(market.volume));
      expect(state.openInterest).toBe(parseUsd(market.openInterest));
      expect(state.quotes[0]).toMatchObject({
        bid: market.yesBid === null ? null : parsePrice(market.yesBid),
        ask: market.yesAsk === null ? null : parsePrice(market.yesAsk),
      });
      if (market.status === 'finalized') expect(state.quotes[0]?.price).toBe(parsePrice(market.settlementValue!));
      expect(info).toMatchObject({ eventId: market.eventTicker, seriesId: market.seriesTicker });
      expect(info.category).not.toBe('');
    }
  });

  test('every trade is read exactly once across the cutoff, from the feed of all and from that of one market', async () => {
    const expected = sim.world.trades.filter(({ ticker }) => !sim.world.market(ticker).vanished);
    const oldestUs = Math.min(...expected.map(({ timeUs }) => timeUs));
    expect(expected.some(({ archived }) => archived) && expected.some(({ archived }) => !archived)).toBe(true);
    const read = await trades(data, { sinceUs: oldestUs });
    expect(read.map(({ tradeId }) => tradeId).toSorted()).toEqual(expected.map(({ tradeId }) => tradeId).toSorted());
    const [busiest] = truth((m) => m.status === 'active').toSorted((a, b) => Number(b.volume) - Number(a.volume));
    const record = await data.market(busiest!.ticker, readContext());
    const ofOne = await trades(data, { sinceUs: oldestUs, market: keysOf(record!) });
    expect(sum(ofOne.map(({ size }) => size))).toBe(parseSize(busiest!.volume));
  });

  test('bars of live and archived markets hold what was traded in them', async () => {
    const some = [truth((m) => m.status === 'active' && traded(m))[0]!, truth((m) => m.archived && traded(m))[0]!];
    for (const { ticker } of some) {
      const market = keysOf((await data.market(ticker, readContext()))!);
      const tape = sim.world.tradesOf(ticker);
      const bars = await data.candles(market, 60, HOUR_S - 40 * 86_400, HOUR_S + 3600, readContext());
      expect(bars.length).toBeGreaterThan(0);
      expect(sum(bars.map(({ volume }) => volume ?? 0n))).toBe(sum(tape.map(({ count }) => parseSize(count))));
      expect(bars.at(-1)?.price.close).not.toBeNull();
    }
  });

  test('the book of an open market starts at its best quotes; that of a closed one is empty', async () => {
    const open = truth((m) => m.status === 'active' && m.yesBid !== null && m.yesAsk !== null)[0]!;
    const book = await data.orderBook(keysOf((await data.market(open.ticker, readContext()))!), readContext());
    expect(book?.yes.bids[0]).toEqual({ price: parsePrice(open.yesBid!), size: parseSize(open.yesBidSize) });
    expect(book?.yes.asks[0]).toEqual({ price: parsePrice(open.yesAsk!), size: parseSize(open.yesAskSize) });
    const closed = truth((m) => m.status === 'finalized' && !m.archived)[0]!;
    const none = await data.orderBook(keysOf((await data.market(closed.ticker, readContext()))!), readContext());
    expect([none?.yes.bids, none?.yes.asks]).toEqual([[], []]);
  });
});

describe('Limitless as a whole', () => {
  let sim: Simulator<LimitlessWorld>;
  let data: PlatformData;
  let listed: Map<string, MarketRecord>;

  beforeAll(async () => {
    sim = await startLimitless({ seed: 7, clock: manualClock(NOW), markets: 60, tradesPerMarket: 230 });
    sim.enforceLimits = false;
    data = createLimitlessData({ http, settings: { ...SETTINGS, ...sim.env }, now });
    listed = await sweep(data, { kind: 'full' });
  });
  afterAll(() => sim.close());

  test('every market that is open is listed, children under the title of their group', () => {
    const open = sim.world.openMarkets();
    expect(open.length).toBeGreaterThan(20);
    for (const { slug, group, title } of open) {
      const { info, state } = listed.get(slug)!;
      expect(state.status).toBe('open');
      expect(info.eventId).toBe(group?.slug ?? '');
      expect(info.title).toContain(title);
    }
  });

  test('every market ever made can be read by its slug, whatever became of it', async () => {
    const context = readContext();
    for (const [slug, market] of sim.world.markets) {
      const record = await data.market(slug, context);
      expect(record?.info.outcomes.map(({ tokenId }) => tokenId)).toEqual(market.tokens);
      if (/RESOLVED/.test(market.status)) expect(record?.state.status).toBe('settled');
    }
    expect(context.badRows).toEqual([]);
  });

  test('the trades of a market are its volume, each once, also while trading goes on between the pages', async () => {
    const market = sim.world.openMarkets().toSorted((a, b) => b.trades.length - a.trades.length)[0]!;
    const keys = keysOf(listed.get(market.slug)!);
    const before = market.trades.length;
    const read = await trades(data, { market: keys }, () => sim.trade(80));
    expect(market.trades.length).toBeGreaterThan(before);
    expect(read.length).toBeGreaterThanOrEqual(before);
    const again = await trades(data, { market: keys });
    expect(again).toHaveLength(market.trades.length);
    expect(sum(again.map(({ quoteUsd }) => quoteUsd ?? 0n))).toBe(market.volume);
    const known = new Set(again.map(({ tradeId }) => tradeId));
    expect(read.filter(({ tradeId }) => !known.has(tradeId))).toEqual([]);
  });

  test('hourly bars of an open market are midpoints of its book', async () => {
    const market = sim.world.openMarkets().find(({ createdAt }) => createdAt < NOW - 86_400_000)!;
    const startTs = HOUR_S - 10 * 3600;
    const bars = await data.candles(keysOf(listed.get(market.slug)!), 60, startTs, HOUR_S, readContext());
    expect(bars.map((bar) => bar.startTs)).toEqual(Array.from({ length: 10 }, (_, n) => startTs + n * 3600));
    expect(bars.every(({ source, price }) => source === 'midpoint' && price.close !== null)).toBe(true);
  });

  test('the book of an open market is its quotes; a pool has none', async () => {
    const market = sim.world.openMarkets().find(({ quotes }) => quotes.last(1, 0) > 0)!;
    const book = await data.orderBook(keysOf(listed.get(market.slug)!), readContext());
    expect(decimalNumber(book!.yes.bids[0]!.price, 10)).toBe(market.quotes.last(1, 0) / 1000);
    expect(book!.no.asks[0]!.size).toBe(book!.yes.bids[0]!.size);
    const pool = [...sim.world.markets.values()].find(({ kind }) => kind === 'amm')!;
    const record = await data.market(pool.slug, readContext());
    expect(await data.orderBook(keysOf(record!), readContext())).toBeNull();
  });
});
