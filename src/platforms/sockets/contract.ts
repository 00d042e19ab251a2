import type { Price, Size } from '../../core/decimal.ts';
import type { BookChange, BookSide, MarketStatus, Platform } from '../../core/model.ts';
import type { Clock } from '../../core/time.ts';
import type { StoredMarket } from '../contract.ts';

/** Best prices of a market in terms of its first outcome; the second outcome's are the complement. null = empty side. */
export interface SocketQuote {
  ref: string;
  bid: Price | null;
  ask: Price | null;
  /** null if not reported. */
  bidSize: Size | null;
  askSize: Size | null;
  /** The newest trade; absent until the socket has sent it. */
  price?: Price | null;
  /** What was ever traded, in the unit of the platform's volume_total; absent if not reported. */
  volume?: Size;
  /** By the platform's clock, Unix ms; null if not reported. */
  exchangeAtMs: number | null;
}

/** What a frame reports. Events may be repeated or out of order. */
export type SocketEvent =
  /** There was, or may have been, a trade. */
  | { kind: 'trade'; ref: string }
  | { kind: 'quote'; quote: SocketQuote }
  /** The whole book of a market's first outcome: first on each connection, and again after each loss. */
  | { kind: 'book'; ref: string; book: BookSide; exchangeAtMs: number | null }
  /** Changed levels of the first outcome since the market's previous event on this connection. */
  | { kind: 'book_change'; ref: string; changes: readonly BookChange[]; exchangeAtMs: number | null }
  /** Changes were lost: the book is unknown until the next whole book. `sinceFrame`: none before the connection's last frame of a book. */
  | { kind: 'book_lost'; ref: string; reason: string; sinceFrame?: boolean }
  /** A market was listed or changed; `id` is any id that PlatformData.market accepts. */
  | ({ kind: 'market'; id: string } & StatedMarket)
  /** An order of the credential's account may have changed; at least one id is given. Private channels only. */
  | ({ kind: 'order' } & NamedOrder);

/** An order as a frame of a private channel names it. */
export interface NamedOrder {
  orderId?: string | undefined;
  /** Counts only for orders of which the platform's id is not stored yet. */
  clientOrderId?: string | undefined;
}

/** What a frame states of a market's new state; absent members are not stated. */
export interface StatedMarket {
  status?: MarketStatus;
  tickSize?: Price;
  /** ISO-8601; it counts once the platform shows the market as settled. */
  resolvedAt?: string;
}

/** Passes on an event of a frame. */
export type Emit = (event: SocketEvent) => void;

/** An invalid frame; counted and logged with its platform, never fatal. */
export class BadFrame extends Error {}

/** State of one connection, discarded with it. */
export interface SocketSession {
  /** Called once, when the socket is open. */
  start(): void;
  /** Replaces the subscribed markets. */
  setMarkets(markets: readonly StoredMarket[]): void;
  /** Handles one text frame. true for data; false if it only proves that the connection works. Throws BadFrame. */
  take(frame: string, emit: Emit): boolean;
  /**
   * Called when all received frames have been handled, after setMarkets and doubt, and again after the returned number of ms; null: not
   * before the next of these. It completes what waits for frames that may not come, and what is sent later.
   */
  settle?(emit: Emit): number | null;
  /** A polled book contradicts the market's, so frames were lost: the book is unknown until the next whole one, which is requested. */
  doubt?(ref: string): void;
  /** Why the connection must be replaced, such as an overdue answer or a subscription ended by the server; null while it works. */
  failure?(): string | null;
  /** Whether the failure is that the platform rejects the credential. */
  readonly isRefused?: boolean;
  /** When the platform sent the frame that was taken last, by its own clock, Unix ms; absent if the frame does not say. */
  readonly sentMs?: number | undefined;
  /** Longest silence announced by the server, ms; overrides the channel's. */
  readonly silentMs?: number;
}

/** One kind of connection to a platform. Silences are measured by the clock's elapsed(). */
export interface SocketChannel {
  readonly name: string;
  readonly url: string;
  /** Headers of the upgrade request, called for each connection. */
  headers?(): Promise<Record<string, string>>;
  /** Maximum markets per connection; null if one connection covers the whole platform. */
  readonly marketsPerSocket: number | null;
  /** Whether it follows only markets whose books are wanted, because quotes arrive without them. */
  readonly isForBooks?: boolean;
  /** A text that the client sends to keep the connection open. */
  readonly heartbeat: { text: string; everyMs: number } | null;
  /** The largest frame that is read, bytes; 4 MiB if absent. */
  readonly frameBytes?: number;
  /** Without a byte for this long the connection is replaced. */
  readonly silentMs: number;
  /** Without data for this long the connection is replaced; null if pings prove that the received data is complete. */
  readonly quietMs: number | null;
  /**
   * Whether silence can be normal, as for a few quiet markets: then it counts only on a connection that often had data before.
   * Default: whether `quietMs` is null.
   */
  readonly isUneven?: boolean;
  /** At this age a connection is replaced by a new one, before the platform ends it. */
  readonly rotateMs: number;
  /** Whether events of this channel trigger reads of trades: of the whole platform, or of the followed markets. */
  readonly bringsTrades: boolean;
  session(markets: readonly StoredMarket[], send: (text: string) => void, clock: Clock): SocketSession;
}

/** The sockets of one platform. */
export interface PlatformSockets {
  readonly platform: Platform;
  readonly channels: readonly SocketChannel[];
  /** Why there are no channels; absent if there are. */
  readonly off?: string;
  /** Number of open markets to subscribe, most traded first, on channels with a list of markets. */
  readonly markets: number;
  /** When a trade can be read after its event, ms; several, because the platform may show it late. */
  readonly tradeDelaysMs: readonly number[];
  /** Minimum ms between reads of trades of one market, or of the feed if the platform has a global one. */
  readonly tradeGapMs: number;
  /** Minimum ms between reads triggered by events, over all markets: their share of the budget. */
  readonly readEveryMs: number;
  /** How far before the stored end such a read of a global feed starts, ms; a minute if absent. */
  readonly tradeReachMs?: number;
}

/** State of a platform's sockets, as shown by /health. */
export interface SocketStatus {
  platform: Platform;
  connected: boolean;
  /** Why it is not connected, without secrets; null while it is, and before the first attempt has ended. */
  reason: string | null;
  /** Whether trades are currently triggered by it. */
  isLive: boolean;
  /** Markets subscribed on open connections, plus channels of the whole platform. */
  subscriptions: number;
  /** ISO-8601; null before the first message. */
  lastMessageAt: string | null;
  reconnects: number;
}

/** Counts events of sockets. */
export interface SocketObserver {
  messages(platform: Platform, channel: string, count: number): void;
  badFrame(platform: Platform, channel: string): void;
  /** A frame arrived this long after the platform had sent it, by the clocks of both. */
  delay(platform: Platform, channel: string, seconds: number): void;
  reconnect(platform: Platform, channel: string): void;
}
