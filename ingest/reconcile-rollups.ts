import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { keptFrom } from '../src/stores/clickhouse/retention.ts';
import type { Platform } from '../src/core/model.ts';

/** Every roll-up of trades. Each is fed from `trades` alone, so a correction of one touches no other. */
export const ROLLUPS = ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals', 'whales', 'whale_sizes'] as const;
/** Roll-ups of single trades, where a correction cannot be a negative row. */
const LISTS = ['whales', 'whale_sizes'] as const;

const isList = (name: string): boolean => LISTS.some((list) => list === name);
const statements = new Map(
  ROLLUPS.map((name) => {
    const file = isList(name) ? 'large_trades' : name;
    return [name, readFileSync(new URL(`../sql/reconcile/${file}.sql`, import.meta.url), 'utf8')];
  }),
);

const text = (time: Date): string => time.toISOString().slice(0, 23).replace('T', ' ');

/**
 * Compares each roll-up with the raw trades stored since `since` and inserts the difference; rows that lists hold twice are merged
 * into one. A retried insert can be dropped by one view's target while the others take it (the token is logged before the part is
 * committed), and a writer that lost its lease can store a batch again, so tokens alone do not suffice.
 */
export async function reconcile(clickhouse: ClickHouse, platform: Platform, since: Date): Promise<void> {
  // An hour of which trades have been dropped cannot be compared any more.
  const params = { platform, since: text(since), kept_from: text(await keptFrom(clickhouse, 'trades')) };
  for (const table of ROLLUPS) await clickhouse.command(statements.get(table) ?? '', { table, ...params });
  for (const table of LISTS) {
    const doubled = await clickhouse.query('doubled_rows', z.object({ year: z.number() }), { table, ...params });
    for (const { year } of doubled) await clickhouse.command(`OPTIMIZE TABLE ${table} PARTITION ${year} FINAL`);
  }
}
