import { z } from 'zod';
import type { JsonObject } from '../../core/model.ts';
import {
  isTradePrice,
  wireCents,
  wireFlag,
  wireInteger,
  wireLevels,
  wireLevelSize,
  wireOptional,
  wirePrice,
  wireText,
  wireTradePrice,
  wireTime,
  wireVolume,
} from '../parse-rows.ts';
import { sharedNames, type SharedNames } from './title.ts';

/**
 * Rows as Kalshi sends them. Until early 2026 prices were whole cents and counts whole numbers, under names without `_dollars` and
 * `_fp`; archived candles use those names for dollar texts. Both forms are accepted. A number with a fraction is dollars.
 */
const bare = z.union([wireCents, wirePrice]).refine(isTradePrice, 'expected a price of 0 to 1');
const price = wireTradePrice.nullish();
export const oldPrice = bare.nullish();
const count = wireLevelSize.nullish();
const volume = wireVolume.nullish();
const text = wireOptional(z.union([z.string(), z.number().transform(String)]));
const strike = wireOptional(z.union([z.number(), z.string()]));
const numeral = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .transform(Number);
/** A number that may be sent as a text. */
const number = wireOptional(z.union([z.number(), numeral]));
const sources = z.array(z.object({ url: wireText })).nullish();

/** A list whose meaning depends on every entry: one odd entry makes the whole list odd. Empty if absent. */
const whole = <T extends z.ZodType>(entry: T, message: string) =>
  z
    .array(z.unknown())
    .nullish()
    .transform((given, context) => {
      const read = z.array(entry).safeParse(given ?? []);
      if (read.success) return read.data;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });
const ranges = whole(
  z.object({ start: wirePrice, end: wirePrice, step: wirePrice }),
  'expected ranges of start, end and step',
);

export const side = z.enum(['yes', 'no']);
/** How an order or a fill of one's own names its outcome: either field does, and one of them may be absent. */
export const ownSides = { outcome_side: side.nullish(), book_side: z.enum(['bid', 'ask']).nullish() };
type OwnSides = { [Name in keyof typeof ownSides]?: z.output<(typeof ownSides)[Name]> };
/** `row` with its outcome: a bid is in Yes. */
export const withOutcome = <R extends OwnSides>({ outcome_side: outcome, book_side: book, ...row }: R) => ({
  ...row,
  outcome_side: outcome ?? (book === 'bid' ? ('yes' as const) : ('no' as const)),
});
const Leg = z.object({
  event_ticker: z.string().min(1),
  market_ticker: z.string().min(1),
  side,
  yes_settlement_value_dollars: z.unknown().optional(),
});
/** Every leg is needed, and what one of them paid may be unknown. */
const legs = whole(Leg, 'expected legs of event, market and side').pipe(
  z.array(Leg.extend({ yes_settlement_value_dollars: wireOptional(wireTradePrice) })),
);
export type KalshiLeg = z.output<typeof legs>[number];

/** Adds an issue at the first key if none of the keys has a value: a renamed field must not count as "unknown". */
export const anyOf =
  (...keys: string[]) =>
  (row: object, context: z.RefinementCtx): void => {
    const values = row as Record<string, unknown>;
    if (keys.every((key) => values[key] === undefined || values[key] === null)) {
      context.addIssue({ code: 'custom', path: [keys[0] ?? ''], message: 'missing' });
    }
  };

export const KalshiMarket = z.object({
  ticker: z.string().min(1),
  event_ticker: wireText,
  market_type: wireText,
  status: wireText,
  title: wireText,
  yes_sub_title: wireText,
  rules_primary: wireText,
  rules_secondary: wireText,
  created_time: wireTime,
  open_time: wireTime,
  close_time: wireTime,
  expected_expiration_time: wireTime,
  latest_expiration_time: wireTime,
  occurrence_datetime: wireTime,
  settlement_ts: wireTime,
  settlement_timer_seconds: number,
  fee_waiver_expiration_time: wireTime,
  settlement_bounds_type: text,
  /** What has been paid for each Yes contract before the settlement; the market settles at this value or above. */
  settlement_floor_dollars: price,
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
  volume_fp: volume,
  volume,
  volume_24h_fp: volume,
  volume_24h: volume,
  open_interest_fp: volume,
  open_interest: volume,
  price_ranges: ranges,
  tick_size: oldPrice,
  can_close_early: wireFlag,
  early_close_condition: text,
  strike_type: text,
  floor_strike: strike,
  cap_strike: strike,
  functional_strike: text,
  custom_strike: z.record(z.string(), z.unknown()).nullish(),
  mve_collection_ticker: text,
  /** Only combinations have it. */
  mve_selected_legs: legs,
  is_provisional: wireFlag,
  /** Requests may say -1, which names no shard. */
  exchange_index: wireOptional(wireInteger.refine((index) => index >= 0, 'below 0')),
});
export type KalshiMarket = z.output<typeof KalshiMarket>;
/** Whether a market is a bet on several markets at once. */
export const isCombo = (market: Pick<KalshiMarket, 'mve_collection_ticker' | 'mve_selected_legs'>): boolean =>
  market.mve_collection_ticker !== null || market.mve_selected_legs.length > 0;
/** A market without a title takes that of its event, and one without an event is stored alone. */
export const MARKET_ROW = { platform: 'kalshi', kind: 'market', idKey: 'ticker', essential: ['ticker'] } as const;

/** A row has one name of each pair. If it has neither, the platform has renamed the field: it is reported as missing. */
const EITHER = [
  ['yes_bid_dollars', 'yes_bid'],
  ['yes_ask_dollars', 'yes_ask'],
  ['last_price_dollars', 'last_price'],
  ['volume_fp', 'volume'],
  ['volume_24h_fp', 'volume_24h'],
  ['open_interest_fp', 'open_interest'],
] as const;
/** Rows have them since their counts are named `_fp`. */
const SIZES = [['yes_bid_size_fp'], ['yes_ask_size_fp']] as const;
/** The fields that a market's row should have, under one of its names, and lacks. */
export function missingFields(raw: JsonObject): string[] {
  const lacks = (name: string): boolean => raw[name] === undefined || raw[name] === null;
  const expected = lacks('volume_fp') ? EITHER : [...EITHER, ...SIZES];
  return expected.filter((names) => names.every(lacks)).map(([name]) => name);
}

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
  mutually_exclusive: wireFlag,
  settlement_sources: sources,
  product_metadata: z.object({ competition: text }).nullish(),
  fee_type_override: text,
  fee_multiplier_override: number,
  markets: z.array(NestedMarket).transform(toMembers).nullish(),
});
export type KalshiEvent = z.output<typeof KalshiEvent>;
export const EVENT_ROW = {
  platform: 'kalshi',
  kind: 'event',
  idKey: 'event_ticker',
  essential: ['event_ticker'],
} as const;

export const KalshiSeries = z.object({
  ticker: z.string().min(1),
  title: wireText,
  frequency: wireText,
  category: wireText,
  categories: z.array(z.string()).nullish(),
  tags: z.array(z.string()).nullish(),
  settlement_sources: sources,
  fee_type: text,
  fee_multiplier: number,
});
export type KalshiSeries = z.output<typeof KalshiSeries>;
export const SERIES_ROW = { platform: 'kalshi', kind: 'series', idKey: 'ticker', essential: ['ticker'] } as const;

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
const tradeBar = bar.extend({ mean_dollars: price, mean: oldPrice, previous_dollars: price, previous: oldPrice });
const quoteBar = bar.nullish().transform((quotes): KalshiBar => quotes ?? {});

export const KalshiCandle = z
  .object({
    end_period_ts: wireInteger,
    price: tradeBar.nullable().transform((prices) => prices ?? {}),
    yes_bid: quoteBar,
    yes_ask: quoteBar,
    volume_fp: count,
    volume: count,
    open_interest_fp: volume,
    open_interest: volume,
  })
  .superRefine(anyOf('volume_fp', 'volume'));
export type KalshiCandle = z.output<typeof KalshiCandle>;
const OWN_PRICES = ['open', 'high', 'low', 'close'].flatMap((name) => [`price.${name}_dollars`, `price.${name}`]);
/** A bar is nothing without these. Its mean and the close before it may be unknown. */
export const CANDLE_ROW = {
  platform: 'kalshi',
  kind: 'candle',
  idKey: 'end_period_ts',
  essential: ['end_period_ts', ...OWN_PRICES, 'volume_fp', 'volume'],
} as const;

const levels = wireLevels(z.tuple([wireTradePrice, wireLevelSize]).rest(z.unknown())).nullish();
const oldLevels = wireLevels(z.tuple([bare, wireLevelSize]).rest(z.unknown())).nullish();

/** Bids of both outcomes, best last; an empty side is `[]`, formerly null, and absent in some bodies. */
export const KalshiOrderBook = z.union([
  z.object({ orderbook_fp: z.object({ yes_dollars: levels, no_dollars: levels }) }),
  z.object({ orderbook: z.object({ yes_dollars: levels, no_dollars: levels, yes: oldLevels, no: oldLevels }) }),
]);
export type KalshiOrderBook = z.output<typeof KalshiOrderBook>;

/** Where the live lists end and the archive begins. */
export const KalshiCutoff = z.object({ market_settled_ts: wireText, trades_created_ts: wireText });

/** Reply of /events/{ticker}/metadata, reduced to the fields that are used. */
export const KalshiEventMetadata = z.object({
  image_url: wireText.transform((url) => (/^https?:\/\/\S{1,2000}$/.test(url) ? url : '')),
});
