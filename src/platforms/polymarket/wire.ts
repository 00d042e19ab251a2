import { z } from 'zod';
import { parsePrice } from '../../core/decimal.ts';
import {
  wireFlag as flag,
  wireInteger,
  wireLevels,
  wireLevelSize,
  wireOptional as optional,
  wirePaidPrice,
  wirePrice,
  wireSize,
  wireText as text,
  wireTime as time,
  wireUsd,
  wireVolume,
} from '../parse-rows.ts';
import { conditionRef, positionModule } from './protocol.ts';
import { address, conditionId, cursor, type Page, rows, tokenId, unitPrice, wireSide } from './wire-fields.ts';

/** Rows and pages of the Data API and of the CLOB. */

/** Millionths, parsed to a price. */
const wireMicros = wireInteger
  .pipe(z.int().nonnegative().max(1_000_000))
  .transform((micros) => parsePrice(micros) / 1_000_000n);
/** One row of the trade feed. */
export interface TradeRow {
  /** Proxy wallet, lower case. */
  wallet: string;
  side: 'BUY' | 'SELL';
  tokenId: string;
  conditionId: string;
  /** As received (above 0, at most 1), because the id depends on its digits. */
  price: string | number;
  size: string | number;
  /** Unix seconds. */
  timestamp: number;
  transactionHash: string;
  title: string;
  slug: string;
  eventSlug: string;
  /** The outcome's name and index; '' and null until the platform has labelled the row. */
  outcome: string;
  outcomeIndex: number | null;
  name: string;
  pseudonym: string;
  profileImage: string;
}

const transactionHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((value) => value.toLowerCase());
const digits = z.union([z.string(), z.number()]);
/** In the year 5138; larger values are milliseconds. */
const MAX_SECONDS = 1e11;
/** 999 means "not labelled yet". */
const outcomeIndex = wireInteger.nullish().transform((index) => (index === 0 || index === 1 ? index : null));
const trade = {
  side: wireSide,
  price: digits.refine((value) => wirePaidPrice.safeParse(value).success, 'expected a price above 0, at most 1'),
  size: digits.refine((value) => (wireSize.safeParse(value).data ?? 0n) > 0n, 'expected a size above 0'),
  timestamp: wireInteger.pipe(z.int().positive().max(MAX_SECONDS, 'expected seconds')),
  title: text,
  slug: text,
  outcome: text,
};

/** Element of the Data API's `/v2/trades`. */
export const dataTrade = z
  .object({
    ...trade,
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

const SHORT_CONDITION = /^0x[0-9a-f]{62}$/i;

/** A condition of 62 digits is a combo's unless its module is that of a market; a longer one only if its module is that of combos. */
function isComboCondition(id: string): boolean {
  const kind = positionModule(conditionRef(id));
  return kind === 'combinatorial' || (kind === null && SHORT_CONDITION.test(id));
}

/** A combo's row in the trade feeds: its condition belongs to no market. */
export const comboRow = z.union([
  z.object({ is_combo: z.literal(true) }),
  z.object({ condition_id: z.string().refine(isComboCondition) }),
]);

const level = z.object({ price: unitPrice, size: wireLevelSize });

/** CLOB `/book` and element of `/books`: every number a decimal text, the best level last. */
export const clobBook = z.object({
  asset_id: tokenId,
  /** Unix milliseconds. */
  timestamp: z.union([z.string(), z.number()]).nullish(),
  bids: wireLevels(level),
  asks: wireLevels(level),
  min_order_size: optional(wireSize),
  tick_size: optional(wirePrice),
  neg_risk: flag,
});
export type ClobBook = z.output<typeof clobBook>;

/** Element of `/v2/prices-history`: Unix seconds, and a price observed within `resolution_seconds` of them; 0 for a tick, or a payout. */
export const historyPoint = z.object({
  timestamp: wireInteger.pipe(z.int().positive()),
  price: unitPrice,
  resolution_seconds: optional(z.number()),
});
export type HistoryPoint = z.output<typeof historyPoint>;

/** Element of `/v2/oi`. */
export const openInterestRow = z.object({ condition_id: conditionId, value: wireVolume });

/** Element of `/v2/resolutions`; payouts are millionths of a dollar per share. */
export const resolutionRow = z.object({
  condition_id: conditionId,
  status: z.string(),
  /** null until the result is final. */
  payouts: z
    .array(wireMicros)
    .nullish()
    .transform((value) => (value?.length ? value : null)),
  resolved_at: time,
  /** An estimate, until the result is final. */
  expected_settlement_time: time,
  settlement_time_basis: text,
});

/** Element of `/v2/positions`. */
export const positionRow = z.object({
  token_id: tokenId,
  condition_id: conditionId,
  current_size: wireSize,
  current_price: optional(wirePrice),
  avg_price: optional(wirePrice),
  /** What the held shares cost, without fees. */
  entry_cost_usdc: optional(wireUsd),
  current_value: optional(wireUsd),
  unrealized_pnl: optional(wireUsd),
  redeemable: flag,
  title: text,
  outcome: text,
});
export type PositionRow = z.output<typeof positionRow>;
/** Element of `/v2/positions/combos` of a combo that the wallet no longer holds. */
export const soldCombo = z.object({ current_size: wireSize.refine((size) => size === 0n) });

/** Any list of the Data API; for documented cases without a result it is null. */
export const dataPage = z
  .object({ data: rows.nullable(), pagination: z.object({ next_cursor: cursor }).nullish() })
  .transform(({ data, pagination }): Page => ({ rows: data ?? [], next: pagination?.next_cursor ?? '' }));
/** A reply that consists of a list. */
export const bareList = rows;
