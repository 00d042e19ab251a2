import { randomUUID } from 'node:crypto';
import { priceText, sizeText, usdText } from '../core/decimal.ts';
import { ApiError, platformName } from '../core/errors.ts';
import type { OrderIntent, OrderTerms, PreparedOrder } from '../platforms/order-contract.ts';
import { orderRefused } from '../platforms/failed-placement.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { BookSide, Platform } from '../core/model.ts';
import { boundMarketOrder } from './worst-price.ts';
import type { OrderClient, OrderClients } from './clients.ts';
import { orderIdentity } from './order-ids.ts';
import { outcomeIndexOf, requireOpen, timeInForceOf, type OrderBody } from './request.ts';
import type { OrderRow } from './order-row.ts';
import { orderNotional } from './spending-limits.ts';

/** An order is in flight at most this long: waiting its turn, being sent, its fees being read. Then somebody else looks for it. */
export const FLIGHT_MS = 30_000;

/** The book that bounds a market order is at most this old when it leaves, and a claim is as old as its order. */
const SIGNING_MS = 2000;
/** What signing has to read is known by the second time. */
const MAX_SIGNINGS = 3;

export interface DrafterDeps {
  clients: OrderClients;
  /** 404 when there is no such market. */
  market(wanted: { platform: Platform; id: string; user: string }): Promise<StoredMarket>;
  /** The live book of an outcome, read now; null when there is none. */
  book(
    market: StoredMarket,
    outcomeIndex: number,
    user: string,
  ): Promise<{ side: BookSide; tickSize: bigint | null } | null>;
  now: () => number;
}

/** An order checked and signed: its row is stored before anything is sent. */
export interface Draft {
  client: OrderClient;
  prepared: PreparedOrder;
  row: OrderRow;
  /** The order that gives its idempotency key up for this one; null for none. */
  previous: string | null;
}

export type DraftOrder = ReturnType<typeof createDrafter>;

/** Turns a request into an order ready to be claimed and sent; what a platform's rules forbid is refused here. */
export function createDrafter({ clients, market: marketOf, book: bookOf, now }: DrafterDeps) {
  async function termsOf(body: OrderBody, market: StoredMarket, client: OrderClient): Promise<OrderTerms> {
    const { side, type, size, price } = body;
    const outcomeIndex = outcomeIndexOf(market, body.outcome);
    requireOpen(market, now());
    const timeInForce = timeInForceOf(body, now());
    const common = { side, outcomeIndex, type, timeInForce, size, expirationMs: wholeSeconds(body.expiration) };
    if (type === 'limit') return { ...common, price: price ?? 0n, walk: null };
    const book = await bookOf(market, outcomeIndex, client.account.userId);
    if (!book) throw orderRefused('No order book', 'Choose a market that trades in an order book.');
    const asked = { side, size, timeInForce, price: price ?? null, maxSlippage: body.max_slippage ?? null };
    return { ...common, ...boundMarketOrder(asked, book.side, client.grid(market, outcomeIndex, book.tickSize)) };
  }

  /** What an order is drafted from. */
  async function read(userId: string, body: OrderBody) {
    timeInForceOf(body, now());
    const [market, client] = await Promise.all([
      marketOf({ platform: body.platform, id: body.market_id, user: userId }),
      clients.open(userId, body.platform, body.credential_id, 'place'),
    ]);
    return { userId, body, market, client };
  }

  /** `previous`: the order that held the idempotency key before, if any. `hash`: of the body, kept with the key. */
  async function sign(
    given: Awaited<ReturnType<typeof read>>,
    hash: string,
    previous: string | null,
    signings = 1,
  ): Promise<Draft> {
    const { userId, body, market, client } = given;
    const terms = await termsOf(body, market, client);
    client.check(market, terms);
    const key = body.idempotency_key ?? null;
    const claimedAtMs = now();
    const identity = orderIdentity(userId, key, previous, body.client_order_id ?? null);
    const intent: OrderIntent = { market, terms, claimedAtMs, ...identity };
    const prepared = await client.prepare(intent);
    if (now() - claimedAtMs > SIGNING_MS) {
      if (signings === MAX_SIGNINGS) throw tooSlow(body.platform);
      return sign(given, hash, previous, signings + 1);
    }
    return { client, prepared, row: rowOf(client, intent, prepared, key === null ? null : { key, hash }), previous };
  }

  return { read, sign };
}

/** Platforms take whole seconds: the answer states when the order really expires. */
const wholeSeconds = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.floor(ms / 1000) * 1000;

const tooSlow = (platform: Platform): ApiError =>
  new ApiError(503, `${platformName(platform)} responds too slowly`, {
    resolution: 'The order was not placed. Try again later.',
    errorText: 'what an order is signed with could not be read in time',
  });

function rowOf(
  { account }: OrderClient,
  { market, terms, clientOrderId, claimedAtMs }: OrderIntent,
  prepared: PreparedOrder,
  claim: { key: string; hash: string } | null,
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
    notional: usdText(orderNotional(terms)),
    idempotencyKey: claim?.key ?? null,
    bodyHash: claim?.hash ?? null,
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
