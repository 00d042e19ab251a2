import type { Platform } from '../core/model.ts';
import type { Clock } from '../core/time.ts';
import { copyMarkets, dropMarket, GROUP, type Stores } from './copy.ts';
import { copyMatches, forgetMatches, type MatchPair } from './matches.ts';

/** How long changes of markets are gathered into one group after a pause, and the time from one group to the next that is not full. */
const GATHER_MS = 200;
const EVERY_MS = 2000;
const RETRY_MS = 1000;
/** Markets that wait, of one platform; further ones are found by the next catch-up. */
const WAITING = 100_000;

interface Deps extends Stores {
  clock: Clock;
}

/** The copies of one platform. */
interface Queue {
  waiting: Set<string>;
  running: Promise<void> | null;
  /** When its last group was copied, by the clock's elapsed(). */
  copiedAt: number;
  /** Ends with the last copy that was asked for. */
  last: Promise<unknown>;
}

/**
 * Copies markets to PostgreSQL after they were stored in ClickHouse: gathered, one group of a platform at a time. While a store
 * fails they wait. Whatever is lost with the process is found by CatchUp.
 */
export class Projector {
  readonly #deps: Deps;
  readonly #queues = new Map<Platform, Queue>();
  /** Aborted while someone waits for the queues, and at the end: groups are not gathered then. */
  #hurry = new AbortController();
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Says that rows of these markets, or trades of them, were stored. */
  changed(platform: Platform, refs: Iterable<string>): void {
    if (this.#isClosed) return;
    const queue = this.#queueOf(platform);
    for (const ref of refs) if (queue.waiting.size < WAITING) queue.waiting.add(ref);
    if (queue.waiting.size > 0) queue.running ??= this.#run(platform, queue);
  }

  /** Copies these markets before it returns; fails if a store does. */
  async copyNow(platform: Platform, refs: readonly string[]): Promise<void> {
    for (let at = 0; at < refs.length; at += GROUP) {
      await this.#inTurn(platform, () => copyMarkets(this.#deps, platform, refs.slice(at, at + GROUP)));
    }
  }

  /** Removes a market that is about to be removed from ClickHouse. */
  drop(platform: Platform, ref: string): Promise<void> {
    return this.#inTurn(platform, () => dropMarket(this.#deps, platform, ref));
  }

  /** Copies verdicts that were stored. What fails is logged, and copied by the next catch-up. */
  async matchesStored(pairs: readonly MatchPair[]): Promise<void> {
    try {
      await copyMatches(this.#deps, pairs);
    } catch (error) {
      this.#deps.log.warn({ err: error, pairs: pairs.length }, 'Failed to copy matches to PostgreSQL');
    }
  }

  /** Removes the pairs of markets, by their keys, that are about to be removed from ClickHouse. */
  dropMatches(keys: readonly string[]): Promise<void> {
    return forgetMatches(this.#deps, keys);
  }

  /** Resolves once everything said so far is copied. */
  async settled(): Promise<void> {
    this.#hurry.abort();
    await Promise.all([...this.#queues.values()].map(({ running }) => running));
    if (!this.#isClosed) this.#hurry = new AbortController();
  }

  /** Copies what waits, unless a store fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled();
  }

  #queueOf(platform: Platform): Queue {
    const queue = this.#queues.get(platform) ?? {
      waiting: new Set(),
      running: null,
      copiedAt: -Infinity,
      last: Promise.resolve(),
    };
    this.#queues.set(platform, queue);
    return queue;
  }

  /** One at a time: each would hold a connection while it waits for the platform's row, and requests would find none left. */
  #inTurn(platform: Platform, copy: () => Promise<void>): Promise<void> {
    const queue = this.#queueOf(platform);
    const copied = queue.last.then(copy);
    queue.last = copied.catch(() => {});
    return copied;
  }

  async #run(platform: Platform, queue: Queue): Promise<void> {
    const { waiting } = queue;
    const { clock } = this.#deps;
    while (waiting.size > 0) {
      if (waiting.size < GROUP) await clock.sleep(gatherMs(queue, clock), this.#hurry.signal).catch(() => {});
      const refs = [...waiting].slice(0, GROUP);
      for (const ref of refs) waiting.delete(ref);
      try {
        queue.copiedAt = clock.elapsed();
        await this.copyNow(platform, refs);
      } catch (error) {
        this.#deps.log.warn({ err: error, platform, markets: refs.length }, 'Failed to copy markets to PostgreSQL');
        if (this.#isClosed) return;
        for (const ref of refs) waiting.add(ref);
        await clock.sleep(RETRY_MS);
      }
    }
    // At once: a market that changes from now on needs another run.
    queue.running = null;
  }
}

const gatherMs = ({ copiedAt }: Queue, clock: Clock): number =>
  Math.max(GATHER_MS, copiedAt + EVERY_MS - clock.elapsed());
