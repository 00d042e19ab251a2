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
  title: z.string(),
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

/** What is read of the metadata that a market was stored with. */
const StoredMetadata = z.looseObject({
  version: z.unknown().optional(),
  token_ids: z.record(z.string(), z.string()).optional(),
});

/** What is known of a market besides what its platform just reported. */
interface Known {
  stored: LookbackRow | undefined;
  traded: TradedMarket | undefined;
  openInterest: ReadInterest | null | undefined;
  /** What rests in its book. */
  resting: RestingFigures | null | undefined;
  /** When a socket said that it was resolved, ISO-8601. */
  statedResolution?: string | undefined;
  /** The last trade according to the market's book. */
  bookPrice?: Price | undefined;
}

/** Fills in what only the store knows: first sight, fields of a longer body, volumes and prices from trades, changes since. */
export function enrichFromStore(record: MarketRecord, known: Known): { record: MarketRecord; firstSeenAt: string } {
  const info = known.stored ? completeInfo(record, known.stored) : record.info;
  const state = completeState(record, known);
  return {
    firstSeenAt: known.stored?.first_seen_at ?? record.fetchedAt,
    record: {
      ...record,
      info,
      state: { ...state, metadata: byOutcome(state.metadata, record.info.outcomes, info.outcomes) },
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

function completeInfo({ info, event, series, lacksEvent }: MarketRecord, stored: LookbackRow): MarketInfo {
  // Without its event, a market has only a part of its title, and may have another id of the event.
  const keepsEvent = lacksEvent === true && stored.event_name !== '';
  const eventId = keepsEvent ? stored.event_id : info.eventId || stored.event_id;
  const seriesId = info.seriesId || stored.series_id;
  const metadata = StoredMetadata.parse(JSON.parse(stored.metadata));
  // A market's tokens never change: a row without them lacks them.
  const tokens = metadata.version === info.metadata['version'] ? (metadata.token_ids ?? {}) : {};
  // Outcome ids never change once stored, even if the platform edits a name.
  const outcomes = info.outcomes.map((outcome, i) => {
    const id = (stored.outcome_ids.length === info.outcomes.length && stored.outcome_ids[i]) || outcome.id;
    return { ...outcome, id, tokenId: outcome.tokenId || (tokens[id] ?? '') };
  });
  // The source of the subcategory was read, so a subcategory that it lacks was removed.
  const isWhole =
    info.category !== '' && (eventId === '' || event !== undefined) && (seriesId === '' || series !== undefined);
  return {
    ...info,
    title: keepsEvent ? stored.title : info.title,
    outcomes,
    eventId,
    eventName: info.eventName || stored.event_name,
    seriesId,
    category: info.category || stored.category,
    categorySlug: info.category ? info.categorySlug : stored.category_slug,
    subcategory: info.subcategory ?? (isWhole ? null : stored.subcategory),
    tags: info.tags.length > 0 ? info.tags : stored.tags,
    imageUrl: info.imageUrl || stored.image_url,
    metadata: {
      ...ofParents(info.platform, metadata),
      ...byOutcome(info.metadata, info.outcomes, outcomes),
      ...(Object.keys(tokens).length > 0 ? { token_ids: tokenIds(outcomes) } : {}),
    },
  };
}

const tokenIds = (outcomes: readonly Outcome[]): Record<string, string> =>
  Object.fromEntries(outcomes.flatMap(({ id, tokenId }) => (tokenId === '' ? [] : [[id, tokenId]])));

/** The part of a market's metadata that its own body does not contain. */
const ofParents = (platform: Platform, metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => MANIFESTS[platform].parentMetadata.includes(key)));

function completeState(record: MarketRecord, known: Known): MarketState {
  const state = withLastTrade(record, known);
  const { stored, traded } = known;
  const { metadata: ofInterest, ...interest } = interestOf(record, known);
  const { metadata: ofBook, ...liquidity } = liquidityOf({ ...record, state }, known);
  return {
    ...state,
    ...interest,
    ...liquidity,
    resolvedAt: known.statedResolution ?? firstResolution(record.info.platform, state, stored) ?? state.resolvedAt,
    metadata: { ...state.metadata, ...ofInterest, ...ofBook },
    volume24h: state.volume24h ?? tradedSince(state.volumeTotal, stored?.day_total, traded?.day_traded),
    volume7d: state.volume7d ?? tradedSince(state.volumeTotal, stored?.week_total, traded?.week_traded),
    priceChange24h: MANIFESTS[record.info.platform].statesDayChange
      ? state.priceChange24h
      : (state.priceChange24h ?? changeSince(state, stored?.day_price)),
    priceChange7d: state.priceChange7d ?? changeSince(state, stored?.week_price ?? traded?.week_price),
  };
}

/** The reported state, priced by its last trade where the platform has the price from trades. */
function withLastTrade({ info, state, fromTrades }: MarketRecord, { traded, bookPrice }: Known): MarketState {
  if (!fromTrades || MANIFESTS[info.platform].lastTradeFrom !== 'trades') return state;
  return priceByTrade(state, traded?.last_price == null ? bookPrice : parsePrice(traded.last_price));
}

/** Open interest: as reported; where the listing never has it, as read, else as stored. */
function interestOf(
  { info, state: { openInterest: reported } }: MarketRecord,
  { stored, openInterest: read }: Known,
): Pick<MarketState, 'openInterest' | 'metadata'> {
  if (reported !== null || !MANIFESTS[info.platform].readsOpenInterestApart) {
    return { openInterest: reported, metadata: {} };
  }
  const last = stored?.open_interest ? parseUsd(stored.open_interest) : null;
  const openInterest = read === undefined ? last : (read?.value ?? null);
  if (openInterest === null) return { openInterest, metadata: {} };
  // The age of a figure read by an earlier process is unknown.
  const readAt = read ? { open_interest_at: read.at } : {};
  return { openInterest, metadata: { open_interest_basis: 'usd', ...readAt } };
}

/** Liquidity: as reported; where the listing never has it, what rests on the best levels of the book. With what the book says beside it. */
function liquidityOf(
  { info, state }: MarketRecord,
  { stored, resting }: Known,
): Pick<MarketState, 'liquidity' | 'bestLevel' | 'metadata'> {
  const bestLevel = resting?.bestLevel ?? (stored?.best_level == null ? null : parseUsd(stored.best_level));
  const liquidity = state.liquidity ?? (MANIFESTS[info.platform].liquidityFrom === 'book' ? bestLevel : null);
  const countsWholeBook = state.metadata['liquidity_basis'] === 'full_book' && !hasEnded(state);
  return {
    liquidity,
    ...(countsWholeBook && bestLevel !== null ? { bestLevel } : {}),
    metadata: {
      ...(state.liquidity === null && liquidity !== null ? { liquidity_basis: 'best_level' } : {}),
      ...(resting && !hasEnded(state) ? bookMetadata(state, resting, countsWholeBook) : {}),
    },
  };
}

/** The volume since an earlier total, else the sum of its trades since; null if both are unknown. */
function tradedSince(total: Usd | null, then: string | null | undefined, sum: string | null | undefined): Usd | null {
  // A market that never traded has no volume in the last day.
  if (total === 0n) return total;
  if (total !== null && then != null && total >= parseUsd(then)) return total - parseUsd(then);
  return sum == null ? null : parseUsd(sum);
}

/** The change of an open market's first price since an earlier one; null if either is unknown. */
function changeSince({ status, quotes: [first] }: MarketState, then: string | null | undefined): Price | null {
  const price = first?.price ?? null;
  return status !== 'open' || price === null || then == null ? null : price - parsePrice(then);
}

/** The stored time of resolution, where later bodies of a settled market have later times. */
const firstResolution = (platform: Platform, { status }: MarketState, stored: LookbackRow | undefined) =>
  status === 'settled' && MANIFESTS[platform].keepsFirstResolution ? stored?.resolved_at : null;

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
