import { z } from 'zod';
import type { Clock } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { Platform } from '../core/model.ts';

const KEPT_MS = 1000;
/** How long watermarks are stated after that, while they are read again. */
const SERVED_MS = 1000;
const Row = z.object({ platform: z.string(), listed_ms: z.coerce.number(), traded_ms: z.coerce.number() });
type Row = z.infer<typeof Row>;

/**
 * Up to when the stored data of each platform is complete: the ingestion's watermarks, not the clock. ISO-8601; the oldest one over
 * several platforms; null if one of them has none.
 */
export interface Freshness {
  /** Start of the last complete listing pass. */
  listings(platforms: readonly Platform[]): Promise<string | null>;
  /** High-water mark of the stored trades. */
  trades(platforms: readonly Platform[]): Promise<string | null>;
}

/**
 * Reads watermarks at most once a second: complete data stays complete. While they are read again, answers state those read last, so that
 * a look-up in PostgreSQL does not wait for ClickHouse.
 */
export function createFreshness(
  clickhouse: Pick<ClickHouse, 'query'>,
  shared: Pick<Shared, 'cached'>,
  clock: Pick<Clock, 'elapsed'>,
): Freshness {
  let last: { rows: readonly Row[]; readAt: number } | null = null;
  const read = async (): Promise<readonly Row[]> => {
    const { value: rows } = await shared.cached('freshness', KEPT_MS, () => clickhouse.query('freshness', Row));
    last = { rows, readAt: clock.elapsed() };
    return rows;
  };
  const oldest = async (platforms: readonly Platform[], pick: (row: Row) => number): Promise<string | null> => {
    const age = clock.elapsed() - (last?.readAt ?? -Infinity);
    const known = age < KEPT_MS + SERVED_MS ? oldestOf(last?.rows ?? [], platforms, pick) : null;
    if (known !== null && age < KEPT_MS) return known;
    const reading = read();
    if (known === null) return oldestOf(await reading, platforms, pick);
    reading.catch(() => {
      // Answers state the known ones until these are too old; then they wait for the store, and fail with it.
    });
    return known;
  };
  return {
    listings: (platforms) => oldest(platforms, (row) => row.listed_ms),
    trades: (platforms) => oldest(platforms, (row) => row.traded_ms),
  };
}

function oldestOf(rows: readonly Row[], platforms: readonly Platform[], pick: (row: Row) => number): string | null {
  const marks = platforms.map((platform) => {
    const row = rows.find((r) => r.platform === platform);
    return row ? pick(row) : 0;
  });
  const mark = Math.min(...marks);
  return mark > 0 && Number.isFinite(mark) ? new Date(mark).toISOString() : null;
}
