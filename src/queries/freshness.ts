import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Platform } from '../core/model.ts';

const KEPT_MS = 1000;
/** What was true stays true: a watermark this old is served while a newer one is being read, so that no answer waits for it. */
const SERVED_WHILE_READING_MS = 5000;
const Row = z.object({ platform: z.string(), listed_ms: z.coerce.number(), traded_ms: z.coerce.number() });
type Row = z.infer<typeof Row>;

/** Up to when the stored data of each platform is complete: the ingestion's own watermarks, not the clock. */
export class Freshness {
  readonly #clickhouse: Pick<ClickHouse, 'query'>;
  #kept: { rows: Row[]; readMs: number } | null = null;
  #reading: Promise<Row[]> | null = null;

  constructor(clickhouse: Pick<ClickHouse, 'query'>) {
    this.#clickhouse = clickhouse;
  }

  /** Start of the last complete listing pass; the older one when several platforms answer. Null before the first. */
  listings(platforms: readonly Platform[]): Promise<string | null> {
    return this.#oldest(platforms, (row) => row.listed_ms);
  }

  /** High-water mark of the stored trades; the older one when several platforms answer. Null before the first poll. */
  trades(platforms: readonly Platform[]): Promise<string | null> {
    return this.#oldest(platforms, (row) => row.traded_ms);
  }

  async #oldest(platforms: readonly Platform[], pick: (row: Row) => number): Promise<string | null> {
    const rows = await this.#rows();
    const marks = platforms.map((platform) => {
      const row = rows.find((r) => r.platform === platform);
      return row ? pick(row) : 0;
    });
    const oldest = Math.min(...marks);
    return oldest > 0 && Number.isFinite(oldest) ? new Date(oldest).toISOString() : null;
  }

  async #rows(): Promise<Row[]> {
    const kept = this.#kept;
    const ageMs = kept ? Date.now() - kept.readMs : Infinity;
    if (kept && ageMs < KEPT_MS) return kept.rows;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    if (!kept || ageMs >= SERVED_WHILE_READING_MS) return this.#reading;
    this.#reading.catch(() => {});
    return kept.rows;
  }

  async #read(): Promise<Row[]> {
    const readMs = Date.now();
    const rows = await this.#clickhouse.query('freshness', Row);
    this.#kept = { rows, readMs };
    return rows;
  }
}
