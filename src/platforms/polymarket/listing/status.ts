import { ONE_PRICE, type Price } from '../../../core/decimal.ts';
import type { MarketStatus } from '../../../core/model.ts';
import { DAY_MS } from '../../../core/time.ts';
import { isoTime } from '../../market-fields.ts';
import type { GammaMarket } from '../gamma-wire.ts';
import { PENDING, type Resolution } from './resolutions.ts';

const HALF_PRICE = ONE_PRICE / 2n;
/** Prices of the AMM era end slightly short of the 0 and 1 that were paid. */
const NEARLY = ONE_PRICE / 1000n;
/** Markets of version 1 closed before payout vectors existed show `["0","0"]` or fractions permanently: after this time they count as settled. */
const SETTLED_AFTER_MS = 30 * DAY_MS;

/**
 * `active` stays true after closing, and `acceptingOrders` may, so only `closed` decides, and before it a final result of the oracle or,
 * on markets of version 2, their own status. A closed market is also settled if outcomePrices is a payout vector, or if its version 1
 * closed over 30 days before `fetchedAt` and its oracle says nothing else.
 */
export function marketStatus(market: GammaMarket, fetchedAt: string, resolution?: Resolution): MarketStatus {
  if (resolution?.payouts || market.resolutionStatus === 'resolved') return 'settled';
  if (!isClosed(market)) {
    if (market.active === false || market.enableOrderBook === false) return 'unopened';
    if (market.acceptingOrders === true) return 'open';
    const acceptingSince = isoTime(market.acceptingOrdersTimestamp);
    if (acceptingSince === null || acceptingSince > fetchedAt) return 'unopened';
    return market.acceptingOrders === false ? 'paused' : 'open';
  }
  if (isResolved(market) || printedPayouts(market)) return 'settled';
  if (isOfVersion2(market) || resolution?.isPending) return 'closed';
  const closedAt = isoTime(market.closedTime) ?? (isBeforeBooks(market) ? isoTime(market.endDate) : null);
  return closedAt !== null && Date.parse(closedAt) < Date.parse(fetchedAt) - SETTLED_AFTER_MS ? 'settled' : 'closed';
}

/** A row whose `closed` is unknown is closed if it has a time of closing or a result. */
export const isClosed = (market: GammaMarket): boolean =>
  market.closed ?? (market.closedTime !== '' || isResolved(market));

/** Whether the row says that its oracle has resolved it. */
const isResolved = ({ umaResolutionStatus: uma, resolutionStatus }: GammaMarket): boolean =>
  uma === 'resolved' || uma === 'settled' || resolutionStatus === 'resolved';

const sum = (prices: Price[]): Price => prices.reduce((total, price) => total + price, 0n);
const isPayoutVector = (prices: Price[]): boolean =>
  sum(prices) === ONE_PRICE && prices.every((price) => price === 0n || price === HALF_PRICE || price === ONE_PRICE);

/** Whether prices add up to 1, apart from rounding to our scale. */
export function isWhole(prices: Price[]): boolean {
  const off = sum(prices) - ONE_PRICE;
  return prices.length > 0 && (off < 0n ? -off : off) <= BigInt(prices.length);
}

/** outcomePrices, if they are a final payout vector: until the oracle has resolved, halves may be midpoints, and its answer may change. */
function printedPayouts(market: GammaMarket): Price[] | null {
  const prices = isBeforeBooks(market) ? market.outcomePrices.map(rounded) : market.outcomePrices;
  const isUnclear = !isResolved(market) && (isPending(market) || isOfVersion2(market) || prices.includes(HALF_PRICE));
  return isPayoutVector(prices) && !isUnclear ? prices : null;
}

/** Rows from before the order book have none of its fields. */
const isBeforeBooks = (market: GammaMarket): boolean =>
  market.enableOrderBook === null &&
  market.acceptingOrders === null &&
  market.acceptingOrdersTimestamp === '' &&
  market.version === '';

/** Markets of protocol version 2 state a status of their own. */
const isOfVersion2 = ({ version, resolutionStatus }: GammaMarket): boolean =>
  version === 'v2' || resolutionStatus !== '';

const rounded = (price: Price): Price =>
  price <= NEARLY ? 0n : price >= ONE_PRICE - NEARLY && price <= ONE_PRICE ? ONE_PRICE : price;

const isPending = ({ umaResolutionStatus: uma }: GammaMarket): boolean => PENDING.has(uma);

/** Whether the row of a closed market lacks its payout, or one that is not closed yet has a result. */
export const needsResolution = (market: GammaMarket): boolean =>
  market.conditionId !== '' &&
  (isClosed(market) ? printedPayouts(market) === null : isPending(market) || isResolved(market));

/** Payout of one share of each outcome; null if neither the oracle nor the row of a closed market reports it: other prices are not payouts. */
export const marketPayouts = (market: GammaMarket, { payouts }: Partial<Resolution> = {}): Price[] | null =>
  (payouts?.length === market.outcomes.length ? payouts : null) ?? (isClosed(market) ? printedPayouts(market) : null);
