import type { Price, Size } from '../../core/decimal.ts';
import type { BookChange, BookSide, MarketStatus, Platform } from '../../core/model.ts';
import type { StoredMarket } from '../contract.ts';

/** Best prices of a market in terms of its first outcome; the second one's are the complement. null = that side is empty. */
export interface SocketQuote {
  ref: string;
  bid: Price | null;
  ask: Price | null;
  /** null if not reported. */
  bidSize: Size | null;
  askSize: Size | null;
  /** The newest trade, or the midpoint where the platform's price is that; absent where the socket has not shown it yet. */
  price?: Price | null;
  /** By the platform's clock, Unix ms; null if not reported. */
  exchangeAtMs: number | null;
}

/** What a frame reports. Events may repeat and come out of order. */
export type SocketEvent =
  /** Something was, or may have been, traded. */
  | { kind: 'trade'; ref: string }
  | { kind: 'quote'; quote: SocketQuote }
  /** The whole book of a market's first outcome: the first of each connection and market, and again after each loss. */
  | { kind: 'book'; ref: string; book: BookSide; exchangeAtMs: number | null }
  /** Levels of the first outcome that changed since the last event of the market on this connection. */
  | { kind: 'book_change'; ref: string; changes: readonly BookChange[]; exchangeAtMs: number | null }
  /** Changes were lost: the book is unknown until the next whole one. */
  | { kind: 'book_lost'; ref: string; reason: string }
  /** A market was listed or changed; `id` is any id that PlatformData.market takes, `status` the new one where the frame names it. */
  | { kind: 'market'; id: string; status?: MarketStatus };

/** A frame that cannot be read; counted and logged with its platform, never fatal. */
export class BadFrame extends Error {}

/** What one connection has been sent: thrown away with it. */
export interface SocketSession {
  /** Called once, when the socket is open. */
  start(): void;
  /** Subscribes to these markets instead of those before. */
  setMarkets(markets: readonly StoredMarket[]): void;
  /** Reads one text frame. true for data; false for what proves the connection alone. Throws BadFrame. */
  take(frame: string, emit: (event: SocketEvent) => void): boolean;
  /**
   * Called when every frame that has come is read, and again after as many ms as it returned; null: not before the next frame. It ends
   * what waits for frames that may not come.
   */
  settle?(emit: (event: SocketEvent) => void): number | null;
  /** Why the connection is of no use any more, as an answer is overdue or the server ended the subscription; null while it is. */
  failure?(): string | null;
  /** How long the server announced that it may be silent, ms; overrides the channel's. */
  readonly silentMs?: number;
}

/** One kind of connection to a platform. Silences are measured on the process's own clock. */
export interface SocketChannel {
  readonly name: string;
  readonly url: string;
  /** Headers of the upgrade, called for each connection. */
  headers?(): Promise<Record<string, string>>;
  /** The most markets of one connection; null where one connection covers the whole platform. */
  readonly marketsPerSocket: number | null;
  /** Whether it follows only markets whose books are wanted, as quotes come without them. */
  readonly isForBooks?: boolean;
  /** A text the client sends to stay connected. */
  readonly heartbeat: { text: string; everyMs: number } | null;
  /** Without a byte for longer the connection is replaced. */
  readonly silentMs: number;
  /** Without data for longer the connection is replaced; null where signs of life prove what it brought before. */
  readonly quietMs: number | null;
  /**
   * Whether silence can be normal, as for a few quiet markets: it counts only on a connection that brought data often before. So
   * where it is absent and `quietMs` is null.
   */
  readonly isUneven?: boolean;
  /** A connection is replaced by a new one at this age, before the platform ends it. */
  readonly rotateMs: number;
  /** Whether trades start with events of this channel: of the whole platform, or of the markets that are followed. */
  readonly bringsTrades: boolean;
  session(markets: readonly StoredMarket[], send: (text: string) => void): SocketSession;
}

/** The sockets of one platform. */
export interface PlatformSockets {
  readonly platform: Platform;
  readonly channels: readonly SocketChannel[];
  /** Why there are no channels; absent where there are. */
  readonly off?: string;
  /** How many open markets are subscribed on channels that name markets, most traded first. */
  readonly markets: number;
  /** When a trade can be read after its event, ms; several, as the platform may show it late. */
  readonly tradeDelaysMs: readonly number[];
  /** At least this long between two readings of trades of one market, or of the feed where the platform has one for all, ms. */
  readonly tradeGapMs: number;
  /** At least this long between two readings that events start, of whatever market, ms: what they may take of the budget. */
  readonly readEveryMs: number;
  /** How far before what is stored such a reading of one feed for all begins, ms; a minute where it is absent. */
  readonly tradeReachMs?: number;
}

/** State of a platform's sockets, as /health shows it. */
export interface SocketStatus {
  platform: Platform;
  connected: boolean;
  /** Why it is not connected, without secrets; null while it is, and before the first attempt has ended. */
  reason: string | null;
  /** Whether trades come over it now. */
  isLive: boolean;
  /** Markets that open connections subscribe to, and channels of the whole platform. */
  subscriptions: number;
  /** ISO-8601; null before the first message. */
  lastMessageAt: string | null;
  reconnects: number;
}

/** Counts what happens on sockets. */
export interface SocketObserver {
  messages(platform: Platform, channel: string, count: number): void;
  badFrame(platform: Platform, channel: string): void;
  reconnect(platform: Platform, channel: string): void;
}
