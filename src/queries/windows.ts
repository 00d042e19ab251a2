import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../core/time.ts';
import { withTimeout } from '../core/with-timeout.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { refreshWindows } from '../stores/clickhouse/windows.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Windows are computed again for a request if they are older. */
const FRESH_MS = 10_000;

/** What is read from the windows of markets under a name: once for all requests until they are computed again. */
export type OfWindows = <T>(name: string, read: () => Promise<T>) => Promise<T>;

/**
 * Computes the windows of markets when they are asked, for all requests of all processes together. A request that waits too long is
 * answered with the last ones: their instant is `as_of`.
 */
export function askedWindows(deps: {
  clickhouse: ClickHouse;
  shared: Shared;
  log: Pick<FastifyBaseLogger, 'warn'>;
  clock: Clock;
}) {
  const { clickhouse, shared, log, clock } = deps;
  const refresh = async (): Promise<number> => {
    await refreshWindows(clickhouse).catch((error: unknown) => {
      log.warn({ err: error }, 'Failed to compute the windows of markets');
    });
    return clock.now();
  };
  return async (): Promise<OfWindows> => {
    const asked = await withTimeout(clock, shared.cached('windows:asked', FRESH_MS, refresh), null);
    // Windows that are being computed have no name yet.
    if (asked === null) return (_name, read) => read();
    return async (name, read) => (await shared.cached(`windows:${asked.value}:${name}`, FRESH_MS, read)).value;
  };
}
