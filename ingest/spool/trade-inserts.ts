import { randomUUID } from 'node:crypto';
import { SpacedCall } from '../../src/core/spaced-call.ts';
import type { Clock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { TRADE_COLUMNS } from '../../src/stores/clickhouse/insert-rows.ts';
import { INSERT_MARGIN_MS, type Lease } from '../../src/stores/shared/shared.ts';
import type { Platform } from '../../src/core/model.ts';
import { spoolName, type Spool } from './spool.ts';

/** Groups are sent at most this often, apart from bursts, large groups and while somebody waits for trades. */
const EVERY_MS = 1000;
const BURST = 10;
/** A group of this size is sent at once: more rows would not make it cheaper. */
const FULL_BYTES = 64 * 1024;

export interface TradeInsertsDeps {
  clickhouse: Pick<ClickHouse, 'insert'>;
  spool: Spool;
  clock: Clock;
  /** Whether somebody follows trades as they are stored: then no batch waits for others. */
  isUrgent?: () => boolean;
}

interface Batch {
  body: Buffer;
  lease: Lease;
  resolve(): void;
  reject(error: unknown): void;
}

interface Group {
  /** Deduplication token of the insert; the name of each batch in the spool contains it. */
  token: string;
  batches: Batch[];
  spooling: Promise<unknown>[];
  bytes: number;
}

/** A batch on its way: where it is spooled, and when it is stored. */
export interface SentBatch {
  name: string;
  stored: Promise<void>;
}

/** Inserts the trades of all platforms together: each insert feeds every roll-up, which costs the same for two trades and two hundred. */
export class TradeInserts {
  readonly #deps: TradeInsertsDeps;
  readonly #sending: SpacedCall;
  #group: Group | null = null;

  constructor(deps: TradeInsertsDeps) {
    this.#deps = deps;
    this.#sending = new SpacedCall(deps.clock, EVERY_MS, () => void this.#send(), BURST);
  }

  /** Whether somebody follows trades as they are stored. */
  readonly isUrgent = (): boolean => this.#deps.isUrgent?.() ?? false;

  /** Spools a batch, then inserts it with its group. `stored` rejects if the group's outcome is unknown, or the lease is about to end. */
  async add(platform: Platform, body: Buffer, lease: Lease): Promise<SentBatch> {
    const group = (this.#group ??= { token: randomUUID(), batches: [], spooling: [], bytes: 0 });
    const name = spoolName(`${platform}-${this.#deps.clock.now()}-${randomUUID()}`, group.token);
    const stored = new Promise<void>((resolve, reject) => {
      group.spooling.push(
        this.#deps.spool.put(name, body).then(() => group.batches.push({ body, lease, resolve, reject })),
      );
    });
    // The caller awaits it later; until then a failure must not count as an unhandled rejection.
    stored.catch(() => {});
    const spooled = group.spooling.at(-1);
    group.bytes += body.length;
    if (group.bytes >= FULL_BYTES || this.isUrgent()) void this.#send();
    else this.#sending.ask();
    await spooled;
    return { name, stored };
  }

  /** Sends the current group once its batches are spooled. Never rejects. */
  async #send(): Promise<void> {
    const group = this.#group;
    this.#group = null;
    if (!group) return;
    await Promise.allSettled(group.spooling);
    const held = group.batches.filter(({ lease, reject }) => {
      if (lease.remainingMs() >= INSERT_MARGIN_MS) return true;
      reject(new Error(`lease ${lease.name} is about to end; nothing was written`));
      return false;
    });
    if (held.length === 0) return;
    try {
      const body = Buffer.concat(held.map((batch) => batch.body));
      await this.#deps.clickhouse.insert(TRADE_COLUMNS, body, { token: group.token });
      for (const { resolve } of held) resolve();
    } catch (error) {
      for (const { reject } of held) reject(error);
    }
  }
}
