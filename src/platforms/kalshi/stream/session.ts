import type { StoredMarket } from '../../contract.ts';
import { BadFrame, type SocketEvent, type SocketSession } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';
import { envelope, errorMsg, type Frame, listMsg, subscribedMsg } from './wire.ts';

export type Emit = (event: SocketEvent) => void;

/** An answer that takes longer does not come. */
export const ANSWER_MS = 10_000;
const LOST = 'frames were lost';
/** Channel error, buffer overflow and, of old, internal error: nothing more comes on the subscription, while the socket pings on. */
const ENDING = new Set([10, 17, 25]);
/** What refuses a subscription as a whole. An unknown code shows only by the missing answer. */
const REFUSING = new Set([1, 2, 3, 5, 8, 9, 10, 11, 12, 14, 18, 25, 26, 27]);
/** Too many markets, or commands: of this moment. */
const LIMITS = new Set([18, 26, 27]);

/** Sends a command; every one has an id of its own. */
export type SendCommand = (cmd: string, params: object) => void;

/** What one kind of connection follows, and what it makes of the frames. */
export interface Feed {
  /** The socket is open. Returns whether a subscription was asked for. */
  start(send: SendCommand): boolean;
  /** Returns whether a subscription was asked for. */
  setMarkets?(markets: readonly StoredMarket[], send: SendCommand): boolean;
  subscribed?(sid: number, send: SendCommand): void;
  /** Reads a frame of data; false where it is of no interest. Throws BadFrame. */
  take(frame: Frame, emit: Emit, send: SendCommand): boolean;
  /** Frames did not arrive. Returns why the connection is of no use any more, or null; without it, it is of none. */
  lost?(emit: Emit, send: SendCommand): string | null;
  /** The server does not know these markets. Returns whether a subscription was asked for. */
  refused?(tickers: readonly string[], emit: Emit, send: SendCommand): boolean;
  /** A change of the subscription was refused for now. */
  limited?(): void;
  /** Sends what was to wait. Returns after how many ms to be called again; null: not before the next frame. */
  settle?(send: SendCommand): number | null;
  /** Why the connection is of no use any more; null while it is. */
  failure?(): string | null;
}

/**
 * What Kalshi's connections have in common: commands, their answers, and the count of frames. Answers of a subscription take a number
 * of its count too, and errors of one have no id. Numbers of subscriptions are those of one connection.
 */
export class KalshiSession implements SocketSession {
  readonly #feed: Feed;
  readonly #send: SendCommand;
  /** The last number of each subscription. */
  readonly #last = new Map<number, number>();
  #failure: string | null = null;
  /** When a subscription was asked for that is not answered yet, by performance.now(). */
  #askedAt: number | null = null;

  constructor(feed: Feed, send: (text: string) => void) {
    this.#feed = feed;
    let id = 0;
    this.#send = (cmd, params) => {
      id += 1;
      send(JSON.stringify({ id, cmd, params }));
    };
  }

  start(): void {
    if (this.#feed.start(this.#send)) this.#askedAt = performance.now();
  }

  setMarkets(markets: readonly StoredMarket[]): void {
    if (this.#feed.setMarkets?.(markets, this.#send)) this.#askedAt = performance.now();
  }

  settle(): number | null {
    return this.#feed.settle?.(this.#send) ?? null;
  }

  failure(): string | null {
    if (this.#askedAt !== null && performance.now() - this.#askedAt > ANSWER_MS) {
      this.#failure ??= 'the subscription was not answered';
    }
    return this.#failure ?? this.#feed.failure?.() ?? null;
  }

  take(text: string, emit: Emit): boolean {
    const frame = parseFrame(envelope, jsonOf(text), 'frame');
    const { type, sid, seq, msg } = frame;
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

  #subscribed({ sid }: { sid: number }): boolean {
    this.#askedAt = null;
    this.#feed.subscribed?.(sid, this.#send);
    return true;
  }

  /** An answer to list_subscriptions proves more than a ping: that the subscription is there. */
  #isHeld(msg: unknown): boolean {
    const list = listMsg.safeParse(msg);
    if (!list.success) return false;
    const held = new Set(list.data.map(({ sid }) => sid));
    if ([...this.#last.keys()].every((sid) => held.has(sid))) return true;
    this.#failure ??= 'a subscription has ended';
    return false;
  }

  #refused({ sid, msg }: Frame, emit: Emit): boolean {
    const { code, msg: text, tickers } = parseFrame(errorMsg, msg, 'error');
    const reason = `error ${code} ${text.slice(0, 80)}`;
    const isOfSubscribing = sid === undefined && this.#askedAt !== null;
    if (tickers.length > 0 && this.#feed.refused) {
      if (this.#feed.refused(tickers, emit, this.#send)) this.#askedAt = performance.now();
    } else if (isOfSubscribing ? REFUSING.has(code) : sid !== undefined && ENDING.has(code)) this.#failure ??= reason;
    else if (LIMITS.has(code)) this.#feed.limited?.();
    throw new BadFrame(reason);
  }
}
