import { z } from 'zod';
import type { Services } from './app.ts';
import type { ClickHouse } from './clickhouse.ts';

/** A feed is read again this far back, so its stored span ends before now; one that ends earlier has fallen behind (as 007_windows.sql says too). */
export const FEED_LAG_MS = 15 * 60_000;
const FIRST_MS = 3000;
const VIEW = 'market_windows_mv';

/** Computes the windows of all markets now, instead of within some seconds. */
export async function refreshWindows(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command(`SYSTEM REFRESH VIEW ${VIEW}`);
  await clickhouse.command(`SYSTEM WAIT VIEW ${VIEW}`);
}

/** A store that was just begun has markets before it has windows: those who ask then wait for the first. */
export function firstWindows({ clickhouse, shared, log }: Pick<Services, 'clickhouse' | 'shared' | 'log'>) {
  let begun = false;
  return async (): Promise<void> => {
    if (begun) return;
    const [row] = await clickhouse.query('windows_count', z.object({ markets: z.coerce.number() }));
    begun = row !== undefined && row.markets > 0;
    if (begun) return;
    await shared.cached('windows:first', FIRST_MS, async () => {
      await refreshWindows(clickhouse).catch((error: unknown) => {
        log.warn({ err: error }, 'the windows of markets could not be computed now');
      });
      return true;
    });
  };
}
