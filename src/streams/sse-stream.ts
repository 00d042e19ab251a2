import type { ServerResponse } from 'node:http';
import type { Connection, Connections, EndReason, Reader } from './connections.ts';
import type { FeedStates } from './feed-state.ts';
import type { StreamFilter } from './filter.ts';
import type { Hub } from './hub.ts';
import { SseWriter } from './sse.ts';
import { StallWatch } from './stall.ts';
import { Subscription } from './subscription.ts';
import { LiveFeeds, type Followers } from './live-feeds.ts';

/** Maximum time between keep-alives, each with a state. */
export const BEAT_MS = 15_000;
/** Silence of a peer before TCP keepalive probes; ten probes a second apart. */
const PROBE_MS = 4000;
/** Reconnect delay sent to clients. */
const RETRY_MS = 1000;

export interface StreamDeps extends Followers {
  hub: Hub;
  states: FeedStates;
  connections: Connections;
}

/** One open GET /v1/api/stream. */
export class SseStream implements Connection {
  readonly reader: Reader;
  readonly #deps: StreamDeps;
  readonly #filter: StreamFilter;
  readonly #writer: SseWriter;
  readonly #subscription: Subscription;
  readonly #raw: ServerResponse;
  readonly #stall: StallWatch;
  #feeds: LiveFeeds | null = null;
  #ending: Promise<void> | null = null;

  constructor(
    deps: StreamDeps,
    reader: Reader,
    filter: StreamFilter,
    positions: readonly number[],
    raw: ServerResponse,
  ) {
    this.#deps = deps;
    this.#stall = new StallWatch(deps.hub.clock);
    this.reader = reader;
    this.#filter = filter;
    this.#raw = raw;
    this.#writer = new SseWriter(raw, deps.hub.clock);
    this.#subscription = new Subscription(deps.hub, filter, positions, this.#writer);
  }

  isStalled(): boolean {
    return this.#stall.isStalled(this.#writer.queued);
  }

  /** Starts sending, after the headers of the answer; runs until either side ends it. */
  async run(): Promise<void> {
    const unwatch = this.#deps.states.watch(() => this.#sendState());
    const stopBeat = this.#deps.hub.clock.every(BEAT_MS, () => {
      this.#sendState();
      this.#writer.comment();
    });
    this.#raw.once('close', () => {
      stopBeat();
      this.#subscription.close();
      this.#feeds?.close();
      this.#deps.connections.remove(this);
      void unwatch.then((stop) => stop());
    });
    // A vanished peer sends nothing; keepalive probes detect it before the next keep-alive event is sent.
    this.#raw.socket?.setKeepAlive(true, PROBE_MS);
    this.#raw.write(`retry: ${RETRY_MS}\n\n`);
    await unwatch;
    if (this.#ending || this.#raw.destroyed) return;
    this.#sendState();
    this.#subscription.start();
    this.#feeds = new LiveFeeds(this.#deps, this.reader.userId, this.#filter, this.#writer);
  }

  end(reason: EndReason): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  cut(): void {
    this.#raw.destroy();
  }

  async #end(reason: EndReason): Promise<void> {
    this.#subscription.close();
    this.#feeds?.close();
    this.#sendState();
    if (reason === 'stopping') this.#raw.write(`retry: ${RETRY_MS}\n\n`);
    await this.#writer.end();
  }

  #sendState(): void {
    const { cursor } = this.#subscription;
    const state = {
      platforms: this.#deps.states.of(this.#filter.platforms),
      dropped: this.#feeds?.dropped ?? 0,
      cursor,
    };
    this.#writer.event('state', JSON.stringify(state));
    this.#writer.flush();
  }
}
