import { candlesOf } from '../simulators/kalshi/candles.ts';
import type { SimMarket } from '../simulators/kalshi/market.ts';
import type { SeriesSpec } from '../simulators/kalshi/series.ts';
import type { TrueTrade } from '../simulators/kalshi/truth.ts';
import type { KalshiWorld } from '../simulators/kalshi/world.ts';
import { iso, isoUs, toNumber } from './exact.ts';
import { mirroredBook, type ServedBook } from './book.ts';
import type { MarketTruth, ServedPoint, ServedTrade } from './pipeline.ts';
import { categoryOf, liquidityScoreOf, winnerOf } from './vocabulary.ts';

/** The world counts prices in 0.0001 dollars and contracts in 0.01. */
const dollars = (price: number): number => toNumber(price, 4);
const contracts = (count: number): number => toNumber(count, 2);
const ONE = 10_000;
const DAY_MS = 86_400_000;

const STATUS: Record<SimMarket['status'], string> = {
  initialized: 'unopened',
  active: 'open',
  inactive: 'paused',
  closed: 'closed',
  determined: 'closed',
  disputed: 'closed',
  amended: 'closed',
  finalized: 'settled',
};

interface Top {
  price: number | null;
  bid: number | null;
  ask: number | null;
}

/** Price, bid and ask of Yes, in 0.00005 dollars: a midpoint may lie between two prices. */
function topOf(world: KalshiWorld, market: SimMarket): Top {
  if (market.status === 'finalized')
    return { price: market.value === null ? null : market.value * 2, bid: null, ask: null };
  const last = market.lastPrice > 0 ? market.lastPrice * 2 : null;
  if (market.status !== 'active' && market.status !== 'inactive') return { price: last, bid: null, ask: null };
  const book = world.bookOf(market.ticker);
  const bid = book.best('bid') > 0 ? book.best('bid') * 2 : null;
  const ask = book.best('ask') < ONE ? book.best('ask') * 2 : null;
  return { price: last ?? (bid !== null && ask !== null ? (bid + ask) / 2 : null), bid, ask };
}

const half = (value: number | null): number | null => (value === null ? null : toNumber(BigInt(value) * 5n, 5));
const other = (value: number | null): number | null => (value === null ? null : half(2 * ONE - value));

/** Σ price × count over the best level of each side: what lies there as collateral, in 10^-6 dollars. */
function atRest(world: KalshiWorld, market: SimMarket, top: Top): bigint {
  const book = world.bookOf(market.ticker);
  const bid = top.bid === null ? 0n : BigInt(book.best('bid')) * BigInt(book.bestSize('bid'));
  const ask = top.ask === null ? 0n : BigInt(ONE - book.best('ask')) * BigInt(book.bestSize('ask'));
  return bid + ask;
}

/** Contracts traded in the window that ends at `syncedMs`. */
function soldSince(world: KalshiWorld, market: SimMarket, fromMs: number): number {
  const { tape } = world.exchange;
  let sold = 0;
  for (let at = 0; at < market.prints.length; at++) {
    const print = market.prints.at(at);
    if (tape.timeUs.at(print) >= fromMs * 1000) sold += tape.count.at(print);
  }
  return sold;
}

/** The change of an open market's price over a week, in 0.00005 dollars: since the last trade of the day up to then, blocks excepted. */
function weekChange({ exchange }: KalshiWorld, market: SimMarket, top: Top, syncedMs: number): number | null {
  const { tape } = exchange;
  const thenUs = (syncedMs - 7 * DAY_MS) * 1000;
  let last: number | null = null;
  for (let at = 0; at < market.prints.length; at++) {
    const print = market.prints.at(at);
    const timeUs = tape.timeUs.at(print);
    if (timeUs >= thenUs - DAY_MS * 1000 && timeUs <= thenUs && !tape.block(print)) last = tape.yesPrice.at(print);
  }
  return market.status !== 'active' || top.price === null || last === null ? null : top.price - 2 * last;
}

const sources = (list: SeriesSpec['sources']): string[] =>
  (list ?? []).map(({ url }) => url).filter((url) => url !== 'https://kalshi.com/');

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Title and name as words between spaces, so that a name is found as a whole only. */
const words = (value: string): string =>
  ` ${value
    .toLowerCase()
    .replaceAll(/[?,:*]/g, '')
    .replaceAll(/\s+/g, ' ')} `;

/** The title with the market's own name, unless it names this market and none of its siblings. */
function titleOf(market: SimMarket, siblings: readonly SimMarket[]): string {
  const title = text(market.spec.fixed['title']).split('**').join('');
  const nameOf = ({ spec }: SimMarket): string => text(spec.fixed['yes_sub_title']);
  const own = nameOf(market);
  const others = siblings.map(nameOf).filter((name) => name !== own);
  const isOwn = words(title).includes(words(own)) && !others.some((name) => words(title).includes(words(name)));
  return isOwn ? title : `${title} (${own})`;
}

const legsOf = (fixed: Record<string, unknown>): object[] =>
  (fixed['mve_selected_legs'] as Record<string, string>[]).map((leg) => ({
    id: `kalshi:${leg['market_ticker']}`,
    market_id: leg['market_ticker'],
    event_id: leg['event_ticker'],
    side: leg['side'],
  }));

/**
 * What the service must say of a market whose row was read at `syncedMs`, when the platform's clock showed `worldMs`.
 * Fields named by the interface only; `last_synced_at` is the reading's.
 */
export function kalshiMarket(
  world: KalshiWorld,
  market: SimMarket,
  read: { syncedMs: number; worldMs: number },
): MarketTruth {
  const { spec } = market;
  const { fixed } = spec;
  const { spec: event, markets: siblings } = world.exchange.eventOf(market);
  const { series } = event;
  const side = text(fixed['yes_sub_title']);
  const top = topOf(world, market);
  const settled = market.status === 'finalized';
  const liquidity = toNumber(atRest(world, market, top), 6);
  const category = categoryOf([series.category])?.name ?? series.category;
  const dayAgo = market.lastPriceAfter(market.printsUpTo((read.worldMs - DAY_MS) * 1000));
  const change = market.lastPrice > 0 && dayAgo > 0 ? market.lastPrice - dayAgo : null;
  const week = weekChange(world, market, top, read.syncedMs);
  const eventSources = sources((event.fixed['settlement_sources'] ?? null) as SeriesSpec['sources']);
  const rules = [text(fixed['rules_primary']), text(fixed['rules_secondary'])];
  const metadata: Record<string, unknown> = {
    volume_basis: 'contracts',
    liquidity_basis: 'best_level',
    open_interest_basis: 'contracts',
    result: market.result,
    tick_size: Math.min(...spec.grid.ranges.map(({ step }) => Number(step))),
    min_order_size: 0.01,
    price_ranges: spec.grid.ranges.map(({ start, end, step }) => ({
      start: Number(start),
      end: Number(end),
      step: Number(step),
    })),
    yes_sub_title: side,
    event_sub_title: event.fixed['sub_title'],
    strike: {
      type: fixed['strike_type'],
      floor: fixed['floor_strike'],
      cap: fixed['cap_strike'],
      functional: fixed['functional_strike'],
      custom: fixed['custom_strike'],
    },
    mutually_exclusive: event.fixed['mutually_exclusive'],
    collateral: 'USD',
    fee: {
      type: event.fixed['fee_type_override'] ?? series.feeType,
      multiplier: event.fixed['fee_multiplier_override'] ?? series.feeMultiplier,
    },
    exchange_index: fixed['exchange_index'] ?? 0,
    can_close_early: true,
    early_close_condition: fixed['early_close_condition'],
    ...(fixed['fee_waiver_expiration_time']
      ? { fee_waived_until: iso(Date.parse(text(fixed['fee_waiver_expiration_time']))) }
      : {}),
    ...(fixed['occurrence_datetime']
      ? { occurrence_datetime: iso(Date.parse(text(fixed['occurrence_datetime']))) }
      : {}),
    settlement_timer_seconds: fixed['settlement_timer_seconds'],
    categories: [series.category],
    ...(spec.provisional ? { is_provisional: true } : {}),
    ...(fixed['mve_collection_ticker']
      ? { mve_collection_ticker: fixed['mve_collection_ticker'], is_combo: true, legs: legsOf(fixed) }
      : {}),
    ...(settled ? { payouts: { yes: half(top.price), no: other(top.price) } } : {}),
    ...(settled && market.lastPrice > 0 ? { last_trade_price: dollars(market.lastPrice) } : {}),
  };
  return {
    id: `kalshi:${market.ticker}`,
    platform: 'kalshi',
    platform_id: market.ticker,
    title: titleOf(market, siblings),
    outcome_name: side,
    status: STATUS[market.status],
    market_type: fixed['market_type'] === 'scalar' ? 'scalar' : 'binary',
    outcomes: [
      { id: 'yes', name: 'Yes' },
      { id: 'no', name: 'No' },
    ],
    current_prices: {
      yes: { price: half(top.price), bid: half(top.bid), ask: half(top.ask) },
      no: { price: other(top.price), bid: other(top.ask), ask: other(top.bid) },
    },
    winning_outcome: settled ? winnerOf(['Yes', 'No'], [half(top.price), other(top.price)]) : null,
    event_id: spec.eventTicker,
    event_name: text(event.fixed['title']),
    series_id: series.ticker,
    slug: market.ticker.toLowerCase(),
    description: text(fixed['rules_primary']),
    category,
    subcategory:
      (event.fixed['product_metadata'] as Record<string, string> | undefined)?.['competition'] ??
      series.tags?.[0] ??
      null,
    tags: series.tags ?? [],
    volume_24h: contracts(market.volume24h(read.worldMs * 1000)),
    volume_7d: contracts(
      market.openMs > read.syncedMs - 7 * DAY_MS ? market.volume : soldSince(world, market, read.syncedMs - 7 * DAY_MS),
    ),
    volume_total: contracts(market.volume),
    liquidity,
    liquidity_score: liquidityScoreOf(liquidity),
    open_interest: contracts(market.openInterest),
    unique_traders: null,
    source_url: `https://kalshi.com/markets/${series.ticker.toLowerCase()}/${spec.eventTicker.toLowerCase()}`,
    image_url: `https://images.example.com/${spec.eventTicker}.webp`,
    created_at: isoUs(spec.createdUs),
    trading_start_at: iso(market.openMs),
    trading_end_at: iso(market.closeMs),
    resolution_date: isoText(fixed['expected_expiration_time']),
    resolved_at: market.settledUs === null ? null : isoUs(market.settledUs),
    resolution_criteria: rules.filter(Boolean).join('\n\n'),
    resolution_source: (eventSources.length > 0 ? eventSources : sources(series.sources)).join(', '),
    price_24h_changes: change === null ? {} : { yes: dollars(change), no: dollars(-change) },
    price_7d_changes: week === null ? {} : { yes: toNumber(week * 5, 5), no: toNumber(-week * 5, 5) },
    metadata,
  };
}

const isoText = (time: unknown): string => new Date(text(time)).toISOString();

/** Every trade of a market, newest first, as GET markets/trades must give it. */
export const kalshiTrades = (world: KalshiWorld, ticker: string): ServedTrade[] =>
  world
    .tradesOf(ticker)
    .toSorted((a, b) => b.timeUs - a.timeUs || (a.tradeId < b.tradeId ? 1 : -1))
    .map((trade) => ({
      trade_id: trade.tradeId,
      market_id: trade.ticker,
      platform: 'kalshi',
      side: 'buy',
      outcome: trade.takerSide,
      transaction_hash: '',
      price: Number(trade.takerSide === 'yes' ? trade.yesPrice : trade.noPrice),
      size: Number(trade.count),
      timestamp: Math.floor(trade.timeUs / 1e6),
      taker: true,
      user: { name: '', pseudonym: '', profile_image: '' },
      metadata: {
        is_block_trade: trade.isBlockTrade,
        yes_price: Number(trade.yesPrice),
        executed_at: isoUs(trade.timeUs),
      },
    }));

/** The live book in both outcomes' terms. */
export function kalshiBook(world: KalshiWorld, ticker: string): ServedBook {
  const market = world.exchange.marketByTicker.get(ticker) as SimMarket;
  const quoted = market.status === 'active' || market.status === 'inactive';
  const levels = (side: 'bid' | 'ask') =>
    quoted
      ? world
          .bookOf(ticker)
          .levels(side)
          .map(({ price, size }) => ({ price: BigInt(price), size: BigInt(size) }))
      : [];
  return {
    ...mirroredBook(levels('bid'), levels('ask'), { price: 4, size: 2 }),
    metadata: {
      min_order_size: 0.01,
      tick_size: Math.min(...market.spec.grid.ranges.map(({ step }) => Number(step))),
      neg_risk: false,
    },
  };
}

interface Bar {
  startTs: number;
  /** Nulls where nothing traded. */
  price: (number | null)[];
  previous: number | null;
  bid: (number | null)[];
  ask: (number | null)[];
  volume: number;
  openInterest: number;
}

/** The platform's own bars of a market, by the start of their bucket; open, high, low, close. */
function platformBars(world: KalshiWorld, market: SimMarket, period: 1 | 60, fromTs: number, toTs: number): Bar[] {
  return candlesOf(world.exchange, market, period, fromTs + 1, toTs + period * 60)
    .map((candle): Bar => {
      const { price, previous } = candle;
      const quoted = (bar: typeof candle.bid, none: number) =>
        [bar.open, bar.high, bar.low, bar.close].map((value) => (value === none ? null : dollars(value)));
      return {
        startTs: candle.endTs - period * 60,
        price: price ? [price.open, price.high, price.low, price.close].map(dollars) : [null, null, null, null],
        previous: previous > 0 ? dollars(previous) : null,
        bid: quoted(candle.bid, 0),
        ask: quoted(candle.ask, ONE),
        volume: candle.volume,
        openInterest: candle.openInterest,
      };
    })
    .filter(({ startTs }) => startTs >= fromTs && startTs < toTs);
}

const known = (values: (number | null)[]): number[] => values.filter((value) => value !== null);
const column = (bars: Bar[], name: 'price' | 'bid' | 'ask', at: number) =>
  known(bars.map((bar) => bar[name][at] ?? null));
const merged = (bars: Bar[], name: 'price' | 'bid' | 'ask') => {
  const [opens, highs, lows, closes] = [0, 1, 2, 3].map((at) => column(bars, name, at)) as [
    number[],
    number[],
    number[],
    number[],
  ];
  return {
    open: opens[0] ?? null,
    high: highs.length > 0 ? Math.max(...highs) : null,
    low: lows.length > 0 ? Math.min(...lows) : null,
    close: closes.at(-1) ?? null,
  };
};

/** Bid and ask open and close as they stood at one moment, the first and the last at which either was quoted. */
function mergedQuotes(bars: Bar[]): ServedPoint['bidAsk'] {
  const quotedAt = (at: number) => bars.filter(({ bid, ask }) => bid[at] !== null || ask[at] !== null);
  const [first, last] = [quotedAt(0)[0], quotedAt(3).at(-1)];
  const side = (name: 'bid' | 'ask') => ({
    ...merged(bars, name),
    open: first?.[name][0] ?? null,
    close: last?.[name][3] ?? null,
  });
  return { bid: side('bid'), ask: side('ask') };
}

/** Prices of one market's trades in the order of their instants and ids; blocks set none. */
const pricesBetween = (trades: readonly TrueTrade[], fromTs: number, toTs: number): number[] =>
  trades
    .filter(({ timeUs, isBlockTrade }) => !isBlockTrade && timeUs >= fromTs * 1e6 && timeUs < toTs * 1e6)
    .toSorted((a, b) => a.timeUs - b.timeUs || (a.tradeId < b.tradeId ? -1 : 1))
    .map(({ yesPrice }) => Number(yesPrice));

/**
 * Bars of [fromTs, toTs) where every trade is stored: prices are those of trades, quotes and open interest those of the platform's bars
 * inside, in UTC. Bars of 1 and 60 minutes in which nothing traded stand at the last price before.
 */
export function kalshiHistory(
  world: KalshiWorld,
  ticker: string,
  interval: number,
  fromTs: number,
  toTs: number,
): ServedPoint[] {
  const market = world.exchange.marketByTicker.get(ticker) as SimMarket;
  const trades = world.tradesOf(ticker);
  const bars = platformBars(world, market, interval < 60 ? 1 : 60, fromTs, toTs);
  const step = interval * 60;
  const buckets = new Map<number, Bar[]>();
  for (const bar of bars) {
    const startTs = Math.floor(bar.startTs / step) * step;
    buckets.set(startTs, [...(buckets.get(startTs) ?? []), bar]);
  }
  const priceOf = (startTs: number): ServedPoint['price'] => {
    const prices = pricesBetween(trades, startTs, startTs + step);
    const [open] = prices;
    if (open !== undefined)
      return { open, high: Math.max(...prices), low: Math.min(...prices), close: prices.at(-1) ?? open };
    const stands = interval === 1 || interval === 60;
    const last = stands ? (pricesBetween(trades, 0, startTs).at(-1) ?? null) : null;
    return { open: last, high: last, low: last, close: last };
  };
  return [...buckets]
    .toSorted(([a], [b]) => a - b)
    .map(([timestamp, inside]) => ({
      timestamp,
      platform: 'kalshi',
      marketId: ticker,
      outcomeId: 'yes',
      volume: contracts(inside.reduce((total, bar) => total + bar.volume, 0)),
      openInterest: contracts(inside.at(-1)?.openInterest ?? 0),
      price: priceOf(timestamp),
      bidAsk: mergedQuotes(inside),
    }));
}
