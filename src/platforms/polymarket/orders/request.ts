import type { Address } from 'viem';
import { getAddress } from 'viem/utils';
import {
  ONE_PRICE,
  SIZE_SCALE,
  USD_SCALE,
  decimalNumber,
  parsePrice,
  parseSize,
  priceText,
  sizeText,
  type Price,
  type Size,
  type Usd,
} from '../../../core/decimal.ts';
import type { JsonObject, Side } from '../../../core/model.ts';
import type { TimeInForce } from '../../../core/order-model.ts';
import type { OrderIntent, OrderTerms } from '../../order-contract.ts';
import { orderRefused } from '../../failed-placement.ts';
import type { StoredMarket } from '../../contract.ts';
import { evenGrid, metadataPrice, nearestPrices, type PriceGrid } from '../../price-grid.ts';
import { protocolOf } from './exchanges.ts';
import { ZERO_BYTES32, type SignatureType, type WireOrder } from './signing.ts';

export type WireOrderType = 'GTC' | 'GTD' | 'FOK' | 'FAK';
export const WIRE_ORDER_TYPE: Record<TimeInForce, WireOrderType> = { gtc: 'GTC', gtd: 'GTD', ioc: 'FAK', fok: 'FOK' };
export const WIRE_SIDE: Record<Side, WireOrder['side']> = { buy: 'BUY', sell: 'SELL' };

/** An order ends this long before the expiration in its request. */
export const EXPIRATION_MARGIN_S = 60;

/** Every price step, with the number of decimals that the pUSD side of an order may have. */
const TICKS: readonly [tick: Price, amountDecimals: number][] = [
  [parsePrice('0.1'), 3],
  [parsePrice('0.01'), 4],
  [parsePrice('0.005'), 5],
  [parsePrice('0.0025'), 6],
  [parsePrice('0.001'), 5],
  [parsePrice('0.0001'), 6],
];
const CENT = parsePrice('0.01');
/** The smallest step of shares, and of the pUSD that an ioc or fok purchase may spend, ×10^6. */
const HUNDREDTH = 10_000n;

const down = (value: bigint, step: bigint): bigint => (value / step) * step;
const up = (value: bigint, step: bigint): bigint => down(value + step - 1n, step);

/** An ioc or fok purchase is bounded by what it spends: a better price buys more shares. */
export const spends = ({ side, timeInForce }: Pick<OrderTerms, 'side' | 'timeInForce'>): boolean =>
  side === 'buy' && (timeInForce === 'ioc' || timeInForce === 'fok');

/**
 * The budget of such an order: the cost of the current book, rounded up to cents; price × size rounded down to cents if the book was
 * too thin, so that a spent budget always means that the size was available.
 */
function budgetOf({ price, size, walk }: Pick<OrderTerms, 'price' | 'size' | 'walk'>): Usd {
  return walk !== null && walk.size >= size ? up(walk.cost, HUNDREDTH) : down((price * size) / ONE_PRICE, HUNDREDTH);
}

/** The budget of a sent order; null if its size bounds it. */
export function budgetSent(terms: OrderTerms, wire: JsonObject): Usd | null {
  const { makerAmount } = (wire.order ?? {}) as JsonObject;
  return spends(terms) && typeof makerAmount === 'string' ? BigInt(makerAmount) : null;
}

/** pUSD and shares of an order as signed, ×10^6. For an ioc or fok purchase, shares are the minimum. */
export function orderAmounts(market: StoredMarket, terms: OrderTerms): { usd: Usd; shares: Size } {
  const { price, size } = terms;
  if (!spends(terms)) return { usd: (price * size) / ONE_PRICE, shares: size };
  const usd = budgetOf(terms);
  const step = 10n ** BigInt(SIZE_SCALE - amountDecimals(market, price));
  return { usd, shares: down((usd * ONE_PRICE) / price, step) };
}

const storedTick = (market: StoredMarket): Price => metadataPrice(market.metadata, 'tick_size') ?? CENT;

/** By the market's step; if a newer book has a finer one, by the coarsest step that has the price. */
function amountDecimals(market: StoredMarket, price: Price): number {
  const tick = storedTick(market);
  const own = TICKS.find(([step]) => step === tick && price % step === 0n);
  return (own ?? TICKS.find(([step]) => price % step === 0n) ?? [tick, 4])[1];
}

export const polymarketGrid = (market: StoredMarket, _outcomeIndex: number, tickSize: Price | null): PriceGrid =>
  evenGrid(tickSize ?? storedTick(market));

/** Rejects what Polymarket would reject or cannot express, on an exchange that can be signed for. */
export function checkPolymarketOrder(market: StoredMarket, terms: OrderTerms, nowMs: number): void {
  const { price, size, timeInForce, type } = terms;
  const grid = polymarketGrid(market, terms.outcomeIndex, null);
  // The bound of a market order is on the grid of a book newer than the stored step.
  if (type === 'limit' && !grid.has(price)) {
    throw orderRefused(
      'Polymarket would reject the price',
      `Use a price of the market's grid: ${nearestPrices(grid, price)}.`,
      `price: ${priceText(price)} is no multiple of ${priceText(storedTick(market))}`,
    );
  }
  checkSize(market, terms);
  checkExpiration(market, terms, nowMs);
  if (spends(terms) && budgetOf(terms) === 0n) {
    throw orderRefused(
      'The order is too small for Polymarket',
      `An order that fills at once spends at least 0.01: use a size of ${sizeText(up((HUNDREDTH * ONE_PRICE + price - 1n) / price, HUNDREDTH))} or more.`,
      `size: ${sizeText(size)} at ${priceText(price)} with time_in_force ${timeInForce} is less than 0.01 pUSD`,
    );
  }
}

function checkSize(market: StoredMarket, { size, timeInForce }: OrderTerms): void {
  if (size % HUNDREDTH !== 0n) {
    const nearest = [down(size, HUNDREDTH), up(size, HUNDREDTH)].filter((one) => one > 0n).map(sizeText);
    throw orderRefused(
      'Polymarket would reject the size',
      `Use at most two decimals: ${nearest.join(' or ')}.`,
      `size: ${sizeText(size)} has more than two decimals`,
    );
  }
  const { min_order_size: stored } = market.metadata;
  const least = typeof stored === 'number' ? parseSize(stored) : 0n;
  if ((timeInForce === 'gtc' || timeInForce === 'gtd') && size < least) {
    throw orderRefused(
      'The order is too small to rest on Polymarket',
      `Use a size of ${sizeText(least)} or more, or time_in_force ioc or fok.`,
      `size: ${sizeText(size)} is below the market's minimum of ${sizeText(least)}`,
    );
  }
}

/** On Protocol V2 the sent expiration, including the margin, must be three minutes ahead. */
const LEAST_LIFE_V2_MS = 180_000 - EXPIRATION_MARGIN_S * 1000;

function checkExpiration(market: StoredMarket, { expirationMs }: OrderTerms, nowMs: number): void {
  if (expirationMs === null || protocolOf(market) !== 'v2' || expirationMs - nowMs >= LEAST_LIFE_V2_MS) return;
  throw orderRefused(
    'Polymarket would reject the expiration',
    `Keep the order valid for ${LEAST_LIFE_V2_MS / 1000} seconds or more, or use time_in_force gtc.`,
    `expiration: ${new Date(expirationMs).toISOString()} is too soon for a market of Protocol V2`,
  );
}

/** The signer, and the owner of the funds. */
export interface Wallet {
  signatureType: SignatureType;
  /** Checksummed address of the key. */
  owner: Address;
  /** The wallet that pays; null = the key's own. */
  funder: string | null;
}

/** The order to sign. Salt and time follow from the idempotency key, so that the same intent gives the same order. */
export function toWireOrder({ market, terms, seed, claimedAtMs }: OrderIntent, wallet: Wallet): WireOrder {
  const { usd, shares } = orderAmounts(market, terms);
  const [maker, taker] = terms.side === 'buy' ? [usd, shares] : [shares, usd];
  const payer = wallet.funder === null ? wallet.owner : getAddress(wallet.funder);
  const { expirationMs } = terms;
  return {
    salt: Number.parseInt(Buffer.from(seed).toString('hex').slice(0, 13), 16),
    maker: payer,
    signer: wallet.signatureType === 3 ? payer : wallet.owner,
    tokenId: market.outcomes[terms.outcomeIndex]?.tokenId ?? '',
    makerAmount: maker.toString(),
    takerAmount: taker.toString(),
    side: WIRE_SIDE[terms.side],
    signatureType: wallet.signatureType,
    timestamp: String(claimedAtMs),
    expiration: expirationMs === null ? '0' : String(Math.floor(expirationMs / 1000) + EXPIRATION_MARGIN_S),
    metadata: ZERO_BYTES32,
    builder: ZERO_BYTES32,
  };
}

/** What a purchase gives as signed, and the minimum it takes if a better price buys more. */
export function purchaseFacts(terms: OrderTerms, { makerAmount, takerAmount }: WireOrder): JsonObject {
  if (terms.side === 'sell') return {};
  const least = spends(terms) ? { least_shares: decimalNumber(BigInt(takerAmount), SIZE_SCALE) } : {};
  return { collateral: decimalNumber(BigInt(makerAmount), USD_SCALE), ...least };
}
