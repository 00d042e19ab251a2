import type { Clock } from '../../../core/time.ts';
import type { StoredMarket } from '../../contract.ts';
import { BadFrame, type Emit, type SocketSession } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';
import { envelope, errorMsg, type Frame, listMsg, subscribedMsg } from './wire.ts';

/** Answers that take longer are considered lost. */
export const ANSWER_MS = 10_000;
const LOST = 'frames were lost';
/** Channel error, buffer overflow and, formerly, internal error: the subscription is dead although the socket still pings. */
const ENDING = new Set([10, 17, 25]);
/** Codes that reject a whole subscription. An unknown code shows only by the missing answer. */
const REFUSING = new Set([1, 2, 3, 5, 8, 9, 10, 11, 12, 14, 18, 25, 26, 27]);
/** Authentication required: the key may not have the channel. */
const FORBIDDEN = 9;
/** Too many markets or commands: temporary. */
const LIMITS = new Set([18, 26, 27]);

/** Sends a command with a new id. */
export type SendCommand = (cmd: string, params: { channels?: readonly string[]; [name: string]: unknown }) => void;

/** What one kind of connection subscribes to, and how it handles frames. */
export interface Feed {
  /** Called when the socket is open. */
  start(send: SendCommand): void;
  setMarkets?(markets: readonly StoredMarket[], send: SendCommand): void;
  subscribed?(sid: number, send: SendCommand): void;
  /** Handles a data frame; false if it is not relevant. Throws BadFrame. */
  take(frame: Frame, emit: Emit, send: SendCommand): boolean;
  /** Frames are missing. Returns why the connection must be replaced, or null; without this method it always is. */
  lost?(emit: Emit, send: SendCommand): string | null;
  /** A polled book contradicts the market's book of the socket. */
  doubt?(ref: string, send: SendCommand): void;
  /** The server does not know these markets. */
  refused?(tickers: readonly string[], emit: Emit, send: SendCommand): void;
  /** A change of the subscription was rejected temporarily. */
  limited?(): void;
  /** Sends delayed commands. Returns the ms until the next call; null: not before the next frame. */
  settle?(send: SendCommand): number | null;
  /** Why the connection must be replaced; null while it works. */
  failure?(): string | null;
}

/**
 * The part that Kalshi's connections share: commands, their answers, and sequence numbers. Answers of a subscription use its sequence
 * too, and errors of one have no id. Subscription numbers are unique within a connection only.
 */
export class KalshiSession implements SocketSession {
  readonly #feed: Feed;
  readonly #clock: Clock;
  readonly #send: SendCommand;
  /** The last sequence number of each subscription. */
  readonly #last = new Map<number, number>();
  /** The subscriptions of this connection; those of tickers have no sequence. */
  readonly #sids = new Set<number>();
  sentMs: number | undefined;
  isRefused = false;
  #failure: string | null = null;
  /** The channels of a subscription that are not answered yet, and when they were requested, by the clock's elapsed(). */
  #asked: { channels: Set<string>; at: number } | null = null;

  constructor(feed: Feed, send: (text: string) => void, clock: Clock) {
    this.#feed = feed;
    this.#clock = clock;
    let id = 0;
    this.#send = (cmd, params) => {
      id += 1;
      if (cmd === 'subscribe') this.#asked = { channels: new Set(params.channels), at: clock.elapsed() };
      send(JSON.stringify({ id, cmd, params }));
    };
  }

  start(): void {
    this.#feed.start(this.#send);
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    this.#feed.setMarkets?.(markets, this.#send);
  }

  doubt(ref: string): void {
    this.#feed.doubt?.(ref, this.#send);
  }

  settle(): number | null {
    return this.#feed.settle?.(this.#send) ?? null;
  }

  failure(): string | null {
    if (this.#asked !== null && this.#clock.elapsed() - this.#asked.at > ANSWER_MS) {
      this.#failure ??= 'the subscription was not answered';
    }
    return this.#failure ?? this.#feed.failure?.() ?? null;
  }

  take(text: string, emit: Emit): boolean {
    const frame = parseFrame(envelope, jsonOf(text), 'frame');
    const { type, sid, seq, msg, sending_ts_ms: sentMs } = frame;
    this.sentMs = sentMs;
    if (sid !== undefined && seq !== undefined) {
      const last = this.#last.get(sid) ?? 0;
      if (seq <= last) return false;
      this.#last.set(sid, seq);
      if (seq > last + 1) this.#failure ??= this.#feed.lost ? this.#feed.lost(emit, this.#send) : LOST;
    }
    if (type === 'subscribed') return this.#subscribed(parseFrame(subscribedMsg, msg, type));
    if (type === 'ok') return this.#isHeld(msg);
    if (type === 'unsubscribed') return false;
    if (type === 'error') return this.#refused(frame, emit);
    return this.#feed.take(frame, emit, this.#send);
  }

  #subscribed({ sid, channel }: { sid: number; channel: string }): boolean {
    this.#asked?.channels.delete(channel);
    if (this.#asked?.channels.size === 0) this.#asked = null;
    this.#sids.add(sid);
    this.#feed.subscribed?.(sid, this.#send);
    return true;
  }

  /** An answer to list_subscriptions proves more than a ping: that the subscription exists. */
  #isHeld(msg: unknown): boolean {
    const list = listMsg.safeParse(msg);
    if (!list.success || this.#asked !== null) return false;
    const held = new Set(list.data.map(({ sid }) => sid));
    if ([...this.#sids].every((sid) => held.has(sid))) return true;
    this.#failure ??= 'a subscription has ended';
    return false;
  }

  #refused({ sid, msg }: Frame, emit: Emit): boolean {
    const { code, msg: text, tickers } = parseFrame(errorMsg, msg, 'error');
    const reason = `error ${code} ${text.slice(0, 80)}`;
    const isOfSubscribing = sid === undefined && this.#asked !== null;
    this.isRefused = code === FORBIDDEN;
    if (tickers.length > 0 && this.#feed.refused) {
      this.#feed.refused(tickers, emit, this.#send);
    } else if (isOfSubscribing ? REFUSING.has(code) : sid !== undefined && ENDING.has(code)) this.#failure ??= reason;
    else if (LIMITS.has(code)) this.#feed.limited?.();
    throw new BadFrame(reason);
  }
}
