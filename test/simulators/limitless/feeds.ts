import { fixedText, json, type Rows, trimmedText, type SimReply, type SimRequest } from '../lib/index.ts';
import { findMarket } from './discovery.ts';
import { TICKS, type AmmMarket, type ClobMarket } from './model.ts';
import { bookBody, decimal, halfTickNumber, iso, tradeRow } from './rows.ts';
import { oracleRow } from './underlying.ts';
import { choice, notFound, refuse, wholeNumber } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** How far a window looks back and how far apart its points lie; it is not a candle size. */
const WINDOWS = {
  '1h': { lookBack: 60 * MINUTE_MS, spacing: MINUTE_MS },
  '6h': { lookBack: 360 * MINUTE_MS, spacing: 5 * MINUTE_MS },
  '1d': { lookBack: DAY_MS, spacing: 15 * MINUTE_MS },
  '1w': { lookBack: 7 * DAY_MS, spacing: 30 * MINUTE_MS },
  '1m': { lookBack: 30 * DAY_MS, spacing: 30 * MINUTE_MS },
  all: { lookBack: Number.MAX_SAFE_INTEGER, spacing: 30 * MINUTE_MS },
} as const;
const ORACLE_STEPS = { '1m': 1, '5m': 5, '15m': 15, '1h': 60, '4h': 240, '1d': 1440 } as const;
const MAX_ORACLE_ROWS = 1_000;

/** GET /markets/{slug}/orderbook: only of order-book markets that are CREATED or FUNDED. */
export function orderbook(world: LimitlessWorld, slug: string): SimReply {
  const market = clobOf(world, slug, 'Orderbook');
  if (!/^(CREATED|FUNDED)/.test(market.status))
    throw refuse(400, 'Orderbook is available for CREATED and FUNDED markets only');
  return json(200, bookBody(market));
}

/** GET /markets/{slug}/historical-price: an object for a market, an array of its children for a group; newest first. */
export function historicalPrice(world: LimitlessWorld, { query }: SimRequest, slug: string): SimReply {
  const interval = choice(query, 'interval', Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]) ?? '1d';
  const range = { from: instant(query, 'from'), to: instant(query, 'to') };
  const points = (market: ClobMarket) =>
    pricePoints(market.quotes, interval, range, endOf(world, market), market.createdAt);
  const group = world.groups.get(slug);
  if (group)
    return json(
      200,
      group.children.map((child) => ({ title: child.title, prices: points(child) })),
    );
  const market = world.poolAt(slug) ?? findMarket(world, slug);
  const prices = market.kind === 'clob' ? points(market) : poolPoints(market);
  return json(200, { title: market.title, prices, marketStatus: market.status });
}

/** Midpoints of YES; the timestamp is a text of Unix milliseconds. */
function pricePoints(
  quotes: Rows,
  interval: keyof typeof WINDOWS,
  range: { from: number | null; to: number | null },
  now: number,
  bornAt: number,
) {
  const { lookBack, spacing } = WINDOWS[interval];
  const end = Math.min(now, range.to ?? now);
  const start = Math.max(end - lookBack, bornAt, range.from ?? 0);
  // Short windows lie on the clock's grid; the half-hourly ones count back from the moment asked.
  const last = spacing < 30 * MINUTE_MS ? Math.floor(end / spacing) * spacing : end;
  const points: { timestamp: string; price: number }[] = [];
  for (let at = last; at >= start; at -= spacing) {
    const index = quotes.countUpTo(at) - 1;
    const mid = index < 0 ? TICKS : quotes.cell(index, 1) + quotes.cell(index, 2);
    points.push({ timestamp: String(at), price: halfTickNumber(mid) });
  }
  return points;
}

/** Pools print percent. */
const poolPoints = (market: AmmMarket) =>
  market.trades
    .toReversed()
    .map(({ at, yesAfter }) => ({ timestamp: String(at), price: decimal(BigInt(yesAfter), 2) }));

const endOf = (world: LimitlessWorld, market: ClobMarket): number => Math.min(world.clock.now(), market.expiresAt);

function instant(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw refuse(400, [{ property: name, error: `${name} must be a valid ISO 8601 date string` }]);
  return ms;
}

/** GET /markets/{addressOrSlug}/oracle-candles: bars of the underlying asset, not of the market. */
export function oracleCandles(world: LimitlessWorld, { query }: SimRequest, slug: string): SimReply {
  const market = findMarket(world, slug);
  const series = market.kind === 'clob' ? market.series : null;
  if (!series) throw notFound(`Oracle candles not found for market: ${slug}`);
  const interval = choice(query, 'interval', Object.keys(ORACLE_STEPS) as (keyof typeof ORACLE_STEPS)[]) ?? '1m';
  const step = ORACLE_STEPS[interval] * 60;
  const nowSeconds = Math.floor(world.clock.now() / 1000);
  const to = wholeNumber(query, 'to', { or: nowSeconds, min: 0 });
  const from = wholeNumber(query, 'from', { or: to - 60 * step, min: 0 });
  const rows = [];
  const end = Math.min(to, nowSeconds);
  for (let start = Math.ceil(from / step) * step; start < end && rows.length < MAX_ORACLE_ROWS; start += step) {
    rows.push(oracleRow(series.symbol, start * 1000, Math.min(step, nowSeconds - start) * 1000));
  }
  return json(200, { source: 'chainlink', symbol: `${series.symbol}/USD`, interval, rows });
}

/** GET /markets/{slug}/events: mined trades of both tokens, newest first, by page number: new rows push old ones down. */
export function events(world: LimitlessWorld, { query }: SimRequest, slug: string): SimReply {
  const market = clobOf(world, slug, 'Events');
  const odd = [...query.keys()].find((name) => name !== 'limit' && name !== 'page');
  if (odd !== undefined) throw refuse(400, [{ property: odd, error: `property ${odd} should not exist` }]);
  const limit = wholeNumber(query, 'limit', { or: 30, min: 1, max: 100 });
  const page = wholeNumber(query, 'page', { or: 1, min: 1 });
  const totalRows = world.visibleCount(market);
  const end = Math.max(0, totalRows - (page - 1) * limit);
  const rows = market.trades.slice(Math.max(0, end - limit), end).toReversed();
  const totalPages = Math.ceil(totalRows / limit);
  if (rows.length === 0) return json(200, { events: [], totalPages });
  return json(200, { events: rows.map((trade) => tradeRow(market, trade)), limit, page, totalPages, totalRows });
}

/** GET /markets/{address|slug}/get-feed-events: trades against a pool, in decimals. */
export function feedEvents(world: LimitlessWorld, { query }: SimRequest, key: string): SimReply {
  const market = key.startsWith('0x') ? world.poolAt(key) : findMarket(world, key);
  if (!market) throw notFound(`Market not found for address: ${key}`);
  const limit = wholeNumber(query, 'limit', { or: 10, min: 1, max: 100 });
  const page = wholeNumber(query, 'page', { or: 1, min: 1 });
  if (market.kind !== 'amm') return json(200, { data: [], totalPages: 0 });
  const rows = market.trades.toReversed().slice((page - 1) * limit, page * limit);
  const { decimals, symbol } = market.collateral;
  const data = rows.map((trade) => ({
    eventType: 'NEW_TRADE',
    timestamp: iso(trade.at),
    user: {
      id: trade.account.id,
      account: trade.account.address,
      name: trade.account.displayName,
      rankName: 'Bronze',
      points: 0,
    },
    data: {
      title: market.title,
      address: market.address,
      strategy: trade.side === 'BUY' ? 'Buy' : 'Sell',
      outcome: trade.outcome === 0 ? 'YES' : 'NO',
      contracts: fixedText(trade.shares / 10n ** BigInt(decimals - 6), 6, 6),
      tradeAmount: trimmedText(trade.collateral, decimals),
      marketId: String(market.id),
      symbol,
      txHash: trade.txHash,
    },
  }));
  return json(200, { data, totalPages: Math.ceil(market.trades.length / limit) });
}

function clobOf(world: LimitlessWorld, slug: string, what: string): ClobMarket {
  if (world.groups.has(slug)) throw refuse(400, `${what} of a group must be asked per market`);
  const market = findMarket(world, slug);
  if (market.kind !== 'clob') throw refuse(400, `${what} is not available for AMM markets`);
  return market;
}
