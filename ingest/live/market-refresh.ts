import type { FastifyBaseLogger } from 'fastify';

/** A platform may list a market some seconds after its socket announced it. */
const RETRY_MS = 10_000;
const WAITING = 1000;

export interface MarketRefreshDeps {
  log: FastifyBaseLogger;
  /** Reads a market and stores it; false where the platform does not know it yet. */
  read: (id: string) => Promise<boolean>;
  /** Between two readings, ms. */
  everyMs: number;
}

/** Reads markets of which a socket announced a change, one after another, each once for announcements that come together. */
export class MarketRefresh {
  readonly #deps: MarketRefreshDeps;
  readonly #waiting = new Set<string>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #isReading = false;
  #isStopped = false;

  constructor(deps: MarketRefreshDeps) {
    this.#deps = deps;
  }

  /** What does not fit is left to the sweeps. */
  add(id: string): void {
    if (this.#isStopped || this.#waiting.size >= WAITING) return;
    this.#waiting.add(id);
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
    while (!this.#isStopped && this.#waiting.size > 0) {
      const [id = ''] = this.#waiting;
      this.#waiting.delete(id);
      const isKnown = await this.#deps.read(id).catch((error: unknown) => {
        this.#deps.log.warn({ err: error, market: id }, 'Failed to read an announced market');
        return true;
      });
      if (isKnown) this.#forget(id);
      else this.#retry(id);
      await new Promise((resolve) => setTimeout(resolve, this.#deps.everyMs).unref());
    }
    this.#isReading = false;
  }

  #retry(id: string): void {
    if (this.#retries.has(id)) return this.#forget(id);
    if (this.#isStopped || this.#retries.size >= WAITING) return;
    this.#retries.set(id, setTimeout(() => this.add(id), RETRY_MS).unref());
  }

  #forget(id: string): void {
    clearTimeout(this.#retries.get(id));
    this.#retries.delete(id);
  }
}
