import { randomUUID } from 'node:crypto';
import { priceText, sizeText, usdText } from '../../core/decimal.ts';
import { ApiError, platformName } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';
import type { OrderIntent, PreparedOrder } from '../../platforms/order-contract.ts';
import type { OrderClient } from '../clients.ts';
import type { OrderContext } from '../context.ts';
import { orderIds } from './order-ids.ts';
import { nothingReceived, type OrderRow } from '../order-row.ts';
import { orderNotional } from '../spending-limits.ts';
import { requireAhead, type OrderRequest } from './request.ts';
import { checkTerms } from './terms.ts';
import { worstCase, type WorstCase } from './worst-case.ts';

/** An order is in flight at most this long: waiting its turn, being sent, its fees being read. After that another process rechecks it. */
export const FLIGHT_MS = 30_000;

/** An order whose signing took longer is signed again: the book that bounds a market order must not be older when it is sent. */
const SIGNING_MS = 2000;
/** The second signing has in memory what the first one had to read. */
const MAX_SIGNINGS = 3;

/** An order checked and signed: its row is stored before anything is sent. */
export interface Draft {
  client: OrderClient;
  prepared: PreparedOrder;
  row: OrderRow;
  worst: WorstCase;
  requestId: string;
}

/**
 * Finds market and client, checks the terms and signs. 400 when the order expires too soon or names no outcome, 404 and 422 as they are
 * found, 503 when signing takes too long.
 */
export async function prepareOrder(context: OrderContext, request: OrderRequest): Promise<Draft> {
  const { userId, body, key, group } = request;
  requireAhead(request, context.now());
  const [market, client] = await Promise.all([
    context.market({ platform: body.platform, id: body.market_id, user: userId }),
    context.clients.open(userId, body.platform, body.credential_id, 'place', group),
  ]);
  for (let signings = 0; signings < MAX_SIGNINGS; signings += 1) {
    const terms = await checkTerms(context, request, market, client);
    const claimedAtMs = context.now();
    const ids = orderIds(userId, key, body.client_order_id ?? null);
    const intent: OrderIntent = { market, terms, claimedAtMs, ...ids };
    const prepared = await client.prepare(intent);
    if (context.now() - claimedAtMs > SIGNING_MS) continue;
    const row = rowOf(client, intent, prepared, request);
    const worst = worstCase(market, terms, prepared.spends);
    return { client, prepared, row, worst, requestId: request.requestId };
  }
  throw tooSlow(body.platform);
}

const tooSlow = (platform: Platform): ApiError =>
  new ApiError(503, `${platformName(platform)} responds too slowly`, {
    resolution: 'The order was not placed. Retry later.',
    errorText: 'the service could not read in time what it needs to sign the order',
  });

/** The row of a signed order, as it is stored before the order is sent. */
function rowOf(
  { account }: OrderClient,
  intent: OrderIntent,
  prepared: PreparedOrder,
  { key, hash }: OrderRequest,
): OrderRow {
  const { market, terms, clientOrderId, claimedAtMs } = intent;
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
    amount: terms.amount === null ? null : usdText(terms.amount),
    postOnly: terms.postOnly,
    reduceOnly: terms.reduceOnly,
    selfTradePrevention: terms.selfTradePrevention,
    clientOrderId,
    notional: usdText(orderNotional(terms, prepared.spends)),
    idempotencyKey: key,
    bodyHash: key === null ? null : hash,
    wire: prepared.wire,
    state: 'sending',
    orderId: prepared.orderId,
    status: 'unknown',
    filledSize: null,
    remainingSize: null,
    averageFillPrice: null,
    receivedSize: null,
    receivedUsd: null,
    makerFee: null,
    takerFee: null,
    metadata: prepared.metadata,
    refusal: null,
    unknownReason: null,
    createdAt: at,
    updatedAt: at,
    askedAt: at,
    recheckAt: new Date(claimedAtMs + FLIGHT_MS),
  };
}

/** The answer to a dry run: the order that would be sent, without fills. */
export const dryRunRow = ({ row }: Draft): OrderRow => ({
  ...row,
  orderId: `dry_run:${row.clientOrderId}`,
  status: 'pending',
  filledSize: '0',
  remainingSize: row.size,
  ...nothingReceived(row),
  metadata: { ...row.metadata, wire: row.wire },
});
