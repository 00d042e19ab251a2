import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { keptFrom } from '../src/stores/clickhouse/retention.ts';
import type { Platform } from '../src/core/model.ts';
import { storeTime } from '../src/core/time.ts';

/** Every roll-up of trades. Each is fed from `trades` alone, so a correction of one touches no other. */
export const ROLLUPS = ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals', 'whales', 'whale_sizes'] as const;
/** Roll-ups of single trades, where a correction cannot be a negative row. */
const LISTS = ['whales', 'whale_sizes'] as const;

/** The statement that inserts what a roll-up lacks. */
const correctionOf = (name: string): string =>
  `reconcile_${LISTS.some((list) => list === name) ? 'large_trades' : name}`;

/**
 * Compares each roll-up with the raw trades stored since `since` and inserts the difference; rows that lists hold twice are merged
 * into one. A retried insert can be dropped by one view's target while the others take it (the token is logged before the part is
 * committed), and a writer that lost its lease can store a batch again, so tokens alone do not suffice.
 */
export async function reconcile(clickhouse: ClickHouse, platform: Platform, since: Date): Promise<void> {
  // An hour of which trades have been dropped cannot be compared any more.
  const params = { platform, since: storeTime(since), kept_from: storeTime(await keptFrom(clickhouse, 'trades')) };
  for (const table of ROLLUPS) await clickhouse.run(correctionOf(table), { table, ...params });
  for (const table of LISTS) {
    const doubled = await clickhouse.query('doubled_rows', z.object({ year: z.number() }), { table, ...params });
    for (const { year } of doubled) await clickhouse.command(`OPTIMIZE TABLE ${table} PARTITION ${year} FINAL`);
  }
}
