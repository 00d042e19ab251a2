import type { FastifyBaseLogger } from 'fastify';
import type { MarketStatus } from '../../src/core/model.ts';

/** A platform may return a market, or its new status, some seconds after its socket announced it; caches keep the old one for 15 s. */
const RETRY_MS = 20_000;
const WAITING = 1000;

export interface MarketRefreshDeps {
  log: FastifyBaseLogger;
  /** Reads and stores a market; false if the platform does not return it yet, or not in this status. */
  read: (id: string, status?: MarketStatus) => Promise<boolean>;
  /** Pause between two reads, ms. */
  everyMs: number;
}

/**
 * Reads markets for which a socket announced a change, one at a time; waiting announcements of one market are merged. A market that the
 * platform does not return yet, or that could not be read, is retried once.
 */
export class MarketRefresh {
  readonly #deps: MarketRefreshDeps;
  readonly #waiting = new Map<string, MarketStatus | undefined>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #isReading = false;
  #isStopped = false;

  constructor(deps: MarketRefreshDeps) {
    this.#deps = deps;
  }

  /** If too many markets are waiting, the rest is left to the sweeps. */
  add(id: string, status?: MarketStatus): void {
    if (this.#isStopped || this.#waiting.size >= WAITING) return;
    this.#waiting.set(id, status ?? this.#waiting.get(id));
    if (!this.#isReading) void this.#readAll();
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    for (const [id, status] of this.#waiting) {
      if (this.#isStopped) break;
      this.#waiting.delete(id);
      const isShown = await this.#deps.read(id, status).catch((error: unknown) => {
        this.#deps.log.warn({ err: error, market: id }, 'Failed to read an announced market');
        return false;
      });
      if (isShown) this.#forget(id);
      else this.#retry(id, status);
      await new Promise((resolve) => setTimeout(resolve, this.#deps.everyMs).unref());
    }
    this.#isReading = false;
  }

  #retry(id: string, status: MarketStatus | undefined): void {
    if (this.#retries.has(id)) return this.#forget(id);
    if (this.#isStopped || this.#retries.size >= WAITING) return;
    this.#retries.set(id, setTimeout(() => this.add(id, status), RETRY_MS).unref());
  }

  #forget(id: string): void {
    clearTimeout(this.#retries.get(id));
    this.#retries.delete(id);
  }
}
