import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { PlatformData } from '../../src/platforms/contract.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { TradeChain } from '../trade-chain.ts';
import { CoverageEnd, type TradesDeps } from '../trades.ts';

/** How far before its end a reading begins again that follows another one closely: a feed may show trades a moment out of order. */
const SHORT_MS = 250;
/** One that reaches further comes this often at least. */
const FAR_EVERY_MS = 1000;
/** A far reading is to be one page: where more is traded it reaches less far. */
const FAR_TRADES = 800;
/** What stored trades change of their markets follows at most so often. */
const PRICE_EVERY_MS = 1000;

export interface HintedFeedDeps {
  trades: TradesDeps;
  data: PlatformData;
  log: FastifyBaseLogger;
  /** How far before its end a reading begins again, ms; those that follow closely reach less far. */
  reachMs: number;
  /** What a reading runs under; null while this process may not store trades. */
  run: () => JobRun | null;
  /** Called when a reading failed: a whole one must follow. */
  onFailure: () => void;
}

/**
 * Reads what is new of a feed of all trades, as hints ask for it, behind a whole reading: each reading begins before the end of the one
 * before it, so that nothing lies between. Beside whole readings, which prove it.
 */
export class HintedFeed {
  readonly #deps: HintedFeedDeps;
  /** Up to when trades were read without a gap, Unix µs; null until a whole reading says so. */
  #reachedUs: number | null = null;
  /** The same of what is stored; 0 where the mark says it. */
  #storedUs = 0;
  /** Counts interruptions: what was read before one proves nothing after it. */
  #period = 0;
  #farAt = -Infinity;
  /** Hints since the last reading, and since the last far one. */
  #hints = 0;
  #farHints = 0;
  /** Hints a millisecond before the last far reading. */
  #perMs = 0;
  #rows = 0;
  #isDue = false;
  #reading: Promise<void> | null = null;
  readonly #stopping = new AbortController();
  /** Markets with new trades that are not priced by them. */
  #traded = new Set<string>();
  #pricing: NodeJS.Timeout | undefined;

  constructor(deps: HintedFeedDeps) {
    this.#deps = deps;
  }

  /** Something was traded. */
  hint(): void {
    this.#hints += 1;
    this.#farHints += 1;
  }

  /** A whole reading has ended. */
  begin(readTo: Date): void {
    this.#reachedUs = Math.max(this.#reachedUs ?? 0, readTo.getTime() * 1000);
    // It moved the mark.
    this.#storedUs = 0;
    if (this.#hints > 0) this.read();
  }

  /** What came meanwhile may be missing: a whole reading comes first. */
  interrupt(): void {
    this.#period += 1;
    this.#reachedUs = null;
    this.#storedUs = 0;
  }

  /** Reads what is new; after the reading that is under way, and not before the first whole one. */
  read(): void {
    this.#isDue = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
      if (this.#isDue && !this.#stopping.signal.aborted) this.read();
    });
  }

  /** Moves the mark to where trades are stored since it was last moved, and says what was; null where nothing was. */
  async settle(): Promise<JobResult | null> {
    const run = this.#deps.run();
    const [rows, toUs] = [this.#rows, this.#storedUs];
    if (!run || this.#reachedUs === null || toUs === 0) return null;
    [this.#rows, this.#storedUs] = [0, 0];
    await this.#deps.trades.watermarks.move('', run.lease, (now) => ({
      fromUs: now?.fromUs ?? toUs,
      toUs,
      marker: '',
    }));
    return { freshTo: new Date(toUs / 1000), rows };
  }

  async stop(): Promise<void> {
    this.interrupt();
    clearTimeout(this.#pricing);
    this.#stopping.abort();
    await this.#reading;
  }

  async #readAll(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false;
      const run = this.#deps.run();
      if (this.#reachedUs === null || !run) return;
      const storeMs = await this.#read(this.#reachedUs, run).catch((error: unknown) => this.#failed(error, run));
      // A store that is slow has at least as much time for others.
      await sleep(storeMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Returns the milliseconds that storing took. */
  async #read(reachedUs: number, run: JobRun): Promise<number> {
    const { trades: deps, data } = this.#deps;
    const period = this.#period;
    const startedUs = deps.now() * 1000;
    const { reachMs, expected } = this.#plan();
    const sinceUs = Math.min(reachedUs, startedUs) - reachMs * 1000;
    const end = new CoverageEnd(startedUs, reachedUs);
    const chain = new TradeChain(deps.writer, run.lease);
    const refs: string[] = [];
    const context = { ...run.context('poll'), isUrgent: true };
    const query = { sinceUs, untilUs: null, market: null, expected };
    for await (const page of data.trades(query, deps.directory, context)) {
      await chain.add(page);
      for (const { ref } of page.trades) refs.push(ref);
      end.add(page, deps.now() * 1000);
      run.signal.throwIfAborted();
    }
    // What was interrupted is left to the whole reading, which keeps the order.
    if (period !== this.#period) return 0;
    const toUs = end.whenIdleUs(data.tradeOverlapMs * 1000);
    this.#reachedUs = toUs;
    const storingAt = performance.now();
    await chain.end();
    this.#rows += chain.rows;
    if (period === this.#period) this.#storedUs = toUs;
    if (chain.rows > 0) this.#price(refs);
    return performance.now() - storingAt;
  }

  /** How far the next reading reaches, and how many trades that is by the hints. */
  #plan(): { reachMs: number; expected: number } {
    const now = performance.now();
    const sinceFarMs = now - this.#farAt;
    const isFar = sinceFarMs >= FAR_EVERY_MS;
    if (isFar) {
      this.#perMs = this.#farHints / sinceFarMs;
      [this.#farAt, this.#farHints] = [now, 0];
    }
    const far = Math.min(this.#deps.reachMs, FAR_TRADES / Math.max(this.#perMs, 1e-9));
    const reachMs = isFar ? far : Math.min(SHORT_MS, far);
    const expected = Math.ceil(this.#hints + this.#perMs * reachMs);
    this.#hints = 0;
    return { reachMs, expected };
  }

  #price(refs: readonly string[]): void {
    for (const ref of refs) this.#traded.add(ref);
    this.#pricing ??= setTimeout(() => {
      this.#pricing = undefined;
      const traded = this.#traded;
      this.#traded = new Set();
      this.#deps.trades.onTradesStored?.(traded).catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'markets could not be priced by their trades');
      });
    }, PRICE_EVERY_MS).unref();
  }

  #failed(error: unknown, run: JobRun): number {
    this.interrupt();
    if (run.signal.aborted) return 0;
    this.#deps.log.warn({ err: error, platform: this.#deps.data.platform }, 'new trades could not be read');
    this.#deps.onFailure();
    return 0;
  }
}
