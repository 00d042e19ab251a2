import type { Settings } from '../core/settings.ts';
import type { UserPositions, UserTradePage, TradePosition } from './user-contract.ts';
import type { PlatformError } from '../core/errors.ts';
import type { Price, Size, Usd } from '../core/decimal.ts';
import type {
  JsonObject,
  CandleRecord,
  MarketRecord,
  OrderBook,
  Platform,
  SeriesRecord,
  TradeRecord,
} from '../core/model.ts';
import type { PlatformHttp, Priority } from './http/request.ts';

/** What went wrong with one row of a platform's reply; counted and logged, never fatal. */
export interface BadRow {
  platform: Platform;
  kind: 'market' | 'event' | 'series' | 'trade' | 'candle' | 'book' | 'order';
  id: string;
  /** Path of the first failing field and what was wrong with it. */
  reason: string;
}

export interface ReadContext {
  priority: Priority;
  /** Whose share of the platform's budgets is used; absent for our own work. */
  user?: string | undefined;
  /** An earlier call of the same batch took that share. */
  shareTaken?: boolean;
  signal?: AbortSignal;
  /** Work of ours that must not wait: it may use what callers leave of their budget. */
  isUrgent?: boolean;
  /** Called for each skipped row. */
  onBadRow(row: BadRow): void;
}

/** What ingestion has stored about a market and an adapter needs to read it or its trades. */
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
 * full: every market of every status the platform still lists. open: everything not yet closed, with prices.
 * changed: created, changed, closed or settled since the given time, as far as the platform reports it; {since} Unix ms.
 * historical: what the platform keeps only in its archive (Kalshi's historical tier, Polymarket's closed lists) back to {since}.
 */
export type SweepScope =
  { kind: 'full' } | { kind: 'open' } | { kind: 'changed'; sinceMs: number } | { kind: 'historical'; sinceMs: number };

/** USD of open interest that was read beside the listing, and the ISO time that it is of. */
export interface ReadInterest {
  value: Usd;
  at: string;
}

export interface BookFigures {
  /** USD of collateral at rest on the best levels. */
  liquidity: Usd;
  /** In terms of the first outcome; null where nothing traded, or if not reported. */
  lastTradePrice: Price | null;
}

export interface SweepPage {
  markets: MarketRecord[];
  /** Series that were listed by themselves, whether or not a market names them. */
  series?: SeriesRecord[];
}

/** How a platform's trades are read: one feed for all markets, or one per market. */
export type TradeFeedKind = 'global' | 'per_market';

/** Trades newest first until `sinceUs` is passed; `marketKeys` set for a per-market read. */
export interface TradeQuery {
  /** Inclusive lower bound, Unix µs. */
  sinceUs: number;
  /** Inclusive upper bound, Unix µs; null = now. */
  untilUs: number | null;
  market: StoredMarket | null;
  /** About how many there are, where that is known: the size of the first page. */
  expected?: number;
}

export interface TradePage {
  trades: TradeRecord[];
  /** Oldest instant this page is known to be complete down to, Unix µs; null until known. */
  completeFromUs: number | null;
  /** When the platform answered, by its own clock, Unix µs; absent if not reported. */
  platformUs?: number | undefined;
  /** When the page was received, ISO-8601; absent where no page was requested. */
  receivedAt?: string;
  /** The oldest trade of the page that cannot be identified yet, Unix µs: a later read starts there. */
  waitsFromUs?: number | undefined;
}

/** The feed ended before `sinceUs` (a cap of the platform): trades between are missing and must be read otherwise. */
export class TradeFeedGap extends Error {
  readonly fromUs: number;
  readonly toUs: number;
  constructor(fromUs: number, toUs: number) {
    super(`trade feed ends at ${toUs}, wanted ${fromUs}`);
    this.fromUs = fromUs;
    this.toUs = toUs;
  }
}

/** Finds the market of a trade row. Polymarket rows name a token and a condition, the listing names their outcome. */
export interface MarketDirectory {
  /** Known markets among these refs; refs that are unknown are left out. */
  byRef(platform: Platform, refs: string[]): Promise<Map<string, StoredMarket>>;
}

/** The read side of one platform. Adapters parse each row with zod and map it with a pure function. */
export interface PlatformData {
  readonly platform: Platform;
  readonly tradeFeed: TradeFeedKind;
  /** How far before its high-water mark the feed is read again, because rows may appear late. */
  readonly tradeOverlapMs: number;
  /** The instant before which a global feed gives nothing, Unix µs; absent where it gives everything. */
  tradesReachBackUs?(): number;
  /** A complete pass over the open markets is made every this many sweep periods; between them `changed` keeps up. */
  readonly sweepFactor: number;
  /** Whether the platform has bars of its own, and at which intervals. */
  readonly candleIntervalsMin: readonly (1 | 60)[];
  /** Whether these bars include bid, ask and open interest; bars that are samples of a midpoint are read on demand only. */
  readonly candlesBringQuotes: boolean;

  sweep(scope: SweepScope, context: ReadContext): AsyncGenerator<SweepPage>;
  /** One market by its reference or any id a user may send (platform id, condition id, slug); null when the platform does not know it. */
  market(id: string, context: ReadContext): Promise<MarketRecord | null>;
  /** Newest first. Throws TradeFeedGap when the platform's caps end the feed early. */
  trades(query: TradeQuery, directory: MarketDirectory, context: ReadContext): AsyncGenerator<TradePage>;
  /** Bars of the first outcome with startTs in [startTs, endTs), Unix seconds; [] where the platform has none. */
  candles(
    market: StoredMarket,
    intervalMin: 1 | 60,
    startTs: number,
    endTs: number,
    context: ReadContext,
  ): Promise<CandleRecord[]>;
  /** The live book; null when the platform reports that there is none (closed, AMM). */
  orderBook(market: StoredMarket, context: ReadContext): Promise<OrderBook | null>;
  /**
   * Live books of several markets by ref, through the platform's own batch calls; absent where it has none. A market without a book is
   * left out; a book that could not be read is returned as its error.
   */
  orderBooks?(markets: readonly StoredMarket[], context: ReadContext): Promise<Map<string, OrderBook | PlatformError>>;
  /** By ref, where the listing does not report it; refs that the platform omits are omitted. */
  openInterest?(refs: string[], context: ReadContext): Promise<Map<string, ReadInterest>>;
  /** What the listing does not report and a book does; null where there is no book. */
  bookFigures?(market: StoredMarket, context: ReadContext): Promise<BookFigures | null>;
  /** Address of an event's image, '' where it has none; for platforms whose listing lacks it. */
  eventImage?(eventId: string, context: ReadContext): Promise<string>;
  /** Trades and positions of any user, where the platform publishes them. */
  readonly users?: PlatformUsers;
}

/** Reads the trades and positions of any user of a platform. An unknown user is a PlatformError `not_found`. */
export interface PlatformUsers {
  readonly platform: Platform;
  /** Smaller trades are never shown by the platform; null where it shows every one. */
  readonly smallestTrade: Size | null;
  /** Newest first, after `position`. */
  userTrades(
    user: string,
    page: { limit: number; position: TradePosition | null },
    context: ReadContext,
  ): Promise<UserTradePage>;
  positions(user: string, context: ReadContext): Promise<UserPositions>;
}

/** What an adapter is built from. S: the settings that it reads. */
export interface AdapterDeps<S extends keyof Settings = keyof Settings> {
  http: PlatformHttp;
  settings: Pick<Settings, S>;
  now: () => number;
  /** Called for a page that came out of a cache in front of the platform although a fresh one was asked for. */
  onStalePage?: (platform: Platform, route: string) => void;
}
