import PQueue from 'p-queue';
import { marketName } from '../core/market-key.ts';
import type { Platform } from '../core/model.ts';
import type { Clock } from '../core/time.ts';
import { copyMarkets, dropMarket, MARKETS_AT_ONCE, type MarketRef, type Stores } from './copy.ts';
import { copyMatches, forgetMatches, type MatchPair } from './matches.ts';
import { ParentIds } from './parents.ts';
import { partsOf } from '../core/parts.ts';

/** How long changes of markets are gathered into one group after a pause. */
const GATHER_MS = 200;
/** Time from one group to the next, unless the next one is full. */
const EVERY_MS = 2000;
const RETRY_MS = 1000;
/** Maximum markets that wait, over all platforms, and maximum events and series. The next catch-up finds the others. */
const WAITING = 300_000;

const NOTHING = { markets: [], parents: null };

interface Deps extends Stores {
  clock: Clock;
}

/**
 * Copies markets to PostgreSQL after they were stored in ClickHouse, in groups with markets of all platforms, one group at a time. While a
 * store fails they wait. `catchUp` finds what was lost with a killed process.
 */
export class Projector {
  readonly #deps: Deps;
  readonly #waiting = new Map<string, MarketRef>();
  /** Events and series whose rows were stored. */
  #parents = new ParentIds();
  /** What is being copied now. */
  #copying: { markets: readonly MarketRef[]; parents: ParentIds | null } = NOTHING;
  /** Called when the next copy has ended, even if it failed. */
  readonly #onEnd: (() => void)[] = [];
  #running: Promise<void> | null = null;
  /** Maximum markets of the next group: fewer after a failure, because a busy store may be too slow for a full group. */
  #groupSize = MARKETS_AT_ONCE;
  /** When the last group was copied, by the clock's elapsed(). */
  #copiedAt = -Infinity;
  /** One copy at a time: each would hold a connection while it waits for the rows of platforms, and requests would find none left. */
  readonly #copies = new PQueue({ concurrency: 1 });
  /** Aborted while somebody waits for the copies, and by `close`: groups are then sent without gathering. */
  #hurry = new AbortController();
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Call it when rows or trades of these markets, or rows of these events and series, were stored. */
  changed(platform: Platform, refs: Iterable<string>, parents: Parameters<ParentIds['add']>[1] = {}): void {
    if (this.#isClosed) return;
    for (const ref of refs) this.#wait({ platform, ref });
    if (this.#parents.size < WAITING) this.#parents.add(platform, parents);
    if (this.#isSomeWaiting) this.#running ??= this.#run();
  }

  get #isSomeWaiting(): boolean {
    return this.#waiting.size + this.#parents.size > 0;
  }

  /** Copies these markets before it returns; fails if a store does. */
  async copyNow(platform: Platform, refs: readonly string[]): Promise<void> {
    const markets = refs.map((ref) => ({ platform, ref }));
    for (const part of partsOf(markets, MARKETS_AT_ONCE)) await this.#copies.add(() => copyMarkets(this.#deps, part));
  }

  /**
   * Removes a market, then calls `removeStored`, which removes it from ClickHouse. Nothing is copied in between: a process that is killed
   * there would leave a copy that no catch-up finds.
   */
  drop(platform: Platform, ref: string, removeStored: () => Promise<void>): Promise<void> {
    return this.#copies.add(async () => {
      await dropMarket(this.#deps, platform, ref);
      await removeStored();
    });
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

  /** Resolves once everything named so far is copied, after `withinMs` at the latest. Only what `isUrgent` is copied without gathering more. */
  async copied(withinMs: number, { isUrgent = false }: { isUrgent?: boolean } = {}): Promise<void> {
    const { clock } = this.#deps;
    const endAt = clock.elapsed() + withinMs;
    const late = clock.late(withinMs);
    const named = new Set([...this.#waiting.values(), ...this.#copying.markets]);
    const parents = new Set([this.#copying.parents, this.#parents].filter((ids) => ids !== null && ids.size > 0));
    const isLeft = (): boolean =>
      [...this.#waiting.values(), ...this.#copying.markets].some((market) => named.has(market)) ||
      [this.#parents, this.#copying.parents].some((ids) => parents.has(ids));
    // Bounded, because PostgreSQL may be away for hours: each waiting caller keeps its markets in memory.
    while (isLeft() && clock.elapsed() < endAt) {
      if (isUrgent) this.#hurryOn();
      await Promise.race([new Promise<void>((resolve) => void this.#onEnd.push(resolve)), late]);
    }
  }

  /** Ends the gathering of a group. */
  #hurryOn(): void {
    this.#hurry.abort();
    this.#hurry = new AbortController();
  }

  /** Copies everything named so far at once, and resolves when that has ended. */
  async settled(): Promise<void> {
    this.#hurry.abort();
    await this.#running;
    if (!this.#isClosed) this.#hurry = new AbortController();
  }

  /** Copies what waits, unless a store fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled();
  }

  #wait(market: MarketRef): void {
    const name = marketName(market);
    if (this.#waiting.size < WAITING && !this.#waiting.has(name)) this.#waiting.set(name, market);
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps;
    while (this.#isSomeWaiting) {
      if (this.#waiting.size < MARKETS_AT_ONCE) await clock.sleep(this.#gatherMs(), this.#hurry.signal).catch(() => {});
      const group = [...this.#waiting.values()].slice(0, this.#groupSize);
      for (const market of group) this.#waiting.delete(marketName(market));
      const parents = this.#parents;
      this.#parents = new ParentIds();
      this.#copying = { markets: group, parents };
      try {
        this.#copiedAt = clock.elapsed();
        await this.#copies.add(() => copyMarkets(this.#deps, group, parents));
        this.#groupSize = Math.min(MARKETS_AT_ONCE, 2 * this.#groupSize);
      } catch (error) {
        log.warn({ err: error, markets: group.length }, 'Failed to copy markets to PostgreSQL');
        if (this.#isClosed) return;
        this.#groupSize = Math.ceil(this.#groupSize / 2);
        for (const market of group) this.#wait(market);
        this.#parents.addAll(parents);
        await clock.sleep(RETRY_MS);
      } finally {
        this.#copying = NOTHING;
        for (const end of this.#onEnd.splice(0)) end();
      }
    }
    // At once: a market that changes from now on needs another run.
    this.#running = null;
  }

  #gatherMs(): number {
    return Math.max(GATHER_MS, this.#copiedAt + EVERY_MS - this.#deps.clock.elapsed());
  }
}
