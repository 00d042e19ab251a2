import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { keptFrom } from '../src/stores/clickhouse/retention.ts';
import type { Platform, TradeRecord } from '../src/core/model.ts';
import { microsecondText, packTradeId } from '../src/stores/clickhouse/insert-rows.ts';

const RECENT_US = 2 * 3600 * 1_000_000;
const RECENT_LIMIT = 400_000;
const CHECK_ROWS = 1000;
/** Trades younger than this are never dropped for their age: RETENTION_TRADES_DAYS is 35 at least. */
const KEPT_US = 30 * 86_400 * 1_000_000;

/** A row of sql/queries/stored_trades.sql. */
const SpanRow = z.object({ rows: z.coerce.number(), oldest_us: z.coerce.number(), newest_us: z.coerce.number() });

/** A row of sql/queries/recent_trade_ids.sql. */
const RecentRow = z.object({ trade_id: z.string(), at_us: z.coerce.number() });

/** What a trade is found by in the store. */
export type StoredKey = Pick<TradeRecord, 'tradeId' | 'ref' | 'transactionHash' | 'executedAtUs'>;

/** Knows which trades of a platform are stored: the newest by heart, older ones by asking the store. */
export class TradeDedup {
  readonly #clickhouse: ClickHouse;
  readonly #platform: Platform;
  /** Ids of every stored trade executed at or after #floorUs. */
  #recent = new Map<string, number>();
  #floorUs = 0;
  /** No stored trade of the platform was executed before this; null while the store is empty. */
  #oldestUs: number | null = null;

  constructor(clickhouse: ClickHouse, platform: Platform) {
    this.#clickhouse = clickhouse;
    this.#platform = platform;
  }

  /** Reads what is stored. */
  async open(): Promise<void> {
    const [span] = await this.#clickhouse.query('stored_trades', SpanRow, { platform: this.#platform });
    if (!span || span.rows === 0) {
      this.#oldestUs = null;
      this.#floorUs = Date.now() * 1000 - RECENT_US;
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

  /** Another reading follows. */
  clear(): void {
    this.#recent.clear();
  }

  /** These trades are stored. */
  remember(trades: readonly Pick<TradeRecord, 'tradeId' | 'executedAtUs'>[]): void {
    for (const { tradeId, executedAtUs } of trades) {
      if (this.#oldestUs === null || executedAtUs < this.#oldestUs) this.#oldestUs = executedAtUs;
      if (executedAtUs >= this.#floorUs) this.#recent.set(tradeId, executedAtUs);
    }
    if (this.#recent.size > RECENT_LIMIT) this.#forgetOldest();
  }

  /** Of these trades those that are neither stored nor among `underWay`, each once. */
  async unstored(trades: readonly TradeRecord[], underWay: ReadonlySet<string>): Promise<TradeRecord[]> {
    const unseen = new Map<string, TradeRecord>();
    for (const trade of trades) {
      if (!this.#recent.has(trade.tradeId) && !underWay.has(trade.tradeId)) unseen.set(trade.tradeId, trade);
    }
    const doubtful = [...unseen.values()].filter(
      (t) => t.executedAtUs < this.#floorUs && this.#oldestUs !== null && t.executedAtUs >= this.#oldestUs,
    );
    for (let i = 0; i < doubtful.length; i += CHECK_ROWS) {
      for (const id of await this.#storedIds(doubtful.slice(i, i + CHECK_ROWS))) unseen.delete(id);
    }
    const old = [...unseen.values()].filter((t) => t.executedAtUs < Date.now() * 1000 - KEPT_US);
    const keptFromUs = old.length === 0 ? 0 : (await keptFrom(this.#clickhouse, 'trades')).getTime() * 1000;
    const dropped = old.filter((t) => t.executedAtUs < keptFromUs);
    for (let i = 0; i < dropped.length; i += CHECK_ROWS) {
      for (const id of await this.#countedIds(dropped.slice(i, i + CHECK_ROWS))) unseen.delete(id);
    }
    return [...unseen.values()];
  }

  /** Of these trades those that the store does not hold. */
  async missing<T extends StoredKey>(spooled: readonly T[]): Promise<T[]> {
    const stored = new Set<string>();
    for (let i = 0; i < spooled.length; i += CHECK_ROWS) {
      for (const id of await this.#storedIds(spooled.slice(i, i + CHECK_ROWS))) stored.add(id);
    }
    return spooled.filter((trade) => !stored.has(trade.tradeId));
  }

  /** Of these trades those of minutes whose rows were dropped for their age: every roll-up has them, and would count them again. */
  async #countedIds(trades: readonly TradeRecord[]): Promise<string[]> {
    const refs = [...new Set(trades.map((t) => t.ref))];
    const keys = refs.map((ref) => `sipHash64('${this.#platform}', unhex('${Buffer.from(ref).toString('hex')}'))`);
    const minutes = trades.map((t) => Math.floor(t.executedAtUs / 60_000_000) * 60);
    const rows = await this.#clickhouse.sql<{ market: number; minute: number }>(
      `SELECT indexOf([${keys.join(',')}], market_key) AS market, toUnixTimestamp(t) AS minute
       FROM (
         SELECT market_key, t, sum(n) AS counted FROM candles_1m
         WHERE market_key IN (${keys.join(',')}) AND t >= toDateTime({from:UInt32}, 'UTC') AND t <= toDateTime({to:UInt32}, 'UTC')
         GROUP BY market_key, t
       ) AS b
       LEFT JOIN (
         SELECT market_key, toStartOfMinute(executed_at) AS t, count() AS held FROM trades FINAL
         WHERE market_key IN (${keys.join(',')}) AND executed_at >= toDateTime({from:UInt32}, 'UTC') AND executed_at < toDateTime({to:UInt32}, 'UTC') + 60
         GROUP BY market_key, t
       ) AS r USING (market_key, t)
       WHERE counted > held`,
      { from: Math.min(...minutes), to: Math.max(...minutes) },
    );
    const gone = new Set(rows.map(({ market, minute }) => `${refs[Number(market) - 1]} ${minute}`));
    return trades.filter((t, i) => gone.has(`${t.ref} ${minutes[i]}`)).map((t) => t.tradeId);
  }

  async #storedIds(trades: readonly StoredKey[]): Promise<string[]> {
    // Only digits and hex reach the text: a thousand references do not fit in a URL as parameters.
    const keys = [...new Set(trades.map((t) => t.ref))].map(
      (ref) => `sipHash64('${this.#platform}', unhex('${Buffer.from(ref).toString('hex')}'))`,
    );
    const orders = trades.map((trade) => String(packTradeId(trade).order));
    const times = trades.map((trade) => trade.executedAtUs);
    const rows = await this.#clickhouse.sql<{ trade_id: string }>(
      `SELECT trade_id FROM trades WHERE market_key IN (${keys.join(',')})
       AND executed_at >= {from:DateTime64(6)} AND executed_at <= {to:DateTime64(6)} AND trade_order IN (${orders.join(',')})`,
      { from: microsecondText(Math.min(...times)), to: microsecondText(Math.max(...times)) },
    );
    return rows.map((row) => row.trade_id);
  }

  #forgetOldest(): void {
    const times = [...this.#recent.values()].toSorted((a, b) => a - b);
    this.#floorUs = (times[Math.floor(times.length / 2)] ?? 0) + 1;
    this.#recent = new Map([...this.#recent].filter(([, at]) => at >= this.#floorUs));
  }
}
