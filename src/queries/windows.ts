import type { FastifyBaseLogger } from 'fastify';
import { type Clock, withTimeout } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { refreshWindows } from '../stores/clickhouse/windows.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Windows are computed again for a request if they are older than this, and than ten times what their computation took. */
const FRESH_MS = 10_000;
const SHARE = 10;
/** Longest time between two computations, also after one that hung. */
const MOST_MS = 5 * 60_000;
/** Requests wait for windows only if the last ones are older than so many times the time between two computations. */
const PERIODS = 3;

/** What is read from the windows of markets under a name: once for all requests until they are computed again. */
export type OfWindows = <T>(name: string, read: () => Promise<T>) => Promise<T>;

interface Deps {
  clickhouse: ClickHouse;
  shared: Pick<Shared, 'cached'>;
  log: Pick<FastifyBaseLogger, 'warn'>;
  clock: Clock;
}

/**
 * Computes the windows of markets when a request asks for them, for all requests of all processes together. During a computation,
 * requests are answered with the windows before it: their instant is `as_of`.
 */
export function askedWindows({ clickhouse, shared, log, clock }: Deps): () => Promise<OfWindows> {
  let everyMs = FRESH_MS;
  const refresh = async (): Promise<number> => {
    const startedAt = clock.elapsed();
    await refreshWindows(clickhouse).catch((error: unknown) => {
      log.warn({ err: error }, 'Failed to compute the windows of markets');
    });
    everyMs = Math.min(MOST_MS, Math.max(FRESH_MS, SHARE * (clock.elapsed() - startedAt)));
    return clock.now();
  };
  let last: number | null = null;
  const newest = async (): Promise<number> => {
    const { value } = await shared.cached('windows:asked', everyMs, refresh);
    last = value;
    return value;
  };
  return async () => {
    const found = newest();
    const known = last !== null && clock.now() - last < PERIODS * everyMs ? last : null;
    if (known !== null) found.catch(() => {});
    const computed = known ?? (await withTimeout(clock, found, null));
    // Windows that are being computed have no name yet.
    if (computed === null) return (_name, read) => read();
    return async (name, read) => (await shared.cached(`windows:${computed}:${name}`, PERIODS * everyMs, read)).value;
  };
}
