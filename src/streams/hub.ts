import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import { Cache } from '../core/cache.ts';
import type { Clock, Stop } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { FOLLOWED_EVERY_MS, type Shared } from '../stores/shared/shared.ts';
import { Follower } from './log/follower.ts';
import { type LogExtent, readExtent } from './log/extent.ts';
import { announceFollowed } from './log/followed.ts';
import { LOG_CHANNEL, nameOf, type Partition } from './log/position.ts';
import { type LogPage, readLog } from './log/read.ts';
import type { SubscriptionDeps } from './subscription.ts';

export interface HubDeps {
  clickhouse: ClickHouse;
  shared: Shared;
  log: FastifyBaseLogger;
  clock: Clock;
  /** Poll interval of the log in addition to announcements, which are lost while Redis is away. */
  pollMs: number;
}

/** Clients that reconnect together, as after a start, cause one read of the store. */
const EXTENT_MS = 1000;
const EXTENTS_KEPT = 100;
/** Concurrent page reads for streams that catch up, so that the engine can serve others. */
const PAGES_AT_ONCE = 4;

/** The log as followed by this process: each partition once, while a stream subscribes to it. */
export class Hub implements SubscriptionDeps {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly log: FastifyBaseLogger;
  readonly #deps: HubDeps;
  readonly #pages = new PQueue({ concurrency: PAGES_AT_ONCE });
  readonly #followers = new Map<string, Follower>();
  readonly #extents: Cache<string, LogExtent>;
  readonly #stops: Stop[] = [];

  constructor(deps: HubDeps) {
    this.#deps = deps;
    this.#extents = new Cache({ limit: EXTENTS_KEPT, ttlMs: EXTENT_MS, now: deps.clock.elapsed });
    this.clickhouse = deps.clickhouse;
    this.clock = deps.clock;
    this.log = deps.log;
  }

  async open(): Promise<void> {
    await this.#deps.shared.subscribe(LOG_CHANNEL, (name) => this.#followers.get(name)?.wake());
    const wakeAll = (): void => {
      for (const follower of this.#followers.values()) follower.wake();
    };
    this.#stops.push(
      this.clock.every(this.#deps.pollMs, wakeAll),
      this.clock.every(FOLLOWED_EVERY_MS, () => this.#announceFollowed()),
    );
  }

  follower(partition: Partition): Follower {
    const name = nameOf(partition);
    const known = this.#followers.get(name);
    if (known) return known;
    const made = new Follower({ ...this.#deps, onJoin: () => this.#announceFollowed() }, partition);
    this.#followers.set(name, made);
    return made;
  }

  /** A page of the log for a stream that catches up; reads are queued. */
  readLog(partition: Partition, after: number, limit: number, onFull: (last: number) => void): Promise<LogPage> {
    return this.#pages.add(() => readLog(this.clickhouse, partition, after, limit, onFull));
  }

  /** The extent of a partition, as of a moment ago. */
  extent(partition: Partition): Promise<LogExtent> {
    return this.#extents.read(nameOf(partition), () => readExtent(this.clickhouse, partition, this.clock.now()));
  }

  #announceFollowed(): void {
    const followers = [...this.#followers.values()];
    if (followers.some(({ partition, isFollowed }) => partition.feed === 'trades' && isFollowed))
      announceFollowed(this.#deps.shared);
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}
