import {
  ONE_PRICE,
  PRICE_SCALE,
  type Price,
  SIZE_SCALE,
  USD_SCALE,
  type Usd,
  decimalNumber,
  divideHalfEven,
  midpoint,
} from '../../core/decimal.ts';
import type { JsonObject, MarketRecord, MarketStatus, MarketType, Outcome, Quote } from '../../core/model.ts';
import {
  UNKNOWN_QUOTE,
  WINDOW_MS,
  complementQuote,
  isoTime,
  outcomeIds,
  quotedPrice,
  youngMarketVolume,
} from '../market-fields.ts';
import { SITE, classification, eventUrl, mapPolymarketEvent, mapPolymarketSeries } from './event.ts';
import { feeSwitch } from './fees.ts';
import { positionModule } from './protocol.ts';
import { marketTitle } from './title.ts';
import type { Resolution } from './listing/resolutions.ts';
import { isClosed, isWhole, marketPayouts, marketStatus } from './listing/status.ts';
import type { GammaEvent, GammaMarket } from './gamma-wire.ts';

/** Gamma's price changes contain floating-point noise: only 6 decimals are significant. */
const CHANGE_STEP = 10n ** BigInt(PRICE_SCALE - 6);

const GAMMA_REF = /^gamma:(\d+)$/;

/** The storage reference: condition id, or `gamma:<id>` while the market has none. */
const marketRef = (market: GammaMarket): string => market.conditionId || `gamma:${market.id}`;

/** The Gamma id in the reference of a market without a condition; null for any other reference. */
export const gammaIdOf = (ref: string): string | null => GAMMA_REF.exec(ref)?.[1] ?? null;

/** One Gamma market. `parent`: its event with tags and series; `raw`: the row; `resolution`: the oracle's (see needsResolution). */
export function mapPolymarketMarket(
  market: GammaMarket,
  parent: GammaEvent | null,
  raw: JsonObject,
  fetchedAt: string,
  resolution?: Resolution,
): MarketRecord {
  const event = parent ?? market.events[0] ?? null;
  const series = event && mapPolymarketSeries(event);
  const outcomes = marketOutcomes(market);
  const status = marketStatus(market, fetchedAt, resolution);
  const payouts = status === 'settled' ? marketPayouts(market, resolution) : null;
  // eventStartTime and gameStartTime are those of the game or window; trading opens long before.
  const tradingStartAt =
    isoTime(market.acceptingOrdersTimestamp) ?? isoTime(market.startDate) ?? isoTime(market.createdAt);
  // The numeric twin is rounded on old markets, and a double holds only 15 digits.
  const total = market.volume ?? market.volumeNum;
  const young = (windowMs: number) => youngMarketVolume(total, tradingStartAt, fetchedAt, windowMs);
  return {
    info: {
      platform: 'polymarket',
      ref: marketRef(market),
      platformId: market.id,
      title: marketTitle(market, event),
      marketType: marketType(market),
      outcomes,
      eventId: event?.id ?? '',
      eventName: event?.title ?? '',
      seriesId: event?.series[0]?.id ?? '',
      slug: market.slug,
      description: market.description,
      ...classification(market, event),
      sourceUrl: sourceUrl(market, event),
      imageUrl: market.image || market.icon,
      createdAt: isoTime(market.createdAt),
      tradingStartAt,
      tradingEndAt: (isClosed(market) ? isoTime(market.closedTime) : null) ?? isoTime(market.endDate),
      resolutionDate: isoTime(market.umaEndDate) ?? isoTime(market.endDate),
      resolutionCriteria: market.description,
      resolutionSource: market.resolutionSource || (event?.resolutionSource ?? ''),
      metadata: infoMetadata(market, event, outcomes),
    },
    state: {
      status,
      resolvedAt:
        status === 'settled'
          ? (resolution?.resolvedAt ?? isoTime(isClosed(market) ? market.umaEndDate : '') ?? isoTime(market.closedTime))
          : null,
      quotes: marketQuotes(market, status, payouts, outcomes.length),
      volume24h: market.volume24hr ?? young(WINDOW_MS['24h']),
      volume7d: market.volume1wk ?? young(WINDOW_MS['7d']),
      volume30d: market.volume1mo ?? young(WINDOW_MS['30d']),
      volume1y: market.volume1yr ?? young(WINDOW_MS['1y']),
      volumeTotal: total,
      liquidity: liquidityOf(market, status),
      // The event's openInterest covers all its markets; the Data API reports it per market.
      openInterest: null,
      priceChange24h: priceChange(market.oneDayPriceChange),
      priceChange7d: priceChange(market.oneWeekPriceChange),
      metadata: {
        ...stateMetadata(market, status, payouts, outcomes),
        ...(status === 'settled' ? {} : expectedSettlement(resolution)),
      },
    },
    raw,
    fetchedAt,
    ...(event ? { event: mapPolymarketEvent(event, market) } : {}),
    ...(series ? { series } : {}),
  };
}

/** The market's page, else its event's, else the platform's. */
function sourceUrl({ slug }: GammaMarket, event: GammaEvent | null): string {
  if (event?.slug) return [eventUrl(event.slug), slug].filter(Boolean).join('/');
  return slug ? `${SITE}/market/${slug}` : SITE;
}

/** By version: v1 markets may list positions too, which have no books. Without one, by the condition. Empty for an unknown version. */
function bookIds({ version, conditionId, positionIds, clobTokenIds }: GammaMarket): string[] {
  const isPosition = version === '' && positionModule(conditionId) !== null;
  if (version === 'v2' || isPosition) return positionIds;
  return version === 'v1' || version === '' ? clobTokenIds : [];
}

function marketOutcomes(market: GammaMarket): Outcome[] {
  const tokens = bookIds(market);
  const ids = outcomeIds(market.outcomes);
  return market.outcomes.map((name, index) => ({ id: ids[index] ?? '', name, tokenId: tokens[index] ?? '' }));
}

function marketType(market: GammaMarket): MarketType {
  if (market.outcomes.length > 2) return 'multiple_choice';
  return market.marketType === 'scalar' ? 'scalar' : 'binary';
}

/**
 * Settled: the payout. Otherwise the last trade of the first outcome, else the midpoint, else outcomePrices, unless a side is empty. A
 * closed row keeps its last live quote, which is not used. With more than two outcomes only outcomePrices apply.
 */
function marketQuotes(market: GammaMarket, status: MarketStatus, payouts: Price[] | null, count: number): Quote[] {
  if (status === 'settled') {
    return Array.from({ length: count }, (_, index) => ({ ...UNKNOWN_QUOTE, price: payouts?.[index] ?? null }));
  }
  const prices = market.outcomePrices;
  const quoted = (index: number): Price | null => (isWhole(prices) ? (prices[index] ?? null) : null);
  if (count > 2) return Array.from({ length: count }, (_, index) => ({ ...UNKNOWN_QUOTE, price: quoted(index) }));
  const bid = status === 'closed' ? null : quotedPrice(market.bestBid);
  const ask = status === 'closed' ? null : quotedPrice(market.bestAsk);
  const unquoted = market.bestBid === null && market.bestAsk === null;
  const first = { price: lastTrade(market) ?? midpoint(bid, ask) ?? (unquoted ? quoted(0) : null), bid, ask };
  return [first, complementQuote(first)];
}

/** 0 on Gamma means that nothing was traded. */
const lastTrade = ({ lastTradePrice: price }: GammaMarket): Price | null =>
  price !== null && price > 0n && price <= ONE_PRICE ? price : null;

/** The liquidity that the row states; else 0 if the market takes no orders, and unknown if it does. */
const liquidityOf = ({ liquidity, liquidityNum }: GammaMarket, status: MarketStatus): Usd | null =>
  liquidity ?? liquidityNum ?? (status === 'open' || status === 'paused' ? null : 0n);

const priceChange = (value: Price | null): Price | null =>
  value === null ? null : divideHalfEven(value, CHANGE_STEP) * CHANGE_STEP;

/** Removes unknown values: in a free-form object the key is absent instead of null. */
const withoutUnknown = (entries: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(entries).filter(([, value]) => value !== null && value !== '' && value !== undefined),
  );

function infoMetadata(market: GammaMarket, event: GammaEvent | null, outcomes: Outcome[]): JsonObject {
  const strike = withoutUnknown({
    line: decimalNumber(market.line, USD_SCALE),
    floor: decimalNumber(market.lowerBound, USD_SCALE),
    cap: decimalNumber(market.upperBound, USD_SCALE),
    open_price: event?.eventMetadata.priceToBeat,
    final_price: event?.eventMetadata.finalPrice,
  });
  const rewardsMinSize = decimalNumber(market.rewardsMinSize, SIZE_SCALE);
  return {
    volume_basis: 'usd',
    token_ids: Object.fromEntries(outcomes.filter((one) => one.tokenId !== '').map((one) => [one.id, one.tokenId])),
    condition_id: market.conditionId,
    ...withoutUnknown({
      tick_size: decimalNumber(market.orderPriceMinTickSize, PRICE_SCALE),
      min_order_size: decimalNumber(market.orderMinSize, SIZE_SCALE),
      seconds_delay: market.secondsDelay,
      group_item_title: market.groupItemTitle,
      group_item_threshold: market.groupItemThreshold,
      strike: Object.keys(strike).length > 0 ? strike : null,
      neg_risk: market.negRisk ?? (market.negRiskMarketID === '' ? null : true),
      neg_risk_market_id: market.negRiskMarketID,
      neg_risk_other: market.negRiskOther === true ? true : null,
      series_slug: event?.series[0]?.slug,
      game_start_time: isoTime(market.gameStartTime),
      event_start_time: isoTime(market.eventStartTime) ?? isoTime(event?.startTime),
      rewards_min_size: rewardsMinSize === 0 ? null : rewardsMinSize,
    }),
    collateral: 'pUSD',
    fee: { ...feeSwitch(market), ...market.feeSchedule },
    ...withoutUnknown({ version: market.version }),
  };
}

/** When the oracle expects to settle: its own estimate. */
const expectedSettlement = (resolution: Resolution | undefined): JsonObject =>
  withoutUnknown({
    expected_settlement_time: resolution?.expectedAt,
    settlement_time_basis: resolution?.expectedBasis,
  });

function stateMetadata(
  market: GammaMarket,
  status: MarketStatus,
  payouts: Price[] | null,
  outcomes: Outcome[],
): JsonObject {
  const byOutcome = (prices: Price[]): JsonObject =>
    Object.fromEntries(outcomes.map((one, index) => [one.id, decimalNumber(prices[index] ?? 0n, PRICE_SCALE)]));
  const liquidity = liquidityOf(market, status);
  return withoutUnknown({
    liquidity_basis: liquidity === null ? 'none' : 'full_book',
    payouts: payouts === null ? null : byOutcome(payouts),
    last_trade_price: status === 'settled' ? decimalNumber(lastTrade(market), PRICE_SCALE) : null,
    last_prices:
      status === 'settled' && payouts === null && isWhole(market.outcomePrices)
        ? byOutcome(market.outcomePrices)
        : null,
    uma_resolution_status: market.umaResolutionStatus,
    resolution_status: market.resolutionStatus,
    accepting_orders: market.acceptingOrders,
    competitive: decimalNumber(market.competitive, PRICE_SCALE),
    // Only if it is not the whole liquidity.
    liquidity_clob: market.liquidityClob === liquidity ? null : decimalNumber(market.liquidityClob, USD_SCALE),
    volume_30d: decimalNumber(market.volume1mo, USD_SCALE),
    volume_1y: decimalNumber(market.volume1yr, USD_SCALE),
  });
}
