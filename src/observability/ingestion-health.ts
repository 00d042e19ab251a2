import type { Platform } from '../core/model.ts';
import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Config } from '../core/config.ts';
import type { SocketStatus } from '../platforms/sockets/contract.ts';
import type { SocketStates } from '../platforms/sockets/states.ts';

/** How far a platform's stored data lags behind. */
export interface IngestionHealth {
  platform: Platform;
  status: 'ok' | 'degraded' | 'down';
  /** Seconds since the newest time at which stored data is known to be complete; null before the first sweep. */
  lagSeconds: number | null;
  /** live: sockets trigger each read. stale: data is too old, or none is stored yet. */
  feed: 'live' | 'polling' | 'stale';
  /** null if no process reports sockets of the platform. */
  socket: SocketStatus | null;
  /** What is wrong; '' if nothing is. */
  detail: string;
}

/** Skipping this many rows in a run means that the platform changed its format; fewer are odd rows. */
const MANY_ROWS = 5;
/** Data older than this many polls counts as a failure. */
const POLLS_BEHIND = 10;
const LEAST_SECONDS = 120;

const Row = z.object({
  platform: z.string(),
  job: z.string(),
  last_ok: z.boolean(),
  fresh_ms: z.coerce.number(),
  last_note: z.string(),
  worst: z.tuple([z.coerce.number(), z.string()]),
});

/** The state of each platform from its recorded runs: its lag, failing jobs, and fields missing from many rows of the last hour. */
export async function ingestionHealth(
  clickhouse: ClickHouse,
  config: Pick<Config, 'platforms' | 'TRADES_SECONDS' | 'SWEEP_SECONDS'>,
  sockets: Pick<SocketStates, 'of'> = { of: () => null },
): Promise<IngestionHealth[]> {
  const runs = await clickhouse.query('ingestion_health', Row);
  const allowed = Math.max(LEAST_SECONDS, POLLS_BEHIND * Math.max(config.TRADES_SECONDS, config.SWEEP_SECONDS));
  return config.platforms.map((platform): IngestionHealth => {
    const own = runs.filter((run) => run.platform === platform);
    const listing = own.filter((run) => run.job === 'markets' || run.job === 'changed');
    const trades = own.find((run) => run.job === 'trades');
    const marks = [Math.max(0, ...listing.map((run) => run.fresh_ms)), trades?.fresh_ms ?? 0];
    const oldest = Math.min(...marks);
    const lagSeconds = oldest > 0 ? Math.max(0, Math.round((Date.now() - oldest) / 1000)) : null;
    const problems = own
      .filter((run) => !run.last_ok)
      .map((run) => `${run.job} fails: ${run.last_note}`)
      .concat(
        own
          .filter(({ worst: [rows] }) => rows >= MANY_ROWS)
          .map(({ job, worst: [rows, why] }) => `${job} skipped ${rows} rows in one run: ${why}`),
      );
    if (lagSeconds === null) problems.unshift('the first sync is not complete yet');
    else if (lagSeconds > allowed) problems.unshift(`${lagSeconds} s behind`);
    const socket = sockets.of(platform);
    const fresh = socket?.isLive === true ? 'live' : 'polling';
    const feed = lagSeconds === null || lagSeconds > allowed ? 'stale' : fresh;
    return {
      platform,
      status: problems.length === 0 ? 'ok' : 'degraded',
      lagSeconds,
      feed,
      socket,
      detail: problems.join('; '),
    };
  });
}
