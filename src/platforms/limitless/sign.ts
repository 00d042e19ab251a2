import type { Address, Hex } from 'viem';
import { sign } from 'viem/accounts';
import { hashStruct } from 'viem/utils';
import { typedDataHash } from '../evm/typed-data.ts';

/** Base mainnet, the only chain of Limitless. */
const CHAIN_ID = 8453n;
export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000';

const ORDER_TYPES = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'taker', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'feeRateBps', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ],
} as const;

/** The signed part of an order, in the JSON types that Limitless requires: amounts and flags as numbers, ids and expiration as texts. */
export interface SignedPart {
  salt: number;
  maker: Address;
  signer: Address;
  taker: Address;
  /** Decimal. */
  tokenId: string;
  /** Base units, like takerAmount. */
  makerAmount: number;
  takerAmount: number;
  /** Limitless has no expiry. */
  expiration: '0';
  nonce: 0;
  feeRateBps: number;
  /** 0 buy, 1 sell. */
  side: 0 | 1;
  /** 0 the wallet itself, 2 a smart wallet whose owner signs. */
  signatureType: 0 | 2;
}

/** What EIP-712 signs: the order under the exchange contract of its market. */
export const typedOrder = (order: SignedPart, exchange: Address) => ({
  domain: { name: 'Limitless CTF Exchange', version: '1', chainId: CHAIN_ID, verifyingContract: exchange },
  types: ORDER_TYPES,
  primaryType: 'Order' as const,
  message: {
    ...order,
    salt: BigInt(order.salt),
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    expiration: BigInt(order.expiration),
    nonce: BigInt(order.nonce),
    feeRateBps: BigInt(order.feeRateBps),
  },
});

export function signOrder(privateKey: Hex, order: SignedPart, exchange: Address): Promise<Hex> {
  const { domain, types, primaryType, message } = typedOrder(order, exchange);
  const hash = typedDataHash(domain, hashStruct({ data: message, primaryType, types }));
  return sign({ hash, privateKey, to: 'hex' });
}
