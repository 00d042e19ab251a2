import type { Address } from 'viem';
import { getAddress } from 'viem/utils';
import type { Side } from '../../../core/model.ts';
import type { TimeInForce } from '../../../core/order-model.ts';
import type { OrderIntent } from '../../order-contract.ts';
import { orderAmounts } from './amounts.ts';
import { ZERO_BYTES32, type SignatureType, type WireOrder } from './signing.ts';

type WireOrderType = 'GTC' | 'GTD' | 'FOK' | 'FAK';
export const WIRE_ORDER_TYPE: Record<TimeInForce, WireOrderType> = { gtc: 'GTC', gtd: 'GTD', ioc: 'FAK', fok: 'FOK' };
export const WIRE_SIDE: Record<Side, WireOrder['side']> = { buy: 'BUY', sell: 'SELL' };

/** An order ends this long before the expiration in its request. */
export const EXPIRATION_MARGIN_S = 60;

/** The expiration in the request, Unix seconds; `expirationMs` is when the order ends. */
export const sentExpiration = (expirationMs: number): number => Math.floor(expirationMs / 1000) + EXPIRATION_MARGIN_S;

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
    expiration: expirationMs === null ? '0' : String(sentExpiration(expirationMs)),
    metadata: ZERO_BYTES32,
    builder: ZERO_BYTES32,
  };
}
