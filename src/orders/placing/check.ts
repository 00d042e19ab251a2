import type { Price } from '../../core/decimal.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import { orderRefused } from '../../platforms/failed-placement.ts';
import type { OrderTerms } from '../../platforms/order-contract.ts';
import type { OrderClient } from '../clients.ts';
import type { OrderContext } from '../context.ts';
import { boundMarketOrder, walkLimitOrder } from '../worst-price.ts';
import { outcomeIndexOf, requireAhead, requireOpen, type OrderRequest } from './request.ts';

/** A request with its market, its outcome and the client that will send it. */
export interface OpenedRequest {
  request: OrderRequest;
  market: StoredMarket;
  outcomeIndex: number;
  client: OrderClient;
}

/** Finds the market and the client of a request. 400 when it expires too soon or names no outcome, 404 and 422 as they are found. */
export async function openRequest(context: OrderContext, request: OrderRequest): Promise<OpenedRequest> {
  const { userId, body } = request;
  requireAhead(request, context.now());
  const [market, client] = await Promise.all([
    context.market({ platform: body.platform, id: body.market_id, user: userId }),
    context.clients.open(userId, body.platform, body.credential_id, 'place'),
  ]);
  return { request, market, outcomeIndex: outcomeIndexOf(market, body.outcome), client };
}

/** What is sent, as it stands now: a market order is bounded by the book just read. 422 for what the platform's rules forbid. */
export async function checkTerms(context: OrderContext, opened: OpenedRequest): Promise<OrderTerms> {
  const { request, market, client } = opened;
  requireOpen(market, context.now());
  // Time has passed: for finding the market, or for a signing that took too long.
  requireAhead(request, context.now());
  const terms = await termsOf(context, opened);
  client.check(market, terms, await newerTick(context, opened, terms));
  return terms;
}

/** The price step of the current book, read only where the stored one, which may be old, would refuse a limit price; else null. */
async function newerTick(
  context: OrderContext,
  opened: OpenedRequest,
  { type, price }: OrderTerms,
): Promise<Price | null> {
  const { request, market, outcomeIndex, client } = opened;
  if (type !== 'limit' || client.grid(market, outcomeIndex, null).has(price)) return null;
  return (await context.book(market, outcomeIndex, request.userId))?.tickSize ?? null;
}

async function termsOf(context: OrderContext, opened: OpenedRequest): Promise<OrderTerms> {
  const { request, market, outcomeIndex, client } = opened;
  const { body, timeInForce, userId } = request;
  const { side, type, size, price } = body;
  const expirationMs = wholeSeconds(body.expiration);
  const choices = { amount: null, postOnly: false, reduceOnly: false, selfTradePrevention: null };
  const common = { side, outcomeIndex, type, timeInForce, size, expirationMs, ...choices };
  const limit = type === 'limit' ? (price ?? 0n) : null;
  if (limit !== null && !client.needsBook({ side, type, timeInForce })) return { ...common, price: limit, walk: null };
  const book = await context.book(market, outcomeIndex, userId);
  if (!book) throw orderRefused('No order book', 'Choose a market that trades in an order book.');
  if (limit !== null) {
    const walk = walkLimitOrder({ side, size, timeInForce, price: limit }, book.side);
    return { ...common, price: limit, walk };
  }
  const asked = { side, size, timeInForce, price: price ?? null, maxSlippage: body.max_slippage ?? null };
  return { ...common, ...boundMarketOrder(asked, book.side, client.grid(market, outcomeIndex, book.tickSize)) };
}

/** Platforms take whole seconds: the answer states when the order really expires. */
const wholeSeconds = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.floor(ms / 1000) * 1000;
