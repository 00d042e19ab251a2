import { z } from 'zod';
import { PLATFORMS } from '../core/model.ts';
import { VOLUME_UNIT } from './volume-unit.ts';

/** Schemas of what endpoints answer, shared by routes and OpenAPI. Each field states its unit and when it is null. */
export const platformField = z.enum(PLATFORMS).describe('The platform that lists the market');
const ISO = 'ISO-8601 UTC with milliseconds';
export const timeField = z.string().meta({ format: 'date-time', description: ISO });
/** A time, or null: `whenNull` states what null means. */
export const timeOrNull = (what: string, whenNull: string) =>
  z
    .string()
    .nullable()
    .meta({ format: 'date-time', description: `${what}, ${ISO}; null ${whenNull}` });
export const numberOrNull = z.number().nullable();
export const jsonObject = z.record(z.string(), z.unknown());
export const titleField = z
  .string()
  .describe("Title of the market, as worded by the platform; '' while it is not stored");
export const platformsField = z.array(platformField).describe('Platforms whose data went into the answer');
export const marketIdField = z
  .string()
  .describe("The platform's id: Kalshi ticker, Polymarket Gamma id, Limitless slug");
export const tradeIdField = z.string().describe("The platform's id of the fill, unique per platform");
export const statusField = z.string().describe('unopened, open, paused, closed or settled');
const TRADER = {
  name: "Name the user gave themselves; '' where there is none",
  pseudonym: "Name the platform made up for the user; '' where there is none",
  profile_image: "URL; '' where there is none",
};
/** A person as the platform names them, '' where it does not. */
export const traderFields = {
  name: z.string().describe(TRADER.name),
  pseudonym: z.string().describe(TRADER.pseudonym),
  profile_image: z.string().describe(TRADER.profile_image),
};
/** The range of an answer, Unix seconds. */
export const timeRangeField = z
  .object({
    start: z.int().describe('Unix seconds, inclusive'),
    end: z.int().describe('Unix seconds, exclusive'),
  })
  .describe('As applied');

export const Pagination = z
  .object({
    total: z.int().describe('Number of results of the filter as of the first page'),
    limit: z.int().describe('Number of results per page'),
    has_more: z.boolean().describe('true when there is a next page'),
    next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last'),
  })
  .meta({ id: 'Pagination', description: 'Position of this page in the list' });

export const requestTimeField = z.int().describe('Milliseconds from receipt to answer');
export const freshnessField = timeOrNull(
  'Newest time at which the data is known to be complete',
  'before the first ingestion',
);
/** Of every `meta`. */
export const META = 'About the answer, not the data';
/** `meta` of answers that report only how long they took. */
export const PlainMeta = z.object({ request_time: requestTimeField }).describe(META);
export const cacheHitField = z.boolean().describe('true when the body came from a cache');
export const tradesFreshness = timeOrNull(
  'Newest time up to which the stored trades are known to be complete; the older one over several platforms',
  'before the first ingestion',
);

const OutcomeAnswer = z
  .object({
    id: z.string().describe('yes, no, or a kebab form of the name; stable'),
    name: z.string().describe('As worded by the platform'),
  })
  .meta({ id: 'Outcome', description: 'One outcome of a market' });

const marketVolume = (window: string) =>
  numberOrNull.describe(`Traded ${window}: ${VOLUME_UNIT} (metadata.volume_basis); null when unknown`);
const priceChanges = (window: string) =>
  z
    .record(z.string(), z.number().describe('Price now minus price then, −1..1'))
    .describe(`Change of price over ${window} per outcome id; {} when unknown`);

export const MarketAnswer = z
  .object({
    id: z.string().describe('Unified id: <platform>:<platform_id>'),
    platform: platformField,
    platform_id: marketIdField,
    title: z.string().describe('As worded by the platform'),
    status: statusField,
    market_type: z.string().describe('binary, multiple_choice or scalar'),
    outcomes: z.array(OutcomeAnswer).describe("In the platform's order; the first is the one bars are quoted in"),
    current_prices: z
      .record(
        z.string(),
        z.object({
          price: numberOrNull.describe('Last price, 0..1; null if unknown'),
          bid: numberOrNull.describe('Best bid, 0..1; null without one'),
          ask: numberOrNull.describe('Best ask, 0..1; null without one'),
        }),
      )
      .describe('Per outcome id, 0..1. A settled market shows its payout; bid and ask are null unless open'),
    last_synced_at: timeField.describe(`When the platform body behind this record was received, ${ISO}`),
    event_id: z.string().describe("The platform's id of the event it belongs to; '' where there is none"),
    event_name: z.string().describe("Title of that event; '' where there is none"),
    series_id: z.string().describe("The platform's id of the series of events; '' where there is none"),
    slug: z.string().describe("URL slug on the platform; '' where there is none"),
    description: z.string().describe("As worded by the platform; '' where there is none"),
    category: z.string().describe("One vocabulary over the platforms; '' when the platform names none"),
    subcategory: z.string().nullable().describe("The platform's own finer category; null where it names none"),
    tags: z.array(z.string()).describe("The platform's own tags"),
    volume_24h: marketVolume('in the last 24 hours'),
    volume_7d: marketVolume('in the last 7 days'),
    volume_total: marketVolume('since the market opened'),
    liquidity: numberOrNull.describe(
      'USD of collateral at rest; metadata.liquidity_basis says which part of the book counts. null (basis none) until the book of an open market has been read',
    ),
    liquidity_score: numberOrNull.describe(
      '0..1: min(1, log10(1 + liquidity) / 6), 4 decimals; null without liquidity',
    ),
    open_interest: numberOrNull.describe('Contracts on Kalshi, USD on Polymarket and Limitless; null when unknown'),
    unique_traders: z
      .int()
      .nullable()
      .describe('Number of distinct takers since metadata.unique_traders_since; null on Kalshi'),
    source_url: z.string().describe('Page of the market on its platform'),
    image_url: z.string().describe("URL; '' where there is none"),
    created_at: timeField.describe(
      `When the platform created the market; when it was first seen here if the platform does not say; ${ISO}`,
    ),
    trading_start_at: timeOrNull('When trading starts or started', 'if not reported'),
    trading_end_at: timeOrNull('When trading ends or ended', 'if not reported'),
    resolution_date: timeOrNull('Expected resolution; may lie before trading_end_at', 'if not reported'),
    resolved_at: timeOrNull('When the market was settled', 'before, and if not reported'),
    resolution_criteria: z.string().describe("As worded by the platform; '' where there are none"),
    resolution_source: z.string().describe("As the platform names it; '' where there is none"),
    price_24h_changes: priceChanges('24 hours'),
    price_7d_changes: priceChanges('7 days'),
    metadata: jsonObject.describe('Data from the platform: tick sizes, token ids, fees, payouts, bases of the figures'),
    raw_data: jsonObject.optional().describe("The platform's own objects; with include_raw=true"),
  })
  .meta({ id: 'Market', description: 'A market with its latest state' });

export const MarketsAnswer = z
  .object({
    pagination: Pagination,
    markets: z.array(MarketAnswer).describe('In the requested order'),
    meta: z
      .object({
        platforms_queried: platformsField,
        request_time: requestTimeField,
        cache_hit: cacheHitField,
        data_freshness: freshnessField,
        not_found: z
          .array(z.string())
          .optional()
          .describe('With market_ids: those that name no stored market, as received'),
      })
      .describe(META),
  })
  .meta({ id: 'MarketList' });

export const MarketTradeAnswer = z
  .object({
    trade_id: tradeIdField,
    market_id: marketIdField,
    platform: platformField,
    side: z.enum(['buy', 'sell']).describe("The taker's side"),
    outcome: z.string().describe('Outcome id'),
    transaction_hash: z.string().describe("'' where there is none"),
    price: z.number().describe('Of the outcome traded, 0..1'),
    size: z.number().describe('Contracts or shares'),
    timestamp: z.int().describe('Unix seconds; metadata.executed_at is exact'),
    taker: z.boolean().describe('true: every stored trade is seen from its taker'),
    user: z.object(traderFields).describe("The taker; '' on Kalshi, where trades are anonymous"),
    metadata: jsonObject.describe('executed_at, and data from the platform'),
  })
  .meta({ id: 'MarketTrade', description: 'One fill, counted once' });

/** The floor of a platform's own list. */
export const smallestSizeField = z
  .number()
  .nullable()
  .describe('Shares or contracts: smaller positions may be missing and are not in total; null if the list is complete');

export const MarketTradesAnswer = z
  .object({
    trades: z.array(MarketTradeAnswer).describe('Newest first'),
    pagination: Pagination,
    meta: z
      .object({
        request_time: requestTimeField,
        market_id: marketIdField,
        platform: platformField,
        data_freshness: freshnessField,
        cache_hit: cacheHitField,
        smallest_size: smallestSizeField,
      })
      .describe(META),
  })
  .meta({ id: 'MarketTradeList' });

const ohlc = (which: string) => numberOrNull.describe(`${which} of the bucket, 0..1; null where not known`);
export const OhlcAnswer = z.object({
  open: ohlc('First'),
  high: ohlc('Highest'),
  low: ohlc('Lowest'),
  close: ohlc('Last'),
});

export const PricePointAnswer = z
  .object({
    timestamp: z.int().describe('Start of the bucket, Unix seconds, UTC-aligned'),
    platform: platformField,
    marketId: marketIdField,
    outcomeId: z.string().describe('Outcome whose price this is'),
    volume: numberOrNull.describe('Contracts traded in the bucket; null when its trades are not all stored'),
    openInterest: numberOrNull.describe(`Last value of the bucket: ${VOLUME_UNIT}; null if not reported`),
    price: OhlcAnswer.describe('Of executed trades, 0..1'),
    bidAsk: z
      .object({ bid: OhlcAnswer.describe('Best bid, 0..1'), ask: OhlcAnswer.describe('Best ask, 0..1') })
      .describe('Best bid and ask, null where not known'),
  })
  .meta({ id: 'PricePoint', description: 'A bar of one outcome' });

export const PriceHistoryAnswer = z
  .object({
    data: z.array(PricePointAnswer).describe('Oldest first'),
    meta: z
      .object({
        total_points: z.int().describe('Number of points in data'),
        platforms: platformsField,
        time_range: timeRangeField,
        interval: z.string().describe('Minutes of a bucket: 1, 60 or 1440'),
        request_time: requestTimeField,
        cache_hit: cacheHitField,
        data_freshness: freshnessField,
        source: z
          .enum(['trades', 'midpoint', 'mixed'])
          .describe('What the prices are: executed trades, or samples of the midpoint'),
        complete: z.boolean().describe('false while older trades are still being fetched: retry later'),
      })
      .describe(META),
  })
  .meta({ id: 'PriceHistory' });
