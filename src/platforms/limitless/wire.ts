import { z } from 'zod';
import { parseDecimal } from '../../core/decimal.ts';
import { isoFromEpoch } from '../market-fields.ts';
import {
  isStorable,
  isTradePrice,
  isTradeSize,
  wireBaseUnits,
  wireFlag,
  wireInteger,
  wireLevels,
  wireLevelUnits,
  wirePaidPrice,
  wirePrice,
  wireText,
  wireTime,
  wireTradePrice,
  wireWeight,
} from '../parse-rows.ts';

/** Rows as Limitless sends them. Lists and older rows lack keys: everything is optional except what a market requires. */
const word = z.union([z.string(), z.number().transform(String)]);
const text = word.nullish();
const words = z.array(word).nullish();
const whole = wireInteger.nullish();
/** Base units of an amount that is never below 0. */
const amount = wireBaseUnits.refine((units) => units >= 0n, 'below 0').nullish();
/** Yes first; a row without trades has 0 or [0.5, 0.5]. */
const pair = z.array(wireTradePrice).nullish();
const tradePrice = z.object({ market: pair }).nullish();
const epoch = z
  .union([z.number(), z.string()])
  .nullish()
  .refine((value) => value === '' || value == null || isoFromEpoch(value) !== null, 'not a time');

/** Facts without a schema of their own at the platform; a group has them too. */
const metadata = z
  .object({
    fee: wireFlag,
    groupSlug: text,
    /** "---" until it is captured. */
    openPrice: text,
    chainlinkDataStream: z.object({ streamUrl: text, pair: text }).nullish(),
    frequencySubType: text,
    minutesDeadline: text,
    /** The market of another platform that this one copies. */
    externalSlug: text,
    externalProvider: text,
    polymarketSeriesId: text,
  })
  .nullish();

const common = {
  slug: z.string().min(1),
  imageUrl: text,
  logo: text,
  categories: words,
  /** 2024 only. */
  category: text,
  properties: z.array(z.object({ propertyKeySlug: text, value: words })).nullish(),
  tags: words,
  metadata,
};

export const LimitlessMarket = z.object({
  ...common,
  title: word,
  address: text,
  tradeType: text,
  status: wireText,
  expired: wireFlag,
  description: wireText,
  conditionId: text,
  negRiskRequestId: text,
  groupId: whole,
  groupSlug: text,
  stableSlug: text,
  frequency: text,
  subFrequency: text,
  orderInGroup: whole,
  collateralToken: z.object({ decimals: wireInteger.pipe(z.int().min(0).max(36)).nullish(), symbol: text }).nullish(),
  expirationTimestamp: epoch,
  createdAt: wireTime,
  startAt: wireTime,
  updatedAt: wireTime,
  volume: amount,
  openInterest: amount,
  liquidity: amount,
  tokens: z.object({ yes: z.string(), no: z.string() }).nullish(),
  positionIds: z.array(z.string()).nullish(),
  /** In percent on a pool. */
  prices: z.array(wirePrice.refine((price) => isTradePrice(price / 100n), 'expected 0 to 100')).nullish(),
  tradePrices: z.object({ buy: tradePrice, sell: tradePrice }).nullish(),
  winningOutcomeIndex: whole,
  payoutNumerators: z.array(wireWeight).nullish(),
  /** Levels with fewer shares than `minSize`, in base units, earn no rewards. */
  settings: z.object({ takerDelayMs: whole, minSize: amount }).nullish(),
  priceOracleMetadata: z.object({ assetType: text, chainlinkPair: text, chainlinkStreamUrl: text }).nullish(),
});
export type LimitlessMarket = z.output<typeof LimitlessMarket>;
/** A market's row without one of these fields is left out: its trades use the slug as the market's name. */
export const MARKET_ROW = {
  platform: 'limitless',
  kind: 'market',
  idKey: 'slug',
  essential: ['slug', 'title'],
} as const;

/** A group is an event: one row with its markets nested; it has no prices or tokens of its own. */
export const LimitlessGroup = z.object({
  ...common,
  /** '' if it cannot be read. */
  title: wireText,
  negRiskMarketId: text,
  markets: z.array(z.unknown()),
});
export type LimitlessGroup = z.output<typeof LimitlessGroup>;
/** A group's row without one of these fields is left out. */
export const GROUP_ROW = {
  platform: 'limitless',
  kind: 'event',
  idKey: 'slug',
  essential: ['slug', 'markets'],
} as const;

export const LimitlessListing = z.object({
  data: z.array(z.unknown()),
  /** Checked where it is used: the rows count, whatever it says. */
  totalMarketsCount: z.unknown(),
});

const listed = z
  .object({ slug: z.string(), strikePrice: text.catch(null) })
  .nullable()
  .catch(null);
/** Slugs of every listed row; a group contains its children. An unreadable one is null. */
export const LimitlessSlugs = z.array(
  z
    .object({ slug: z.string(), strikePrice: text.catch(null), markets: z.array(listed).nullish().catch(null) })
    .nullable()
    .catch(null),
);

export const LimitlessTrade = z.object({
  createdAt: z.string(),
  side: z.union([z.literal(0), z.literal(1), z.literal('0'), z.literal('1')]).transform(Number),
  price: wirePaidPrice,
  /** Base units of 1e-6, the scale of our sizes and USD. */
  matchedSize: wireBaseUnits
    .refine(isStorable, 'larger than any trade can be')
    .refine(isTradeSize, 'expected a size above 0'),
  takerAmount: wireBaseUnits.refine(isStorable, 'larger than any trade can be').nullish(),
  tokenId: z.string(),
  txHash: z.string(),
  profile: z.object({ account: text, username: text, displayName: text, pfpUrl: text }).nullish(),
});
export type LimitlessTrade = z.output<typeof LimitlessTrade>;
/** A trade's row without one of these fields is left out; its taker may be unknown. */
export const TRADE_ROW = {
  platform: 'limitless',
  kind: 'trade',
  idKey: 'txHash',
  essential: ['createdAt', 'side', 'price', 'matchedSize', 'tokenId', 'txHash'],
} as const;

export const LimitlessTradePage = z.object({
  events: z.array(z.unknown()),
  limit: z.coerce.number().int().min(1).nullish().catch(null),
  totalPages: z.coerce.number().int().min(0).nullish().catch(null),
  totalRows: z.coerce.number().int().min(0).nullish().catch(null),
});

const level = z.object({ price: wireTradePrice, size: wireLevelUnits });

/** The middle of the levels that earn rewards; bids without such a level count as 0. */
export const adjustedMidpoint = wireTradePrice.optional().catch(undefined);

/** One book in Yes terms with the No orders merged in; sizes in base units. */
export const LimitlessOrderBook = z.object({
  bids: wireLevels(level),
  asks: wireLevels(level),
  lastTradePrice: wirePaidPrice.nullish().catch(null),
  adjustedMidpoint,
});
export type LimitlessOrderBook = z.output<typeof LimitlessOrderBook>;

/** Milliseconds as text or number; ISO in some copies. */
export const LimitlessPricePoint = z.object({ timestamp: z.union([z.string(), z.number()]), price: wirePrice });
export type LimitlessPricePoint = z.output<typeof LimitlessPricePoint>;

const series = z.object({ prices: z.array(z.unknown()) });
/** An object for a market; for a group slug an array with one series per child. */
export const LimitlessPriceHistory = z.union([
  series,
  z
    .array(series)
    .length(1)
    .transform(([only]) => only ?? { prices: [] }),
]);

/** Units of 1e-18 USD. Outside of these bounds a price is in other units: no asset costs less than 1e-12 USD. */
const ORACLE_UNITS = { least: 10n ** 6n, most: 10n ** 40n };
const isWhole = (value: string | number): boolean =>
  typeof value === 'number' ? Number.isInteger(value) : /^\d{1,41}$/.test(value);
const oraclePrice = z.union([z.string(), z.number()]).transform((value, context) => {
  const units = isWhole(value) ? parseDecimal(value, 0) : 0n;
  if (units >= ORACLE_UNITS.least && units <= ORACLE_UNITS.most) return units;
  context.addIssue({ code: 'custom', message: 'expected whole units of 1e-18 USD' });
  return z.NEVER;
});

/** A bar of the asset of a price market, USD ×10^18; its volume is always 0. */
export const LimitlessOracleCandle = z
  .object({
    timestamp: z.union([z.string(), z.number()]).refine((value) => isoFromEpoch(value) !== null, 'not a time'),
    open: oraclePrice,
    high: oraclePrice,
    low: oraclePrice,
    close: oraclePrice,
  })
  .refine(
    ({ open, high, low, close }) => low <= open && low <= close && high >= open && high >= close,
    'expected low ≤ open, close ≤ high',
  );

export const LimitlessOracleCandles = z.object({ source: wireText, symbol: wireText, rows: z.array(z.unknown()) });
