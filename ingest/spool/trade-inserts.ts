import { randomUUID } from 'node:crypto';
import { GatheredCalls } from '../../src/core/gathered-calls.ts';
import type { Clock } from '../../src/core/time.ts';
import type { ClickHouse, Urgency } from '../../src/stores/clickhouse/client.ts';
import { INSERT_GROUPS } from '../../src/stores/clickhouse/grouped-inserts.ts';
import { TRADE_COLUMNS } from '../../src/stores/clickhouse/insert-rows.ts';
import { type Lease, requireTime } from '../../src/stores/shared/shared.ts';
import type { Platform } from '../../src/core/model.ts';
import { spoolName, type Spool } from './spool.ts';

interface TradeInsertsDeps {
  clickhouse: Pick<ClickHouse, 'insert'>;
  spool: Spool;
  clock: Clock;
  /** Whether somebody follows trades as they are stored: then no batch waits for others. */
  isUrgent: () => boolean;
}

interface Batch {
  body: Buffer;
  lease: Lease;
  spooled: Promise<void>;
}

/** A batch on its way: where it is spooled, and when it is stored. */
export interface SentBatch {
  name: string;
  stored: Promise<void>;
}

/** Inserts the trades of all platforms together. Each insert feeds every roll-up, and costs the same for two trades as for two hundred. */
export class TradeInserts {
  readonly #deps: TradeInsertsDeps;
  readonly #groups: GatheredCalls<Batch, void>;
  /** Deduplication token of the next insert; the name of each of its batches in the spool contains it. */
  #token = randomUUID();

  constructor(deps: TradeInsertsDeps) {
    this.#deps = deps;
    this.#groups = new GatheredCalls({
      clock: deps.clock,
      ...INSERT_GROUPS,
      sizeOf: ({ body }) => body.length,
      run: (batches) => this.#insert(batches),
    });
  }

  /** Whether somebody follows trades as they are stored. */
  readonly isUrgent = (): boolean => this.#deps.isUrgent();

  /** Spools a batch, then inserts it with its group. `stored` rejects if the group's outcome is unknown, or the lease is about to end. */
  async add(platform: Platform, body: Buffer, lease: Lease, { isUrgent = false }: Urgency = {}): Promise<SentBatch> {
    const name = spoolName(`${platform}-${this.#deps.clock.now()}-${randomUUID()}`, this.#token);
    const spooled = this.#deps.spool.put(name, body);
    const stored = this.#groups.add({ body, lease, spooled }, isUrgent || this.isUrgent());
    // The caller awaits it later; until then a failure must not count as an unhandled rejection.
    stored.catch(() => {});
    await spooled;
    return { name, stored };
  }

  /** Inserts batches once they are spooled, except those that are not spooled or whose lease is about to end. */
  async #insert(batches: readonly Batch[]): Promise<(batch: Batch, at: number) => Promise<void> | undefined> {
    const token = this.#token;
    this.#token = randomUUID();
    await Promise.allSettled(batches.map(({ spooled }) => spooled));
    const checks = batches.map(async ({ spooled, lease }) => {
      await spooled;
      requireTime(lease);
    });
    const checked = await Promise.allSettled(checks);
    const held = batches.filter((_, at) => checked[at]?.status === 'fulfilled');
    const body = Buffer.concat(held.map((batch) => batch.body));
    if (held.length > 0) await this.#deps.clickhouse.insert(TRADE_COLUMNS, body, { token });
    return (_batch, at) => checks[at];
  }
}
