import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import { SingleFlight } from '../core/single-flight.ts';
import type { Clock, Stop } from '../core/time.ts';
import type { GapFound, GapsAsked } from '../queries/matches/gaps.ts';
import type { StreamFilter } from './filter.ts';
import type { EventSink } from './sink.ts';
import { Watchers } from './watchers.ts';

/** Interval of reads. A gap is computed from books that are at most this old. */
const LOOK_MS = 5000;
/** Subscriptions whose books are read at once: with many, each is looked at less often. */
const LOOKS_AT_ONCE = 4;
/** Pairs of one subscription whose books are read. */
const PAIRS_READ = 10;

/** Reads gaps of a user; those for which `first` is true come first. */
export type ReadGaps = (asked: GapsAsked, first: (id: string) => boolean) => Promise<GapFound[]>;

/** Reads the gaps that streams of this process watch. */
export class MatchGapFollower {
  readonly clock: Clock;
  readonly log: FastifyBaseLogger;
  readonly read: ReadGaps;
  readonly #looks = new PQueue({ concurrency: LOOKS_AT_ONCE });
  readonly #watchers: Watchers<() => Promise<void>>;

  constructor({ clock, log, readGaps }: { clock: Clock; log: FastifyBaseLogger; readGaps: ReadGaps }) {
    this.clock = clock;
    this.log = log;
    this.read = readGaps;
    this.#watchers = new Watchers({ clock, everyMs: LOOK_MS, look: () => this.#lookAll() });
  }

  /** Runs `look` now and every 5 s until the returned function is called. */
  watch(look: () => Promise<void>): Stop {
    void this.#looks.add(look);
    return this.#watchers.add(look);
  }

  close(): void {
    this.#watchers.close();
    this.#looks.clear();
  }

  async #lookAll(): Promise<void> {
    const looks: Promise<void>[] = [];
    this.#watchers.each((look) => looks.push(this.#looks.add(look)));
    await Promise.all(looks);
  }
}

/** The gaps of one subscription: sends an event when a gap reaches the edge at the whole size, and another when it no longer does. */
export class MatchGapFeed {
  readonly #follower: MatchGapFollower;
  readonly #user: string;
  readonly #sink: EventSink;
  readonly #looks = new SingleFlight<'look'>();
  /** Gaps that have reached the edge, by the id of the match, as they were sent. */
  readonly #reached = new Map<string, GapFound>();
  readonly #unwatch: Stop;
  #isClosed = false;

  constructor(follower: MatchGapFollower, user: string, { matchGaps }: StreamFilter, sink: EventSink) {
    this.#follower = follower;
    this.#user = user;
    this.#sink = sink;
    this.#unwatch = matchGaps ? follower.watch(() => this.#looks.run('look', () => this.#look(matchGaps))) : () => {};
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
  }

  /** Skipped while the reader is behind: a later look sends the changes. */
  async #look({ filter, reach, minEdge }: NonNullable<StreamFilter['matchGaps']>): Promise<void> {
    if (this.#isClosed || this.#sink.isBehind()) return;
    try {
      const asked = { user: this.#user, filter, reach, limit: PAIRS_READ };
      const gaps = await this.#follower.read(asked, (id) => this.#reached.has(id));
      if (this.#isClosed) return;
      const gone = new Map(this.#reached);
      for (const gap of gaps) {
        gone.delete(gap.match_id);
        this.#take(gap, gap.is_whole === true && gap.edge !== null && gap.edge >= minEdge);
      }
      for (const gap of gone.values()) this.#take(withoutNumbers(gap), false);
      this.#sink.flush();
    } catch (error) {
      this.#follower.log.warn({ err: error }, 'Failed to read gaps of matches');
    }
  }

  #take(gap: GapFound, isReached: boolean): void {
    if (isReached === this.#reached.has(gap.match_id)) return;
    if (isReached) this.#reached.set(gap.match_id, gap);
    else this.#reached.delete(gap.match_id);
    const sentAt = new Date(this.#follower.clock.now()).toISOString();
    const type = isReached ? 'reached' : 'ended';
    this.#sink.event('match_gap', JSON.stringify({ type, ...gap, sent_at: sentAt }));
  }
}

/** The gap of a pair that is no longer chosen. */
function withoutNumbers(gap: GapFound): GapFound {
  const unknown = { outcome: null, as_of: null, cost_usd: null, fee_usd: null };
  return {
    ...gap,
    a: { ...gap.a, ...unknown },
    b: { ...gap.b, ...unknown },
    as_of: null,
    size: null,
    is_whole: null,
    fees_usd: null,
    locked_usd: null,
    edge_usd: null,
    edge: null,
    unknown_because: 'The markets are not both open, or no longer identical or complementary',
  };
}
