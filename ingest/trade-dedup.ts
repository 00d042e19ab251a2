import { z } from 'zod';
import { Cache } from '../src/core/cache.ts';
import { type Clock, DAY_US } from '../src/core/time.ts';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { keptFrom } from '../src/stores/clickhouse/retention.ts';
import type { Platform, TradeRecord } from '../src/core/model.ts';
import { microsecondText, packTradeId } from '../src/stores/clickhouse/insert-rows.ts';
import { partsOf } from '../src/core/parts.ts';

const RECENT_US = 2 * 3600 * 1_000_000;
const RECENT_LIMIT = 400_000;
/** Maximum older ids that are remembered after a look-up: a page of a quiet feed has the same old trades at every poll. */
const OLDER_LIMIT = 20_000;
/** A server accepts parameters of up to 128 KiB (http_max_field_value_size): this many references of 250 characters. */
const CHECK_ROWS = 500;
/** Retention never drops trades younger than this: RETENTION_TRADES_DAYS is 0 (no limit) or at least 35. */
const KEPT_US = 30 * DAY_US;

/** A row of sql/queries/stored_trades.sql. */
const SpanRow = z.object({ rows: z.coerce.number(), oldest_us: z.coerce.number(), newest_us: z.coerce.number() });

/** A row of sql/queries/recent_trade_ids.sql. */
const RecentRow = z.object({ trade_id: z.string(), at_us: z.coerce.number() });

/** A row of sql/queries/stored_trade_ids.sql. */
const IdRow = z.object({ trade_id: z.string() });

/** A row of sql/queries/dropped_minutes.sql; `minute` is its start, Unix seconds. */
const DroppedRow = z.object({ ref: z.string(), minute: z.number() });

/** The fields that locate a trade in the store. */
export type StoredKey = Pick<TradeRecord, 'tradeId' | 'ref' | 'transactionHash' | 'executedAtUs'>;

/** Which trades of a platform are stored: ids of the newest are in memory, older ones are looked up in the store and remembered. */
export class TradeDedup {
  readonly #clickhouse: ClickHouse;
  readonly #platform: Platform;
  readonly #clock: Clock;
  /** Ids of every stored trade executed at or after #floorUs. */
  #recent = new Map<string, number>();
  #floorUs = 0;
  readonly #older = new Cache<string, true>({ limit: OLDER_LIMIT });
  /** No stored trade of the platform was executed before this; null while the store is empty. */
  #oldestUs: number | null = null;

  constructor(clickhouse: ClickHouse, platform: Platform, clock: Clock) {
    this.#clock = clock;
    this.#clickhouse = clickhouse;
    this.#platform = platform;
  }

  /** Loads the newest ids. */
  async open(): Promise<void> {
    const [span] = await this.#clickhouse.query('stored_trades', SpanRow, { platform: this.#platform });
    if (!span || span.rows === 0) {
      this.#oldestUs = null;
      this.#floorUs = this.#clock.now() * 1000 - RECENT_US;
      return;
    }
    this.#oldestUs = span.oldest_us;
    this.#floorUs = span.newest_us - RECENT_US;
    const rows = await this.#clickhouse.query('recent_trade_ids', RecentRow, {
      platform: this.#platform,
      floor: microsecondText(this.#floorUs),
      limit: RECENT_LIMIT,
    });
    for (const row of rows.toReversed()) this.#recent.set(row.trade_id, row.at_us);
    if (rows.length === RECENT_LIMIT) this.#floorUs = Number(rows.at(-1)?.at_us) + 1;
  }

  /** Call it before another `open`. */
  clear(): void {
    this.#recent.clear();
    this.#older.clear();
  }

  /** Adds trades that were just stored. */
  remember(trades: readonly Pick<TradeRecord, 'tradeId' | 'executedAtUs'>[]): void {
    for (const { tradeId, executedAtUs } of trades) {
      if (this.#oldestUs === null || executedAtUs < this.#oldestUs) this.#oldestUs = executedAtUs;
      if (executedAtUs >= this.#floorUs) this.#recent.set(tradeId, executedAtUs);
    }
    if (this.#recent.size > RECENT_LIMIT) this.#forgetOldest();
  }

  /** The trades that are not stored and not in `underWay`, without duplicates. */
  async unstored(trades: readonly TradeRecord[], underWay: ReadonlySet<string>): Promise<TradeRecord[]> {
    const unseen = new Map<string, TradeRecord>();
    for (const trade of trades) {
      const { tradeId } = trade;
      if (this.#recent.has(tradeId) || underWay.has(tradeId) || this.#older.get(tradeId)) continue;
      unseen.set(tradeId, trade);
    }
    const doubtful = [...unseen.values()].filter(
      (t) => t.executedAtUs < this.#floorUs && this.#oldestUs !== null && t.executedAtUs >= this.#oldestUs,
    );
    for (const part of partsOf(doubtful, CHECK_ROWS)) {
      for (const id of await this.#storedIds(part)) {
        unseen.delete(id);
        this.#older.set(id, true);
      }
    }
    const youngFromUs = this.#clock.now() * 1000 - KEPT_US;
    const old = [...unseen.values()].filter((t) => t.executedAtUs < youngFromUs);
    const keptFromUs = old.length === 0 ? 0 : (await keptFrom(this.#clickhouse, 'trades')).getTime() * 1000;
    const dropped = old.filter((t) => t.executedAtUs < keptFromUs);
    for (const part of partsOf(dropped, CHECK_ROWS)) {
      for (const id of await this.#countedIds(part)) unseen.delete(id);
    }
    return [...unseen.values()];
  }

  /** The trades that are not in the store. */
  async missing<T extends StoredKey>(spooled: readonly T[]): Promise<T[]> {
    const stored = new Set<string>();
    for (const part of partsOf(spooled, CHECK_ROWS)) {
      for (const id of await this.#storedIds(part)) stored.add(id);
    }
    return spooled.filter((trade) => !stored.has(trade.tradeId));
  }

  /** Ids of trades in minutes whose rows retention has dropped: roll-ups have counted them already. */
  async #countedIds(trades: readonly TradeRecord[]): Promise<string[]> {
    const minutes = trades.map((t) => Math.floor(t.executedAtUs / 60_000_000) * 60);
    const rows = await this.#clickhouse.query('dropped_minutes', DroppedRow, {
      ...this.#markets(trades),
      from: Math.min(...minutes),
      to: Math.max(...minutes),
    });
    const dropped = new Set(rows.map(({ ref, minute }) => `${ref} ${minute}`));
    return trades.filter((t, i) => dropped.has(`${t.ref} ${minutes[i]}`)).map((t) => t.tradeId);
  }

  async #storedIds(trades: readonly StoredKey[]): Promise<string[]> {
    const times = trades.map((trade) => trade.executedAtUs);
    const rows = await this.#clickhouse.query('stored_trade_ids', IdRow, {
      ...this.#markets(trades),
      from: microsecondText(Math.min(...times)),
      to: microsecondText(Math.max(...times)),
      orders: trades.map((trade) => packTradeId(trade).order),
    });
    return rows.map((row) => row.trade_id);
  }

  #markets(trades: readonly StoredKey[]): { platform: Platform; refs: string[] } {
    return { platform: this.#platform, refs: [...new Set(trades.map((trade) => trade.ref))] };
  }

  #forgetOldest(): void {
    const times = [...this.#recent.values()].toSorted((a, b) => a - b);
    this.#floorUs = (times[Math.floor(times.length / 2)] ?? 0) + 1;
    this.#recent = new Map([...this.#recent].filter(([, at]) => at >= this.#floorUs));
  }
}
