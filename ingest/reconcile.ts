import { readFileSync } from 'node:fs';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { Platform } from '../src/schemas.ts';

/** Every roll-up of trades. Each is fed from `trades` alone, so a correction of one touches no other. */
export const ROLLUPS = ['candles_1m', 'candles_1h', 'volume_1h', 'market_totals', 'whales'] as const;

const statements = new Map(
  ROLLUPS.map((name) => [name, readFileSync(new URL(`../sql/reconcile/${name}.sql`, import.meta.url), 'utf8')]),
);

/**
 * Compares each roll-up with the raw trades stored since `since` and inserts the difference. A retried insert can be dropped by
 * one view's target while the others take it (the token is logged before the part is committed), so tokens alone do not suffice.
 */
export async function reconcile(clickhouse: ClickHouse, platform: Platform, since: Date): Promise<void> {
  const from = since.toISOString().slice(0, 23).replace('T', ' ');
  for (const name of ROLLUPS) await clickhouse.command(statements.get(name) ?? '', { platform, since: from });
}
