import { z } from 'zod';
import { parsePrice, parseUsd, spreadOf, type Price } from '../core/decimal.ts';
import { searchedText } from '../core/search-text.ts';
import { hasEnded, PLATFORMS } from '../core/model.ts';
import { DAY_MS } from '../core/time.ts';

const time = z.string().nullable();
const decimal = z.string().nullable();
const decimals = z.array(decimal);

/** Slowly changing facts of a market, in the order in which its copy holds them as JSON. */
export const InfoColumns = z.object({
  platform_id: z.string(),
  title: z.string(),
  market_type: z.string(),
  outcome_ids: z.array(z.string()),
  outcome_names: z.array(z.string()),
  event_id: z.string(),
  event_name: z.string(),
  series_id: z.string(),
  slug: z.string(),
  description: z.string(),
  category: z.string(),
  subcategory: z.string().nullable(),
  tags: z.array(z.string()),
  source_url: z.string(),
  image_url: z.string(),
  created_at: z.string(),
  trading_start_at: time,
  trading_end_at: time,
  resolution_date: time,
  resolution_criteria: z.string(),
  resolution_source: z.string(),
  info_metadata: z.string(),
});
const INFO_NAMES = Object.keys(InfoColumns.shape);

/** A row of sql/queries/present_markets.sql. */
export const CopiedRow = InfoColumns.extend({
  key: z.string(),
  platform: z.enum(PLATFORMS),
  ref: z.string(),
  token_ids: z.array(z.string()),
  first_seen_at: z.string(),
  info_version: z.string(),
  texts: z.string(),
  status: z.string(),
  prices: decimals,
  bids: decimals,
  asks: decimals,
  synced_at: z.string(),
  volume_24h: decimal,
  volume_7d: decimal,
  volume_30d: decimal,
  volume_1y: decimal,
  volume_total: decimal,
  liquidity: z.string(),
  open_interest: decimal,
  resolved_at: time,
  price_change_24h: decimal,
  price_change_7d: decimal,
  state_metadata: z.string(),
  written_at: z.string(),
  category_slug: z.string(),
  listed_event: z.string(),
  liquidity_known: z.boolean(),
  liquidity_usd: decimal,
  listed_end: time,
  listed_created: time,
  is_placeholder: z.boolean(),
  is_combo: z.boolean(),
  trades: z.coerce.number(),
  unique_traders: z.coerce.number(),
  traded_since: z.string(),
  volume_24h_usd: decimal,
  volume_7d_usd: decimal,
  volume_total_usd: decimal,
  volume_24h_usd_basis: z.string(),
  volume_7d_usd_basis: z.string(),
  volume_total_usd_basis: z.string(),
});
export type CopiedRow = z.infer<typeof CopiedRow>;

const SIGN = 1n << 63n;
/** A market's key in PostgreSQL, which has no unsigned integers: the key less 2^63, so that the order is the same. */
export const ownKey = (key: string): string => String(BigInt(key) - SIGN);
/** The same key in ClickHouse. */
export const storeKey = (own: string): string => String(BigInt(own) + SIGN);

/** A text without NUL, which PostgreSQL cannot store; no id of a platform has one. */
export const withoutNul = (text: string): string => text.replaceAll('\0', '');

/** Ranks of a market's names in present_names: of two markets with one name, the smaller rank counts. */
const RANKS = { ref: 0, platform_id: 1, token: 2, slug: 3, condition: 4 } as const;

const Condition = z.object({ condition_id: z.string().catch('') }).partial();
const metadataOf = ({ info_metadata: metadata }: CopiedRow): unknown => (metadata === '' ? {} : JSON.parse(metadata));

/** The ids by which a market is known, each with its rank. */
export function namesOf(row: CopiedRow): { key: string; name: string; rank: number }[] {
  const { condition_id: condition = '' } = Condition.parse(metadataOf(row));
  const ranked: [string, number][] = [
    [condition.toLowerCase(), RANKS.condition],
    [row.slug, RANKS.slug],
    ...row.token_ids.map((token): [string, number] => [token, RANKS.token]),
    [row.platform_id, RANKS.platform_id],
    [row.ref, RANKS.ref],
  ];
  // The smallest rank of a name comes last, and stays.
  const names = new Map(ranked.map(([name, rank]) => [withoutNul(name), rank]));
  return [...names].flatMap(([name, rank]) => (name === '' ? [] : [{ key: row.key, name, rank }]));
}

/** A row of present_markets. */
export const marketOf = (row: CopiedRow) => ({
  key: row.key,
  ref: withoutNul(row.ref),
  platform_id: withoutNul(row.platform_id),
  token_ids: row.token_ids.map(withoutNul),
  info: JSON.stringify(row, INFO_NAMES),
  first_seen_at: row.first_seen_at,
  info_version: row.info_version,
  texts: row.texts,
});

/** A row of present_states without its version. */
export const stateOf = (row: CopiedRow) => ({
  key: row.key,
  state: JSON.stringify({
    status: row.status,
    prices: row.prices,
    bids: row.bids,
    asks: row.asks,
    last_synced_at: row.synced_at,
    volume_24h: row.volume_24h,
    volume_7d: row.volume_7d,
    volume_30d: row.volume_30d,
    volume_1y: row.volume_1y,
    volume_total: row.volume_total,
    liquidity: row.liquidity,
    open_interest: row.open_interest,
    resolved_at: row.resolved_at,
    price_change_24h: row.price_change_24h,
    price_change_7d: row.price_change_7d,
    state_metadata: row.state_metadata,
    volume_24h_usd: row.volume_24h_usd,
    volume_7d_usd: row.volume_7d_usd,
    volume_total_usd: row.volume_total_usd,
    volume_24h_usd_basis: row.volume_24h_usd_basis,
    volume_7d_usd_basis: row.volume_7d_usd_basis,
    volume_total_usd_basis: row.volume_total_usd_basis,
    liquidity_usd: row.liquidity_usd,
  }),
  trades: row.trades,
  unique_traders: row.unique_traders > 0 ? row.unique_traders : null,
  traded_since: row.unique_traders > 0 ? row.traded_since : null,
  synced_at: row.synced_at,
  written_at: row.written_at,
});

/** Places of unknown amounts, prices and ends: after all known ones. */
export const UNKNOWN_AMOUNT = 1_000_000n;
export const UNKNOWN_PRICE = 20_000_000_000n;
export const UNKNOWN_END_MS = Date.UTC(2200);

const byAmount = (amount: string | null): string => String(amount === null ? UNKNOWN_AMOUNT : -parseUsd(amount));
/** Unknown volumes of a day or week go by the volume in all, in steps of ten units of the platform. */
const STEP = 10_000_000n;
/** The place of a volume of the last day or week; unknown ones have 1 to UNKNOWN_AMOUNT. */
function byVolume(amount: string | null, total: string | null): string {
  if (amount !== null || total === null) return byAmount(amount);
  const steps = parseUsd(total) / STEP;
  return String(steps < UNKNOWN_AMOUNT ? UNKNOWN_AMOUNT - steps : 1n);
}
const priceOf = (text: string | null | undefined): Price | null => (text == null ? null : parsePrice(text));
const byPrice = (price: Price | null): string => String(price ?? UNKNOWN_PRICE);
const minus = (price: Price | null): Price | null => (price === null ? null : -price);

/** A row of present_ranks without its version. */
export const rankOf = (row: CopiedRow) => ({
  key: row.key,
  hidden: (row.is_placeholder ? 1 : 0) + (row.is_combo ? 2 : 0),
  status: row.status,
  category_slug: withoutNul(row.category_slug),
  event_id: withoutNul(row.listed_event),
  by_volume_24h: byVolume(row.volume_24h, row.volume_total),
  by_volume_total: byAmount(row.volume_total),
  by_liquidity: byAmount(row.liquidity_known ? row.liquidity : null),
  liquidity_known: row.liquidity_known,
  by_liquidity_usd: byAmount(row.liquidity_usd),
  by_end_date: row.listed_end === null ? UNKNOWN_END_MS : Date.parse(row.listed_end),
  by_created: row.listed_created === null ? 0 : -Date.parse(row.listed_created),
  by_resolved: row.resolved_at === null ? 0 : -Date.parse(row.resolved_at),
  by_volume_24h_usd: byVolume(row.volume_24h_usd, row.volume_total_usd),
  by_volume_7d_usd: byVolume(row.volume_7d_usd, row.volume_total_usd),
  by_volume_total_usd: byAmount(row.volume_total_usd),
  stale_at: staleAt(row, 1, [row.volume_24h, row.volume_24h_usd], row.price_change_24h),
  stale_week_at: staleAt(row, 7, [row.volume_7d_usd]),
  by_price: byPrice(minus(priceOf(row.prices[0]))),
  by_spread: byPrice(spreadOf(priceOf(row.bids[0]), priceOf(row.asks[0]))),
  by_change_24h: byPrice(minus(priceOf(row.price_change_24h))),
});

/** From when a closed market has no volume and no change of the last `days`; null if it may trade, or has none already. */
const staleAt = (
  row: CopiedRow,
  days: number,
  volumes: readonly (string | null)[],
  change: string | null = null,
): string | null =>
  hasEnded(row) && (change !== null || volumes.some((volume) => byAmount(volume) !== '0'))
    ? new Date(Date.parse(row.synced_at) + days * DAY_MS).toISOString()
    : null;

/** Longer words are stored and searched by their first letters: PostgreSQL takes words of up to 2046 bytes. */
const WORD_LETTERS = 500;

/** The words of a folded text, as they are stored and asked for. */
export const wordsOf = (text: string): string[] =>
  text.split(' ').flatMap((word) => (word === '' ? [] : [...word].slice(0, WORD_LETTERS).join('')));

const Outcome = z.object({ group_item_title: z.unknown(), yes_sub_title: z.unknown() }).partial();

/** The names that distinguish the market within its event, and the names of its outcomes other than yes and no. */
function outcomeOf(row: CopiedRow): string {
  const { group_item_title: item, yes_sub_title: side } = Outcome.parse(metadataOf(row));
  const given = [item, side, ...row.outcome_names].filter(
    (name) => typeof name === 'string' && !/^(yes|no)$/i.test(name),
  );
  return given.join(' ');
}

/** What is searched of a market, an event or a series. */
export interface Searched {
  key: string;
  /** In lower case. */
  id: string;
  /** Folded. */
  title: string;
  title_words: string[];
  /** All words, those of the ids too. */
  words: string[];
}

/** What is searched of a market. */
export function searchedOf(row: CopiedRow): Searched {
  const title = searchedText(row.title);
  const others = [row.description, row.event_name, row.category, outcomeOf(row), row.platform_id, row.slug, row.ref]
    .map(searchedText)
    .join(' ');
  return {
    key: row.key,
    id: withoutNul(row.platform_id).toLowerCase(),
    title,
    title_words: wordsOf(title),
    words: [...new Set(wordsOf(`${title} ${others}`))],
  };
}
