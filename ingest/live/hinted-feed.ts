import type { Log } from '../../src/core/log.ts';
import type { Clock, Stop } from '../../src/core/time.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { readSpan } from '../read-span.ts';
import type { TradesDeps } from '../trades.ts';

/** Overlap of a poll that closely follows another one: a feed may show trades slightly out of order. */
const SHORT_MS = 250;
/** After this time the next poll uses the long overlap again. */
const FAR_EVERY_MS = 1000;
/** Maximum expected trades in a long overlap, so that they fit on one page; on busier feeds the overlap is shorter. */
const FAR_TRADES = 800;
/** Minimum interval between price updates of traded markets. */
const PRICE_EVERY_MS = 1000;

interface HintedFeedDeps {
  clock: Clock;
  trades: TradesDeps;
  data: PlatformData;
  log: Log;
  /** The long overlap of a poll with the previous one, ms; polls that follow closely use a shorter one. */
  reachMs: number;
  /** The run (lease and signal) for a poll; null while this process may not store trades. */
  run: () => JobRun | null;
  /** Called after a failed poll: a full poll must follow. */
  onFailure: () => void;
}

/** Polls a global feed after hints, from the end of a full poll on. Polls overlap, so that there are no gaps; full polls verify this. */
export class HintedFeed {
  readonly #deps: HintedFeedDeps;
  /** Time up to which trades were read without a gap, Unix µs; null until a full poll sets it. */
  #reachedUs: number | null = null;
  /** Time up to which trades are stored without a gap, Unix µs; 0 if the watermark has it. */
  #storedUs = 0;
  /** Unix µs that the watermark may not pass, because a full poll waits for a trade executed then; Infinity if none waits. */
  #heldUs = Infinity;
  /** Number of interruptions. A poll that began before an interruption does not show that the feed is complete. */
  #period = 0;
  #farAt = -Infinity;
  /** Hints since the last poll, and since the last one with the long overlap. */
  #hints = 0;
  #farHints = 0;
  /** Hints per millisecond before the last poll with the long overlap. */
  #perMs = 0;
  #rows = 0;
  #isDue = false;
  #reading: Promise<void> | null = null;
  readonly #stopping = new AbortController();
  /** Markets whose prices do not include their new trades yet. */
  #traded = new Set<string>();
  #stopPricing: Stop | undefined;

  constructor(deps: HintedFeedDeps) {
    this.#deps = deps;
  }

  /** Called when a socket reports a trade. */
  hint(): void {
    this.#hints += 1;
    this.#farHints += 1;
  }

  /** Called when a full poll has ended; `isHeld` if it waits for a trade executed at `readTo`. */
  begin(readTo: Date, isHeld = false): void {
    this.#heldUs = isHeld ? readTo.getTime() * 1000 : Infinity;
    this.#reachedUs = Math.max(this.#reachedUs ?? 0, readTo.getTime() * 1000);
    // The full poll has moved the watermark.
    this.#storedUs = 0;
    if (this.#hints > 0) this.read();
  }

  /** Trades may be missing: no more polls until the next full poll. */
  interrupt(): void {
    this.#period += 1;
    this.#reachedUs = null;
    this.#storedUs = 0;
  }

  /** Polls for new trades, after the poll in progress if there is one. Does nothing before the first full poll. */
  read(): void {
    this.#isDue = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
      if (this.#isDue && !this.#stopping.signal.aborted) this.read();
    });
  }

  /** Moves the watermark to the end of the stored trades. Returns what was stored since it was last moved; null if nothing was. */
  async settle(): Promise<JobResult | null> {
    const run = this.#deps.run();
    const [rows, toUs] = [this.#rows, Math.min(this.#storedUs, this.#heldUs)];
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
    this.#stopPricing?.();
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
      // A slow store gets as much time for other work as this insert took.
      await this.#deps.clock.sleep(storeMs, signal).catch(() => {});
    }
  }

  /** Returns how long storing took, ms. */
  async #read(reachedUs: number, run: JobRun): Promise<number> {
    const { trades: deps, data } = this.#deps;
    const period = this.#period;
    const startedUs = deps.clock.now() * 1000;
    const { reachMs, expected } = this.#plan();
    const sinceUs = Math.min(reachedUs, startedUs) - reachMs * 1000;
    const context = { ...run.context('poll'), isUrgent: true };
    const query = { sinceUs, untilUs: null, market: null, expected, context, knownToUs: reachedUs };
    const read = await readSpan(deps, data, run, query);
    // After an interruption the full poll stores these trades, in order.
    if (period !== this.#period) return 0;
    const toUs = read.endIfIdleUs;
    this.#reachedUs = toUs;
    const storingAt = this.#deps.clock.elapsed();
    await read.store();
    this.#rows += read.rows;
    if (period === this.#period) this.#storedUs = toUs;
    if (read.rows > 0) this.#price(read.refs);
    return this.#deps.clock.elapsed() - storingAt;
  }

  /** Overlap of the next poll, and the number of trades expected from the hints. */
  #plan(): { reachMs: number; expected: number } {
    const now = this.#deps.clock.elapsed();
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

  #price(refs: Iterable<string>): void {
    for (const ref of refs) this.#traded.add(ref);
    this.#stopPricing ??= this.#deps.clock.timeout(PRICE_EVERY_MS, () => {
      this.#stopPricing = undefined;
      const traded = this.#traded;
      this.#traded = new Set();
      this.#deps.trades.onTradesStored(traded).catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'Failed to update the prices of traded markets');
      });
    });
  }

  #failed(error: unknown, run: JobRun): number {
    this.interrupt();
    if (run.signal.aborted) return 0;
    this.#deps.log.warn({ err: error, platform: this.#deps.data.platform }, 'Failed to read new trades');
    this.#deps.onFailure();
    return 0;
  }
}
