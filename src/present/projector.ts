import type { FastifyBaseLogger } from 'fastify';
import type { Platform } from '../core/model.ts';
import type { Clock } from '../core/time.ts';
import { copyMarkets, dropMarket, GROUP, type Stores } from './copy.ts';

/** How long changes of markets are gathered into one group. */
const GATHER_MS = 200;
const RETRY_MS = 1000;
/** Markets that wait, of one platform; further ones are found by the next catch-up. */
const WAITING = 100_000;

interface Deps extends Stores {
  log: Pick<FastifyBaseLogger, 'warn'>;
  clock: Clock;
}

/** What one platform's markets wait for. */
interface Queue {
  waiting: Set<string>;
  running: Promise<void> | null;
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
    const queue = this.#queues.get(platform) ?? { waiting: new Set(), running: null };
    this.#queues.set(platform, queue);
    for (const ref of refs) if (queue.waiting.size < WAITING) queue.waiting.add(ref);
    queue.running ??= this.#run(platform, queue).finally(() => {
      queue.running = null;
    });
  }

  /** Copies these markets before it returns; fails if a store does. */
  async copyNow(platform: Platform, refs: readonly string[]): Promise<void> {
    for (let at = 0; at < refs.length; at += GROUP) await copyMarkets(this.#deps, platform, refs.slice(at, at + GROUP));
  }

  /** Removes a market that is about to be removed from ClickHouse. */
  drop(platform: Platform, ref: string): Promise<void> {
    return dropMarket(this.#deps, platform, ref);
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

  async #run(platform: Platform, { waiting }: Queue): Promise<void> {
    while (waiting.size > 0) {
      if (waiting.size < GROUP) await this.#deps.clock.sleep(GATHER_MS, this.#hurry.signal).catch(() => {});
      const refs = [...waiting].slice(0, GROUP);
      for (const ref of refs) waiting.delete(ref);
      try {
        await copyMarkets(this.#deps, platform, refs);
      } catch (error) {
        this.#deps.log.warn({ err: error, platform, markets: refs.length }, 'Failed to copy markets to PostgreSQL');
        if (this.#isClosed) return;
        for (const ref of refs) waiting.add(ref);
        await this.#deps.clock.sleep(RETRY_MS);
      }
    }
  }
}
