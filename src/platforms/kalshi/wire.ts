import { z } from 'zod';
import {
  isTradePrice,
  wireCents,
  wirePrice,
  wireSize,
  wireText,
  wireTradePrice,
  wireTradeSize,
  wireUsd,
} from '../parse-rows.ts';
import { sharedNames, type SharedNames } from './title.ts';

/**
 * Rows as Kalshi sends them. Until early 2026 prices were whole cents and counts whole numbers, under names without `_dollars` and
 * `_fp`; archived candles use those names for dollar texts. Both forms are accepted.
 */
const bare = z.union([wireCents, wirePrice]);
const price = wirePrice.nullish();
const oldPrice = bare.nullish();
const count = wireSize.nullish();
const time = z.string().nullish();
const flag = z.boolean().nullish();
const strike = z.union([z.number(), z.string()]).nullish();
const sources = z.array(z.object({ url: wireText })).nullish();

/** Adds an issue at the first key if none of the keys has a value: a renamed field must not count as "unknown". */
const anyOf =
  (...keys: string[]) =>
  (row: object, context: z.RefinementCtx): void => {
    const values = row as Record<string, unknown>;
    if (keys.every((key) => values[key] === undefined || values[key] === null)) {
      context.addIssue({ code: 'custom', path: [keys[0] ?? ''], message: 'missing' });
    }
  };

export const KalshiMarket = z
  .object({
    ticker: z.string().min(1),
    event_ticker: z.string().min(1),
    market_type: wireText,
    status: z.string(),
    title: wireText,
    yes_sub_title: wireText,
    rules_primary: wireText,
    rules_secondary: wireText,
    created_time: time,
    open_time: time,
    close_time: time,
    expected_expiration_time: time,
    latest_expiration_time: time,
    settlement_ts: time,
    result: wireText,
    settlement_value_dollars: price,
    settlement_value: oldPrice,
    yes_bid_dollars: price,
    yes_bid: oldPrice,
    yes_bid_size_fp: count,
    yes_ask_dollars: price,
    yes_ask: oldPrice,
    yes_ask_size_fp: count,
    last_price_dollars: price,
    last_price: oldPrice,
    previous_price_dollars: price,
    previous_price: oldPrice,
    volume_fp: wireUsd.nullish(),
    volume: wireUsd.nullish(),
    volume_24h_fp: wireUsd.nullish(),
    volume_24h: wireUsd.nullish(),
    open_interest_fp: wireUsd.nullish(),
    open_interest: wireUsd.nullish(),
    price_ranges: z.array(z.object({ start: wirePrice, end: wirePrice, step: wirePrice })).nullish(),
    tick_size: oldPrice,
    can_close_early: flag,
    strike_type: z.string().nullish(),
    floor_strike: strike,
    cap_strike: strike,
    functional_strike: z.string().nullish(),
    custom_strike: z.record(z.string(), z.unknown()).nullish().catch(null),
    mve_collection_ticker: z.string().nullish(),
    is_provisional: flag,
    exchange_index: z.number().int().nullish(),
  })
  .superRefine(anyOf('yes_bid_dollars', 'yes_bid'))
  .superRefine(anyOf('yes_ask_dollars', 'yes_ask'))
  .superRefine(anyOf('last_price_dollars', 'last_price'))
  .superRefine(anyOf('volume_fp', 'volume'));
export type KalshiMarket = z.output<typeof KalshiMarket>;

const optionalText = wireText.catch('');
/** A market within its event: an odd one is left out, as its own row is read from the list of markets. */
const NestedMarket = z
  .object({ ticker: z.string().min(1), title: optionalText, yes_sub_title: optionalText })
  .nullable()
  .catch(null);

/** The tickers of an event's markets in its order, and what their names have in common; the rest of the rows is dropped. */
function toMembers(rows: z.output<typeof NestedMarket>[]): SharedNames & { tickers: readonly string[] } {
  const markets = rows.filter((row) => row !== null);
  return { tickers: markets.map(({ ticker }) => ticker), ...sharedNames(markets) };
}

export const KalshiEvent = z.object({
  event_ticker: z.string().min(1),
  series_ticker: wireText,
  title: wireText,
  sub_title: wireText,
  category: wireText,
  mutually_exclusive: flag,
  settlement_sources: sources,
  product_metadata: z.object({ competition: z.string().nullish() }).nullish().catch(null),
  fee_type_override: z.string().nullish(),
  fee_multiplier_override: z.number().nullish(),
  markets: z.array(NestedMarket).transform(toMembers).nullish().catch(null),
});
export type KalshiEvent = z.output<typeof KalshiEvent>;

export const KalshiSeries = z.object({
  ticker: z.string().min(1),
  title: wireText,
  frequency: wireText,
  category: wireText,
  tags: z.array(z.string()).nullish(),
  settlement_sources: sources,
  fee_type: z.string().nullish(),
  fee_multiplier: z.number().nullish(),
});
export type KalshiSeries = z.output<typeof KalshiSeries>;

const side = z.enum(['yes', 'no']).nullish();

const tradeSize = wireTradeSize.nullish();

export const KalshiTrade = z
  .object({
    trade_id: z.string().min(1),
    ticker: z.string().min(1),
    count_fp: tradeSize,
    count: tradeSize,
    yes_price_dollars: wireTradePrice.nullish(),
    yes_price: bare.refine(isTradePrice, 'expected a price of 0 to 1').nullish(),
    taker_outcome_side: side,
    taker_book_side: z.enum(['bid', 'ask']).nullish(),
    taker_side: side,
    created_time: z.string(),
    is_block_trade: flag,
  })
  .superRefine(anyOf('count_fp', 'count'))
  .superRefine(anyOf('yes_price_dollars', 'yes_price'))
  .superRefine(anyOf('taker_outcome_side', 'taker_book_side', 'taker_side'));
export type KalshiTrade = z.output<typeof KalshiTrade>;

const bar = z.object({
  open_dollars: price,
  open: oldPrice,
  high_dollars: price,
  high: oldPrice,
  low_dollars: price,
  low: oldPrice,
  close_dollars: price,
  close: oldPrice,
});
export type KalshiBar = z.output<typeof bar>;

export const KalshiCandle = z
  .object({
    end_period_ts: z.number().int(),
    price: bar.extend({ mean_dollars: price, mean: oldPrice, previous_dollars: price, previous: oldPrice }),
    yes_bid: bar,
    yes_ask: bar,
    volume_fp: count,
    volume: count,
    open_interest_fp: wireUsd.nullish(),
    open_interest: wireUsd.nullish(),
  })
  .superRefine(anyOf('volume_fp', 'volume'));
export type KalshiCandle = z.output<typeof KalshiCandle>;

const levels = z.array(z.tuple([wirePrice, wireSize]).rest(z.unknown())).nullish();
const oldLevels = z.array(z.tuple([wireCents, wireSize]).rest(z.unknown())).nullish();

/** Bids of both outcomes, best last; an empty side is `[]`, formerly null, and absent in some bodies. */
export const KalshiOrderBook = z.union([
  z.object({ orderbook_fp: z.object({ yes_dollars: levels, no_dollars: levels }) }),
  z.object({ orderbook: z.object({ yes_dollars: levels, no_dollars: levels, yes: oldLevels, no: oldLevels }) }),
]);
export type KalshiOrderBook = z.output<typeof KalshiOrderBook>;

/** Where the live lists end and the archive begins. */
export const KalshiCutoff = z.object({ market_settled_ts: z.string(), trades_created_ts: z.string() });

/** Reply of /events/{ticker}/metadata, reduced to the fields that are used. */
export const KalshiEventMetadata = z.object({
  image_url: wireText.transform((url) => (/^https?:\/\/\S{1,2000}$/.test(url) ? url : '')),
});
