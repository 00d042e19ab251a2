import type { ClickHouse } from './client.ts';

/** A stored span ends a little before now, as feeds are read with an overlap. One that ends earlier than this has fallen behind. */
export const FEED_LAG_MS = 15 * 60_000;
/** The same for a bucket of minutes, which a single reading completes: some polls, and more than an idle feed ends before now. */
export const BUCKET_LAG_MS = 6 * 60_000;
const VIEW = 'market_windows_mv';

/** Computes the windows of all markets now, instead of waiting for the next refresh. */
export async function refreshWindows(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command(`SYSTEM REFRESH VIEW ${VIEW}`);
  await clickhouse.command(`SYSTEM WAIT VIEW ${VIEW}`);
}
