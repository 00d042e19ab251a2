import { randomUUID } from 'node:crypto';
import { priceText, sizeText, usdText, type Usd } from '../../core/decimal.ts';
import { ApiError, platformName } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';
import type { OrderIntent, PreparedOrder } from '../../platforms/order-contract.ts';
import type { OrderClient } from '../clients.ts';
import type { OrderContext } from '../context.ts';
import { orderIdentity } from '../order-ids.ts';
import type { OrderRow } from '../order-row.ts';
import { orderNotional } from '../spending-limits.ts';
import { checkTerms, type OpenedRequest } from './check.ts';
import type { OrderRequest } from './request.ts';

/** An order is in flight at most this long: waiting its turn, being sent, its fees being read. After that another process looks for it. */
export const FLIGHT_MS = 30_000;

/** The book that bounds a market order is at most this old when it leaves, and a claim is as old as its order. */
const SIGNING_MS = 2000;
/** What signing has to read is known by the second time. */
const MAX_SIGNINGS = 3;

/** An order checked and signed: its row is stored before anything is sent. */
export interface Draft {
  client: OrderClient;
  prepared: PreparedOrder;
  row: OrderRow;
  /** USD of row.notional. */
  notional: Usd;
  /** The order that gives its idempotency key up for this one; null for none. */
  previous: string | null;
  requestId: string;
}

/** Checks and signs. `previous`: the order that held the idempotency key before, if any. */
export async function prepareOrder(
  context: OrderContext,
  opened: OpenedRequest,
  previous: string | null,
): Promise<Draft> {
  const { request, market, client } = opened;
  const { userId, body, key } = request;
  for (let signings = 0; signings < MAX_SIGNINGS; signings += 1) {
    const terms = await checkTerms(context, opened);
    const claimedAtMs = context.now();
    const identity = orderIdentity(userId, key, previous, body.client_order_id ?? null);
    const intent: OrderIntent = { market, terms, claimedAtMs, ...identity };
    const prepared = await client.prepare(intent);
    if (context.now() - claimedAtMs > SIGNING_MS) continue;
    const notional = orderNotional(terms);
    const row = rowOf(client, intent, prepared, request, notional);
    return { client, prepared, row, notional, previous, requestId: request.requestId };
  }
  throw tooSlow(body.platform);
}

const tooSlow = (platform: Platform): ApiError =>
  new ApiError(503, `${platformName(platform)} responds too slowly`, {
    resolution: 'The order was not placed. Retry later.',
    errorText: 'what an order is signed with could not be read in time',
  });

function rowOf(
  { account }: OrderClient,
  { market, terms, clientOrderId, claimedAtMs }: OrderIntent,
  prepared: PreparedOrder,
  { key, hash }: OrderRequest,
  notional: Usd,
): OrderRow {
  const at = new Date(claimedAtMs);
  return {
    id: randomUUID(),
    ...account,
    origin: 'service',
    marketRef: market.ref,
    marketId: market.platformId,
    outcome: market.outcomes[terms.outcomeIndex]?.id ?? '',
    outcomeIndex: terms.outcomeIndex,
    side: terms.side,
    type: terms.type,
    timeInForce: terms.timeInForce,
    price: priceText(terms.price),
    size: sizeText(terms.size),
    expiresAt: terms.expirationMs === null ? null : new Date(terms.expirationMs),
    clientOrderId,
    notional: usdText(notional),
    idempotencyKey: key,
    bodyHash: key === null ? null : hash,
    wire: prepared.wire,
    state: 'sending',
    orderId: prepared.orderId,
    status: 'unknown',
    filledSize: null,
    remainingSize: null,
    averageFillPrice: null,
    makerFee: null,
    takerFee: null,
    metadata: prepared.metadata,
    refusal: null,
    createdAt: at,
    updatedAt: at,
    askedAt: at,
    nextCheckAt: new Date(claimedAtMs + FLIGHT_MS),
  };
}
