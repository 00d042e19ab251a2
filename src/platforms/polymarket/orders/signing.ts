import type { Address, Hex } from 'viem';
import { sign, signTypedData } from 'viem/accounts';
import { concatHex, encodePacked, hashStruct, stringToHex } from 'viem/utils';
import { domainHash, typedDataHash, type SigningDomain } from '../../evm/typed-data.ts';
import { walletAddress } from '../../evm/wallet-address.ts';
import { CHAIN_ID } from './exchanges.ts';

/** 0 the wallet itself, 1 proxy, 2 Safe, 3 deposit wallet (a contract that checks its owner's signature). */
export type SignatureType = 0 | 1 | 2 | 3;

/** An order as sent, without its signature. Keys are in the wire's order. */
export interface WireOrder {
  /** Below 2^53, because it is sent as a JSON number. */
  salt: number;
  maker: Address;
  signer: Address;
  tokenId: string;
  /** Base units ×10^6 of what is given and what is taken. */
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

/** The order's id at Polymarket (its EIP-712 hash), and its signature by `key` for an exchange contract. Deterministic. */
export async function signOrder(
  order: WireOrder,
  domain: SigningDomain,
  key: Hex,
): Promise<{ orderId: Hex; signature: Hex }> {
  const contents = messageOf(order);
  const signed = (hash: Hex): Promise<Hex> => sign({ hash, privateKey: key, to: 'hex' });
  const contentsHash = hashStruct({ data: contents, primaryType: 'Order', types });
  const orderId = typedDataHash(domain, contentsHash);
  if (order.signatureType !== 3) return { orderId, signature: await signed(orderId) };
  // The owner signs for the wallet (ERC-7739); what the wallet needs for verification follows the signature.
  const wrapped = {
    contents,
    name: 'DepositWallet',
    version: '1',
    chainId: CHAIN_ID,
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

/** Proves possession of `key` at a time in Unix seconds; nonce 0. */
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
