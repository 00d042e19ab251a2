import { randomUUID } from 'node:crypto';
import type { Log } from '../src/core/log.ts';
import PQueue from 'p-queue';
import { SingleFlight } from '../src/core/single-flight.ts';
import type { Clock } from '../src/core/time.ts';
import type { ClickHouse, Urgency } from '../src/stores/clickhouse/client.ts';
import { type Lease, requireTime } from '../src/stores/shared/shared.ts';
import type { Platform, TradeRecord } from '../src/core/model.ts';
import { TRADE_COLUMNS } from '../src/stores/clickhouse/insert-rows.ts';
import type { NewEvent } from './event-appender.ts';
import { reconcile } from './reconcile-rollups.ts';
import { REPAIR_MARGIN_MS, type TradeCopier } from '../src/present/trades/copier.ts';
import { type Spool, tokenOf } from './spool/spool.ts';
import { linesOf, spooledTrades } from './trade-batch.ts';
import type { SentBatch, TradeInserts } from './spool/trade-inserts.ts';
import { TradeDedup } from './trade-dedup.ts';
import type { TradeLog } from './trade-log.ts';
import { TradeNames } from './trade-names.ts';

/** After this time an insert that the previous writer sent under its lease has arrived. */
const LATE_INSERT_MS = 2 * 60_000;

export interface TradeWriterDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  spool: Spool;
  log: Log;
  platform: Platform;
  inserts: TradeInserts;
  /** Logs stored trades as stream events. */
  events: Pick<TradeLog, 'open' | 'eventsOf' | 'append' | 'reconcile'>;
  /** Called with markets whose trades were stored. */
  onStored: (refs: Set<string>) => void;
  /** Copies stored trades to PostgreSQL; never fails. */
  copier: Pick<TradeCopier, 'stored' | 'missed' | 'named'>;
}

interface Batch extends SentBatch {
  trades: TradeRecord[];
  isUrgent: boolean;
}

interface Call {
  trades: readonly TradeRecord[];
  lease: Lease;
  isUrgent: boolean;
  /** When the names of the trades are stored. */
  named: Promise<void>;
}

/**
 * Stores trades exactly once, then logs them as events. Stored ones are skipped before the insert, because views see inserted blocks, not
 * deduplicated rows. A batch is spooled, then inserted under the token in its spool name. The caller's lease ensures one writer per platform.
 */
export class TradeWriter {
  readonly #deps: TradeWriterDeps;
  readonly #clock: Clock;
  readonly #stored: TradeDedup;
  readonly #names: TradeNames;
  /** Two stages, one batch in each: a batch is checked, serialised and spooled while the previous one is inserted. */
  readonly #preparing = new PQueue({ concurrency: 1 });
  readonly #inserting = new PQueue({ concurrency: 1 });
  /** Ids of trades that are spooled but not acknowledged. */
  readonly #underWay = new Set<string>();
  /** Set if an insert's result is unknown: the next write first repairs from this time on. */
  #repairFrom: Date | null = null;
  #storingSince: Date | null = null;
  /** The lease under which `openOnce` has opened this writer. */
  #under: Lease | null = null;
  readonly #opening = new SingleFlight<Lease>();
  /** A second repair, for trades that the previous writer stores after `open`: when it is due, and from which time on it repairs. */
  #lateCheck: { dueMs: number; from: Date } | null = null;

  constructor(deps: TradeWriterDeps) {
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#stored = new TradeDedup(deps.clickhouse, deps.platform, this.#clock);
    this.#names = new TradeNames({ ...deps, isUrgent: deps.inserts.isUrgent });
  }

  /** Opens under each new lease, before anything is stored. `checkpoint` reads up to when the store was last found consistent. */
  async openOnce(lease: Lease, checkpoint: () => Promise<Date | null>): Promise<void> {
    if (this.#under === lease) return;
    await this.#opening.run(lease, async () => {
      await this.open(lease, await checkpoint());
      this.#under = lease;
    });
  }

  isOpenUnder(lease: Lease): boolean {
    return this.#under === lease;
  }

  /** Repairs what a crash left (spooled batches, roll-ups that lag their trades) and loads the ids of stored trades. */
  open(lease: Lease, reconciledTo: Date | null): Promise<void> {
    return this.#preparing.add(() => this.#inserting.add(() => this.#open(lease, reconciledTo)));
  }

  async #open(lease: Lease, reconciledTo: Date | null): Promise<void> {
    this.#stored.clear();
    this.#repairFrom = reconciledTo ? new Date(reconciledTo.getTime() - REPAIR_MARGIN_MS) : new Date(0);
    await this.#deps.events.open(lease);
    await this.#repair(lease);
    const openedMs = this.#clock.now();
    const from = new Date(openedMs - REPAIR_MARGIN_MS);
    this.#lateCheck = reconciledTo && { dueMs: openedMs + LATE_INSERT_MS, from };
    await this.#stored.open();
  }

  /** Every batch acknowledged before this time is in all roll-ups and the event log. */
  consistentUntil(): Date {
    return this.#repairFrom ?? this.#storingSince ?? new Date(this.#clock.now());
  }

  /**
   * Stores the new trades and returns their number. Resolves once roll-ups and event log have all given trades, also those that another
   * call is storing. Batches are logged in the order of the calls, trades of one instant in the given order. A failed batch stays spooled
   * and is repaired before the next. Urgent trades do not wait for those of other callers.
   */
  async write(trades: readonly TradeRecord[], lease: Lease, { isUrgent = false }: Urgency = {}): Promise<number> {
    // It begins at once: calls wait for each other, and their names go into one insert.
    const named = this.#names.store(trades, { isUrgent });
    named.catch(() => {});
    const { rows, done } = await this.#preparing.add(() => this.#begin({ trades, lease, isUrgent, named }));
    await done;
    return rows;
  }

  /** Prepares the new trades and queues their insert, all before the next call prepares: its repair would store spooled trades again. */
  async #begin(call: Call): Promise<{ rows: number; done: Promise<void> }> {
    const { trades, lease } = call;
    await this.#repairIfDue(lease);
    const isSomeUnderWay = trades.some(({ tradeId }) => this.#underWay.has(tradeId));
    const batch = await this.#prepare(call);
    if (!batch && !isSomeUnderWay) return { rows: 0, done: Promise.resolve() };
    const done = this.#inserting.add(async () => {
      if (batch) await this.#store(batch, lease);
      if (isSomeUnderWay && this.#repairFrom) throw new Error('a batch with some of these trades failed');
    });
    // `write` awaits it after this stage; until then a failure must not count as an unhandled rejection.
    done.catch(() => {});
    return { rows: batch?.trades.length ?? 0, done };
  }

  async #repairIfDue(lease: Lease): Promise<void> {
    if (this.#lateCheck && this.#clock.now() >= this.#lateCheck.dueMs) {
      const { from } = this.#lateCheck;
      this.#lateCheck = null;
      // A batch that is stored while a repair is pending counts as failed.
      await this.#inserting.onIdle();
      if (!this.#repairFrom || from < this.#repairFrom) this.#repairFrom = from;
    }
    if (this.#repairFrom) await this.#inserting.add(() => this.#repair(lease));
  }

  async #prepare({ trades, lease, isUrgent, named }: Call): Promise<Batch | null> {
    const fresh = await this.#stored.unstored(trades, this.#underWay);
    if (fresh.length === 0) return null;
    await named;
    const sent = await this.#deps.inserts.add(this.#deps.platform, linesOf(fresh), lease, { isUrgent });
    for (const trade of fresh) this.#underWay.add(trade.tradeId);
    return { trades: fresh, isUrgent, ...sent };
  }

  async #store({ trades, isUrgent, name, stored }: Batch, lease: Lease): Promise<void> {
    this.#storingSince = new Date(this.#clock.now());
    try {
      // Prepared while the trades are being stored, logged only afterwards.
      const events = this.#deps.events.eventsOf(trades);
      events.catch(() => {});
      // A failed insert may have been stored.
      await this.#orRepair(() => stored);
      this.#stored.remember(trades);
      // Copied before it leaves the spool: the repair of a killed process's batch copies it too.
      await this.#deps.copier.stored(trades);
      await this.#orRepair(() => this.#deps.spool.remove(name));
      this.#deps.onStored(new Set(trades.map(({ ref }) => ref)));
      await this.#orRepair(() => this.#logEvents(events, lease, isUrgent));
    } finally {
      this.#storingSince = null;
      for (const trade of trades) this.#underWay.delete(trade.tradeId);
    }
  }

  async #logEvents(events: Promise<NewEvent[]>, lease: Lease, isUrgent: boolean): Promise<void> {
    // After a failed batch these events would be out of order: the repair logs all of them.
    if (this.#repairFrom) throw new Error('a batch before this one failed; both are logged by the repair');
    const ready = await events;
    // Batches behind this one wait until its events are stored.
    await this.#deps.events.append(ready, lease, { isUrgent: isUrgent || this.#inserting.size > 0 });
  }

  /** Takes a step of storing a batch. If it fails, a repair is due. */
  async #orRepair(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#repairFrom ??= new Date(this.#clock.now() - REPAIR_MARGIN_MS);
      throw error;
    }
  }

  /** Sends a batch of a repair. */
  async #insert(token: string, body: Buffer, lease: Lease): Promise<void> {
    requireTime(lease);
    await this.#deps.clickhouse.insert(TRADE_COLUMNS, body, { token });
  }

  /** Inserts spooled batches again under their tokens, then trades that are still missing; then corrects roll-ups and event log. */
  async #repair(lease: Lease): Promise<void> {
    if (!this.#repairFrom) return;
    const since = this.#repairFrom;
    const refs = new Set<string>();
    for (const name of await this.#deps.spool.pending(`${this.#deps.platform}-`)) {
      const token = tokenOf(name);
      const body = await this.#deps.spool.read(name);
      const spooled = spooledTrades(body);
      if (spooled === null) {
        // A power failure can damage files. No watermark has moved past these trades, so they will be read again.
        this.#deps.log.warn({ platform: this.#deps.platform, name }, 'Skipped a damaged spooled batch');
        await this.#deps.spool.remove(name);
        continue;
      }
      await this.#insert(token, body, lease);
      const missing = await this.#stored.missing(spooled);
      if (missing.length > 0) {
        const rows = missing.length;
        // The store lost them, or a batch of another platform has used the token of their group.
        this.#deps.log.warn(
          { platform: this.#deps.platform, rows },
          'Trades of a batch are missing; storing them again',
        );
        await this.#insert(
          `${token}-${randomUUID()}`,
          Buffer.from(`${missing.map((t) => t.line).join('\n')}\n`),
          lease,
        );
      }
      await this.#deps.spool.remove(name);
      this.#stored.remember(spooled);
      for (const { ref } of spooled) refs.add(ref);
    }
    await reconcile(this.#deps.clickhouse, this.#deps.platform, since);
    this.#deps.copier.missed(since.getTime());
    this.#deps.onStored(refs);
    await this.#deps.events.reconcile(since, lease);
    this.#repairFrom = null;
  }
}
