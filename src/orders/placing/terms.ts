import { MANIFESTS } from '../../platforms/manifests.ts';
import { parseSize, sizeText, type Price } from '../../core/decimal.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import type { OrderTerms } from '../../platforms/order-contract.ts';
import type { OrderClient } from '../clients.ts';
import type { OrderContext } from '../context.ts';
import type { OrderRow } from '../order-row.ts';
import { refused, refusedOn } from '../refusals.ts';
import { boundMarketOrder, walkLimitOrder } from './worst-price.ts';
import { outcomeIndexOf, requireAhead, requireOpen, type OrderRequest } from './request.ts';

/** The terms to send now; where they depend on the book, it is read now. 422 for what the platform's rules forbid. */
export async function checkTerms(
  context: OrderContext,
  request: OrderRequest,
  market: StoredMarket,
  client: OrderClient,
): Promise<OrderTerms> {
  const outcomeIndex = outcomeIndexOf(market, request.body.outcome);
  requireOpen(market, context.now());
  // Again before each signing: finding the market, or the signing before, took time.
  requireAhead(request, context.now());
  const { body, timeInForce } = request;
  const { side, size, reduce_only: reduces } = body;
  // Before the book where the body states the size: a book becomes old while the balances are read.
  if (reduces && size !== undefined)
    await requireReduces(context, market, { side, outcomeIndex, timeInForce, size }, client);
  const terms = await termsOf(context, request, market, outcomeIndex, client);
  client.check(market, terms, await newerTick(context, request, market, terms, client));
  if (reduces && size === undefined) await requireReduces(context, market, terms, client);
  return terms;
}

/**
 * The price step of the current book: of the one that was read for the terms, else read only if the stored step, which may be old, refuses
 * the limit price. null if it is not needed.
 */
async function newerTick(
  context: OrderContext,
  { userId }: OrderRequest,
  market: StoredMarket,
  { type, price, outcomeIndex, tickSize }: OrderTerms,
  client: OrderClient,
): Promise<Price | null> {
  if (tickSize !== null) return tickSize;
  if (type !== 'limit' || client.grid(market, outcomeIndex, null).has(price)) return null;
  return (await context.book(market, outcomeIndex, userId))?.tickSize ?? null;
}

async function termsOf(
  context: OrderContext,
  { body, timeInForce, userId }: OrderRequest,
  market: StoredMarket,
  outcomeIndex: number,
  client: OrderClient,
): Promise<OrderTerms> {
  const { side, type, price = null, size = null, amount = null, max_slippage: maxSlippage = null } = body;
  const asked = {
    side,
    outcomeIndex,
    type,
    timeInForce,
    amount,
    expirationMs: wholeSeconds(body.expiration),
    postOnly: body.post_only,
    reduceOnly: body.reduce_only,
    selfTradePrevention: body.self_trade_prevention ?? null,
  };
  const limit = type === 'limit' ? { price: price ?? 0n, size: size ?? 0n } : null;
  if (limit && !client.needsBook({ ...asked, ...limit })) return { ...asked, ...limit, walk: null, tickSize: null };
  const book = await context.book(market, outcomeIndex, userId);
  if (!book) throw refused('noBook');
  const { tickSize } = book;
  if (limit) return { ...asked, ...limit, tickSize, walk: walkLimitOrder({ side, timeInForce, ...limit }, book.side) };
  const { smallestSize, takesAmounts } = MANIFESTS[market.platform];
  const isSized = takesAmounts !== true;
  const order = { side, size, amount, timeInForce, price, maxSlippage, smallestSize, isSized };
  return { ...asked, tickSize, ...boundMarketOrder(order, book.side, client.grid(market, outcomeIndex, tickSize)) };
}

/** Platforms take whole seconds: the answer states when the order really expires. */
const wholeSeconds = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.floor(ms / 1000) * 1000;

/**
 * 422 unless the account holds what a reduce_only order would reduce. What open orders would sell is subtracted: orders that the platform
 * lists, and ours whose result is unknown. Nothing is read where the platform enforces the rule.
 */
async function requireReduces(
  { store }: OrderContext,
  market: StoredMarket,
  terms: Pick<OrderTerms, 'side' | 'outcomeIndex' | 'timeInForce' | 'size'>,
  client: OrderClient,
): Promise<void> {
  const { side, outcomeIndex, timeInForce, size } = terms;
  const { enforcesReduceOnly, netsOutcomes } = MANIFESTS[market.platform];
  if (enforcesReduceOnly?.(timeInForce)) return;
  if (side === 'buy' && !netsOutcomes) {
    throw refusedOn(market.platform, 'noReduction', 'reduce_only: both outcomes can be held at once');
  }
  const reduced = side === 'sell' ? outcomeIndex : 1 - outcomeIndex;
  const reduces = (row: Pick<OrderRow, 'side' | 'outcomeIndex'>): boolean =>
    row.side === 'sell' ? row.outcomeIndex === reduced : netsOutcomes === true && row.outcomeIndex !== reduced;
  const [{ balances }, unresolved] = await Promise.all([
    client.balances(market),
    store.unresolved(client.account, market.ref),
  ]);
  const outcome = market.outcomes[reduced]?.id ?? '';
  const free = balances.find(({ asset }) => asset === outcome)?.available ?? null;
  const left =
    free === null ? null : unresolved.filter(reduces).reduce((rest, row) => rest - parseSize(row.size), free);
  if (left !== null && left >= size) return;
  throw refused(
    'overPosition',
    `reduce_only: the account holds ${left === null ? 'an unknown number' : sizeText(left > 0n ? left : 0n)} of ${outcome} that no open order sells`,
    left !== null && left > 0n ? `at most ${sizeText(left)}` : '',
  );
}
