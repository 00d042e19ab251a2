import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startKalshi, type KalshiSimulator } from './kalshi.ts';
import { manualClock } from './lib/index.ts';
import { startLimitless } from './limitless.ts';
import { positionsOf } from './polymarket/data/positions.ts';
import { startPolymarket, type PolymarketWorld } from './polymarket.ts';
import type { Simulator } from './simulator.ts';

/** Each platform twice: one keeps few trades, its twin keeps all; both live the same ten hours. */
const NOON = '2026-11-21T12:00:00Z';
const KEPT = 300;
const TRADES = 1200;
const EVERY_MS = 30_000;
const TEN_MINUTES_US = 600e6;

type Row = Record<string, unknown>;

async function twins<S extends Simulator<unknown>>(
  start: (options: { clock: ReturnType<typeof manualClock>; keptTrades: number }) => Promise<S>,
  isLong = false,
): Promise<{ forgetful: S; whole: S; close(): Promise<void> }> {
  const live = async (keptTrades: number): Promise<S> => {
    const clock = manualClock(NOON);
    const simulator = await start({ clock, keptTrades });
    simulator.enforceLimits = false;
    for (let trade = 0; trade < TRADES; trade += 1) {
      clock.advance(isLong ? 4 * EVERY_MS : EVERY_MS);
      simulator.trade(1);
    }
    return simulator;
  };
  const [forgetful, whole] = [await live(KEPT), await live(Infinity)];
  return { forgetful, whole, close: async () => void (await Promise.all([forgetful.close(), whole.close()])) };
}

async function get<T = Row>(simulator: Simulator<unknown>, base: string, path: string): Promise<T> {
  const reply = await fetch(`${simulator.env[base]}${path}`);
  expect([path, reply.status]).toEqual([path, 200]);
  return (await reply.json()) as T;
}

/** All rows of a list of Kalshi. */
const pagesOf = async (one: KalshiSimulator, list: 'markets' | 'trades', path: string): Promise<Row[]> => {
  const rows: Row[] = [];
  for (let cursor = ''; ;) {
    const page = await get(one, 'KALSHI_API_URL', `${path}&cursor=${cursor}`);
    rows.push(...(page[list] as Row[]));
    if ((cursor = String(page['cursor'])) === '') return rows;
  }
};
const marketsOf = async (one: KalshiSimulator): Promise<Map<unknown, Row>> =>
  new Map((await pagesOf(one, 'markets', '/markets?limit=300')).map((row) => [row['ticker'], row]));
const tradeIds = async (one: KalshiSimulator, path: string): Promise<unknown[]> =>
  (await pagesOf(one, 'trades', path)).map((trade) => trade['trade_id']);

/** Rows of the bare feed of Polymarket. */
async function feedOf(one: Simulator<PolymarketWorld>): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ''; ;) {
    const path = `/v2/trades?${cursor === '' ? 'limit=70' : `cursor=${encodeURIComponent(cursor)}`}`;
    const page = await get<{ data: Row[]; pagination: { next_cursor: string | null } }>(
      one,
      'POLYMARKET_DATA_URL',
      path,
    );
    rows.push(...page.data);
    if (page.pagination.next_cursor === null) return rows;
    cursor = page.pagination.next_cursor;
  }
}

describe('Kalshi', () => {
  let forgetful: KalshiSimulator;
  let whole: KalshiSimulator;
  let close: () => Promise<void>;
  beforeAll(async () => ({ forgetful, whole, close } = await twins(startKalshi)));
  afterAll(() => close());

  test('says of every market that it knows what its twin says, and forgets none but ended ones of its own', async () => {
    const [known, all] = [await marketsOf(forgetful), await marketsOf(whole)];
    for (const [ticker, row] of known) expect(row).toEqual(all.get(ticker));
    const gone = [...all.values()].filter(({ ticker }) => !known.has(ticker));
    expect(gone.length).toBeGreaterThan(500);
    for (const row of gone) expect([row['status'], row['close_time']! > NOON]).toEqual(['finalized', true]);
    for (const event of whole.world.events.filter(({ markets: names }) => names.some((name) => known.has(name))))
      expect(forgetful.world.exchange.eventByTicker.has(event.ticker)).toBe(true);
  });

  test('lists the trades of its past and the newest ones, each once, page by page', async () => {
    const all = await tradeIds(whole, '/markets/trades?limit=170');
    const kept = [...all.slice(0, KEPT), ...all.slice(TRADES)];
    expect(await tradeIds(forgetful, '/markets/trades?limit=170')).toEqual(kept);
    const busy = whole.world.markets.find(({ ticker }) => whole.world.tradesOf(ticker).length > 60)!.ticker;
    const ofOne = `/markets/trades?limit=7&ticker=${busy}`;
    expect(await tradeIds(forgetful, ofOne)).toEqual((await tradeIds(whole, ofOne)).filter((id) => kept.includes(id)));
  });

  test('gives its twin’s bars, and none of a time whose trades are forgotten', async () => {
    const { ticker, seriesTicker } = whole.world.markets.find((one) => whole.world.tradesOf(one.ticker).length > 60)!;
    const end = Math.floor(whole.world.exchange.nowMs / 1000);
    const path = `/series/${seriesTicker}/markets/${ticker}/candlesticks?period_interval=60&start_ts=${end - 86_400}&end_ts=${end}`;
    const bars = async (one: KalshiSimulator) =>
      (await get<{ candlesticks: Row[] }>(one, 'KALSHI_API_URL', path)).candlesticks;
    const [some, all] = [await bars(forgetful), await bars(whole)];
    const { from, to } = forgetful.world.exchange.marketByTicker.get(ticker)!.course.forgotten!;
    const isForgotten = (bar: Row): boolean => {
      const endUs = Number(bar['end_period_ts']) * 1e6;
      return endUs >= from && endUs - 3600e6 < to;
    };
    expect(some).toEqual(all.filter((bar) => !isForgotten(bar)));
    expect(some.length).toBeGreaterThan(5);
    expect(all.length - some.length).toBeGreaterThan(5);
  });

  test('counts what its members made of trades and markets that are forgotten', async () => {
    for (const nickname of whole.world.nicknames('public')) {
      const path = `/social/profile/metrics?nickname=${nickname}`;
      expect(await get(forgetful, 'KALSHI_SOCIAL_URL', path)).toEqual(await get(whole, 'KALSHI_SOCIAL_URL', path));
    }
    const path = '/series?include_volume=true';
    expect(await get(forgetful, 'KALSHI_API_URL', path)).toEqual(await get(whole, 'KALSHI_API_URL', path));
  });
});

describe('Polymarket', () => {
  let forgetful: Simulator<PolymarketWorld>;
  let whole: Simulator<PolymarketWorld>;
  let close: () => Promise<void>;
  beforeAll(async () => ({ forgetful, whole, close } = await twins(startPolymarket)));
  afterAll(() => close());

  test('says of every market that it knows what its twin says, and forgets none but ended ones of its own', async () => {
    const [known, all] = [forgetful.world.markets, whole.world.markets];
    expect(all.length - known.length).toBeGreaterThan(50);
    const ids = new Set(known.map(({ id }) => id));
    for (const { id, state, createdMs } of all.filter((market) => !ids.has(market.id)))
      expect([id, state, createdMs > Date.parse(NOON)]).toEqual([id, 'resolved', true]);
    for (const { id, conditionId } of known) {
      const path = `/markets/${id}`;
      expect(await get(forgetful, 'POLYMARKET_GAMMA_URL', path)).toEqual(
        await get(whole, 'POLYMARKET_GAMMA_URL', path),
      );
      if (conditionId === '') continue;
      const held = `/v2/holders?condition_id=${conditionId}`;
      expect(await get(forgetful, 'POLYMARKET_DATA_URL', held)).toEqual(await get(whole, 'POLYMARKET_DATA_URL', held));
    }
  });

  test('lists the trades of its past and the newest ones, each once, page by page', async () => {
    const kept = new Set(forgetful.world.trades().map(({ transactionHash }) => transactionHash));
    expect(forgetful.world.ledger.tape.rows.fresh).toBe(KEPT);
    const all = (await feedOf(whole)).filter((row) => kept.has(String(row['transaction_hash'])));
    const some = (await feedOf(forgetful)).filter((row) => kept.has(String(row['transaction_hash'])));
    expect(some).toEqual(all);
    expect(some.length).toBeGreaterThan(KEPT);
  });

  test('carries the positions of wallets on, to the last figure, while their market is known', () => {
    const known = new Set(forgetful.world.markets.map(({ index }) => index));
    const positions = (world: PolymarketWorld): unknown[] =>
      world.wallets.map((wallet) => {
        const held = positionsOf(world, wallet).filter(({ market }) => known.has(market.index));
        return Object.fromEntries(
          held.map(({ market, outcome, wallet: { address }, ...figures }) => [
            `${address} ${market.id} ${outcome}`,
            figures,
          ]),
        );
      });
    expect(positions(forgetful.world)).toEqual(positions(whole.world));
  });
});

describe('Limitless', () => {
  let forgetful: Awaited<ReturnType<typeof startLimitless>>;
  let whole: Awaited<ReturnType<typeof startLimitless>>;
  let close: () => Promise<void>;
  beforeAll(async () => ({ forgetful, whole, close } = await twins(startLimitless)));
  afterAll(() => close());

  test('says of every market that it knows what its twin says, and forgets none but ended ones of its own', async () => {
    const [known, all] = [forgetful.world.markets, whole.world.markets];
    const gone = [...all.values()].filter(({ slug }) => !known.has(slug));
    expect(gone.length).toBeGreaterThan(50);
    for (const { status, createdAt } of gone)
      expect([status, createdAt > Date.parse(NOON)]).toEqual(['RESOLVED', true]);
    for (const { slug, kind, status } of known.values()) {
      const paths = [`/markets/${slug}`];
      if (kind === 'clob' && status === 'FUNDED') paths.push(`/markets/${slug}/orderbook`);
      for (const path of paths) {
        expect(await get(forgetful, 'LIMITLESS_API_URL', path)).toEqual(await get(whole, 'LIMITLESS_API_URL', path));
      }
    }
  });

  test('lists the trades of its past and the newest ones of each market', async () => {
    let kept = 0;
    for (const market of forgetful.world.markets.values()) {
      if (market.kind !== 'clob') continue;
      const twin = whole.world.markets.get(market.slug);
      const trades = twin?.kind === 'clob' ? twin.trades : [];
      const { settledTrades } = market;
      kept += market.trades.length - settledTrades;
      const newest = trades.slice(trades.length - (market.trades.length - settledTrades));
      expect(market.trades).toEqual([...trades.slice(0, settledTrades), ...newest]);
    }
    expect(kept).toBe(KEPT);
  });
});

test('figures of 24 hours that begin among forgotten trades begin ten minutes before at most', async () => {
  const { forgetful, whole, close } = await twins(startKalshi, true);
  const { exchange } = forgetful.world;
  for (const market of exchange.markets) {
    const twin = whole.world.exchange.marketByTicker.get(market.ticker)!;
    expect([market.ticker, market.volume]).toEqual([twin.ticker, twin.volume]);
    expect(market.volume24h(exchange.nowUs)).toBeGreaterThanOrEqual(twin.volume24h(exchange.nowUs));
    expect(market.volume24h(exchange.nowUs)).toBeLessThanOrEqual(twin.volume24h(exchange.nowUs - TEN_MINUTES_US));
  }
  await close();
});
