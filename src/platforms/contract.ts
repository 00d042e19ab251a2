import type { Settings } from '../core/settings.ts';
import type { UserPositions, UserTradePage, TradePosition } from './user-contract.ts';
import type { PlatformError } from '../core/errors.ts';
import type { Price, Size, Usd } from '../core/decimal.ts';
import type {
  INTERVAL_SECONDS,
  JsonObject,
  CandleRecord,
  MarketRecord,
  OrderBook,
  Platform,
  SeriesRecord,
  TradeRecord,
} from '../core/model.ts';
import type { RestingFigures } from './book-sides.ts';
import type { PlatformHttp, Priority } from './http/request.ts';

/** An invalid row in a platform's reply, or an invalid field of a row that is kept; counted and logged, never fatal. */
export interface BadRow {
  platform: Platform;
  kind: 'market' | 'event' | 'series' | 'trade' | 'candle' | 'book' | 'order';
  id: string;
  /** The field that was left out of the row; absent if the row was left out. */
  field?: string;
  /** Why the field fails; for a row, the path of the first failing field too. */
  reason: string;
}

export interface ReadContext {
  priority: Priority;
  /** The user whose share of the platform's budgets is used; absent for our own work. */
  user?: string | undefined;
  /** An earlier call of the same batch took that share. */
  shareTaken?: boolean;
  signal?: AbortSignal;
  /** Our own urgent work: it may use the part of the callers' budget that they have not used. */
  isUrgent?: boolean;
  /** An order waits for it: it is sent even while the breaker suspends other reads. */
  forOrder?: boolean | undefined;
  /** A failure is not retried at once, because the reader divides or postpones the request. */
  isAskedOnce?: boolean;
  /** It is for an item that failed before: another failure does not count against the host. */
  failedBefore?: boolean;
  /** A book is returned without the levels that could not be read; for other readers such a book is unreadable. */
  takesPartialBooks?: boolean;
  onBadRow(row: BadRow): void;
}

/** The context of a read that a user waits for. */
export const liveRead = ({ onBadRow }: Pick<ReadContext, 'onBadRow'>, user: string): ReadContext => ({
  priority: 'live',
  user,
  onBadRow,
});

/** What a request takes from the context of its read. */
export const requestOf = ({ priority, user, forOrder, failedBefore, isAskedOnce, signal }: ReadContext) => ({
  priority,
  user,
  forOrder,
  failedBefore,
  retry: isAskedOnce !== true,
  ...(signal && { signal }),
});

/** What ingestion stores of a market for adapters to read it or its trades. */
export interface StoredMarket {
  platform: Platform;
  ref: string;
  platformId: string;
  slug: string;
  title: string;
  eventId: string;
  /** Page of the market on its platform. */
  sourceUrl: string;
  seriesId: string;
  status: string;
  outcomes: { id: string; name: string; tokenId: string }[];
  tradingStartAt: string | null;
  tradingEndAt: string | null;
  metadata: JsonObject;
}

/**
 * full: every market of every status that the platform still lists. open: everything not yet closed, with prices.
 * changed: created, changed, closed or settled since the given time, as far as the platform reports it; {since} Unix ms.
 * historical: what only the platform's archive has (Kalshi's historical tier, Polymarket's closed lists), back to {since}.
 */
export type SweepScope =
  { kind: 'full' } | { kind: 'open' } | { kind: 'changed'; sinceMs: number } | { kind: 'historical'; sinceMs: number };

/** USD of open interest read apart from the listing, and its ISO time. */
export interface ReadInterest {
  value: Usd;
  at: string;
}

interface BookFigures {
  resting: RestingFigures;
  /** In terms of the first outcome; null if nothing traded, or if not reported. */
  lastTradePrice: Price | null;
}

export interface SweepPage {
  markets: MarketRecord[];
  /** Series that were listed by themselves, whether or not a market names them. */
  series?: SeriesRecord[];
}

/** How a platform's trades are read: one feed for all markets, or one per market. */
type TradeFeedKind = 'global' | 'per_market';

/** Trades newest first until `sinceUs` is passed; `market` is set for a per-market read. */
export interface TradeQuery {
  /** Inclusive lower bound, Unix µs. */
  sinceUs: number;
  /** Inclusive upper bound, Unix µs; null = now. */
  untilUs: number | null;
  market: StoredMarket | null;
  /** Approximate number of trades, if known: the size of the first page. */
  expected?: number;
}

export interface TradePage {
  trades: TradeRecord[];
  /** The page is complete back to this time, Unix µs; null until known. */
  completeFromUs: number | null;
  /** When the platform answered, by its own clock, Unix µs; absent if not reported. */
  platformUs?: number | undefined;
  /** When the page was received, ISO-8601; absent if no page was requested. */
  receivedAt?: string;
  /** The oldest trade of the page that cannot be identified yet, Unix µs: the next read starts there. */
  waitsFromUs?: number | undefined;
}

/** The feed ended before `sinceUs` because of a platform cap: trades in between are missing and must be read in another way. */
export class TradeFeedGap extends Error {
  readonly fromUs: number;
  readonly toUs: number;
  constructor(fromUs: number, toUs: number) {
    super(`trade feed ends at ${toUs}, wanted ${fromUs}`);
    this.fromUs = fromUs;
    this.toUs = toUs;
  }
}

/** Decimals of an oracle's prices: as many as it states. */
export const ORACLE_SCALE = 18;

/** A bar of an asset's price by an oracle; prices are USD ×10^18. */
interface OracleCandle {
  /** Bucket start, Unix seconds, a multiple of the interval in UTC. */
  startTs: number;
  open: bigint;
  high: bigint;
  low: bigint;
  close: bigint;
}

/** Bars of the asset on which a price market settles, oldest first; '' for a source or symbol that the platform does not name. */
export interface OracleCandles {
  source: string;
  symbol: string;
  candles: OracleCandle[];
}

/** Finds the market of a trade row. Polymarket rows contain token and condition ids; the listing maps them to outcomes. */
export interface MarketDirectory {
  /** Known markets among these refs; unknown refs are left out. */
  byRef(platform: Platform, refs: string[]): Promise<Map<string, StoredMarket>>;
}

/** The read side of one platform. Adapters parse each row with zod and map it with a pure function. */
export interface PlatformData {
  readonly platform: Platform;
  readonly tradeFeed: TradeFeedKind;
  /** Reads start this far before the feed's high-water mark, because rows may appear late. */
  readonly tradeOverlapMs: number;
  /** How long a trade of a global feed may wait until its market is listed; absent: it does not. */
  readonly tradeWaitMs?: number;
  /** A global feed has no trades before this time, Unix µs; absent if it has all. */
  tradesReachBackUs?(): number;
  /** Sweep periods between complete passes over the open markets; in between, `changed` sweeps keep up. */
  readonly sweepFactor: number;
  /** Intervals of the platform's own bars; empty if it has none. */
  readonly candleIntervalsMin: readonly (1 | 60)[];

  sweep(scope: SweepScope, context: ReadContext): AsyncGenerator<SweepPage>;
  /** One market by its reference or any id that a user may send (platform id, condition id, slug); null if the platform has none. */
  market(id: string, context: ReadContext): Promise<MarketRecord | null>;
  /**
   * Markets that the lists leave out although they trade, such as combinations of others, by ref; refs that the platform does not
   * return are left out. Absent if its lists have every market.
   */
  unlisted?(refs: readonly string[], context: ReadContext): Promise<MarketRecord[]>;
  /** Newest first. Throws TradeFeedGap if a platform cap ends the feed early. */
  trades(query: TradeQuery, directory: MarketDirectory, context: ReadContext): AsyncGenerator<TradePage>;
  /** Bars of the first outcome with startTs in [startTs, endTs), Unix seconds; [] if the platform has none. */
  candles(
    market: StoredMarket,
    intervalMin: 1 | 60,
    startTs: number,
    endTs: number,
    context: ReadContext,
  ): Promise<CandleRecord[]>;
  /**
   * Bars of the oracle of a price market with startTs in [startTs, endTs), Unix seconds, both multiples of the interval; null if the
   * market has no oracle. Absent if the platform states none.
   */
  oracleCandles?(
    market: StoredMarket,
    span: { interval: keyof typeof INTERVAL_SECONDS; startTs: number; endTs: number },
    context: ReadContext,
  ): Promise<OracleCandles | null>;
  /** The live book; null if the platform reports that there is none (closed, AMM). */
  orderBook(market: StoredMarket, context: ReadContext): Promise<OrderBook | null>;
  /**
   * Live books of several markets by ref, through the platform's batch calls; absent if it has none. Markets without a book are
   * left out; a book that could not be read is returned as its error.
   */
  orderBooks?(markets: readonly StoredMarket[], context: ReadContext): Promise<Map<string, OrderBook | PlatformError>>;
  /** Open interest by ref, if the listing does not report it; refs that the platform omits are omitted. */
  openInterest?(refs: string[], context: ReadContext): Promise<Map<string, ReadInterest>>;
  /** Whether its listing counts whole books: what rests on the best levels is read by `orderBooks`. */
  readonly countsWholeBooks?: boolean;
  /** Figures that only a book reports, not the listing; null if there is no book. */
  bookFigures?(market: StoredMarket, context: ReadContext): Promise<BookFigures | null>;
  /** URL of an event's image, '' if it has none; for platforms whose listing lacks it. */
  eventImage?(eventId: string, context: ReadContext): Promise<string>;
  /** Trades and positions of any user, if the platform publishes them: by the names of `profiles` in its manifest, or by wallet. */
  readonly users?: PlatformUsers;
}

/** Reads the trades and positions of any user of a platform. An unknown user is a PlatformError `not_found`. */
export interface PlatformUsers {
  readonly platform: Platform;
  /** The platform never shows smaller trades; null if it shows every one. */
  readonly smallestTrade: Size | null;
  /** Newest first, after `position`. */
  userTrades(
    user: string,
    page: { limit: number; position: TradePosition | null },
    context: ReadContext,
  ): Promise<UserTradePage>;
  positions(user: string, context: ReadContext): Promise<UserPositions>;
}

/** Dependencies of an adapter. S: the settings that it reads. */
export interface AdapterDeps<S extends keyof Settings = keyof Settings> {
  http: PlatformHttp;
  settings: Pick<Settings, S>;
  now: () => number;
  /** Called for a stale page from a cache in front of the platform, although a fresh one was requested. */
  onStalePage?: (platform: Platform, route: string) => void;
}
