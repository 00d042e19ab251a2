import type { ClickHouse } from './client.ts';

/** A feed is read again this far back, so its stored span ends before now; one that ends earlier has fallen behind (as 007_windows.sql says too). */
export const FEED_LAG_MS = 15 * 60_000;
const VIEW = 'market_windows_mv';

/** Computes the windows of all markets now, instead of within some seconds. */
export async function refreshWindows(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command(`SYSTEM REFRESH VIEW ${VIEW}`);
  await clickhouse.command(`SYSTEM WAIT VIEW ${VIEW}`);
}
