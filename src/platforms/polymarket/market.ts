import {
  ONE_PRICE,
  PRICE_SCALE,
  type Price,
  USD_SCALE,
  type Usd,
  decimalNumber,
  midpoint,
  parseDecimal,
  parsePrice,
  parseSize,
  parseUsd,
  SIZE_SCALE,
} from '../../decimal.ts';
import type { JsonObject, MarketRecord, MarketStatus, MarketType, Outcome, Quote } from '../../schemas.ts';
import { canonicalCategory, categorySlug } from '../categories.ts';
import { UNKNOWN_QUOTE, complementQuote, isoTime, kebab, outcomeIds } from '../market-fields.ts';
import type { GammaEvent, GammaMarket } from './wire.ts';

type Money = string | number | null;

const HALF_PRICE = ONE_PRICE / 2n;
const DAY_MS = 86_400_000;
/** Markets closed before payout vectors existed print `["0","0"]` or fractions for ever: after this they are settled. */
const SETTLED_AFTER_MS = 30 * DAY_MS;

const usd = (value: Money): Usd | null => (value === null ? null : parseUsd(value));
const number = (value: Money, scale: number): number | null =>
  value === null ? null : decimalNumber(parseDecimal(value, scale), scale);
/** A price strictly between 0 and 1: Gamma prints 0 or 1 for "none". */
const inside = (value: Money): Price | null => {
  const price = value === null ? 0n : parsePrice(value);
  return price > 0n && price < ONE_PRICE ? price : null;
};

/** The storage reference: condition id, or `gamma:<id>` while the market has none. */
export const marketRef = (market: GammaMarket): string => market.conditionId || `gamma:${market.id}`;

/**
 * One Gamma market as a record. `parent` is its event with tags and series, where known; `raw` is what was received.
 * Quotes, status and payouts by the rules written at the functions below.
 */
export function toMarketRecord(
  market: GammaMarket,
  parent: GammaEvent | null,
  raw: JsonObject,
  fetchedAt: string,
): MarketRecord {
  const event = parent ?? market.events[0] ?? null;
  const outcomes = marketOutcomes(market);
  const status = marketStatus(market, fetchedAt);
  const payouts = status === 'settled' ? marketPayouts(market) : null;
  return {
    info: {
      platform: 'polymarket',
      ref: marketRef(market),
      platformId: market.id,
      title: market.question,
      marketType: marketType(market),
      outcomes,
      eventId: event?.id ?? '',
      eventName: event?.title ?? '',
      seriesId: event?.series[0]?.id ?? '',
      slug: market.slug,
      description: market.description,
      ...classification(market, event),
      sourceUrl: event?.slug
        ? `https://polymarket.com/event/${event.slug}/${market.slug}`
        : `https://polymarket.com/market/${market.slug}`,
      imageUrl: market.image || market.icon,
      createdAt: isoTime(market.createdAt),
      // eventStartTime and gameStartTime are the game's or the window's; trading opens long before.
      tradingStartAt:
        isoTime(market.acceptingOrdersTimestamp) ?? isoTime(market.startDate) ?? isoTime(market.createdAt),
      tradingEndAt: (market.closed ? isoTime(market.closedTime) : null) ?? isoTime(market.endDate),
      resolutionDate: isoTime(market.umaEndDate) ?? isoTime(market.endDate),
      resolutionCriteria: market.description,
      resolutionSource: market.resolutionSource || (event?.resolutionSource ?? ''),
      metadata: infoMetadata(market, event, outcomes),
    },
    state: {
      status,
      resolvedAt: status === 'settled' ? (isoTime(market.umaEndDate) ?? isoTime(market.closedTime)) : null,
      quotes: marketQuotes(market, status, payouts, outcomes.length),
      volume24h: usd(market.volume24hr),
      volume7d: usd(market.volume1wk),
      volume30d: usd(market.volume1mo),
      volume1y: usd(market.volume1yr),
      // The number twin is rounded on old markets, and a double holds no more than 15 digits.
      volumeTotal: usd(market.volume ?? market.volumeNum),
      liquidity: usd(market.liquidity ?? market.liquidityNum) ?? 0n,
      // The event's openInterest is that of all its markets; the Data API tells it per market.
      openInterest: null,
      priceChange24h: priceChange(market.oneDayPriceChange),
      priceChange7d: priceChange(market.oneWeekPriceChange),
      metadata: stateMetadata(market, status, payouts, outcomes),
    },
    raw,
    fetchedAt,
  };
}

function marketOutcomes(market: GammaMarket): Outcome[] {
  const tokens = market.version === 'v2' && market.positionIds.length > 0 ? market.positionIds : market.clobTokenIds;
  const ids = outcomeIds(market.outcomes);
  return market.outcomes.map((name, index) => ({ id: ids[index] ?? '', name, tokenId: tokens[index] ?? '' }));
}

function marketType(market: GammaMarket): MarketType {
  if (market.outcomes.length > 2) return 'multiple_choice';
  return market.marketType === 'scalar' ? 'scalar' : 'binary';
}

/**
 * `active` stays true after closing and `acceptingOrders` may, so only `closed` tells. A closed market is settled when
 * its oracle says so, when outcomePrices is a payout vector, or when it closed over 30 days before `fetchedAt`.
 */
export function marketStatus(market: GammaMarket, fetchedAt: string): MarketStatus {
  if (!market.closed) {
    if (market.active === false || market.enableOrderBook === false) return 'unopened';
    if (market.acceptingOrders === true) return 'open';
    const acceptingSince = isoTime(market.acceptingOrdersTimestamp);
    return acceptingSince !== null && acceptingSince <= fetchedAt ? 'paused' : 'unopened';
  }
  if (market.umaResolutionStatus === 'resolved' || market.umaResolutionStatus === 'settled') return 'settled';
  if (isPayoutVector(market.outcomePrices.map((text) => parsePrice(text)))) return 'settled';
  const closedAt = isoTime(market.closedTime) ?? isoTime(market.endDate);
  return closedAt !== null && Date.parse(closedAt) < Date.parse(fetchedAt) - SETTLED_AFTER_MS ? 'settled' : 'closed';
}

const sum = (prices: Price[]): Price => prices.reduce((total, price) => total + price, 0n);
const isPayoutVector = (prices: Price[]): boolean =>
  sum(prices) === ONE_PRICE && prices.every((price) => price === 0n || price === HALF_PRICE || price === ONE_PRICE);

/** Whether prices make up one whole but for the rounding of each to our scale. */
function isWhole(prices: Price[]): boolean {
  const off = sum(prices) - ONE_PRICE;
  return prices.length > 0 && (off < 0n ? -off : off) <= BigInt(prices.length);
}

/** What one share of each outcome pays; null when a settled market does not say (`["0","0"]`). Scalars pay any split. */
function marketPayouts(market: GammaMarket): Price[] | null {
  const prices = market.outcomePrices.map((text) => parsePrice(text));
  return isPayoutVector(prices) || (marketType(market) === 'scalar' && isWhole(prices)) ? prices : null;
}

/**
 * Settled: the payout. Otherwise the last trade (it is in terms of the first outcome), else the middle of the quotes, else
 * outcomePrices, which on an open market is a midpoint too. Bid and ask only while not closed: closed rows keep the last
 * live quote. With more than two outcomes each has its own outcomePrice and nothing else.
 */
function marketQuotes(market: GammaMarket, status: MarketStatus, payouts: Price[] | null, count: number): Quote[] {
  if (status === 'settled') {
    return Array.from({ length: count }, (_, index) => ({ ...UNKNOWN_QUOTE, price: payouts?.[index] ?? null }));
  }
  const prices = market.outcomePrices.map((text) => parsePrice(text));
  const quoted = (index: number): Price | null => (isWhole(prices) ? (prices[index] ?? null) : null);
  if (count > 2) return Array.from({ length: count }, (_, index) => ({ ...UNKNOWN_QUOTE, price: quoted(index) }));
  const bid = status === 'closed' ? null : inside(market.bestBid);
  const ask = status === 'closed' ? null : inside(market.bestAsk);
  const middle = bid !== null && ask !== null ? midpoint(bid, ask) : null;
  const first = { price: lastTrade(market) ?? middle ?? quoted(0), bid, ask };
  return [first, complementQuote(first)];
}

/** 0 on Gamma means that nothing has traded. */
function lastTrade(market: GammaMarket): Price | null {
  const price = market.lastTradePrice === null ? 0n : parsePrice(market.lastTradePrice);
  return price > 0n && price <= ONE_PRICE ? price : null;
}

/** Gamma's changes carry the noise of floats: 6 decimals are what they are worth. */
const priceChange = (value: Money): Price | null =>
  value === null ? null : parseDecimal(value, 6) * 10n ** BigInt(PRICE_SCALE - 6);

interface Classification {
  category: string;
  categorySlug: string;
  subcategory: string | null;
  tags: string[];
}

/**
 * Category from the tags: the first that the vocabulary knows (these are hidden on the site: `forceHide`), else the first
 * that is shown, else the category that markets of 2020 carry. Subcategory: the sport, else the next tag that is shown.
 */
function classification(market: GammaMarket, event: GammaEvent | null): Classification {
  const tags = event !== null && event.tags.length > 0 ? event.tags : market.tags;
  const known = canonicalCategory(tags.map((tag) => tag.slug)) ?? canonicalCategory([kebab(market.category)]);
  const index = tags.length === 0 ? -1 : (known?.index ?? tags.findIndex((tag) => tag.forceHide !== true));
  const category = known?.name ?? tags[index]?.label ?? market.category;
  const next = tags
    .slice(index + 1)
    .find((tag) => tag.forceHide !== true && canonicalCategory([tag.slug])?.name !== category);
  const sport = category === 'Sports' ? event?.sport?.name : undefined;
  return {
    category,
    categorySlug: categorySlug(category),
    subcategory: sport || (index < 0 ? null : (next?.label ?? null)),
    tags: [...new Set(tags.map((tag) => tag.label).filter((label) => label !== ''))],
  };
}

/** Drops what is unknown: a free-form object has no key rather than a null. */
const known = (entries: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(entries).filter(([, value]) => value !== null && value !== '' && value !== undefined),
  );

function infoMetadata(market: GammaMarket, event: GammaEvent | null, outcomes: Outcome[]): JsonObject {
  const strike = known({
    line: number(market.line, USD_SCALE),
    floor: number(market.lowerBound, USD_SCALE),
    cap: number(market.upperBound, USD_SCALE),
  });
  const rewardsMinSize = number(market.rewardsMinSize, SIZE_SCALE);
  return {
    volume_basis: 'usd',
    liquidity_basis: 'full_book',
    token_ids: Object.fromEntries(outcomes.filter((one) => one.tokenId !== '').map((one) => [one.id, one.tokenId])),
    condition_id: market.conditionId,
    ...known({
      tick_size: number(market.orderPriceMinTickSize, PRICE_SCALE),
      min_order_size: market.orderMinSize === null ? null : decimalNumber(parseSize(market.orderMinSize), SIZE_SCALE),
      group_item_title: market.groupItemTitle,
      group_item_threshold: market.groupItemThreshold,
      strike: Object.keys(strike).length > 0 ? strike : null,
      neg_risk: market.negRisk,
      neg_risk_market_id: market.negRiskMarketID,
      series_slug: event?.series[0]?.slug,
      rewards_min_size: rewardsMinSize === 0 ? null : rewardsMinSize,
    }),
    collateral: 'pUSD',
    fee: { enabled: market.feesEnabled === true, ...market.feeSchedule },
    ...known({ version: market.version }),
  };
}

function stateMetadata(
  market: GammaMarket,
  status: MarketStatus,
  payouts: Price[] | null,
  outcomes: Outcome[],
): JsonObject {
  const byOutcome = (prices: Price[]): JsonObject =>
    Object.fromEntries(outcomes.map((one, index) => [one.id, decimalNumber(prices[index] ?? 0n, PRICE_SCALE)]));
  const last = status === 'settled' ? lastTrade(market) : null;
  const clob = usd(market.liquidityClob);
  return known({
    payouts: payouts === null ? null : byOutcome(payouts),
    last_trade_price: last === null ? null : decimalNumber(last, PRICE_SCALE),
    uma_resolution_status: market.umaResolutionStatus,
    accepting_orders: market.acceptingOrders,
    competitive: number(market.competitive, PRICE_SCALE),
    // Told only where it is not the whole liquidity.
    liquidity_clob:
      clob === usd(market.liquidity ?? market.liquidityNum) ? null : number(market.liquidityClob, USD_SCALE),
    volume_30d: number(market.volume1mo, USD_SCALE),
    volume_1y: number(market.volume1yr, USD_SCALE),
  });
}
