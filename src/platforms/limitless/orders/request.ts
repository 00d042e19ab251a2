import { PRICE_SCALE, decimalNumber } from '../../../core/decimal.ts';
import type { SelfTradePrevention } from '../../../core/order-model.ts';
import type { OrderIntent, OrderRecord } from '../../order-contract.ts';
import type { OrderAmounts } from './amounts.ts';
import type { LimitlessOrderState } from './rows.ts';
import { type SignedPart, ZERO_ADDRESS } from '../sign.ts';
import type { Signatory } from './signing-context.ts';

/** Body of POST /orders without the signature, in the JSON types that Limitless requires. */
export interface LimitlessNewOrder {
  /** The price is sent but not signed: it follows from the amounts. */
  order: SignedPart & { price: number };
  orderType: OrderAmounts['orderType'];
  marketSlug: string;
  ownerId: number;
  /** Only for an order that can rest. */
  postOnly?: boolean;
  /** Absent: the platform's default. */
  stpPolicy?: SelfTradePrevention;
  clientOrderId: string;
  /** Unix ms. */
  timestamp: number;
  recvWindow: number;
}

/** Salt < 2^52: exact as a JSON number, and the same when the same idempotency key is signed again. */
const saltOf = (seed: Uint8Array): number => Number(Buffer.from(seed).readBigUInt64BE() >> 12n);

export function toLimitlessOrder(
  { market, terms, clientOrderId, seed }: OrderIntent,
  { orderType, makerAmount, takerAmount }: OrderAmounts,
  { ownerId, maker, signer, signatureType, feeRateBps }: Signatory,
  { timestamp, recvWindow }: Pick<LimitlessNewOrder, 'timestamp' | 'recvWindow'>,
): LimitlessNewOrder {
  const { selfTradePrevention: stpPolicy } = terms;
  return {
    order: {
      salt: saltOf(seed),
      maker,
      signer,
      taker: ZERO_ADDRESS,
      tokenId: market.outcomes[terms.outcomeIndex]?.tokenId ?? '',
      makerAmount: Number(makerAmount),
      takerAmount: Number(takerAmount),
      expiration: '0',
      nonce: 0,
      feeRateBps,
      side: terms.side === 'buy' ? 0 : 1,
      signatureType,
      price: decimalNumber(terms.price, PRICE_SCALE),
    },
    orderType,
    marketSlug: market.platformId,
    ownerId,
    ...(orderType === 'GTC' ? { postOnly: terms.postOnly } : {}),
    ...(stpPolicy === null ? {} : { stpPolicy }),
    clientOrderId,
    timestamp,
    recvWindow,
  };
}

/** Whether the found order is that of the record: the client order id alone may belong to an older order. */
export function isThe({ orderId, wire }: OrderRecord, { order }: LimitlessOrderState): boolean {
  if (orderId !== null) return order.id === orderId;
  const { order: sent } = wire as Partial<LimitlessNewOrder>;
  return sent !== undefined && String(sent.salt) === order.salt && sent.tokenId === order.tokenId;
}
