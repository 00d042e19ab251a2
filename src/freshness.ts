import { z } from 'zod';
import type { ClickHouse } from './clickhouse.ts';
import type { Platform } from './schemas.ts';

const KEPT_MS = 1000;
const Row = z.object({ platform: z.string(), listed_ms: z.coerce.number(), traded_ms: z.coerce.number() });

/** Up to when the stored data of each platform is complete: the ingestion's own watermarks, not the clock. */
export class Freshness {
  readonly #clickhouse: ClickHouse;
  #read: { rows: Promise<z.infer<typeof Row>[]>; until: number } | null = null;

  constructor(clickhouse: ClickHouse) {
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

  async #oldest(platforms: readonly Platform[], pick: (row: z.infer<typeof Row>) => number): Promise<string | null> {
    if (!this.#read || this.#read.until < Date.now()) {
      this.#read = { rows: this.#clickhouse.query('freshness', Row), until: Date.now() + KEPT_MS };
      this.#read.rows.catch(() => {
        this.#read = null;
      });
    }
    const rows = await this.#read.rows;
    const marks = platforms.map((platform) => {
      const row = rows.find((r) => r.platform === platform);
      return row ? pick(row) : 0;
    });
    const oldest = Math.min(...marks);
    return oldest > 0 && Number.isFinite(oldest) ? new Date(oldest).toISOString() : null;
  }
}
