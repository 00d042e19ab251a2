import type { Log } from '../../src/core/log.ts';
import { z } from 'zod';
import { Cache } from '../../src/core/cache.ts';
import { PlatformError } from '../../src/core/errors.ts';
import type { ClickHouse, Urgency } from '../../src/stores/clickhouse/client.ts';
import type { MarketWriter } from '../../src/markets/writer.ts';
import type { PlatformData, ReadContext, SweepScope } from '../../src/platforms/contract.ts';
import type { MarketRecord } from '../../src/core/model.ts';
import type { Lease } from '../../src/stores/shared/shared.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import { marketKey } from '../../src/core/market-key.ts';
import { again, FailureBackoff, ItemReads } from '../failure-backoff.ts';
import { storeBehind } from '../store-behind.ts';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';

/** Changed markets that are stored together, over pages. */
const STORED_AT_ONCE = 2000;
/** Per pass: markets missing from a complete listing that are read one by one. */
const MISSING_PER_PASS = 40;
/** Missing markets looked up in the store to find these: another process may have settled some. */
const LOOKED_UP = 10 * MISSING_PER_PASS;
/** Maximum remembered markets that other processes stored and that were not looked up yet. */
const HEARD = 10_000;
/** Per pass: markets that no list has. `fresh` are stored for the first time, `stored` are read again, all in one request. */
const UNLISTED = { fresh: 10, stored: 50 } as const;

const Awaited = z.object({
  ref: z.string(),
  status: z.string(),
  end_ms: z.coerce.number(),
  provisional: z.coerce.boolean(),
});

const Unlisted = z.object({ ref: z.string(), is_stored: z.coerce.boolean(), provisional: z.coerce.boolean() });

/** A market that is read by itself. */
type Single = Pick<z.infer<typeof Unlisted>, 'ref' | 'provisional'>;

/** What the reads of single markets in one sweep share. */
interface Pass {
  context: ReadContext;
  /** For markets that could not be read before. */
  again: ReadContext;
  reads: ItemReads;
  asked: Set<string>;
  /** Markets that no list has, and that await a read. */
  unlisted: Set<string>;
}

interface SweeperDeps {
  clickhouse: ClickHouse;
  writer: MarketWriter;
  data: PlatformData;
  log: Log;
  clock: Pick<Clock, 'now'>;
  /** Called with markets that were due, once they are stored. */
  onWritten?: (refs: readonly string[]) => void;
}

/** Keeps one platform's listing stored. */
export class MarketSweeper {
  readonly #deps: SweeperDeps;
  /** When a market that is no longer listed is to be requested again. */
  readonly #againAt = new Cache<string, number>({ limit: 100_000 });
  /** When this process first saw that a market had closed. */
  readonly #closedSince = new Cache<string, number>({ limit: 100_000 });
  /** Markets that other processes stored. */
  readonly #heard = new Cache<string, true>({ limit: HEARD });
  /** Unlisted markets that the platform does not know (null), or that cannot be read, with the reason. */
  readonly #silent: FailureBackoff<string | null>;
  /** The lease under which this process read which markets are stored; null if it must read them again. */
  #recalledUnder: Lease | null = null;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.#silent = new FailureBackoff(deps.clock);
  }

  /** Call it with markets that were stored with other facts or another status, by whatever process. */
  stored(refs: readonly string[]): void {
    const { platform } = this.#deps.data;
    for (const ref of refs) if (!this.#deps.writer.hasWritten({ platform, ref })) this.#heard.set(ref, true);
  }

  /** Call it when a message about stored markets may be lost: the next sweep reads from the store what was last written. */
  recallAgain(): void {
    this.#recalledUnder = null;
  }

  /** Stores every page of one sweep; urgent pages wait for no other rows. `freshTo`: its start, before which no market was read. */
  async sweep(scope: SweepScope, run: JobRun, urgency: Urgency = {}): Promise<JobResult> {
    const startedAt = new Date(this.#deps.clock.now());
    const context = run.context(scope.kind === 'historical' ? 'backfill' : 'poll');
    const seen = new Set<string>();
    // Also before a full sweep: a killed process announces nothing of what it stored.
    if (this.#recalledUnder !== run.lease || scope.kind === 'full') await this.#recall(run.lease);
    let rows = 0;
    let changed: MarketRecord[] = [];
    const store = async (): Promise<void> => {
      const records = changed;
      changed = [];
      rows += await this.#write(records, urgency);
    };
    try {
      for await (const page of this.#deps.data.sweep(scope, context)) {
        for (const { info } of page.markets) {
          seen.add(info.ref);
          this.#silent.forget(info.ref);
        }
        if (page.series) await this.#deps.writer.writeSeries(this.#deps.data.platform, page.series, urgency);
        changed.push(...this.#deps.writer.unwritten(page.markets));
        if (changed.length >= STORED_AT_ONCE) await store();
        run.signal.throwIfAborted();
      }
    } catch (error) {
      // The pages before a failed one are complete. A failure to store them too is logged: it must not hide why the listing ended.
      const failed = (err: unknown): void => this.#deps.log.error({ err }, 'Failed to store the markets listed so far');
      if (!run.signal.aborted) await store().catch(failed);
      throw error;
    }
    await store();
    if (scope.kind === 'full' || scope.kind === 'open') {
      const reads = new ItemReads(context.signal);
      const pass: Pass = { context, again: again(context), reads, asked: new Set(), unlisted: new Set() };
      rows += await this.#readMissing(seen, pass);
      rows += await this.#readUnlisted(pass);
      this.#keepAwaited(pass.unlisted);
      // Unreadable markets that were not due in this pass are reported again.
      for (const [ref, reason] of this.#silent.entries()) {
        if (reason !== null && !pass.asked.has(ref)) this.#report(ref, reason, context);
      }
    }
    return { freshTo: startedAt, rows, note: `${seen.size} markets seen` };
  }

  /** If a message is lost during the recall, the next sweep recalls again. */
  async #recall(lease: Lease): Promise<void> {
    this.#heard.clear();
    this.#recalledUnder = lease;
    try {
      await this.#deps.writer.recall(this.#deps.data.platform);
    } catch (error) {
      this.#recalledUnder = null;
      throw error;
    }
  }

  async #write(records: readonly MarketRecord[], urgency: Urgency = {}): Promise<number> {
    if (records.length === 0) return 0;
    const rows = await this.#deps.writer.write(this.#deps.data.platform, records, urgency);
    this.#deps.onWritten?.(records.map(({ info }) => info.ref));
    return rows;
  }

  /** Reads markets that are missing in the lists by id: most have closed or moved to an archive. */
  async #readMissing(seen: ReadonlySet<string>, pass: Pass): Promise<number> {
    const { platform } = this.#deps.data;
    const now = this.#deps.clock.now();
    const due = this.#missing(seen, now);
    if (due.length === 0) return 0;
    const keys = due.map((ref) => BigInt(marketKey({ platform, ref })));
    const rows = await this.#deps.clickhouse.query('awaited_markets', Awaited, { platform, keys });
    const awaited = new Map(rows.map((row) => [row.ref, row]));
    this.#deps.writer.settled(
      platform,
      due.filter((ref) => !awaited.has(ref)),
    );
    for (const ref of due) if (!awaited.has(ref)) this.#heard.delete(ref);
    const markets = due.flatMap((ref) => awaited.get(ref) ?? []).slice(0, MISSING_PER_PASS);
    return this.#readEach(markets, pass, (market) => this.#againAt.set(market.ref, now + this.#pauseMs(market, now)));
  }

  /**
   * Unsettled markets that were not in the lists: those that this process wrote, and those that others announced. The longest waiting come
   * first. So a market that the platform never returns does not block the others.
   */
  #missing(seen: ReadonlySet<string>, now: number): string[] {
    const { platform } = this.#deps.data;
    for (const [ref] of this.#heard.entries()) {
      if (seen.has(ref) || this.#deps.writer.hasWritten({ platform, ref })) this.#heard.delete(ref);
    }
    const due: { ref: string; writtenMs: number; dueMs: number }[] = [];
    const add = (ref: string, writtenMs: number): void => {
      const dueMs = this.#againAt.get(ref) ?? 0;
      if (!seen.has(ref) && dueMs <= now && this.#silent.isDue(ref)) due.push({ ref, writtenMs, dueMs });
    };
    for (const { ref, writtenMs } of this.#deps.writer.unsettled(platform)) add(ref, writtenMs);
    for (const [ref] of this.#heard.entries()) add(ref, 0);
    return due
      .toSorted((a, b) => a.dueMs - b.dueMs || a.writtenMs - b.writtenMs)
      .slice(0, LOOKED_UP)
      .map(({ ref }) => ref);
  }

  /**
   * Delay between reads of a market that awaits its result: 1, 2, 3, 5, 7 … minutes, at least hourly for two days, then daily. A market may
   * close long before its stated end.
   */
  #pauseMs({ ref, status, end_ms: endMs }: z.infer<typeof Awaited>, now: number): number {
    if (status !== 'closed') {
      this.#closedSince.delete(ref);
      return MINUTE_MS / 2;
    }
    const seenMs = this.#closedSince.get(ref) ?? now;
    this.#closedSince.set(ref, seenMs);
    const waitedMs = now - Math.min(endMs, seenMs);
    return Math.min(waitedMs < 2 * DAY_MS ? HOUR_MS : DAY_MS, Math.max(MINUTE_MS, waitedMs / 2));
  }

  /** Forgets unreadable markets that are settled or dropped by now. */
  #keepAwaited(unlisted: ReadonlySet<string>): void {
    const { platform } = this.#deps.data;
    const isAwaited = (ref: string): boolean =>
      unlisted.has(ref) || this.#heard.has(ref) || this.#deps.writer.isUnsettled(platform, ref);
    const names = this.#silent.entries().map(([ref]) => ref);
    this.#silent.keepOnly(new Set(names.filter(isAwaited)));
  }

  /** Reads markets that no list has and that trades refer to: the most traded are stored, and read again until they are settled. */
  async #readUnlisted(pass: Pass): Promise<number> {
    const { platform } = this.#deps.data;
    if (!this.#deps.data.unlisted) return 0;
    const limits = { fresh: UNLISTED.fresh + this.#silent.size, stored: UNLISTED.stored + this.#silent.size };
    const found = await this.#deps.clickhouse.query('unlisted_markets', Unlisted, { platform, ...limits });
    for (const { ref } of found) pass.unlisted.add(ref);
    const due = found.filter(({ ref }) => this.#silent.isDue(ref));
    const asked = [
      ...due.filter((market) => !market.is_stored).slice(0, UNLISTED.fresh),
      ...due.filter((market) => market.is_stored).slice(0, UNLISTED.stored),
    ];
    if (asked.length === 0) return 0;
    const records = await this.#deps.data.unlisted(
      asked.map(({ ref }) => ref),
      pass.context,
    );
    const rows = await this.#write(this.#deps.writer.unwritten(records));
    const read = new Set(records.map(({ info }) => info.ref));
    for (const { ref } of records.map(({ info }) => info)) this.#silent.forget(ref);
    // An archive may have the markets that the request did not return.
    const others = asked.filter((market) => !read.has(market.ref)).slice(0, UNLISTED.fresh);
    return rows + (await this.#readEach(others, pass));
  }

  /** Reads markets that no list returned, one after the other, and stores them while others are read. Returns the number of rows. */
  async #readEach<M extends Single>(markets: readonly M[], pass: Pass, onAsk?: (market: M) => void): Promise<number> {
    let rows = 0;
    await storeBehind(async (storeLater) => {
      for (const market of markets) {
        onAsk?.(market);
        const store = await this.#readAlone(market, pass);
        if (store) await storeLater(async () => void (rows += await store()));
      }
    });
    return rows;
  }

  /** Reads a market that no list returned. The returned step stores it, or drops it if it was provisional and is gone. */
  async #readAlone({ ref, provisional }: Single, pass: Pass): Promise<(() => Promise<number>) | null> {
    const { writer, data, log } = this.#deps;
    const { platform } = data;
    pass.context.signal?.throwIfAborted();
    const market = await this.#read(ref, pass);
    if (market === 'unreadable') return null;
    if (market === null && !provisional) {
      this.#silent.failed(ref, null);
      log.debug({ platform, ref }, 'The platform no longer knows this market');
      return null;
    }
    return async () => {
      const rows = market ? await writer.write(platform, [market]) : 0;
      // The platform may list it under another reference now.
      if (market?.info.ref !== ref) await writer.drop(platform, ref);
      return rows;
    };
  }

  /** Reads one market; an unreadable one counts as a bad row and does not stop the others. */
  async #read(ref: string, { context, again, reads, asked }: Pass): Promise<MarketRecord | null | 'unreadable'> {
    asked.add(ref);
    const own = this.#silent.hasFailed(ref) ? again : context;
    const market = await reads.attempt(() => this.#deps.data.market(ref, own));
    if (market instanceof PlatformError) {
      const reason = `${market.message} ${market.detail}`;
      this.#silent.failed(ref, reason);
      this.#report(ref, reason, context);
      return 'unreadable';
    }
    if (market) this.#silent.forget(ref);
    return market;
  }

  #report(ref: string, reason: string, context: ReadContext): void {
    context.onBadRow({ platform: this.#deps.data.platform, kind: 'market', id: ref, reason });
  }
}
