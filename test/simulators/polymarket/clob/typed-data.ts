import {
  concatHex,
  encodePacked,
  getAddress,
  hashDomain,
  hashStruct,
  hashTypedData,
  isAddress,
  isHex,
  recoverAddress,
  sliceHex,
  size,
  stringToHex,
  zeroHash,
  type Address,
  type Hex,
} from 'viem';
import type { WireOrder } from './order.ts';

/** What clients sign: orders (EIP-712, three exchange contracts, four kinds of wallet) and the proof of owning an address. */

export type Venue = 'standard' | 'negRisk' | 'v3';

const CHAIN_ID = 137;
export const CONTRACTS: Record<Venue, Address> = {
  standard: '0xE111180000d2663C0091e4f400237545B87B996B',
  negRisk: '0xe2222d279d744050d28e00520010520000310F59',
  v3: '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa',
};
const domainOf = (venue: Venue) => ({
  name: 'Polymarket CTF Exchange',
  version: venue === 'v3' ? '3' : '2',
  chainId: BigInt(CHAIN_ID),
  verifyingContract: CONTRACTS[venue],
});

const ORDER_FIELDS = [
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
] as const;
const ORDER_TYPE_TEXT = `Order(${ORDER_FIELDS.map(({ name, type }) => `${type} ${name}`).join(',')})`;
/** A deposit wallet's owner signs the order wrapped in the wallet's own name (ERC-7739). */
const WRAPPED_FIELDS = [
  { name: 'contents', type: 'Order' },
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
] as const;
const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

const messageOf = (order: WireOrder) => ({
  salt: BigInt(order.salt),
  maker: getAddress(order.maker),
  signer: getAddress(order.signer),
  tokenId: BigInt(order.tokenId),
  makerAmount: BigInt(order.makerAmount),
  takerAmount: BigInt(order.takerAmount),
  side: order.side === 'BUY' ? 0 : 1,
  signatureType: order.signatureType,
  timestamp: BigInt(order.timestamp),
  metadata: order.metadata as Hex,
  builder: order.builder as Hex,
});

/** The order's id: its EIP-712 hash at a venue. The expiration is not part of it. */
export const orderHash = (order: WireOrder, venue: Venue): Hex =>
  hashTypedData({
    domain: domainOf(venue),
    types: { Order: ORDER_FIELDS },
    primaryType: 'Order',
    message: messageOf(order),
  });

/** The key that signed the order for a venue; null when the signature is malformed or wraps something else. */
export async function orderSigner(order: WireOrder, venue: Venue): Promise<Address | null> {
  const signature = order.signature as Hex;
  if (!isHex(signature)) return null;
  if (order.signatureType !== 3) return recover(orderHash(order, venue), signature);
  const tail = concatHex([
    hashDomain({ domain: domainOf(venue), types: { EIP712Domain: DOMAIN_FIELDS } }),
    hashStruct({ data: messageOf(order), primaryType: 'Order', types: { Order: ORDER_FIELDS } }),
    stringToHex(ORDER_TYPE_TEXT),
    encodePacked(['uint16'], [ORDER_TYPE_TEXT.length]),
  ]);
  if (size(signature) !== 65 + size(tail) || sliceHex(signature, 65) !== tail) return null;
  const wrapped = hashTypedData({
    domain: domainOf(venue),
    types: { TypedDataSign: WRAPPED_FIELDS, Order: ORDER_FIELDS },
    primaryType: 'TypedDataSign',
    message: {
      contents: messageOf(order),
      name: 'DepositWallet',
      version: '1',
      chainId: BigInt(CHAIN_ID),
      verifyingContract: getAddress(order.signer),
      salt: zeroHash,
    },
  });
  return recover(wrapped, sliceHex(signature, 0, 65));
}

/** The key behind an L1 header set (ClobAuth); null when malformed. */
export async function authSigner(headers: {
  address: string;
  timestamp: string;
  nonce: string;
  signature: string;
}): Promise<Address | null> {
  const { address, timestamp, nonce, signature } = headers;
  if (!isAddress(address, { strict: false }) || !isHex(signature) || !/^\d{1,20}$/.test(nonce)) return null;
  const hash = hashTypedData({
    domain: { name: 'ClobAuthDomain', version: '1', chainId: CHAIN_ID },
    types: {
      ClobAuth: [
        { name: 'address', type: 'address' },
        { name: 'timestamp', type: 'string' },
        { name: 'nonce', type: 'uint256' },
        { name: 'message', type: 'string' },
      ],
    },
    primaryType: 'ClobAuth',
    message: {
      address: getAddress(address),
      timestamp,
      nonce: BigInt(nonce),
      message: 'This message attests that I control the given wallet',
    },
  });
  return recover(hash, signature);
}

async function recover(hash: Hex, signature: Hex): Promise<Address | null> {
  try {
    return await recoverAddress({ hash, signature });
  } catch {
    return null;
  }
}
