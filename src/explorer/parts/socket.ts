import type { z } from 'zod';
import type { SOCKET_MESSAGES, STREAM_EVENTS } from '../../schemas/stream-events.ts';

type Subscribe = z.output<typeof SOCKET_MESSAGES.subscribe>;
/** What to subscribe to: one subscription per channel, all with the same filters. */
export interface StreamAsk extends Omit<Subscribe, 'op' | 'id' | 'channel' | 'since'> {
  channels: readonly Subscribe['channel'][];
}

/** Data of stream events, by event name. */
export type StreamEvents = { [Name in keyof typeof STREAM_EVENTS]: z.output<(typeof STREAM_EVENTS)[Name]> };
type StreamEvent = {
  [Name in keyof StreamEvents]: { event: Name; data: StreamEvents[Name] };
}[keyof StreamEvents];

type Message =
  | { op: 'subscribed'; id: string; sid: number }
  | { op: 'unsubscribed' }
  | { op: 'error' }
  | (StreamEvent & { op?: undefined; sid?: number; cursor?: string });

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;
/** The service sends a state every 15 s: after a longer silence the connection is dead, which a browser may not notice for hours. */
const DEAD_MS = 40_000;
const CHECK_MS = 5000;
/** After a longer silence nothing is replayed: listeners request the stored data again. */
const RESUME_MS = 60_000;

/** Where each channel resumes on a new socket: after its last event. */
class Cursors {
  readonly #last = new Map<string, string>();
  #heardAt = Date.now();

  get(channel: string): string | undefined {
    return this.#last.get(channel);
  }

  set(channel: string, cursor: string): void {
    this.#last.set(channel, cursor);
  }

  clear(): void {
    this.#last.clear();
  }

  /** Call it for every message. */
  heard(): void {
    this.#heardAt = Date.now();
  }

  /** Call it before a new socket subscribes. */
  clearIfOld(): void {
    if (Date.now() - this.#heardAt > RESUME_MS) this.clear();
  }
}

/** The subscriptions of one socket. */
class Subscriptions {
  readonly #ask: StreamAsk;
  readonly #cursors: Cursors;
  readonly #send: (message: object) => void;
  readonly #onEvent: (event: StreamEvent) => void;
  /** Channels by subscription id. */
  readonly #channels = new Map<number, string>();
  /** Sequence number of the last message of each book, by market id. */
  readonly #sequences = new Map<string, number>();

  constructor(
    ask: StreamAsk,
    cursors: Cursors,
    send: (message: object) => void,
    onEvent: (event: StreamEvent) => void,
  ) {
    this.#ask = ask;
    this.#cursors = cursors;
    this.#send = send;
    this.#onEvent = onEvent;
  }

  start(): void {
    for (const channel of this.#ask.channels) this.#subscribe(channel);
  }

  #subscribe(channel: string): void {
    const { channels: _, ...filters } = this.#ask;
    this.#send({ op: 'subscribe', id: channel, channel, ...filters, since: this.#cursors.get(channel) });
  }

  /** Takes a message. `live`: every channel is subscribed now; `refused`: the service refused one. */
  take(message: Message): 'live' | 'refused' | null {
    if (message.op === 'error') return 'refused';
    if (message.op === 'subscribed') {
      this.#channels.set(message.sid, message.id);
      return this.#channels.size < this.#ask.channels.length ? null : 'live';
    }
    if (message.op === undefined) this.#takeEvent(message, message.sid, message.cursor);
    return null;
  }

  #takeEvent(message: StreamEvent, sid: number | undefined, cursor: string | undefined): void {
    const isCancelled = message.event !== 'state' && sid !== undefined && !this.#channels.has(sid);
    if (isCancelled) return;
    if (!this.#follows(message)) {
      this.#send({ op: 'unsubscribe', sid });
      this.#channels.delete(sid ?? 0);
      return this.#subscribe('books');
    }
    const reached = message.event === 'state' ? message.data.cursors : { [sid ?? 0]: cursor };
    for (const [id, last] of Object.entries(reached ?? {})) {
      const channel = this.#channels.get(Number(id));
      if (channel !== undefined && last) this.#cursors.set(channel, last);
    }
    this.#onEvent(message);
  }

  /** Whether a message can be applied: a book change only directly after its predecessor. */
  #follows(message: StreamEvent): boolean {
    if (message.event !== 'book' && message.event !== 'book_change') return true;
    const { market_id: market, sequence } = message.data;
    if (message.event === 'book_change' && this.#sequences.get(market) !== sequence - 1) return false;
    this.#sequences.set(market, sequence);
    return true;
  }
}

/**
 * Subscribes on /v1/api/ws while the page is visible. A browser allows six requests to one host, open event streams included, but counts
 * WebSockets separately. `onLive` gets true when every channel is subscribed. After a short disconnect, subscriptions resume after the
 * last event. Returns a function that ends them.
 */
export function followStream(
  ask: StreamAsk,
  onLive: (isLive: boolean) => void,
  onEvent: (event: StreamEvent) => void,
): () => void {
  const cursors = new Cursors();
  let socket: WebSocket | null = null;
  let timer = 0;
  let retryMs = FIRST_RETRY_MS;
  /** When the socket was created, opened or last heard. */
  let aliveAt = 0;

  const connect = (): void => {
    clearTimeout(timer);
    if (document.hidden) return;
    cursors.clearIfOld();
    const own = new WebSocket(`${location.origin.replace('http', 'ws')}/v1/api/ws`);
    const send = (message: object): void => own.send(JSON.stringify(message));
    const subscriptions = new Subscriptions(ask, cursors, send, onEvent);
    socket = own;
    aliveAt = Date.now();
    own.addEventListener('open', () => {
      aliveAt = Date.now();
      subscriptions.start();
    });
    own.addEventListener('message', ({ data }: MessageEvent<string>) => {
      aliveAt = Date.now();
      cursors.heard();
      const said = subscriptions.take(JSON.parse(data) as Message);
      if (said === 'live') {
        retryMs = FIRST_RETRY_MS;
        onLive(true);
      } else if (said === 'refused') {
        cursors.clear();
        retryMs = LAST_RETRY_MS;
        own.close();
      }
    });
    own.addEventListener('close', () => {
      if (socket === own) again();
    });
  };
  const leave = (): void => {
    clearTimeout(timer);
    const old = socket;
    socket = null;
    old?.close();
    onLive(false);
  };
  const again = (): void => {
    leave();
    timer = setTimeout(connect, retryMs);
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
  };
  // Without waiting for the closing handshake, which a dead connection does not answer.
  const watch = setInterval(() => {
    if (socket && Date.now() - aliveAt > DEAD_MS) again();
  }, CHECK_MS);
  const turn = (): void => {
    if (document.hidden) leave();
    else if (!socket) connect();
  };
  document.addEventListener('visibilitychange', turn);
  connect();
  return () => {
    document.removeEventListener('visibilitychange', turn);
    clearInterval(watch);
    leave();
  };
}
