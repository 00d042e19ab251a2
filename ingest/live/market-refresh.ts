import type { FastifyBaseLogger } from 'fastify';
import type { MarketStatus } from '../../src/core/model.ts';

/** A platform may show a market, or its new status, some seconds after its socket announced it. */
const RETRY_MS = 10_000;
const WAITING = 1000;

export interface MarketRefreshDeps {
  log: FastifyBaseLogger;
  /** Reads a market and stores it; false where the platform does not know it yet, or not yet in this status. */
  read: (id: string, status?: MarketStatus) => Promise<boolean>;
  /** Between two readings, ms. */
  everyMs: number;
}

/**
 * Reads markets of which a socket announced a change, one after another, each once for announcements that come together. What the
 * platform does not show yet, or what could not be read, is read once more.
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

  /** What does not fit is left to the sweeps. */
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
