import { z } from 'zod';
import { ONE_PRICE } from '../../decimal.ts';
import { wirePrice, wireSize, wireText as text, wireUsd } from '../rows.ts';

/**
 * Rows as Polymarket sends them, reduced to the fields that are read. Unknown keys are ignored; an absent key is unknown,
 * never zero; Gamma sends '' where other platforms send null.
 */

/** A field that is absent, null or '' when unknown. */
const optional = <T extends z.ZodType>(schema: T) =>
  z
    .union([z.literal('').transform(() => null), schema])
    .nullish()
    .transform((value) => value ?? null);
const unitPrice = wirePrice.refine((value) => value >= 0n && value <= ONE_PRICE, 'expected a price of 0 to 1');
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? null);
/** Decimal ids are strings, but some routes send them as numbers. */
const id = z.union([z.string().min(1), z.int().nonnegative().transform(String)]);
/** 0x and 40 hex digits, in lower case. */
const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((value) => value.toLowerCase());
/** 0x and 64 hex digits, 62 on markets of protocol version 2; in lower case. */
const conditionId = z
  .string()
  .regex(/^0x([0-9a-f]{62}|[0-9a-f]{64})$/i)
  .transform((value) => value.toLowerCase());
const tokenId = z.string().regex(/^\d{1,78}$/);

/** A list that Gamma writes as JSON inside a string (`"[\"Yes\", \"No\"]"`), now and then as a list, or leaves out. */
const texts = z
  .union([z.array(z.string()), z.string()])
  .nullish()
  .transform((value, context): string[] => {
    if (typeof value !== 'string') return value ?? [];
    try {
      return value === '' ? [] : z.array(z.string()).parse(JSON.parse(value));
    } catch {
      context.addIssue({ code: 'custom', message: 'expected a JSON list of strings' });
      return z.NEVER;
    }
  });

const gammaTag = z.object({ slug: text, label: text, forceHide: flag });

/** Gamma event: the parent of one or more markets. On a market row it comes without tags. */
export const gammaEvent = z.object({
  id,
  slug: text,
  title: text,
  resolutionSource: text,
  updatedAt: text,
  tags: z
    .array(gammaTag)
    .nullish()
    .transform((value) => value ?? []),
  series: z
    .array(z.object({ id, slug: text }))
    .nullish()
    .transform((value) => value ?? []),
  sport: z
    .object({ name: text })
    .nullish()
    .transform((value) => value ?? null),
});
export type GammaEvent = z.output<typeof gammaEvent>;

/** Gamma market. `outcomes[i]`, `outcomePrices[i]` and `clobTokenIds[i]` (or `positionIds[i]`) speak of one outcome. */
export const gammaMarket = z.object({
  id,
  question: z.string().min(1),
  conditionId: z
    .union([z.literal(''), conditionId])
    .nullish()
    .transform((value) => value ?? ''),
  slug: text,
  description: text,
  category: text,
  resolutionSource: text,
  image: text,
  icon: text,
  outcomes: texts.refine((names) => names.length >= 2, 'expected two outcomes or more'),
  outcomePrices: texts.transform((prices) => prices as unknown[]).pipe(z.array(wirePrice)),
  clobTokenIds: texts.pipe(z.array(z.union([z.literal(''), tokenId]))),
  positionIds: texts.pipe(z.array(z.union([z.literal(''), tokenId]))),
  active: flag,
  closed: z.boolean(),
  enableOrderBook: flag,
  acceptingOrders: flag,
  acceptingOrdersTimestamp: text,
  startDate: text,
  endDate: text,
  closedTime: text,
  umaEndDate: text,
  createdAt: text,
  umaResolutionStatus: text,
  marketType: text,
  version: text,
  volume: optional(wireUsd),
  volumeNum: optional(wireUsd),
  volume24hr: optional(wireUsd),
  volume1wk: optional(wireUsd),
  volume1mo: optional(wireUsd),
  volume1yr: optional(wireUsd),
  liquidity: optional(wireUsd),
  liquidityNum: optional(wireUsd),
  liquidityClob: optional(wireUsd),
  lastTradePrice: optional(wirePrice),
  bestBid: optional(wirePrice),
  bestAsk: optional(wirePrice),
  oneDayPriceChange: optional(wirePrice),
  oneWeekPriceChange: optional(wirePrice),
  competitive: optional(wirePrice),
  orderPriceMinTickSize: optional(wirePrice),
  orderMinSize: optional(wireSize),
  rewardsMinSize: optional(wireSize),
  groupItemTitle: text,
  groupItemThreshold: text,
  line: optional(wireUsd),
  lowerBound: optional(wireUsd),
  upperBound: optional(wireUsd),
  negRisk: flag,
  negRiskMarketID: text,
  feesEnabled: flag,
  feeSchedule: z
    .object({
      exponent: z.number().optional(),
      rate: z.number().optional(),
      takerOnly: z.boolean().optional(),
      rebateRate: z.number().optional(),
    })
    .nullish()
    .transform((value) => value ?? {}),
  tags: z
    .array(gammaTag)
    .nullish()
    .transform((value) => value ?? []),
  events: z
    .array(gammaEvent)
    .nullish()
    .transform((value) => value ?? []),
});
export type GammaMarket = z.output<typeof gammaMarket>;

/** One row of the trade tape, whichever version of the Data API it came from. */
export interface TradeRow {
  /** Proxy wallet, lower case. */
  wallet: string;
  side: 'BUY' | 'SELL';
  tokenId: string;
  conditionId: string;
  /** As received (0..1 and above 0): the id is made of the digits. */
  price: string | number;
  size: string | number;
  /** Unix seconds. */
  timestamp: number;
  transactionHash: string;
  title: string;
  slug: string;
  eventSlug: string;
  /** The outcome's name and place; '' and null until the platform has labelled the row. */
  outcome: string;
  outcomeIndex: number | null;
  name: string;
  pseudonym: string;
  profileImage: string;
}

const side = z
  .string()
  .toUpperCase()
  .pipe(z.enum(['BUY', 'SELL']));
const transactionHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((value) => value.toLowerCase());
const digits = z.union([z.string(), z.number()]);
/** In the year 5138; milliseconds are beyond it. */
const MAX_SECONDS = 1e11;
/** 999 stands for "not labelled yet". */
const outcomeIndex = z
  .int()
  .nullish()
  .transform((index) => (index === 0 || index === 1 ? index : null));
const shared = {
  side,
  price: digits.refine((value) => unitPrice.safeParse(value).success, 'expected a price of 0 to 1'),
  size: digits.refine((value) => (wireSize.safeParse(value).data ?? 0n) > 0n, 'expected a size above 0'),
  timestamp: z.int().positive().max(MAX_SECONDS, 'expected seconds'),
  title: text,
  slug: text,
  outcome: text,
};

/** Data API v1 `/trades`, camelCase. */
export const tradeV1 = z
  .object({
    ...shared,
    proxyWallet: address,
    asset: tokenId,
    conditionId,
    outcomeIndex,
    transactionHash,
    eventSlug: text,
    name: text,
    pseudonym: text,
    profileImage: text,
  })
  .transform(({ proxyWallet, asset, ...row }): TradeRow => ({ ...row, wallet: proxyWallet, tokenId: asset }));

/** Data API v2 `/v2/trades`, snake_case. */
export const tradeV2 = z
  .object({
    ...shared,
    proxy_wallet: address,
    token_id: tokenId,
    condition_id: conditionId,
    outcome_index: outcomeIndex,
    transaction_hash: transactionHash,
    event_slug: text,
    name: text,
    pseudonym: text,
    profile_image: text,
  })
  .transform(
    ({
      proxy_wallet,
      token_id,
      condition_id,
      outcome_index,
      transaction_hash,
      event_slug,
      profile_image,
      ...row
    }): TradeRow => ({
      ...row,
      wallet: proxy_wallet,
      tokenId: token_id,
      conditionId: condition_id,
      outcomeIndex: outcome_index,
      transactionHash: transaction_hash,
      eventSlug: event_slug,
      profileImage: profile_image,
    }),
  );

const level = z.object({ price: unitPrice, size: wireSize });

/** CLOB `/book` and element of `/books`: every number a decimal text, the best level last. */
export const clobBook = z.object({
  asset_id: tokenId,
  /** Unix milliseconds as text. */
  timestamp: z.string(),
  bids: z.array(level),
  asks: z.array(level),
  min_order_size: optional(wireSize),
  tick_size: optional(wirePrice),
  neg_risk: flag,
});
export type ClobBook = z.output<typeof clobBook>;

/** Element of CLOB `/prices-history`: seconds and a midpoint-like sample. */
export const historyPoint = z.object({ t: z.int().positive(), p: unitPrice });
export type HistoryPoint = z.output<typeof historyPoint>;

/** Element of Data API v1 `/oi`. */
export const openInterestRow = z.object({ market: conditionId, value: wireUsd });

/** Element of Data API v2 `/v2/positions`. */
export const positionRow = z.object({
  token_id: tokenId,
  condition_id: conditionId,
  current_size: wireSize,
  current_price: optional(wirePrice),
  redeemable: z.boolean(),
  title: text,
  outcome: text,
});
export type PositionRow = z.output<typeof positionRow>;

/** The profiles of Gamma's `/public-search`; some are null, and none are sent when none are found. */
export const profiles = z
  .object({ profiles: z.array(z.object({ name: text, proxyWallet: text }).nullable()).nullish() })
  .transform(({ profiles }) =>
    (profiles ?? []).flatMap((profile) => {
      const wallet = address.safeParse(profile?.proxyWallet);
      return profile && wallet.success ? [{ name: profile.name, proxyWallet: wallet.data }] : [];
    }),
  );

const cursor = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
/** A page of rows still to be parsed one by one; `next` is '' on the last one. */
export interface Page {
  rows: unknown[];
  next: string;
}
const rows = z.array(z.unknown());
export const eventPage = z
  .object({ events: rows, next_cursor: cursor })
  .transform(({ events, next_cursor }): Page => ({ rows: events, next: next_cursor }));
export const marketPage = z
  .object({ markets: rows, next_cursor: cursor })
  .transform(({ markets, next_cursor }): Page => ({ rows: markets, next: next_cursor }));
/** Any list of the Data API's version 2; a documented miss is null instead of a list. */
export const dataPage = z
  .object({ data: rows.nullable(), pagination: z.object({ next_cursor: cursor }).nullish() })
  .transform(({ data, pagination }): Page => ({ rows: data ?? [], next: pagination?.next_cursor ?? '' }));
/** A reply that is nothing but a list. */
export const bareList = rows;
export const historyBody = z.object({ history: rows });
