import { refreshWindows } from '../stores/clickhouse/windows.ts';
import { z } from 'zod';
import type { FastifyBaseLogger } from 'fastify';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';

const FIRST_MS = 3000;
/** A new store has markets before it has windows: requests wait for the first computation. */
export function firstWindows({
  clickhouse,
  shared,
  log,
}: {
  clickhouse: ClickHouse;
  shared: Shared;
  log: FastifyBaseLogger;
}) {
  let begun = false;
  return async (): Promise<void> => {
    if (begun) return;
    const [row] = await clickhouse.query('windows_count', z.object({ markets: z.coerce.number() }));
    begun = row !== undefined && row.markets > 0;
    if (begun) return;
    await shared.cached('windows:first', FIRST_MS, async () => {
      await refreshWindows(clickhouse).catch((error: unknown) => {
        log.warn({ err: error }, 'Failed to compute the windows of markets');
      });
      return true;
    });
  };
}
