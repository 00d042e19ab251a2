import { z } from 'zod';
import { isStorable, isTradePrice, isTradeSize, wireBaseUnits, wirePrice, wireText } from '../parse-rows.ts';

/**
 * Rows as Limitless sends them. Listing rows lack keys of the detail, older rows lack newer keys, and most unknown values are null, so
 * everything is optional except what a market requires. Free-form parts that are invalid (`metadata`, `properties`) count as
 * unknown and do not invalidate the row.
 */
const flag = z.boolean().nullish();
const optionalText = z.string().nullish();
const amount = wireBaseUnits.nullish();
/** Yes first; a row without trades has 0 or [0.5, 0.5]. */
const pair = z.array(wirePrice).nullish();
const tradePrice = z.object({ market: pair, limit: pair }).nullish();
const token = z.object({ address: optionalText, decimals: z.number().int().min(0).max(36), symbol: z.string() });

const common = {
  id: z.number().int().nullish(),
  slug: z.string().min(1),
  title: z.string(),
  imageUrl: optionalText,
  logo: optionalText,
  categories: z.array(z.string()).nullish(),
  /** 2024 only. */
  category: optionalText,
  properties: z
    .array(z.object({ propertyKeySlug: optionalText, value: z.array(z.string()).nullish().catch(null) }))
    .nullish()
    .catch(null),
};

export const LimitlessMarket = z.object({
  ...common,
  address: optionalText,
  tradeType: optionalText,
  status: z.string(),
  expired: flag,
  description: wireText,
  conditionId: optionalText,
  negRiskRequestId: optionalText,
  groupId: z.number().int().nullish(),
  groupSlug: optionalText,
  stableSlug: optionalText,
  frequency: optionalText,
  orderInGroup: z.number().int().nullish(),
  collateralToken: token.nullish(),
  expirationTimestamp: z.number().nullish(),
  createdAt: optionalText,
  startAt: optionalText,
  updatedAt: optionalText,
  tags: z.array(z.string()).nullish(),
  volume: amount,
  openInterest: amount,
  liquidity: amount,
  tokens: z.object({ yes: z.string(), no: z.string() }).nullish(),
  positionIds: z.array(z.string()).nullish(),
  prices: pair,
  tradePrices: z.object({ buy: tradePrice, sell: tradePrice }).nullish(),
  winningOutcomeIndex: z.number().int().nullish(),
  payoutNumerators: z.array(wirePrice).nullish(),
  settings: z
    .object({ takerDelayMs: z.number().nullish().catch(null) })
    .nullish()
    .catch(null),
  metadata: z
    .object({
      fee: flag.catch(null),
      groupSlug: optionalText.catch(null),
      openPrice: z.union([z.string(), z.number()]).nullish().catch(null),
      chainlinkDataStream: z.object({ streamUrl: optionalText }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  priceOracleMetadata: z.object({ assetType: optionalText, chainlinkStreamUrl: optionalText }).nullish().catch(null),
});
export type LimitlessMarket = z.output<typeof LimitlessMarket>;

/** A group is an event: one row with its markets nested; it has no prices or tokens of its own. */
export const LimitlessGroup = z.object({
  ...common,
  negRiskMarketId: optionalText,
  createdAt: optionalText,
  tags: z.array(z.string()).nullish(),
  markets: z.array(z.unknown()),
});
export type LimitlessGroup = z.output<typeof LimitlessGroup>;

export const LimitlessListing = z.object({
  data: z.array(z.unknown()),
  totalMarketsCount: z.number().int().min(0),
});

/** Slugs of every listed row; a group contains its children. */
export const LimitlessSlugs = z.array(
  z.object({ slug: z.string(), markets: z.array(z.object({ slug: z.string() })).nullish() }),
);

export const LimitlessTrade = z.object({
  createdAt: z.string(),
  side: z.union([z.literal(0), z.literal(1), z.literal('0'), z.literal('1')]).transform(Number),
  price: wirePrice.refine(isTradePrice, 'expected a price of 0 to 1'),
  /** Base units of 1e-6, the scale of our sizes and USD. */
  matchedSize: wireBaseUnits
    .refine(isStorable, 'larger than any trade can be')
    .refine(isTradeSize, 'expected a size above 0'),
  takerAmount: wireBaseUnits.refine(isStorable, 'larger than any trade can be').nullish(),
  tokenId: z.string(),
  txHash: z.string(),
  profile: z
    .object({ account: optionalText, username: optionalText, displayName: optionalText, pfpUrl: optionalText })
    .nullish(),
});
export type LimitlessTrade = z.output<typeof LimitlessTrade>;

export const LimitlessTradePage = z.object({
  events: z.array(z.unknown()),
  limit: z.coerce.number().int().min(1).nullish(),
  totalPages: z.coerce.number().int().min(0).nullish(),
  totalRows: z.coerce.number().int().min(0).nullish(),
});

const level = z.object({ price: wirePrice, size: wireBaseUnits });

/** One book in Yes terms with the No orders merged in; sizes in base units. */
export const LimitlessOrderBook = z.object({
  bids: z.array(level),
  asks: z.array(level),
  lastTradePrice: wirePrice.nullish(),
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
