import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { Platform } from '../src/core/model.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';

/** A stored span of a feed: every trade executed in [fromUs, toUs] is in the store. Unix µs. */
export interface Coverage {
  fromUs: number;
  toUs: number;
  /** The platform's own volume at the time of reading; '' where the feed is not driven by it. */
  marker: string;
}

const Row = z
  .object({ from_us: z.coerce.number(), to_us: z.coerce.number(), marker: z.string(), version_us: z.coerce.number() })
  .transform((row) => ({ fromUs: row.from_us, toUs: row.to_us, marker: row.marker, versionUs: row.version_us }));

/** The span of one feed, with its version in the store; `ref` '' is the feed over all markets of a platform. */
export async function readCoverage(clickhouse: ClickHouse, platform: Platform, ref: string) {
  const [row] = await clickhouse.query('trade_coverage', Row, { platform, ref });
  return row ?? null;
}

const moving = new Map<string, Promise<unknown>>();

/**
 * Moves the span from what it is at this moment; to be called only after the rows it covers were acknowledged. Moves of one
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
      const stored = await readCoverage(clickhouse, platform, ref);
      const { fromUs, toUs, marker } = move(stored);
      // The highest version counts: after a clock that was ahead, the next one is still higher.
      const versionUs = Math.max(Date.now() * 1000, (stored?.versionUs ?? 0) + 1);
      await clickhouse.insert('trade_coverage (platform, ref, complete_from, complete_to, marker, version)', [
        {
          platform,
          ref,
          complete_from: microsecondText(fromUs),
          complete_to: microsecondText(toUs),
          marker,
          version: microsecondText(versionUs),
        },
      ]);
    })
    .finally(() => {
      if (moving.get(key) === turn) moving.delete(key);
    });
  moving.set(key, turn);
  return turn;
}
