import type { Log } from '../../src/core/log.ts';
import type { Clock, Stop } from '../../src/core/time.ts';
import type { StatedMarket } from '../../src/platforms/sockets/contract.ts';

/**
 * Waits before further reads of a market whose row is older than what its socket announced: caches of a platform keep a row for 15 s and
 * more. If the announcement states nothing to compare with, the market is read once more.
 */
const STATED_WAITS_MS = [20_000, 40_000, 80_000, 160_000, 300_000];
/** A platform may show a result 20 minutes after its socket. */
const STATED_STATUS_WAITS_MS = [...STATED_WAITS_MS, 600_000, 1_200_000];
const UNSTATED_WAITS_MS = [20_000];
const WAITING = 1000;

interface MarketRefreshDeps {
  clock: Clock;
  log: Log;
  /** Reads and stores a market; false if it must be read again, because the platform may not show the change yet. */
  read: (id: string, stated: StatedMarket) => Promise<boolean>;
  /** Pause between two reads, ms. */
  everyMs: number;
}

function waitsFor(stated: StatedMarket): readonly number[] {
  if (stated.status !== undefined) return STATED_STATUS_WAITS_MS;
  return Object.keys(stated).length > 0 ? STATED_WAITS_MS : UNSTATED_WAITS_MS;
}

interface Retry {
  stop: Stop;
  /** Further reads so far. */
  reads: number;
}

/**
 * Reads markets for which a socket announced a change, one at a time; waiting announcements of one market are merged. A market that may
 * not show the change yet, or that could not be read, is read again, a bounded number of times.
 */
export class MarketRefresh {
  readonly #deps: MarketRefreshDeps;
  readonly #waiting = new Map<string, StatedMarket>();
  readonly #retries = new Map<string, Retry>();
  #isReading = false;
  #isStopped = false;

  constructor(deps: MarketRefreshDeps) {
    this.#deps = deps;
  }

  /** If too many markets are waiting, the rest is left to the sweeps. */
  add(id: string, stated: StatedMarket = {}): void {
    if (this.#isStopped || this.#waiting.size >= WAITING) return;
    this.#waiting.set(id, { ...this.#waiting.get(id), ...stated });
    if (!this.#isReading) void this.#readAll();
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const { stop } of this.#retries.values()) stop();
    this.#retries.clear();
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    for (const [id, stated] of this.#waiting) {
      if (this.#isStopped) break;
      this.#waiting.delete(id);
      const isShown = await this.#deps.read(id, stated).catch((error: unknown) => {
        this.#deps.log.warn({ err: error, market: id }, 'Failed to read an announced market');
        return false;
      });
      if (isShown) this.#forget(id);
      else this.#retry(id, stated);
      await this.#deps.clock.late(this.#deps.everyMs);
    }
    this.#isReading = false;
  }

  #retry(id: string, stated: StatedMarket): void {
    const last = this.#retries.get(id);
    const reads = last?.reads ?? 0;
    const waitMs = waitsFor(stated)[reads];
    last?.stop();
    if (waitMs === undefined) return this.#forget(id);
    if (this.#isStopped || (!last && this.#retries.size >= WAITING)) return;
    // A newer announcement may be waiting.
    const stop = this.#deps.clock.timeout(waitMs, () => this.add(id, { ...stated, ...this.#waiting.get(id) }));
    this.#retries.set(id, { stop, reads: reads + 1 });
  }

  #forget(id: string): void {
    this.#retries.get(id)?.stop();
    this.#retries.delete(id);
  }
}
