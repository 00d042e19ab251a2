import type { Writable } from 'node:stream';
import PQueue from 'p-queue';
import type { WebSocket } from 'ws';
import { SingleFlight } from '../core/single-flight.ts';
import type { Connection, EndReason, Reader } from './connections.ts';
import type { StreamFilter } from './filter.ts';
import { BEAT_MS, type StreamDeps } from './sse-stream.ts';
import { drained, LINGER_MS } from './sse.ts';
import { ReaderGone, type Sink } from './sink.ts';
import { QUEUE_BYTES, StallWatch } from './stall.ts';
import { Subscription } from './subscription.ts';
import { LiveFeeds } from './live-feeds.ts';

/** WebSocket close code and reason, by why the service closes a socket. */
const CLOSE: Record<EndReason, readonly [code: number, reason: string]> = {
  slow: [4008, 'The reader is too slow; resume from the cursor'],
  revoked: [1008, 'The key or session is no longer valid'],
  stopping: [1012, 'The service is stopping; connect again'],
};

interface Entry {
  filter: StreamFilter;
  subscription: Subscription;
  feeds: LiveFeeds;
  /** Stops counting its markets. */
  unfollow: () => void;
}

/** One open WebSocket of a reader: its subscriptions by number, each with one channel. */
export class WsStream implements Connection {
  readonly reader: Reader;
  readonly #deps: StreamDeps;
  readonly #socket: WebSocket;
  /** The connection under the WebSocket. */
  readonly #raw: Writable;
  /** One wait for room, shared by all subscriptions. */
  readonly #rooms = new SingleFlight<'room'>();
  readonly #stall: StallWatch;
  readonly #catchUps = new PQueue({ concurrency: 1 });
  readonly #entries = new Map<number, Entry>();
  #lastSid = 0;
  /** Quotes dropped by subscriptions that are closed. */
  #dropped = 0;
  #ending: Promise<void> | null = null;

  constructor(deps: StreamDeps, reader: Reader, socket: WebSocket, raw: Writable) {
    this.#deps = deps;
    this.#stall = new StallWatch(deps.hub.clock);
    this.reader = reader;
    this.#socket = socket;
    this.#raw = raw;
  }

  isStalled(): boolean {
    return this.#stall.isStalled(this.#socket.bufferedAmount);
  }

  get subscriptions(): number {
    return this.#entries.size;
  }

  /** Starts with a state, then sends keep-alives until either side closes. */
  async run(): Promise<void> {
    const unwatch = this.#deps.states.watch(() => this.#sendState());
    let isAlive = true;
    this.#socket.on('pong', () => (isAlive = true));
    const stopBeat = this.#deps.hub.clock.every(BEAT_MS, () => {
      // A slow reader does not answer in time either; the bound of its queue closes it.
      if (!isAlive && this.#socket.bufferedAmount === 0) this.#socket.terminate();
      isAlive = false;
      this.#sendState();
      this.#socket.ping();
    });
    this.#socket.once('close', () => {
      stopBeat();
      this.#closeAll();
      this.#entries.clear();
      this.#deps.connections.remove(this);
      void unwatch.then((stop) => stop());
    });
    await unwatch;
    this.#sendState();
  }

  /** Adds a subscription and returns its number; its events follow the answer. `unfollow` is called when it ends. */
  subscribe(filter: StreamFilter, positions: readonly number[], unfollow: () => void): number {
    this.#lastSid += 1;
    const sid = this.#lastSid;
    const sink = this.#sinkOf(sid);
    const subscription = new Subscription(this.#deps.hub, filter, positions, sink);
    const feeds = new LiveFeeds(this.#deps, this.reader.userId, filter, sink);
    this.#entries.set(sid, { filter, subscription, feeds, unfollow });
    setImmediate(() => this.#entries.has(sid) && subscription.start());
    return sid;
  }

  /** false if there is no subscription with this number. */
  unsubscribe(sid: number): boolean {
    const entry = this.#entries.get(sid);
    if (!entry) return false;
    closeEntry(entry);
    this.#dropped += entry.feeds.dropped;
    return this.#entries.delete(sid);
  }

  end(reason: EndReason): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  cut(): void {
    this.#socket.terminate();
  }

  async #end(reason: EndReason): Promise<void> {
    this.#closeAll();
    this.#sendState();
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.close(...CLOSE[reason]);
    const stop = this.#deps.hub.clock.timeout(LINGER_MS, () => this.#socket.terminate());
    await closed.finally(stop);
  }

  #closeAll(): void {
    for (const entry of this.#entries.values()) closeEntry(entry);
  }

  #sendState(): void {
    const entries = [...this.#entries];
    const platforms = [...new Set(entries.flatMap(([, { filter }]) => filter.platforms))];
    const cursors = Object.fromEntries(entries.map(([sid, { subscription }]) => [sid, subscription.cursor]));
    const states = this.#deps.states.of(platforms.length > 0 ? platforms : this.#deps.states.platforms);
    const dropped = entries.reduce((sum, [, { feeds }]) => sum + feeds.dropped, this.#dropped);
    // With a single subscription the cursor is where server-sent events have it.
    const cursor = entries.length === 1 ? { cursor: entries[0]?.[1].subscription.cursor } : {};
    this.#socket.send(JSON.stringify({ event: 'state', data: { platforms: states, dropped, ...cursor, cursors } }));
  }

  #sinkOf(sid: number): Sink {
    const socket = this.#socket;
    return {
      catchUps: this.#catchUps,
      events: ({ name, events }) => {
        for (const { cursor, data } of events)
          socket.send(`{"sid":${sid},"event":"${name}","cursor":"${cursor}","data":${data}}`);
      },
      event: (name, data) => socket.send(`{"sid":${sid},"event":"${name}","data":${data}}`),
      flush: () => !this.#isBehind(),
      isBehind: () => this.#isBehind(),
      room: () => this.#rooms.run('room', () => this.#room()),
    };
  }

  #isBehind(): boolean {
    return this.#socket.bufferedAmount > QUEUE_BYTES;
  }

  async #room(): Promise<void> {
    while (this.#isBehind()) {
      await drained(this.#raw, this.#deps.hub.clock);
      if (this.#socket.readyState !== this.#socket.OPEN) throw new ReaderGone();
    }
  }
}

function closeEntry({ subscription, feeds, unfollow }: Entry): void {
  subscription.close();
  feeds.close();
  unfollow();
}
