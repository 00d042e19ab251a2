import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { Platform } from '../src/schemas.ts';
import { microsecondText } from '../src/storage-rows.ts';

/** A stored span of a feed: every trade executed in [fromUs, toUs] is in the store. Unix µs. */
export interface Coverage {
  fromUs: number;
  toUs: number;
  /** The platform's own volume at the time of reading; '' where the feed is not driven by it. */
  marker: string;
}

const Row = z.object({ from_us: z.coerce.number(), to_us: z.coerce.number(), marker: z.string() });

/** The span of one feed; `ref` '' is the feed over all markets of a platform. */
export async function readCoverage(clickhouse: ClickHouse, platform: Platform, ref: string): Promise<Coverage | null> {
  const [row] = await clickhouse.query('trade_coverage', Row, { platform, ref });
  return row ? { fromUs: row.from_us, toUs: row.to_us, marker: row.marker } : null;
}

const moving = new Map<string, Promise<unknown>>();

/**
 * Moves the span from what it is at this moment; to be called only after the rows it speaks of were acknowledged. Moves of one
 * feed follow one another: the poll moves the end while the backfill moves the start.
 */
export function moveCoverage(
  clickhouse: ClickHouse,
  platform: Platform,
  ref: string,
  move: (span: Coverage | null) => Coverage,
): Promise<void> {
  const key = `${platform}:${ref}`;
  const turn = (moving.get(key) ?? Promise.resolve())
    .catch(() => {})
    .then(async () => {
      const span = move(await readCoverage(clickhouse, platform, ref));
      await clickhouse.insert('trade_coverage (platform, ref, complete_from, complete_to, marker)', [
        {
          platform,
          ref,
          complete_from: microsecondText(span.fromUs),
          complete_to: microsecondText(span.toUs),
          marker: span.marker,
        },
      ]);
    })
    .finally(() => {
      if (moving.get(key) === turn) moving.delete(key);
    });
  moving.set(key, turn);
  return turn;
}
