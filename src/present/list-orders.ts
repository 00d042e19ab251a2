import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { UNKNOWN_AMOUNT, UNKNOWN_END_MS, UNKNOWN_PRICE } from './rows.ts';

/** The orders of GET markets. */
export const MARKET_ORDERS = [
  'volume_24h',
  'volume_total',
  'liquidity',
  'end_date',
  'created',
  'match',
  'volume_24h_usd',
  'volume_7d_usd',
  'volume_total_usd',
  'liquidity_usd',
  'price',
  'spread',
  'price_change_24h',
  'resolved',
] as const;
export const LIST_ORDERS = z.enum(MARKET_ORDERS);
/** The orders of GET events. */
export const EVENT_ORDERS = [
  'volume_24h',
  'end_date',
  'created',
  'markets',
  'match',
  'volume_24h_usd',
  'volume_7d_usd',
  'volume_total_usd',
  'liquidity_usd',
] as const;
export const EVENT_LIST_ORDERS = z.enum(EVENT_ORDERS);
/** The orders of GET search; each type accepts the orders of figures that it has. */
export const SEARCH_ORDERS = [...MARKET_ORDERS, 'markets'] as const;
/** `match_usd` is `match` over platforms whose volumes have different units. */
export type ListOrder = z.infer<typeof LIST_ORDERS> | z.infer<typeof EVENT_LIST_ORDERS> | 'match_usd';

/** The column of present_ranks that each order sorts by, ascending: its place. `match` sorts by the class of the search first. */
export const PLACES: Record<ListOrder, SQL> = {
  volume_24h: sql.raw('by_volume_24h'),
  volume_total: sql.raw('by_volume_total'),
  liquidity: sql.raw('by_liquidity'),
  end_date: sql.raw('by_end_date'),
  created: sql.raw('by_created'),
  match: sql.raw('by_volume_24h'),
  match_usd: sql.raw('by_volume_24h_usd'),
  volume_24h_usd: sql.raw('by_volume_24h_usd'),
  volume_7d_usd: sql.raw('by_volume_7d_usd'),
  volume_total_usd: sql.raw('by_volume_total_usd'),
  liquidity_usd: sql.raw('by_liquidity_usd'),
  markets: sql.raw('by_markets'),
  price: sql.raw('by_price'),
  spread: sql.raw('by_spread'),
  price_change_24h: sql.raw('by_change_24h'),
  resolved: sql.raw('by_resolved'),
};

/** The column with the time from which a place is 0, for orders by the volume of the last day or week. */
export const STALE: Partial<Record<ListOrder, SQL>> = {
  volume_24h: sql.raw('stale_at'),
  match: sql.raw('stale_at'),
  match_usd: sql.raw('stale_at'),
  volume_24h_usd: sql.raw('stale_at'),
  volume_7d_usd: sql.raw('stale_week_at'),
};

/** Places of rows whose figure is unknown; UNKNOWN_AMOUNT for orders that are not here. */
const NO_PLACE: Partial<Record<ListOrder, bigint>> = {
  end_date: BigInt(UNKNOWN_END_MS),
  created: 0n,
  resolved: 0n,
  price: UNKNOWN_PRICE,
  spread: UNKNOWN_PRICE,
  price_change_24h: UNKNOWN_PRICE,
};
export const noPlace = (order: ListOrder): SQL => sql`${String(NO_PLACE[order] ?? UNKNOWN_AMOUNT)}::bigint`;
/** The place of rows with an unknown figure in a reversed list: after all others, as in the usual direction. */
export const unknownPlace = (order: ListOrder): SQL => sql`(${String(1n << 62n)}::bigint - ${PLACES[order]})`;
/** The first place of unknown figures: amounts are 0 or less. */
const firstUnknown = (order: ListOrder): SQL => sql`${String(NO_PLACE[order] ?? 1n)}::bigint`;
/** Conditions on a place: the market's figure is known, or unknown. */
export const isPlaceKnown = (order: ListOrder): SQL => sql`${PLACES[order]} < ${firstUnknown(order)}`;
export const isUnknown = (order: ListOrder): SQL => sql`${PLACES[order]} >= ${firstUnknown(order)}`;
