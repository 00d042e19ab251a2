import type { OrderStatus, OrderType, TimeInForce } from '../core/order-model.ts';
import type { CredentialOf } from './credentials.ts';
import type { Price, Size, Usd } from '../core/decimal.ts';
import type { ApiError } from '../core/errors.ts';
import type { JsonObject, Platform, Side } from '../core/model.ts';
import type { Priority } from './http/request.ts';
import type { BadRow, MarketDirectory, StoredMarket, PlatformUsers } from './contract.ts';
import type { PriceGrid } from './price-grid.ts';

/** What was asked for, complete and exact: an adapter sends this and nothing else. */
export interface OrderTerms {
  side: Side;
  /** Place of the outcome in StoredMarket.outcomes. */
  outcomeIndex: number;
  type: OrderType;
  timeInForce: TimeInForce;
  /** Worst price accepted, of the outcome: the caller's limit, or the bound of a market order. */
  price: Price;
  /** Contracts or shares of the outcome. */
  size: Size;
  /** Unix ms, with gtd only. */
  expirationMs: number | null;
  /** What the book just read offers within `price`; market orders only. */
  walk: BookWalk | null;
}

/** Levels taken from a book, best first, until the size is reached or the bound passed. */
export interface BookWalk {
  /** At most the size asked for. */
  size: Size;
  /** Σ price × size, rounded up. */
  cost: Usd;
}

/** An order about to be signed. */
export interface OrderIntent {
  market: StoredMarket;
  terms: OrderTerms;
  /** The caller's, else a UUID that follows from the user and the idempotency key. Unused before for this credential. */
  clientOrderId: string;
  /** 32 bytes that follow from the user and the idempotency key (random without a key): source of salts. */
  seed: Uint8Array;
  /** Unix ms at which the key was claimed: the time that is signed, where one is. */
  claimedAtMs: number;
}

/** A signed order. Everything in it but `place` is stored before `place` is called. */
export interface PreparedOrder {
  /** The platform's id where it follows from what is signed (Polymarket's EIP-712 hash); null where the platform gives it. */
  orderId: string | null;
  /** What will be sent, without signatures and keys: shown by a dry run, kept, and handed back to `find`. */
  wire: JsonObject;
  /** Facts for the caller beside the order's fields, e.g. collateral it spends; {} when there are none. */
  metadata: JsonObject;
  /** Sends it: one attempt, never repeated whatever happens. Never throws PlatformError. */
  place(): Promise<Placement>;
}

/**
 * The result of the one attempt. accepted: the platform confirmed it. rejected: it provably has not taken the order. not_sent: nothing
 * has begun to leave this process. `refusal` is our answer to the caller (422, or 503 when it takes none now). unknown: everything
 * else, a "duplicate" included; `find` decides later.
 */
export type Placement = {
  /** HTTP status of the platform, 0 when there was no answer, and its words, for the audit. */
  httpStatus: number;
  detail: string;
} & (
  | { result: 'accepted'; order: PlatformOrder }
  | { result: 'rejected' | 'not_sent'; refusal: ApiError }
  | { result: 'unknown' }
);

/** An order as reported by its platform. Where the service placed it, what was asked for is read from its own record instead. */
export interface PlatformOrder {
  orderId: string;
  /** '' where the platform keeps none. */
  clientOrderId: string;
  /** StoredMarket.ref, and StoredMarket.platformId as users see it. */
  marketRef: string;
  marketId: string;
  /** Outcome id and place. Kalshi trades both outcomes in one book, so that "sell yes" may come back as "buy no". */
  outcome: string;
  outcomeIndex: number;
  side: Side;
  type: OrderType;
  timeInForce: TimeInForce;
  /** Of outcomeIndex, like averageFillPrice; null for a market order without a bound. */
  price: Price | null;
  size: Size;
  status: OrderStatus;
  filledSize: Size;
  /** Still working; 0 once the order is over. */
  remainingSize: Size;
  /** null when nothing was filled, or not known. */
  averageFillPrice: Price | null;
  /** As charged so far, USD; null when not known. */
  makerFee: Usd | null;
  takerFee: Usd | null;
  /**
   * Of what was matched on a platform that settles on a chain. open: may still fail. retrying: some of it failed, and it is not over.
   * failed: some of it never came about, and is not counted as filled. Left out once all is settled.
   */
  settlement?: 'open' | 'retrying' | 'failed';
  createdAt: string | null;
  updatedAt: string | null;
  expiration: string | null;
  /** Facts beside these fields, e.g. contracts net of fees; {} when there are none. */
  metadata: JsonObject;
}

/** An order the service sent, as it was stored before sending. */
export interface OrderRecord {
  /** null until the platform reports it. */
  orderId: string | null;
  clientOrderId: string;
  marketRef: string;
  /** StoredMarket.platformId. */
  marketId: string;
  terms: OrderTerms;
  wire: JsonObject;
  /** Unix ms. */
  sentAtMs: number;
  /** true once the platform has reported it: if it is gone then, it is over. */
  placed?: boolean;
  /** false: asked for with another credential than its own, maybe of another account: that it is not there proves nothing. */
  own?: boolean;
}

/** One caller's way to a platform. */
export interface OrderAccess<P extends Platform> {
  credential: CredentialOf<P>;
  priority: Priority;
  /** Who asks, whose share of common budgets is used. */
  user?: string | undefined;
  /** The same where the credential is the operator's: its budgets are common too. */
  guest?: string | undefined;
  signal?: AbortSignal;
  /** Markets by ref, for rows that name nothing else. */
  markets: MarketDirectory;
  onBadRow(row: BadRow): void;
}

export interface OrderQuery {
  /** Orders of this market only; null = of the whole account, where the platform can list it. */
  market: StoredMarket | null;
  /** Finished orders created before this are not wanted, Unix ms. */
  sinceMs: number;
}

export interface OrderListing {
  orders: PlatformOrder[];
  /** Whether every working order the query asks for is among them; false where the platform lists only by market, or the list was interrupted. */
  complete: boolean;
}

/** An order to cancel. */
export type CancelTarget = Pick<PlatformOrder, 'orderId' | 'marketRef'>;

/**
 * cancelled: the platform confirmed that it has taken the order out. not_open: it reports that there was nothing to take out.
 * unconfirmed: no answer, or an unclear one; asking again is safe.
 */
export interface Cancellation {
  result: 'cancelled' | 'not_open' | 'unconfirmed';
  httpStatus: number;
  detail: string;
}

/**
 * The order side of one platform. Reads and `prepare` throw PlatformError (`unauthorized` when the credential is refused);
 * all rows are parsed with zod, all money is scaled integers.
 */
export interface PlatformOrders<P extends Platform> {
  readonly platform: P;
  /** Valid prices of one outcome. `tickSize` is that of a book just read, which is newer than the stored market's. */
  grid(market: StoredMarket, outcomeIndex: number, tickSize: Price | null): PriceGrid;
  /**
   * Pure. Throws ApiError 422 for what the platform would refuse or cannot express, saying what to change (nearest valid prices,
   * minimum size). The core has checked before: form, 0.01 ≤ price ≤ 0.99, expiration, that the market is open and the outcome its own.
   */
  check(market: StoredMarket, terms: OrderTerms): void;
  /** Signs. Throws ApiError 422 when the credential cannot sign this order. May read what signing needs (a profile, an API key). */
  prepare(intent: OrderIntent, access: OrderAccess<P>): Promise<PreparedOrder>;
  /**
   * The current state of orders the service sent, in order: by order id, else by client order id among those with the same terms
   * sent about then. null where the platform does not know it: not (yet) accepted, or no longer kept.
   */
  find(records: readonly OrderRecord[], access: OrderAccess<P>): Promise<(PlatformOrder | null)[]>;
  /** Any order of the account by the platform's id; null when there is none. */
  get(orderId: string, access: OrderAccess<P>): Promise<PlatformOrder | null>;
  /** What the platform lists: every working order, and of the finished ones what it still has. */
  list(query: OrderQuery, access: OrderAccess<P>): Promise<OrderListing>;
  /** Trades and positions of the credential's own account, where the platform shows them to that account alone. */
  ownAccount?: {
    /** The id by which the credential's account may be named. */
    idOf(credential: CredentialOf<P>): string;
    open(access: OrderAccess<P>): PlatformUsers;
  };
  /** One attempt for each target, in order; in as few calls as the platform allows. */
  cancel(targets: readonly CancelTarget[], access: OrderAccess<P>): Promise<Cancellation[]>;
}
