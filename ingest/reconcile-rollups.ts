import { z } from 'zod';
import type { ClickHouse, QueryParams } from '../src/stores/clickhouse/client.ts';
import { keyRanges } from '../src/stores/clickhouse/key-ranges.ts';
import { keptFrom } from '../src/stores/clickhouse/retention.ts';
import type { Platform } from '../src/core/model.ts';
import { storeTime } from '../src/core/time.ts';

/** Roll-ups that list single trades: a negative row cannot correct them. */
const LISTS = ['whales', 'whale_sizes'] as const;

/**
 * sql/queries/<name>.sql inserts what a roll-up lacks. Each roll-up is fed from `trades` alone, so corrections are independent;
 * only the totals read hourly bars, which are corrected first.
 */
const CORRECTIONS: readonly { query: string; params?: QueryParams }[] = [
  { query: 'reconcile_candles', params: { table: 'candles_1m', step: 60 } },
  { query: 'reconcile_candles', params: { table: 'candles_1h', step: 3600 } },
  { query: 'reconcile_volume_1h' },
  { query: 'reconcile_market_totals' },
  { query: 'reconcile_doubles' },
  ...LISTS.map((table) => ({ query: 'reconcile_large_trades', params: { table } })),
];

/** A row of sql/queries/trades_since.sql. */
const Count = z.object({ trades: z.coerce.number() });

/**
 * Compares each roll-up with the trades stored since `since`, by ranges of markets, and inserts the difference; merges duplicate list
 * rows. Tokens alone do not suffice: a retried insert can be dropped by one view's target and applied by others (the token is logged
 * before the part is committed), and a writer that lost its lease can store a batch twice.
 */
export async function reconcile(
  clickhouse: ClickHouse,
  platform: Platform,
  since: Date,
  tradesPerRange?: number,
): Promise<void> {
  const asked = { platform, since: storeTime(since) };
  const [stored] = await clickhouse.query('trades_since', Count, asked);
  // All corrections begin with the trades that were stored since then.
  if (!stored?.trades) return;
  // `kept_from`: hours whose trades were dropped can no longer be compared.
  const params = { ...asked, kept_from: storeTime(await keptFrom(clickhouse, 'trades')) };
  for (const range of keyRanges(stored.trades, tradesPerRange)) {
    for (const { query, params: own } of CORRECTIONS) await clickhouse.run(query, { ...params, ...own, ...range });
  }
  for (const table of LISTS) {
    const doubled = await clickhouse.query('doubled_rows', z.object({ year: z.number() }), { table, ...params });
    for (const { year } of doubled) await clickhouse.command(`OPTIMIZE TABLE ${table} PARTITION ${year} FINAL`);
  }
}
