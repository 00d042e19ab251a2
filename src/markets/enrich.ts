import { z } from 'zod';
import {
  decimalNumber,
  midpoint,
  parsePrice,
  parseUsd,
  type Price,
  PRICE_SCALE,
  type Usd,
  USD_SCALE,
} from '../core/decimal.ts';
import type { RestingFigures } from '../platforms/book-sides.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { complementQuote } from '../platforms/market-fields.ts';
import type { ReadInterest } from '../platforms/contract.ts';
import {
  hasEnded,
  type JsonObject,
  type MarketInfo,
  type MarketRecord,
  type MarketState,
  type Outcome,
  type Platform,
} from '../core/model.ts';

const decimalOrNull = z.string().nullable();

/** A row of sql/queries/market_lookback.sql: the record as last written, with totals and prices of a day and a week ago. */
export const LookbackRow = z.object({
  ref: z.string(),
  first_seen_at: z.string(),
  event_id: z.string(),
  event_name: z.string(),
  series_id: z.string(),
  category: z.string(),
  category_slug: z.string(),
  subcategory: z.string().nullable(),
  tags: z.array(z.string()),
  image_url: z.string(),
  outcome_ids: z.array(z.string()),
  metadata: z.string(),
  resolved_at: z.string().nullable(),
  open_interest: decimalOrNull,
  /** What rested on the best levels of its book. */
  best_level: decimalOrNull,
  day_total: decimalOrNull,
  week_total: decimalOrNull,
  day_price: decimalOrNull,
  week_price: decimalOrNull,
});
export type LookbackRow = z.infer<typeof LookbackRow>;

/** A row of sql/queries/market_traded.sql. */
export const TradedMarket = z.object({
  ref: z.string(),
  day_traded: decimalOrNull,
  week_traded: decimalOrNull,
  last_price: decimalOrNull,
  week_price: decimalOrNull,
});
export type TradedMarket = z.infer<typeof TradedMarket>;

/** What is known of a market besides what its platform just reported. */
interface Known {
  stored: LookbackRow | undefined;
  traded: TradedMarket | undefined;
  openInterest: ReadInterest | null | undefined;
  /** What rests in its book. */
  resting: RestingFigures | null | undefined;
  /** The last trade according to the market's book. */
  bookPrice?: Price | undefined;
}

/** Fills in what only the store knows: first sight, fields of a longer body, volumes and prices from trades, changes since. */
export function enrichFromStore(record: MarketRecord, known: Known): { record: MarketRecord; firstSeenAt: string } {
  const info = known.stored ? completeInfo(record, known.stored) : record.info;
  const state = completeState(record, known);
  const byStoredId = (metadata: JsonObject): JsonObject => byOutcome(metadata, record.info.outcomes, info.outcomes);
  return {
    firstSeenAt: known.stored?.first_seen_at ?? record.fetchedAt,
    record: {
      ...record,
      info: { ...info, metadata: byStoredId(info.metadata) },
      state: { ...state, metadata: byStoredId(state.metadata) },
    },
  };
}

/** Metadata whose keys are ids of outcomes. */
const BY_OUTCOME: ReadonlySet<string> = new Set(['token_ids', 'payouts', 'last_prices']);

/** Metadata with the ids of `stored` in place of those of `sent`: they differ once the platform has edited a name. */
function byOutcome(metadata: JsonObject, sent: readonly Outcome[], stored: readonly Outcome[]): JsonObject {
  const ids = new Map(sent.map(({ id }, index) => [id, stored[index]?.id ?? id]));
  if (sent.every(({ id }) => ids.get(id) === id)) return metadata;
  const renamed = (value: object): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([id, one]) => [ids.get(id) ?? id, one as unknown]));
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [
      key,
      BY_OUTCOME.has(key) && typeof value === 'object' && value !== null ? renamed(value) : value,
    ]),
  );
}

function completeInfo({ info, event, series }: MarketRecord, stored: LookbackRow): MarketInfo {
  const eventId = info.eventId || stored.event_id;
  const seriesId = info.seriesId || stored.series_id;
  // The source of the subcategory was read, so a subcategory that it lacks was removed.
  const isWhole =
    info.category !== '' && (eventId === '' || event !== undefined) && (seriesId === '' || series !== undefined);
  return {
    ...info,
    // Outcome ids never change once stored, even if the platform edits a name.
    outcomes: info.outcomes.map((outcome, i) =>
      stored.outcome_ids.length === info.outcomes.length
        ? { ...outcome, id: stored.outcome_ids[i] ?? outcome.id }
        : outcome,
    ),
    eventId,
    eventName: info.eventName || stored.event_name,
    seriesId,
    category: info.category || stored.category,
    categorySlug: info.category ? info.categorySlug : stored.category_slug,
    subcategory: info.subcategory ?? (isWhole ? null : stored.subcategory),
    tags: info.tags.length > 0 ? info.tags : stored.tags,
    imageUrl: info.imageUrl || stored.image_url,
    metadata: { ...ofParents(info.platform, JSON.parse(stored.metadata) as JsonObject), ...info.metadata },
  };
}

/** The part of a market's metadata that its own body does not contain. */
const ofParents = (platform: Platform, metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => MANIFESTS[platform].parentMetadata.includes(key)));

function completeState(
  { info, state: reported, fromTrades }: MarketRecord,
  { stored, traded, openInterest, resting, bookPrice }: Known,
): MarketState {
  const lastTrade = traded?.last_price == null ? bookPrice : parsePrice(traded.last_price);
  const state =
    fromTrades && MANIFESTS[info.platform].lastTradeFrom === 'trades' ? priceByTrade(reported, lastTrade) : reported;
  const { volumeTotal } = state;
  const price = state.quotes[0]?.price ?? null;
  const change = (then: string | null | undefined): Price | null =>
    state.status !== 'open' || price === null || then == null ? null : price - parsePrice(then);
  const tradedSince = (then: string | null | undefined, sum: string | null | undefined): Usd | null => {
    // A market that never traded has no volume in the last day.
    if (volumeTotal === null || volumeTotal === 0n) return volumeTotal;
    if (then != null && volumeTotal >= parseUsd(then)) return volumeTotal - parseUsd(then);
    return sum == null ? null : parseUsd(sum);
  };
  const lastInterest = stored?.open_interest ? parseUsd(stored.open_interest) : null;
  const interest = state.openInterest ?? (openInterest === undefined ? lastInterest : (openInterest?.value ?? null));
  const bestLevel = resting?.bestLevel ?? (stored?.best_level == null ? null : parseUsd(stored.best_level));
  const liquidity = state.liquidity ?? bestLevel;
  const countsWholeBook = state.metadata['liquidity_basis'] === 'full_book' && !hasEnded(state);
  const first =
    state.status === 'settled' && MANIFESTS[info.platform].keepsFirstResolution ? stored?.resolved_at : null;
  return {
    ...state,
    resolvedAt: first ?? state.resolvedAt,
    liquidity,
    ...(countsWholeBook && bestLevel !== null ? { bestLevel } : {}),
    metadata: {
      ...state.metadata,
      // The age of a figure read by an earlier process is unknown.
      ...(state.openInterest === null && interest !== null
        ? { open_interest_basis: 'usd', ...(openInterest ? { open_interest_at: openInterest.at } : {}) }
        : {}),
      ...(state.liquidity === null && liquidity !== null ? { liquidity_basis: 'best_level' } : {}),
      ...(resting && !hasEnded(state) ? bookMetadata(state, resting, countsWholeBook) : {}),
    },
    volume24h: state.volume24h ?? tradedSince(stored?.day_total, traded?.day_traded),
    volume7d: state.volume7d ?? tradedSince(stored?.week_total, traded?.week_traded),
    openInterest: interest,
    priceChange24h: state.priceChange24h ?? change(stored?.day_price),
    priceChange7d: state.priceChange7d ?? change(stored?.week_price ?? traded?.week_price),
  };
}

/** What its book says of a market beside its listing. The adjusted midpoint belongs to the best prices beside which it was read. */
function bookMetadata({ quotes: [first] }: MarketState, book: RestingFigures, countsWholeBook: boolean): JsonObject {
  const { bid, ask, adjustedMidpoint: adjusted } = book;
  const isCurrent = first?.bid === bid && first.ask === ask && bid !== null && ask !== null;
  return {
    ...(countsWholeBook ? {} : { liquidity_clob: decimalNumber(book.wholeBook, USD_SCALE) }),
    ...(isCurrent && adjusted !== null && adjusted !== midpoint(bid, ask)
      ? { adjusted_midpoint: decimalNumber(adjusted, PRICE_SCALE) }
      : {}),
  };
}

/** The last trade, stored or from the book, replaces a midpoint; a settled market keeps its payout, with the trade in metadata. */
function priceByTrade(state: MarketState, price: Price | undefined): MarketState {
  if (price === undefined || state.status === 'unopened') return state;
  if (state.status === 'settled') {
    return { ...state, metadata: { ...state.metadata, last_trade_price: decimalNumber(price, PRICE_SCALE) } };
  }
  const [first = { price, bid: null, ask: null }] = state.quotes;
  const quote = { ...first, price };
  return { ...state, quotes: [quote, complementQuote(quote)] };
}
