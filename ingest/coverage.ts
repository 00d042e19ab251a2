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

/** Moves the span; to be called only after the rows it speaks of were acknowledged. */
export async function writeCoverage(
  clickhouse: ClickHouse,
  platform: Platform,
  ref: string,
  span: Coverage,
): Promise<void> {
  await clickhouse.insert('trade_coverage (platform, ref, complete_from, complete_to, marker)', [
    {
      platform,
      ref,
      complete_from: microsecondText(span.fromUs),
      complete_to: microsecondText(span.toUs),
      marker: span.marker,
    },
  ]);
}
