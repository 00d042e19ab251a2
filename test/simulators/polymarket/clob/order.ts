import { isAddress } from 'viem';
import { z } from 'zod';
import type { OutcomeIndex, SimMarket, WireSide } from '../world/model.ts';
import type { SimAccount } from './accounts.ts';
import { ClobError } from './error.ts';

const digits = z.string().regex(/^\d{1,78}$/);
const address = z.string().refine((text) => isAddress(text, { strict: false }));
const bytes32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/);

/** The signed order as posted; the salt is a JSON number, amounts are ×10^6 texts. */
export const wireOrderSchema = z.object({
  salt: z.int().nonnegative(),
  maker: address,
  signer: address,
  tokenId: digits,
  makerAmount: digits,
  takerAmount: digits,
  side: z.enum(['BUY', 'SELL']),
  signatureType: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
  /** Unix ms; the expiration is in seconds. */
  timestamp: z.string().regex(/^\d{13}$/),
  expiration: z.string().regex(/^(0|\d{10})$/),
  metadata: bytes32,
  builder: bytes32,
  signature: z.string().regex(/^0x[0-9a-fA-F]+$/),
});
export type WireOrder = z.infer<typeof wireOrderSchema>;

const payloadSchema = z.object({
  order: wireOrderSchema,
  owner: z.string(),
  orderType: z.enum(['GTC', 'GTD', 'FOK', 'FAK']),
  postOnly: z.boolean().default(false),
  deferExec: z.boolean().default(false),
});
export type OrderPayload = z.infer<typeof payloadSchema>;

/** Fields of the order that was replaced in April 2026. */
const V1_FIELDS = ['taker', 'nonce', 'feeRateBps'];

export function parsePayload(value: unknown): OrderPayload {
  const order = typeof value === 'object' && value !== null && 'order' in value ? value.order : null;
  if (typeof order === 'object' && order !== null && V1_FIELDS.some((field) => field in order)) throw wrongVersion();
  const parsed = payloadSchema.safeParse(value);
  if (!parsed.success) throw new ClobError(400, 'Invalid order payload');
  return parsed.data;
}

export const wrongVersion = (): ClobError =>
  new ClobError(400, 'invalid order version, please use the latest clob-client');

export type OrderStatus = 'LIVE' | 'DELAYED' | 'MATCHED' | 'CANCELED' | 'CANCELED_MARKET_RESOLVED' | 'INVALID';

/** A client's order. Price in terms of its own token ×10^10; shares and USD ×10^6. */
export interface SimOrder {
  /** EIP-712 hash. */
  id: string;
  account: SimAccount;
  /** UUID of the API key that placed it. */
  owner: string;
  market: SimMarket;
  outcome: OutcomeIndex;
  side: WireSide;
  type: OrderPayload['orderType'];
  postOnly: boolean;
  price: bigint;
  /** Shares wanted; for a BUY of type FOK or FAK at least as many as `usd` buys at the price. */
  shares: bigint;
  /** What a BUY may spend, without fee. */
  usd: bigint;
  /** Unix seconds as signed off by the client; "0" = none. */
  expiration: string;
  createdMs: number;
  status: OrderStatus;
  /** Why it was killed after a delay; follows the status. */
  reason?: string;
  matched: bigint;
  tradeIds: string[];
}

/** A BUY that fills now or never is bounded by what it spends, every other order by its shares. */
export const spends = (order: SimOrder): boolean =>
  order.side === 'BUY' && (order.type === 'FOK' || order.type === 'FAK');
export const rests = (order: SimOrder): boolean => order.type === 'GTC' || order.type === 'GTD';
