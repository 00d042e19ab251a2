import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Database } from '../stores/postgres/client.ts';
import { jsonbOf } from '../stores/postgres/json-row.ts';
import { type CopiedRow, rankOf, UNKNOWN_PRICE } from './rows.ts';

/** The columns of a rank that follow from its market. */
const RANKED = [
  'hidden',
  'status',
  'category_slug',
  'event_id',
  'by_volume_24h',
  'by_volume_total',
  'by_liquidity',
  'liquidity_known',
  'by_end_date',
  'by_created',
  'stale_at',
  'by_volume_24h_usd',
  'by_volume_7d_usd',
  'by_volume_total_usd',
  'stale_week_at',
  'by_price',
  'by_spread',
  'by_change_24h',
  'by_resolved',
  'by_liquidity_usd',
] as const;

const columns = (prefix: string): SQL => sql.raw(RANKED.map((name) => prefix + name).join(', '));

/** Stores ranks that changed. The trigger present_ranks_changed keeps the former ones for lists that began before. */
export async function storeRanks(
  db: Database,
  platform: Platform,
  rows: readonly CopiedRow[],
  version: string,
): Promise<void> {
  await db.execute(sql`
    INSERT INTO present_ranks AS old (key, platform, version, ${columns('')})
    SELECT key, ${platform}, ${version}::bigint, hidden, status, category_slug, event_id,
      CASE WHEN stale_at <= now() THEN 0 ELSE by_volume_24h END, by_volume_total, by_liquidity, liquidity_known, by_end_date, by_created,
      CASE WHEN stale_at > now() THEN stale_at END, CASE WHEN stale_at <= now() THEN 0 ELSE by_volume_24h_usd END,
      CASE WHEN stale_week_at <= now() THEN 0 ELSE by_volume_7d_usd END, by_volume_total_usd, CASE WHEN stale_week_at > now() THEN stale_week_at END,
      by_price, by_spread, CASE WHEN stale_at <= now() THEN ${String(UNKNOWN_PRICE)}::bigint ELSE by_change_24h END, by_resolved, by_liquidity_usd
    FROM jsonb_populate_recordset(NULL::present_ranks, ${jsonbOf(rows.map(rankOf))})
    ON CONFLICT (key) DO UPDATE SET (version, ${columns('')}) = ROW(excluded.version, ${columns('excluded.')})
    WHERE (${columns('old.')}) IS DISTINCT FROM (${columns('excluded.')})`);
}
