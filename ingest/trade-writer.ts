import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import type { Platform, TradeRecord } from '../src/core/model.ts';
import { TRADE_COLUMNS } from '../src/stores/clickhouse/insert-rows.ts';
import type { NewEvent } from './event-appender.ts';
import { reconcile } from './reconcile-rollups.ts';
import type { Spool } from './spool.ts';
import { linesOf, spooledTrades } from './trade-batch.ts';
import { TradeDedup } from './trade-dedup.ts';
import type { TradeLog } from './trade-log.ts';
import { TradeNames } from './trade-names.ts';

/** An insert may take this long; a lease with less left is not written under. */
const INSERT_MARGIN_MS = 3000;
/** How far before a failure the reconciliation looks: longer than any insert and any skew between clocks. */
const RECONCILE_MARGIN_MS = 10 * 60_000;
/** An insert of the writer before, sent while its lease still held, has arrived by then. */
const LATE_INSERT_MS = 2 * 60_000;

export interface TradeWriterDeps {
  clickhouse: ClickHouse;
  spool: Spool;
  log: FastifyBaseLogger;
  platform: Platform;
  /** Where stored trades become events of streams; absent where streams are off. */
  events?: TradeLog;
}

interface Batch {
  trades: TradeRecord[];
  token: string;
  body: Buffer;
}

/**
 * Stores trades exactly once, and logs each as an event once it is stored. What is already stored is dropped before the insert, because views see inserted blocks, not
 * deduplicated rows; the batch is spooled, inserted under the spool's name as token, then forgotten. One writer a platform at a
 * time: the caller's lease says so, and is checked before every insert.
 */
export class TradeWriter {
  readonly #deps: TradeWriterDeps;
  readonly #stored: TradeDedup;
  readonly #names: TradeNames;
  /** Two stages, a batch each: one is checked, serialised and spooled while the one before it is being inserted. */
  readonly #preparing = new PQueue({ concurrency: 1 });
  readonly #inserting = new PQueue({ concurrency: 1 });
  /** Ids between the stages: spooled, not acknowledged. */
  readonly #underWay = new Set<string>();
  /** Set when an insert's result is unknown: the next write repairs first. */
  #repairFrom: Date | null = null;
  #storingSince: Date | null = null;
  /** When to look again for what the writer before has stored meanwhile. */
  #lateCheck: { dueMs: number; from: Date } | null = null;

  constructor(deps: TradeWriterDeps) {
    this.#deps = deps;
    this.#stored = new TradeDedup(deps.clickhouse, deps.platform);
    this.#names = new TradeNames(deps);
  }

  /** Repairs what a crash left (spooled batches, roll-ups behind their trades) and reads what is stored. */
  open(lease: Lease, reconciledTo: Date | null): Promise<void> {
    return this.#preparing.add(() => this.#inserting.add(() => this.#open(lease, reconciledTo)));
  }

  async #open(lease: Lease, reconciledTo: Date | null): Promise<void> {
    this.#stored.clear();
    this.#repairFrom = reconciledTo ? new Date(reconciledTo.getTime() - RECONCILE_MARGIN_MS) : new Date(0);
    await this.#deps.events?.open(lease);
    await this.#repair(lease);
    const openedMs = Date.now();
    const from = new Date(openedMs - RECONCILE_MARGIN_MS);
    this.#lateCheck = reconciledTo && { dueMs: openedMs + LATE_INSERT_MS, from };
    await this.#stored.open();
  }

  /** Every batch acknowledged before this instant reached all roll-ups and the log of events. */
  consistentUntil(): Date {
    return this.#repairFrom ?? this.#storingSince ?? new Date();
  }

  /**
   * Stores the trades that are not stored yet; resolves when they, every roll-up and the log of events hold them. Returns how many
   * were new. Batches are stored in the order of the calls; one that fails stays spooled and is repaired before the next. Trades of
   * one instant are logged in the order given.
   */
  async write(trades: readonly TradeRecord[], lease: Lease): Promise<number> {
    const batch = await this.#preparing.add(() => this.#prepare(trades, lease));
    if (!batch) return 0;
    await this.#inserting.add(() => this.#store(batch, lease));
    return batch.trades.length;
  }

  async #prepare(trades: readonly TradeRecord[], lease: Lease): Promise<Batch | null> {
    if (this.#lateCheck && Date.now() >= this.#lateCheck.dueMs) {
      this.#repairFrom ??= this.#lateCheck.from;
      this.#lateCheck = null;
    }
    if (this.#repairFrom) await this.#inserting.add(() => this.#repair(lease));
    const fresh = await this.#stored.unstored(trades, this.#underWay);
    if (fresh.length === 0) return null;
    await this.#names.store(fresh);
    const token = `${this.#deps.platform}-${Date.now()}-${randomUUID()}`;
    const body = linesOf(fresh);
    await this.#deps.spool.put(token, body);
    for (const trade of fresh) this.#underWay.add(trade.tradeId);
    return { trades: fresh, token, body };
  }

  async #store({ trades, token, body }: Batch, lease: Lease): Promise<void> {
    this.#storingSince = new Date();
    try {
      // Looked up and written out while the trades are being stored; logged only then.
      const events = this.#deps.events?.eventsOf(trades);
      events?.catch(() => {});
      await this.#insert(token, body, lease);
      await this.#deps.spool.remove(token);
      this.#stored.remember(trades);
      if (events) await this.#logEvents(events, lease);
    } finally {
      this.#storingSince = null;
      for (const trade of trades) this.#underWay.delete(trade.tradeId);
    }
  }

  async #logEvents(events: Promise<NewEvent[]>, lease: Lease): Promise<void> {
    try {
      // Behind a batch that failed these would come too early: the repair logs all of them in order.
      if (this.#repairFrom) throw new Error('a batch before this one failed; both are logged by the repair');
      await this.#deps.events?.append(await events, lease);
    } catch (error) {
      this.#repairFrom ??= new Date(Date.now() - RECONCILE_MARGIN_MS);
      throw error;
    }
  }

  async #insert(token: string, body: Buffer, lease: Lease): Promise<void> {
    try {
      if (lease.remainingMs() < INSERT_MARGIN_MS)
        throw new Error(`lease ${lease.name} is about to end; nothing was written`);
      await this.#deps.clickhouse.insert(TRADE_COLUMNS, body, { token });
    } catch (error) {
      this.#repairFrom ??= new Date(Date.now() - RECONCILE_MARGIN_MS);
      throw error;
    }
  }

  /** Sends spooled batches again under their tokens, then what is still missing, then corrects the roll-ups and the log. */
  async #repair(lease: Lease): Promise<void> {
    if (!this.#repairFrom) return;
    const since = this.#repairFrom;
    for (const token of await this.#deps.spool.pending(`${this.#deps.platform}-`)) {
      const body = await this.#deps.spool.read(token);
      const spooled = spooledTrades(body);
      if (spooled === null) {
        // A power cut tears files. No cursor has moved for what was in it: it is read again.
        this.#deps.log.warn({ platform: this.#deps.platform, token }, 'Skipped a damaged spooled batch');
        await this.#deps.spool.remove(token);
        continue;
      }
      await this.#insert(token, body, lease);
      const missing = await this.#stored.missing(spooled);
      if (missing.length > 0) {
        const rows = missing.length;
        this.#deps.log.warn(
          { platform: this.#deps.platform, rows },
          'A batch was lost under its token; storing it again',
        );
        await this.#insert(
          `${token}-${randomUUID()}`,
          Buffer.from(`${missing.map((t) => t.line).join('\n')}\n`),
          lease,
        );
      }
      await this.#deps.spool.remove(token);
      this.#stored.remember(spooled);
    }
    await reconcile(this.#deps.clickhouse, this.#deps.platform, since);
    await this.#deps.events?.reconcile(since, lease);
    this.#repairFrom = null;
  }
}
