import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../core/time.ts';
import { withTimeout } from '../core/with-timeout.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { refreshWindows } from '../stores/clickhouse/windows.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Windows are computed again for a request if they are older. */
const FRESH_MS = 10_000;

/**
 * Computes the windows of markets when they are asked, for all requests of all processes together. A request that waits too long is
 * answered with the last ones: their instant is `as_of`.
 */
export function askedWindows(deps: { clickhouse: ClickHouse; shared: Shared; log: FastifyBaseLogger; clock: Clock }) {
  const { clickhouse, shared, log, clock } = deps;
  const refresh = async (): Promise<boolean> => {
    await refreshWindows(clickhouse).catch((error: unknown) => {
      log.warn({ err: error }, 'Failed to compute the windows of markets');
    });
    return true;
  };
  return async (): Promise<void> => {
    await withTimeout(clock, shared.cached('windows:asked', FRESH_MS, refresh), null);
  };
}
