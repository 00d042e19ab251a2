import type { OrderStatus, OrderType, SelfTradePrevention, TimeInForce } from '../core/order-model.ts';
import type { CredentialOf } from './manifests.ts';
import type { Price, Size, Usd } from '../core/decimal.ts';
import type { ApiError } from '../core/errors.ts';
import type { JsonObject, Platform, Side } from '../core/model.ts';
import type { Priority } from './http/request.ts';
import type { BadRow, MarketDirectory, StoredMarket, PlatformUsers } from './contract.ts';
import type { PriceGrid } from './price-grid.ts';
import type { SocketChannel } from './sockets/contract.ts';

/** How far our clock and a platform's may differ. */
export const CLOCK_MS = 60_000;
/** If a platform does not know an order this long after it was sent, the order never arrived. A manifest may set another time. */
export const ARRIVED_MS = 120_000;

/** The complete and exact terms of an order: an adapter sends these and nothing else. */
export interface OrderTerms {
  side: Side;
  /** Index of the outcome in StoredMarket.outcomes. */
  outcomeIndex: number;
  type: OrderType;
  timeInForce: TimeInForce;
  /** Worst acceptable price of the outcome: the caller's limit, or the bound of a market order. */
  price: Price;
  /** Contracts or shares of the outcome. */
  size: Size;
  /** Unix ms; for gtd only. */
  expirationMs: number | null;
  /** What the current book offers within `price`; null for orders that are sent without a read of the book, or that only rest. */
  walk: BookWalk | null;
  /** Price step of that book, which is newer than the stored market; null if it states none, and without a read. */
  tickSize: Price | null;
  /** USD to spend, where the caller gave an amount in place of a size; `size` is then what it buys in the current book. */
  amount: Usd | null;
  /** The platform refuses the order if it would trade at once; gtc and gtd only. */
  postOnly: boolean;
  /** The order may only reduce the account's position in the outcome. */
  reduceOnly: boolean;
  /** null: the platform's default. */
  selfTradePrevention: SelfTradePrevention | null;
}

/** Levels of a book, best first, until the size or the price bound is reached. */
export interface BookWalk {
  /** At most the requested size. */
  size: Size;
  /** Σ price × size, rounded up. */
  cost: Usd;
  /** Price of the last level that was needed, and what it offers beyond. */
  worst: Price;
  spare: Size;
}

/** An order about to be signed. */
export interface OrderIntent {
  market: StoredMarket;
  terms: OrderTerms;
  /** The caller's, else a UUID derived from the user and the idempotency key. New for this credential. */
  clientOrderId: string;
  /** 32 bytes derived from the user and the idempotency key (random without a key): source of salts. */
  seed: Uint8Array;
  /** Unix ms at which the key was claimed: the signed time, if the platform signs one. */
  claimedAtMs: number;
}

/** A signed order. All of it except `place` is stored before `place` is called. */
export interface PreparedOrder {
  /** The platform's id if it follows from the signed data (Polymarket's EIP-712 hash); null if the platform assigns it. */
  orderId: string | null;
  /** The request without signatures and keys: shown by a dry run, stored, and passed to `find`. */
  wire: JsonObject;
  /** The amount that the platform itself spends; null if a size is sent. */
  spends: Usd | null;
  /** Facts for the caller apart from the order's fields, e.g. the collateral it spends; {} if there are none. */
  metadata: JsonObject;
  /** Sends it in one attempt, which is never repeated. Never throws PlatformError. */
  place(): Promise<Placement>;
}

/**
 * The result of the one attempt. accepted: confirmed by the platform. rejected: provably not accepted. not_sent: nothing was sent.
 * `refusal` is our answer to the caller (422, or 503 if the platform accepts no orders now). unknown: everything else,
 * including a "duplicate"; `find` decides later.
 */
export type Placement = {
  /** For the audit: HTTP status of the platform (0 without an answer) and its text. */
  httpStatus: number;
  detail: string;
} & (
  | { result: 'accepted'; order: PlatformOrder }
  | { result: 'rejected' | 'not_sent'; refusal: ApiError }
  | { result: 'unknown' }
);

/** Sends the bodies of one account in one call, and returns the placements in their order. Never throws PlatformError. */
export type SendTogether<B> = (bodies: readonly B[]) => Promise<Placement[]>;

/** One of several orders that are placed together (orders/placing/placement-group.ts). It ends with `place` or `leave`. */
export interface PlacementMember {
  /** Sends `body` with the others of the same `account`; resolves with its own placement. */
  place<B>(account: string, body: B, send: SendTogether<B>): Promise<Placement>;
  /** The member sends nothing, or sends alone. */
  leave(): void;
}

/** An order as reported by its platform. For orders of this service, the terms come from its own record instead. */
export interface PlatformOrder {
  orderId: string;
  /** '' if the platform does not store it. */
  clientOrderId: string;
  /** StoredMarket.ref, and StoredMarket.platformId as shown to users. */
  marketRef: string;
  marketId: string;
  /** Outcome id and index. Kalshi trades both outcomes in one book, so "sell yes" may come back as "buy no". */
  outcome: string;
  outcomeIndex: number;
  side: Side;
  type: OrderType;
  timeInForce: TimeInForce;
  /** In terms of outcomeIndex, like averageFillPrice; null for a market order without a bound. */
  price: Price | null;
  size: Size;
  status: OrderStatus;
  filledSize: Size;
  /** Still working; 0 once the order has ended. */
  remainingSize: Size;
  /** null if nothing was filled, or if unknown. */
  averageFillPrice: Price | null;
  /** The average may be in prices of the other outcome: a known one of the same fills counts before it. Absent: it is sure. */
  isAverageUnsure?: true;
  /** Contracts that a purchase brought, after fees taken in contracts; null for a sale, and while unknown. */
  receivedSize: Size | null;
  /** USD that a sale brought, after fees; null for a purchase, and while unknown. */
  receivedUsd: Usd | null;
  /** Charged so far, USD; null if unknown. */
  makerFee: Usd | null;
  takerFee: Usd | null;
  /**
   * Settlement of matches on a chain. open: may still fail. retrying: part of it failed and is being repeated. failed: part of it failed
   * permanently and does not count as filled. Absent once everything is settled.
   */
  settlement?: 'open' | 'retrying' | 'failed';
  /** Ids of the matches that failed or are being repeated, as `metadata.trade_ids` has those that count; absent where they have no ids. */
  undoneTrades?: readonly string[];
  /** `expired` by our clock alone: the platform lists it as working. */
  endedByClock?: true;
  /** `cancelled` only because the platform no longer lists it and lists no match of it: a match may be listed later. */
  endedUnlisted?: true;
  createdAt: string | null;
  updatedAt: string | null;
  expiration: string | null;
  /** Facts apart from these fields, e.g. contracts net of fees; {} if there are none. */
  metadata: JsonObject;
}

/** An order sent by the service, as stored before sending. */
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
  /** true once the platform has reported it: if it is gone then, it has ended. */
  placed?: boolean;
  /** false: read with another credential than its own, maybe of another account, so its absence proves nothing. */
  own?: boolean;
}

/** A caller's access to a platform. */
export interface OrderAccess<P extends Platform> {
  credential: CredentialOf<P>;
  priority: Priority;
  /** The user whose share of common budgets is used. */
  user?: string | undefined;
  /** The same for the operator's credential, whose own budgets are shared too. */
  guest?: string | undefined;
  /** Orders placed together: `place` waits for the others and is sent with them in one call, where the platform has one. */
  group?: PlacementMember | undefined;
  /** A cancel waits for the reads: they are sent also while other reads of accounts are suspended. */
  forCancel?: boolean | undefined;
  signal?: AbortSignal;
  /** Markets by ref, for rows without other market data. */
  markets: MarketDirectory;
  onBadRow(row: BadRow): void;
}

export interface OrderQuery {
  /** Orders of this market only; null = of the whole account, if the platform can list it. */
  market: StoredMarket | null;
  /** Excludes finished orders created before this, Unix ms. */
  sinceMs: number;
}

export interface OrderListing {
  orders: PlatformOrder[];
  /** Whether it has every working order of the query; false if the list was interrupted, or has rows that could not be read. */
  complete: boolean;
  /** Finished orders are missing: the platform lists them by market only. */
  lacksFinished?: true;
}

/** An order to cancel; `metadata` as the platform reported it. */
export type CancelTarget = Pick<PlatformOrder, 'orderId' | 'marketRef'> & Partial<Pick<PlatformOrder, 'metadata'>>;

/**
 * cancelled: the platform removed the order. not_open: there was nothing to remove. refused: the platform stated that it did not remove the
 * order. unconfirmed: no clear answer. Repeating is safe.
 */
export interface Cancellation {
  result: 'cancelled' | 'not_open' | 'refused' | 'unconfirmed';
  httpStatus: number;
  detail: string;
}

/** What an account holds of one asset: collateral (`USD`, `pUSD`, `USDC`) or contracts of an outcome (its id). */
export interface Balance {
  asset: string;
  /** `total` = `available` + `reserved` by open orders; each null if the platform does not report it. USD or contracts, ×10^6. */
  total: bigint | null;
  available: bigint | null;
  reserved: bigint | null;
}

/** How much of an asset a contract may move. */
export interface Allowance {
  asset: string;
  /** Address of the contract, and its name if it is one of the platform's. */
  spender: string;
  name: string | null;
  /** ×10^6; null: without a limit. */
  amount: bigint | null;
}

export interface Balances {
  balances: Balance[];
  /** [] on platforms without allowances. */
  allowances: Allowance[];
}

/** The order side of one platform. Reads and `prepare` throw PlatformError, `unauthorized` if the credential is rejected. */
export interface PlatformOrders<P extends Platform> {
  /** Valid prices of one outcome. `tickSize` comes from a current book, which is newer than the stored market. */
  grid(market: StoredMarket, outcomeIndex: number, tickSize: Price | null): PriceGrid;
  /**
   * Pure. Throws ApiError 422 for what the platform would reject or cannot express, with what to change (nearest valid prices, minimum
   * size). `tickSize` comes from a current book, if one was read. Checked before: form, 0.01 ≤ price ≤ 0.99, expiration, that the market
   * is open and has the outcome.
   */
  check(market: StoredMarket, terms: OrderTerms, tickSize?: Price | null): void;
  /** Whether the book is read for a limit order: where its wire form has no size, and where it may be too small to fill at once. */
  needsBook(terms: Omit<OrderTerms, 'walk' | 'tickSize'>): boolean;
  /** Signs. Throws ApiError 422 if the credential cannot sign this order. May read what signing needs (a profile, an API key). */
  prepare(intent: OrderIntent, access: OrderAccess<P>): Promise<PreparedOrder>;
  /**
   * The current state of orders sent by the service, in the given order: by order id, else by client order id among those with the same
   * terms sent at about that time. null if the platform does not know it: not (yet) accepted, or no longer stored.
   */
  find(records: readonly OrderRecord[], access: OrderAccess<P>): Promise<(PlatformOrder | null)[]>;
  /** Any order of the account by the platform's id; null if there is none. */
  get(orderId: string, access: OrderAccess<P>): Promise<PlatformOrder | null>;
  /** What the platform lists: every working order, and the finished ones that it still has. */
  list(query: OrderQuery, access: OrderAccess<P>): Promise<OrderListing>;
  /** Trades and positions of the credential's own account, if the platform shows them to that account only. */
  ownAccount?: {
    /** The id that denotes the credential's account. */
    idOf(credential: CredentialOf<P>): string;
    open(access: OrderAccess<P>): PlatformUsers;
  };
  /** The private socket of the credential; absent if there is none. Its only events name orders that may have changed, to be read. */
  privateChannel?(access: OrderAccess<P>): SocketChannel;
  /** Collateral of the account, and its holdings of the market's outcomes if one is given; read now. */
  balances(market: StoredMarket | null, access: OrderAccess<P>): Promise<Balances>;
  /** One attempt per target, in order; in as few calls as the platform allows. */
  cancel(targets: readonly CancelTarget[], access: OrderAccess<P>): Promise<Cancellation[]>;
}
