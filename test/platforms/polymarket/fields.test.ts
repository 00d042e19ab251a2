import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { notionalUsd } from '../../../src/core/decimal.ts';
import { outcomeIds } from '../../../src/platforms/market-fields.ts';
import type {
  MarketDirectory,
  StoredMarket,
  PlatformData,
  SweepScope,
  TradeQuery,
} from '../../../src/platforms/contract.ts';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import type { BookSide, MarketRecord, TradeRecord } from '../../../src/core/model.ts';
import { collect, readContext, SETTINGS } from '../../fixtures/canned-http.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { manualClock } from '../../simulators/lib/index.ts';
import { type PolymarketWorld, startPolymarket } from '../../simulators/polymarket.ts';
import type { Simulator } from '../../simulators/simulator.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const DAY = 86_400_000;
const clock = manualClock(NOW);
type World = PolymarketWorld;
type Market = World['markets'][number];

let http: Awaited<ReturnType<typeof unmeteredHttp>>;
let sim: Simulator<World>;
let world: World;
let data: PlatformData;
const known = new Map<string, MarketRecord>();

const keysOf = ({ info, state }: MarketRecord): StoredMarket => ({ ...info, status: state.status });
const directory: MarketDirectory = {
  byRef: async (_, refs) => new Map(refs.flatMap((ref) => (known.has(ref) ? [[ref, keysOf(known.get(ref)!)]] : []))),
};
const refOf = (market: Market): string => market.conditionId || `gamma:${market.id}`;
const recordOf = (market: Market): MarketRecord => known.get(refOf(market))!;

async function sweep(scope: SweepScope): Promise<MarketRecord[]> {
  const context = readContext();
  const pages = await collect(data.sweep(scope, context));
  expect(context.badRows).toEqual([]);
  return pages.flatMap(({ markets }) => markets);
}

async function trades(query: Partial<TradeQuery>): Promise<TradeRecord[]> {
  const context = readContext();
  const pages = await collect(data.trades({ sinceUs: 0, untilUs: null, market: null, ...query }, directory, context));
  // Archived markets are in no list and under no condition id: of their trades only what is labelled can be read.
  const archived = world.markets.filter((market) => market.archived);
  const lost = new Set(archived.map((market) => `unknown condition ${refOf(market)}`));
  expect(context.badRows.filter(({ reason }) => !lost.has(reason))).toEqual([]);
  const all = pages.flatMap((page) => page.trades);
  return [...new Map(all.map((trade) => [trade.tradeId, trade])).values()];
}

/** What distinguishes one taker fill from another, but for its place among equal ones. */
const traits = (refs: readonly [string, number, string, bigint, bigint, string]): string => refs.join('|');
const truth = (since = 0): string[] =>
  world
    .trades()
    .filter((trade) => trade.timestamp >= since)
    .map((trade) =>
      traits([refOf(trade.market), trade.timestamp, trade.side, trade.price, trade.size, trade.transactionHash]),
    )
    .toSorted();
const tradeKeys = (read: readonly TradeRecord[]): string[] =>
  read
    .map((trade) =>
      traits([
        trade.ref,
        trade.executedAtUs / 1e6,
        trade.side.toUpperCase(),
        trade.price,
        trade.size,
        trade.transactionHash,
      ]),
    )
    .toSorted();

const depth = ({ bids, asks }: BookSide): bigint => [...bids, ...asks].reduce((sum, { size }) => sum + size, 0n);

beforeAll(async () => {
  http = await unmeteredHttp();
  sim = await startPolymarket({ seed: 11, clock, markets: 90, tradesPerMarket: 40, historyDays: 20 });
  sim.enforceLimits = false;
  world = sim.world;
  world.tradesOffsetCap = 1500;
  data = createPolymarketData({
    http,
    settings: { ...SETTINGS, ...sim.env },
    now: () => clock.now(),
  });
  for (const record of await sweep({ kind: 'full' })) known.set(record.info.ref, record);
  for (const record of await sweep({ kind: 'historical', sinceMs: 0 })) known.set(record.info.ref, record);
});
afterAll(async () => {
  await sim.close();
  await http.close();
});

describe('the listings', () => {
  test('together hold every market once, with its event, outcomes and tokens', () => {
    const listed = world.markets.filter((market) => !market.archived);
    expect([...known.keys()].toSorted()).toEqual(listed.map(refOf).toSorted());
    for (const market of listed) {
      const { info } = recordOf(market);
      expect(info).toMatchObject({ platformId: market.id, slug: market.slug, eventId: market.event.id });
      expect(info.outcomes.map(({ id }) => id)).toEqual(outcomeIds(market.outcomes));
      const tokens = market.tokenIds.length > 0 ? market.tokenIds : market.outcomes.map(() => '');
      expect(info.outcomes.map(({ tokenId }) => tokenId)).toEqual(tokens);
      expect(info.seriesId).toBe(market.event.series?.id ?? '');
      expect(info.tags).toEqual(market.event.tags.map(({ label }) => label));
    }
  });

  test('show each market as it stands: status, volume, payouts, and no quotes once closed', () => {
    const words = { unopened: 'unopened', open: 'open', paused: 'paused', closed: 'closed', resolved: 'settled' };
    for (const market of world.markets.filter(({ archived, legacy }) => !archived && !legacy)) {
      const { state } = recordOf(market);
      expect(state.status).toBe(words[market.state]);
      expect(state.volumeTotal ?? 0n).toBe(market.volume);
      const [first] = state.quotes;
      const book = world.book(market);
      expect([first?.bid, first?.ask]).toEqual([book?.best('bid') ?? null, book?.best('ask') ?? null]);
      if (market.payouts) expect(state.quotes.map(({ price }) => price)).toEqual(market.payouts);
    }
  });

  test('a market of 2020 is settled, whatever its prices say', () => {
    const legacy = world.markets.filter(({ legacy }) => legacy);
    expect(legacy.length).toBeGreaterThan(0);
    for (const market of legacy) expect(recordOf(market).state.status).toBe('settled');
  });

  test('changes show a new market and one that has just resolved', async () => {
    const since = clock.now();
    clock.advance(60_000);
    const fresh = world.createMarket({ question: 'Will the new listing be seen?' });
    const ending = world.markets.find(({ state, quiet }) => state === 'open' && !quiet)!;
    world.resolveMarket(ending, 0);
    const changed = new Map(
      (await sweep({ kind: 'changed', sinceMs: since })).map((one) => [one.info.platformId, one]),
    );
    expect(changed.get(fresh.id)?.state.status).toBe('open');
    expect(changed.get(ending.id)?.state).toMatchObject({
      status: 'settled',
      metadata: { payouts: { yes: 1, no: 0 } },
    });
    for (const market of [fresh, ending]) known.set(refOf(market), changed.get(market.id)!);
  });

  test('any id leads to one market, open or closed; an unknown one to none', async () => {
    const open = world.markets.find(({ state }) => state === 'open')!;
    const closed = world.markets.find(({ state, legacy, archived }) => state === 'resolved' && !legacy && !archived)!;
    for (const market of [open, closed]) {
      for (const id of [market.id, market.conditionId, market.slug]) {
        expect((await data.market(id, readContext()))?.info).toEqual(recordOf(market).info);
      }
    }
    expect(await data.market('999999999', readContext())).toBeNull();
    expect(await data.market('no-such-market', readContext())).toBeNull();
  });
});

describe('the trades', () => {
  beforeEach(() => {
    Object.assign(world.indexer, { delayMs: 0, jitterMs: 0 });
    Object.assign(world.drift, { trades: 0 });
  });

  test('of all markets are each read once, repeated fills of one transaction included', async () => {
    expect(world.ledger.tape.count).toBeGreaterThan(2500);
    const read = await trades({ sinceUs: 1 });
    expect(tradeKeys(read)).toEqual(truth());
    expect(read.some(({ tradeId }) => tradeId.endsWith('.2'))).toBe(true);
  });

  test('have the same ids in every read: of all, of one market, from either version', async () => {
    const all = new Map((await trades({ sinceUs: 1 })).map((trade) => [trade.tradeId, trade]));
    const busy = world.markets.toSorted((a, b) => b.trades.length - a.trades.length)[0]!;
    const ofOne = await trades({ sinceUs: 1, market: keysOf(recordOf(busy)) });
    expect(ofOne).toHaveLength(busy.trades.length);
    for (const trade of ofOne) expect(all.get(trade.tradeId)).toEqual(trade);
    const volume = ofOne.reduce((sum, trade) => sum + notionalUsd(trade.price, trade.size), 0n);
    expect(volume).toBe(busy.volume);
  });

  test('that happen between the pages lose none of the older ones', async () => {
    const before = truth();
    Object.assign(world.drift, { trades: 7 });
    const read = new Set(tradeKeys(await trades({ sinceUs: 1 })));
    expect(before.filter((one) => !read.has(one))).toEqual([]);
  });

  test('that the platform shows late are found again within the overlap, unlabelled ones by their token', async () => {
    Object.assign(world.indexer, { delayMs: 60_000, jitterMs: 120_000 });
    const since = Math.floor(clock.now() / 1000);
    sim.trade(200);
    clock.advance(5000);
    const early = await trades({ sinceUs: since * 1e6 });
    expect(early.length).toBeLessThan(200);
    clock.advance(data.tradeOverlapMs - 6000);
    const sinceUs = clock.now() * 1000 - data.tradeOverlapMs * 1000;
    expect(tradeKeys(await trades({ sinceUs }))).toEqual(truth(since));
  });
});

describe('prices', () => {
  test('the book of an open market is both sides of its two tokens; a closed one has none', async () => {
    const open = world.markets.find((market) => (world.book(market)?.best('bid') ?? null) !== null)!;
    const book = await data.orderBook(keysOf(recordOf(open)), readContext());
    const truth = world.book(open)!;
    expect([book?.yes.bids[0]?.price, book?.yes.asks[0]?.price]).toEqual([truth.best('bid'), truth.best('ask')]);
    expect(depth(book!.no)).toBe(depth(book!.yes));
    expect(book).toMatchObject({ tickSize: open.tick, minOrderSize: open.minSize, negRisk: open.event.negRisk });
    const closed = world.markets.find(({ state, tokenIds }) => state === 'resolved' && tokenIds.length === 2)!;
    expect(await data.orderBook(keysOf(recordOf(closed)), readContext())).toBeNull();
  });

  test('bars follow the midpoint over more than one window', async () => {
    const market = world.markets.toSorted((a, b) => b.trades.length - a.trades.length)[0]!;
    const endTs = Math.floor(clock.now() / 3_600_000) * 3600;
    const bars = await data.candles(keysOf(recordOf(market)), 60, endTs - 18 * 86_400, endTs, readContext());
    expect(bars.length).toBeGreaterThan(24 * 15);
    expect(bars.every((bar, n) => n === 0 || bar.startTs > bars[n - 1]!.startTs)).toBe(true);
    const quotes = world.quoteHistory(market);
    for (const { startTs, price } of bars) {
      const before = quotes.findLast(({ at }) => at <= startTs * 1000);
      const during = quotes.filter(({ at }) => at > startTs * 1000 && at < (startTs + 3600) * 1000);
      const mids = [...(before ? [before] : []), ...during].map(({ mid }) => mid);
      expect(mids).toContain(price.close);
    }
  });

  test.each(['settled', 'closed', 'open'])(
    'bars of a settled market lack its payout, if it is stored as %s',
    async (status) => {
      const market = world.markets.find(({ payouts, trades }) => payouts?.includes(0n) && trades.length > 0)!;
      const stored = { ...keysOf(recordOf(market)), status };
      const endTs = Math.ceil(clock.now() / 3_600_000) * 3600;
      const bars = await data.candles(stored, 60, endTs - 18 * 86_400, endTs, readContext());
      expect(bars.length).toBeGreaterThan(0);
      const mids = world.quoteHistory(market).map(({ mid }) => mid);
      for (const { price } of bars) expect(mids).toContain(price.close);
    },
  );

  test('open interest is reported per market', async () => {
    const refs = world.markets.filter(({ volume, conditionId }) => volume > 0n && conditionId).map(refOf);
    const interest = await data.openInterest?.(refs, readContext());
    expect(interest?.size).toBeGreaterThan(0);
    for (const [ref] of interest ?? []) expect(refs).toContain(ref);
  });
});

test('a broken answer on the way is asked for again', async () => {
  sim.inject({ match: /events\/keyset/, times: 1, kind: 'cut' });
  sim.inject({ match: /events\/keyset/, times: 1, kind: 'status', status: 502, body: '<html>bad gateway</html>' });
  const open = await sweep({ kind: 'open' });
  expect(open.length).toBeGreaterThan(50);
});

test('nothing was refused by the platform', () => {
  expect(sim.refused.count).toBe(0);
  expect(clock.now()).toBeLessThan(NOW + DAY);
});
