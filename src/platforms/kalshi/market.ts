import {
  ONE_PRICE,
  PRICE_SCALE,
  type Price,
  type Size,
  type Usd,
  complement,
  decimalNumber,
  midpoint,
} from '../../core/decimal.ts';
import {
  type BookLevel,
  type JsonObject,
  type MarketInfo,
  type MarketRecord,
  type MarketState,
  type MarketStatus,
  type Quote,
  unifiedId,
} from '../../core/model.ts';
import { bestLevelLiquidity } from '../book-sides.ts';
import { categorySlug } from '../categories.ts';
import {
  WINDOW_MS,
  binaryPayouts,
  complementQuote,
  isoTime,
  yesNoOutcomes,
  youngMarketVolume,
} from '../market-fields.ts';
import type { ParsedRow } from '../parse-rows.ts';
import { kalshiCategory, kalshiPage, mapKalshiEvent, mapKalshiSeries } from './event.ts';
import { kalshiTitle, NOTHING_SHARED, type SharedNames } from './title.ts';
import { type KalshiEvent, type KalshiLeg, type KalshiMarket, type KalshiSeries, isCombo } from './wire.ts';

/** Replies had `open` and `settled` until 2025. */
const STATUSES: Readonly<Record<string, MarketStatus>> = {
  initialized: 'unopened',
  active: 'open',
  open: 'open',
  inactive: 'paused',
  closed: 'closed',
  determined: 'closed',
  disputed: 'closed',
  amended: 'closed',
  finalized: 'settled',
  settled: 'settled',
};
export const isKnownStatus = (status: string): boolean => Object.hasOwn(STATUSES, status);
/** An unknown status counts as closed: no prices are quoted from a state that is not understood. A payout with its time is a settlement. */
function kalshiStatus(market: KalshiMarket): MarketStatus {
  if (isKnownStatus(market.status)) return STATUSES[market.status] ?? 'closed';
  return yesPayout(market) !== null && isoTime(market.settlement_ts) !== null ? 'settled' : 'closed';
}

const orNull = (price: Price | null | undefined, none: Price): Price | null =>
  price === null || price === undefined || price === none ? null : price;

/** Kalshi prints 0 for "no bid" and 1 for "no ask"; a side whose size is 0 is empty as well. */
function bidAndAsk(market: KalshiMarket): { bid: Price | null; ask: Price | null } {
  const bid = orNull(market.yes_bid_dollars ?? market.yes_bid, 0n);
  const ask = orNull(orNull(market.yes_ask_dollars ?? market.yes_ask, ONE_PRICE), 0n);
  return {
    bid: market.yes_bid_size_fp === 0n ? null : bid,
    ask: market.yes_ask_size_fp === 0n ? null : ask,
  };
}

const valueOf = (market: KalshiMarket): Price | null =>
  market.settlement_value_dollars ?? market.settlement_value ?? null;

function resultOf({ result }: KalshiMarket): Price | null {
  if (result === 'yes') return ONE_PRICE;
  return result === 'no' ? 0n : null;
}

/** Whether the settlement value of a market is that of the other result. */
export function contradictsItself(market: KalshiMarket): boolean {
  const [value, result] = [valueOf(market), resultOf(market)];
  return value !== null && result !== null && value === complement(result);
}

/** Payout of one Yes contract; null until it is known. If the value contradicts the result, the result decides. */
const yesPayout = (market: KalshiMarket): Price | null =>
  contradictsItself(market) ? resultOf(market) : (valueOf(market) ?? resultOf(market));

function firstQuote(market: KalshiMarket, status: MarketStatus): Quote {
  if (status === 'settled') return { price: yesPayout(market), bid: null, ask: null };
  const last = orNull(market.last_price_dollars ?? market.last_price, 0n);
  if (status === 'closed') return { price: last, bid: null, ask: null };
  const { bid, ask } = bidAndAsk(market);
  return { price: last ?? midpoint(bid, ask), bid, ask };
}

const level = (price: Price | null, size: Size): BookLevel | undefined =>
  price === null ? undefined : { price, size };
/** The liquidity of the best levels; null if a side, or the size of a quoted one, is not known, as before 2026. */
function liquidity(market: KalshiMarket, status: MarketStatus, { bid, ask }: Quote): Usd | null {
  const sides = [market.yes_bid_dollars ?? market.yes_bid, market.yes_ask_dollars ?? market.yes_ask];
  const isQuoted = status === 'open' || status === 'paused';
  if (isQuoted && sides.some((price) => price === null || price === undefined)) return null;
  const [bids, asks] = [bid === null ? 0n : market.yes_bid_size_fp, ask === null ? 0n : market.yes_ask_size_fp];
  if (bids === null || bids === undefined || asks === null || asks === undefined) return null;
  return bestLevelLiquidity(level(bid, bids), level(ask, asks));
}

/** Series that name no source of their own point to Kalshi's home page. */
const sourceUrls = (owner: KalshiEvent | KalshiSeries | null): string[] =>
  (owner?.settlement_sources ?? [])
    .map(({ url }) => url)
    .filter((url) => !/^(https?:\/\/(www\.)?kalshi\.com\/?)?$/.test(url));

function strike(market: KalshiMarket): JsonObject | undefined {
  const parts = withoutUnknown({
    type: market.strike_type,
    floor: market.floor_strike,
    cap: market.cap_strike,
    functional: market.functional_strike,
    custom: market.custom_strike,
  });
  return Object.keys(parts).length > 0 ? parts : undefined;
}

const withoutUnknown = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null));

function infoMetadata(market: KalshiMarket, event: KalshiEvent | null, series: KalshiSeries | null): JsonObject {
  const { price_ranges: ranges } = market;
  const steps = ranges.map(({ step }) => step).filter((step) => step > 0n);
  const [first = market.tick_size || null] = steps;
  const feeType = event?.fee_type_override ?? series?.fee_type;
  const multiplier = event?.fee_multiplier_override ?? series?.fee_multiplier;
  return withoutUnknown({
    volume_basis: 'contracts',
    open_interest_basis: 'contracts',
    tick_size: decimalNumber(
      steps.reduce<Price | null>((a, b) => (a === null || b < a ? b : a), first),
      PRICE_SCALE,
    ),
    min_order_size: 0.01,
    price_ranges:
      ranges.length > 0
        ? ranges.map(({ start, end, step }) => ({
            start: decimalNumber(start, PRICE_SCALE),
            end: decimalNumber(end, PRICE_SCALE),
            step: decimalNumber(step, PRICE_SCALE),
          }))
        : null,
    yes_sub_title: market.yes_sub_title,
    event_sub_title: event?.sub_title,
    strike: strike(market),
    mutually_exclusive: event?.mutually_exclusive,
    collateral: 'USD',
    fee: feeType || multiplier !== undefined ? withoutUnknown({ type: feeType, multiplier }) : undefined,
    fee_waived_until: isoTime(market.fee_waiver_expiration_time),
    exchange_index: market.exchange_index ?? 0,
    is_provisional: market.is_provisional,
    ...(isCombo(market) ? { is_combo: true } : {}),
    mve_collection_ticker: market.mve_collection_ticker,
    legs: market.mve_selected_legs.length > 0 ? market.mve_selected_legs.map(toLeg) : null,
    can_close_early: market.can_close_early,
    early_close_condition: market.early_close_condition,
    occurrence_datetime: isoTime(market.occurrence_datetime),
    settlement_timer_seconds: market.settlement_timer_seconds,
    settlement_bounds_type: market.settlement_bounds_type === 'floor' ? 'floor' : null,
    settlement_floor: decimalNumber(floorOf(market), PRICE_SCALE),
    categories: series?.categories,
  });
}

/** A leg as its market, with what one Yes contract of it paid once that is known. */
const toLeg = ({ event_ticker, market_ticker, side, yes_settlement_value_dollars: paid }: KalshiLeg): JsonObject => ({
  id: unifiedId('kalshi', market_ticker),
  market_id: market_ticker,
  event_id: event_ticker,
  side,
  ...(paid === null ? {} : { yes_payout: decimalNumber(paid, PRICE_SCALE) }),
});

/** What Yes was paid before the settlement, USD per contract. null: unknown, or no such payment. */
const floorOf = ({ settlement_bounds_type: bounds, settlement_floor_dollars: floor }: KalshiMarket): Price | null =>
  bounds === 'floor' ? (floor ?? null) : null;

function toInfo(
  market: KalshiMarket,
  event: KalshiEvent | null,
  series: KalshiSeries | null,
  shared: SharedNames,
): MarketInfo {
  const seriesId = event?.series_ticker ?? '';
  const category = kalshiCategory(event, series);
  const ownSources = sourceUrls(event);
  return {
    platform: 'kalshi',
    ref: market.ticker,
    platformId: market.ticker,
    title: kalshiTitle(market, event?.title ?? '', shared),
    marketType: market.market_type === 'scalar' ? 'scalar' : 'binary',
    outcomes: yesNoOutcomes('', ''),
    eventId: market.event_ticker,
    eventName: event?.title ?? '',
    seriesId,
    slug: market.ticker.toLowerCase(),
    description: market.rules_primary,
    category,
    categorySlug: categorySlug(category),
    subcategory: event?.product_metadata?.competition || series?.tags?.[0] || null,
    tags: series?.tags ?? [],
    sourceUrl: kalshiPage(market.event_ticker, seriesId),
    imageUrl: '',
    createdAt: isoTime(market.created_time),
    tradingStartAt: isoTime(market.open_time),
    tradingEndAt: isoTime(market.close_time),
    resolutionDate: isoTime(market.expected_expiration_time) ?? isoTime(market.latest_expiration_time),
    resolutionCriteria: [market.rules_primary, market.rules_secondary].filter(Boolean).join('\n\n'),
    resolutionSource: (ownSources.length > 0 ? ownSources : sourceUrls(series)).join(', '),
    metadata: infoMetadata(market, event, series),
  };
}

/** What is paid at the settlement of a market with a floor. Yes received the floor earlier. null: no floor, or unknown. */
function settlementPayouts(market: KalshiMarket, yes: Price): JsonObject | null {
  const floor = floorOf(market);
  if (floor === null) return null;
  const left = yes - floor;
  return { ...binaryPayouts(yes), yes: decimalNumber(left > 0n ? left : 0n, PRICE_SCALE) };
}

function toState(market: KalshiMarket, info: MarketInfo, fetchedAt: string): MarketState {
  const status = kalshiStatus(market);
  const first = firstQuote(market, status);
  const last = orNull(market.last_price_dollars ?? market.last_price, 0n);
  const previous = orNull(market.previous_price_dollars ?? market.previous_price, 0n);
  const total = market.volume_fp ?? market.volume ?? null;
  const young = (windowMs: number) =>
    youngMarketVolume(total, info.tradingStartAt ?? info.createdAt, fetchedAt, windowMs);
  const settled = status === 'settled' && first.price !== null;
  const atRest = liquidity(market, status, first);
  return {
    status,
    resolvedAt: isoTime(market.settlement_ts),
    quotes: [first, complementQuote(first)],
    volume24h: market.volume_24h_fp ?? market.volume_24h ?? null,
    volume7d: young(WINDOW_MS['7d']),
    volume30d: young(WINDOW_MS['30d']),
    volume1y: young(WINDOW_MS['1y']),
    volumeTotal: total,
    liquidity: atRest,
    openInterest: market.open_interest_fp ?? market.open_interest ?? null,
    priceChange24h: last !== null && previous !== null ? last - previous : null,
    priceChange7d: null,
    metadata: withoutUnknown({
      liquidity_basis: atRest === null ? 'none' : 'best_level',
      result: market.result,
      payouts: settled && first.price !== null ? binaryPayouts(first.price) : null,
      settlement_payouts: settled && first.price !== null ? settlementPayouts(market, first.price) : null,
      last_trade_price: status === 'settled' && last !== null ? decimalNumber(last, PRICE_SCALE) : null,
    }),
  };
}

/**
 * A Kalshi market with what its event and series add; volumes and open interest are contracts. `shared` is what the markets of its event
 * have in common, as far as they are known.
 */
export function mapKalshiMarket(
  market: ParsedRow<KalshiMarket>,
  event: ParsedRow<KalshiEvent> | null,
  series: ParsedRow<KalshiSeries> | null,
  fetchedAt: string,
  shared: SharedNames = event?.row.markets ?? NOTHING_SHARED,
): MarketRecord {
  const info = toInfo(market.row, event?.row ?? null, series?.row ?? null, shared);
  return {
    info,
    state: toState(market.row, info, fetchedAt),
    raw: { market: market.raw, ...(event ? { event: event.raw } : {}), ...(series ? { series: series.raw } : {}) },
    fetchedAt,
    ...(event ? { event: mapKalshiEvent(event.row, series?.row ?? null) } : {}),
    ...(series ? { series: mapKalshiSeries(series.row) } : {}),
    fromTrades: { volumes: 'feed' },
  };
}
