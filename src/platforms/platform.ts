import type { Usd } from '../decimal.ts';
import type {
  JsonObject,
  CandleRecord,
  ExchangeState,
  MarketRecord,
  OrderBook,
  Platform,
  TradeRecord,
} from '../schemas.ts';
import type { PlatformHttp, Priority } from './http.ts';
import type { PlatformSocial } from './social.ts';

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
  signal?: AbortSignal;
  /** Told of each skipped row. */
  onBadRow(row: BadRow): void;
}

/** What ingestion has stored about a market and an adapter needs to read it or its trades. */
export interface MarketKeys {
  platform: Platform;
  ref: string;
  platformId: string;
  slug: string;
  title: string;
  eventId: string;
  /** The event's part of the market's address on the platform; '' where it has none. */
  eventSlug: string;
  seriesId: string;
  status: string;
  outcomes: { id: string; name: string; tokenId: string }[];
  tradingStartAt: string | null;
  tradingEndAt: string | null;
  metadata: JsonObject;
}

/**
 * full: every market of every status the platform still lists. open: everything not yet closed, with prices.
 * changed: created, changed, closed or settled since the given time, as far as the platform can tell; {since} Unix ms.
 * historical: what the platform keeps only in its archive (Kalshi's historical tier, Polymarket's closed lists) back to {since}.
 */
export type SweepScope =
  { kind: 'full' } | { kind: 'open' } | { kind: 'changed'; sinceMs: number } | { kind: 'historical'; sinceMs: number };

export interface SweepPage {
  markets: MarketRecord[];
  /** Pages left as far as known, for the progress line. */
  remaining: number | null;
}

/** How a platform's trades are read: one feed for all markets, or one per market. */
export type TradeFeedKind = 'global' | 'per_market';

/** Trades newest first until `sinceUs` is passed; `marketKeys` set for a per-market read. */
export interface TradeQuery {
  /** Inclusive lower bound, Unix µs. */
  sinceUs: number;
  /** Inclusive upper bound, Unix µs; null = now. */
  untilUs: number | null;
  market: MarketKeys | null;
}

export interface TradePage {
  trades: TradeRecord[];
  /** Oldest instant this page is known to be complete down to, Unix µs; null until known. */
  completeFromUs: number | null;
  /** When the platform answered, by its own clock, Unix µs; absent where it did not say. */
  platformUs?: number | undefined;
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

/** Finds the market a trade row speaks of. Polymarket rows name a token and a condition, the listing names their outcome. */
export interface MarketDirectory {
  /** Known markets among these refs; refs that are unknown are left out. */
  byRef(platform: Platform, refs: string[]): Promise<Map<string, MarketKeys>>;
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
  /** Whether these bars bring bid, ask and open interest; bars that are samples of a midpoint are read on demand only. */
  readonly candlesBringQuotes: boolean;

  sweep(scope: SweepScope, context: ReadContext): AsyncGenerator<SweepPage>;
  /** One market by any id a user may send (platform id, condition id, slug); null when the platform does not know it. */
  market(id: string, context: ReadContext): Promise<MarketRecord | null>;
  /** Newest first. Throws TradeFeedGap when the platform's caps end the feed early. */
  trades(query: TradeQuery, directory: MarketDirectory, context: ReadContext): AsyncGenerator<TradePage>;
  /** Bars of the first outcome with startTs in [startTs, endTs), Unix seconds; [] where the platform has none. */
  candles(
    market: MarketKeys,
    intervalMin: 1 | 60,
    startTs: number,
    endTs: number,
    context: ReadContext,
  ): Promise<CandleRecord[]>;
  /** The live book; null when the platform says that there is none (closed, AMM). */
  orderBook(market: MarketKeys, context: ReadContext): Promise<OrderBook | null>;
  exchangeState(context: ReadContext): Promise<ExchangeState>;
  /** USD by ref, where the listing does not tell it; refs that the platform leaves out are left out. */
  openInterest?(refs: string[], context: ReadContext): Promise<Map<string, Usd>>;
  /** Trades and positions of any user, where the platform tells them. */
  readonly social?: PlatformSocial;
}

/** What an adapter is built from. */
export interface AdapterDeps {
  http: PlatformHttp;
  urls: PlatformUrls;
  now: () => number;
}

export interface PlatformUrls {
  kalshi: string;
  kalshiSocial: string;
  polymarketGamma: string;
  polymarketClob: string;
  polymarketData: string;
  limitless: string;
}
