import type { Address, Hex } from 'viem';
import { sign, signTypedData } from 'viem/accounts';
import { concatHex, encodePacked, hashStruct, stringToHex } from 'viem/utils';
import { domainHash, typedDataHash } from '../typed-data.ts';
import { walletAddress } from '../wallet-address.ts';

/** 0 the wallet itself, 1 proxy, 2 Safe, 3 deposit wallet (a contract that checks its owner's signature). */
export type SignatureType = 0 | 1 | 2 | 3;

/** An order as it is sent, without its signature. Key order is the wire's own. */
export interface WireOrder {
  /** Below 2^53: it travels as a JSON number. */
  salt: number;
  maker: Address;
  signer: Address;
  tokenId: string;
  /** Base units ×10^6: what is given, and what is asked for it. */
  makerAmount: string;
  takerAmount: string;
  side: 'BUY' | 'SELL';
  signatureType: SignatureType;
  /** Unix ms. */
  timestamp: string;
  /** Unix seconds, '0' without; not signed. */
  expiration: string;
  metadata: Hex;
  builder: Hex;
}

export const ZERO_BYTES32: Hex = `0x${'0'.repeat(64)}`;
const CHAIN_ID = 137;

const types = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
    { name: 'timestamp', type: 'uint256' },
    { name: 'metadata', type: 'bytes32' },
    { name: 'builder', type: 'bytes32' },
  ],
  TypedDataSign: [
    { name: 'contents', type: 'Order' },
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const;
const ORDER_TYPE = `Order(${types.Order.map(({ name, type }) => `${type} ${name}`).join(',')})`;

/** Version 2 of the exchange, in force since April 2026: one contract, and another for negative-risk markets. */
const exchange = (verifyingContract: Address) => ({
  name: 'Polymarket CTF Exchange',
  version: '2',
  chainId: BigInt(CHAIN_ID),
  verifyingContract,
});
const STANDARD = exchange('0xE111180000d2663C0091e4f400237545B87B996B');
const NEGATIVE_RISK = exchange('0xe2222d279d744050d28e00520010520000310F59');

const messageOf = (order: WireOrder) => ({
  salt: BigInt(order.salt),
  maker: order.maker,
  signer: order.signer,
  tokenId: BigInt(order.tokenId),
  makerAmount: BigInt(order.makerAmount),
  takerAmount: BigInt(order.takerAmount),
  side: order.side === 'BUY' ? 0 : 1,
  signatureType: order.signatureType,
  timestamp: BigInt(order.timestamp),
  metadata: order.metadata,
  builder: order.builder,
});

/** The order's id at Polymarket (its EIP-712 hash) and its signature by `key`. The same order gives the same two. */
export async function signOrder(
  order: WireOrder,
  negRisk: boolean,
  key: Hex,
): Promise<{ orderId: Hex; signature: Hex }> {
  const domain = negRisk ? NEGATIVE_RISK : STANDARD;
  const contents = messageOf(order);
  const signed = (hash: Hex): Promise<Hex> => sign({ hash, privateKey: key, to: 'hex' });
  const contentsHash = hashStruct({ data: contents, primaryType: 'Order', types });
  const orderId = typedDataHash(domain, contentsHash);
  if (order.signatureType !== 3) return { orderId, signature: await signed(orderId) };
  // The owner signs in the name of the wallet (ERC-7739); what the wallet needs to see that stands behind the signature.
  const wrapped = {
    contents,
    name: 'DepositWallet',
    version: '1',
    chainId: BigInt(CHAIN_ID),
    verifyingContract: order.signer,
    salt: ZERO_BYTES32,
  };
  const hash = typedDataHash(domain, hashStruct({ data: wrapped, primaryType: 'TypedDataSign', types }));
  const signature = concatHex([
    await signed(hash),
    domainHash(domain),
    contentsHash,
    stringToHex(ORDER_TYPE),
    encodePacked(['uint16'], [ORDER_TYPE.length]),
  ]);
  return { orderId, signature };
}

const CLOB_AUTH = {
  ClobAuth: [
    { name: 'address', type: 'address' },
    { name: 'timestamp', type: 'string' },
    { name: 'nonce', type: 'uint256' },
    { name: 'message', type: 'string' },
  ],
} as const;

/** Proves to hold `key`, at a time in Unix seconds; nonce 0. */
export function signAuth(key: Hex, timestamp: string): Promise<Hex> {
  return signTypedData({
    privateKey: key,
    domain: { name: 'ClobAuthDomain', version: '1', chainId: CHAIN_ID },
    types: CLOB_AUTH,
    primaryType: 'ClobAuth',
    message: {
      address: walletAddress(key),
      timestamp,
      nonce: 0n,
      message: 'This message attests that I control the given wallet',
    },
  });
}
