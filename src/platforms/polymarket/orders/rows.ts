import { z } from 'zod';
import type { Size, Usd } from '../../../core/decimal.ts';
import { wirePrice, wireSize, wireText } from '../../parse-rows.ts';
import { conditionId, tokenId, wireSide } from '../wire-fields.ts';

/** Rows of the CLOB's private side. Amounts are plain decimals; the prefix of statuses is removed, and a reason that follows them. */

const lowerCase = z
  .string()
  .min(1)
  .transform((text) => text.toLowerCase());
const status = z.string().transform((text) =>
  text
    .toUpperCase()
    .replace(/^(ORDER|TRADE)_STATUS_/, '')
    .replace(/_.*/s, ''),
);
/** Unix seconds as number or text; null for 0 and if absent. */
const seconds = z
  .union([z.number(), z.string().regex(/^\d*$/).transform(Number)])
  .nullish()
  .transform((value) => value || null);

/** A row of /data/orders, and the body of /data/order/{id}. */
export const ClobOrder = z.object({
  id: lowerCase,
  status,
  market: conditionId,
  asset_id: tokenId,
  side: wireSide,
  /** Shares; for an ioc or fok purchase the pUSD to spend. */
  original_size: wireSize,
  size_matched: z.union([z.literal('').transform(() => 0n), wireSize]),
  price: wirePrice,
  order_type: z.string().transform((text) => text.toUpperCase()),
  created_at: seconds,
  expiration: seconds,
});
export type ClobOrder = z.output<typeof ClobOrder>;

/** Base units of a share and of a pUSD. */
const UNITS = 1_000_000n;

/** Amounts are documented as whole base units, but sent as plain decimals: one of more than `most` is in base units. */
export const unitOf = (stated: Size | Usd, most: Size | Usd): bigint => (stated > most ? UNITS : 1n);

/** The same of the row of an order whose own size or budget is known. */
export const unitOfOwn = ({ original_size: stated }: ClobOrder, asked: Size | Usd): bigint =>
  unitOf(stated, asked * UNITS - 1n);

/** A row of /data/trades. Each maker's price is in terms of its own token, which may be the taker's complement. */
export const ClobTrade = z.object({
  id: z.string().min(1),
  taker_order_id: z.string().transform((text) => text.toLowerCase()),
  asset_id: tokenId,
  size: wireSize,
  price: wirePrice,
  status,
  match_time: seconds,
  last_update: seconds,
  maker_orders: z
    .array(z.object({ order_id: lowerCase, matched_amount: wireSize, price: wirePrice, asset_id: tokenId }))
    .nullish()
    .transform((value) => value ?? []),
});
export type ClobTrade = z.output<typeof ClobTrade>;

/** '' means no amount, or one that is not reported yet. */
const amount = z
  .union([z.literal('').transform(() => null), wireSize])
  .nullish()
  .transform((value) => value ?? null);

/** Reply to a placement. `success: true` with an `errorMsg`, or without an `orderID`, is a rejection. */
export const ClobPlaced = z.object({
  success: z.boolean(),
  errorMsg: wireText,
  orderID: wireText.transform((text) => text.toLowerCase()),
  status: wireText.transform((text) => text.toLowerCase()),
  makingAmount: amount,
  takingAmount: amount,
  tradeIDs: z
    .array(z.string())
    .nullish()
    .transform((value) => value ?? []),
});
export type ClobPlaced = z.output<typeof ClobPlaced>;

/** Reply to every kind of cancel; the status is 200 even if nothing was cancelled. */
export const ClobCancelled = z.object({
  canceled: z
    .array(lowerCase)
    .nullish()
    .transform((value) => value ?? []),
  /** Reasons by order id. */
  not_canceled: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((value) => new Map(Object.entries(value ?? {}).map(([id, why]) => [id.toLowerCase(), String(why)]))),
});

/** A page of /data/orders or /data/trades; its rows are parsed one by one. */
export const ClobPage = z.object({ data: z.array(z.unknown()), next_cursor: wireText });
/** Base64 of 0 and -1: the cursor of the first page, and the one after the last. */
export const FIRST_CURSOR = 'MA==';
export const LAST_CURSOR = 'LTE=';
