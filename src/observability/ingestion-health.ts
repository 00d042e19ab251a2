import type { Clock } from '../core/time.ts';
import type { Platform } from '../core/model.ts';
import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Config } from '../core/config.ts';
import type { SocketStatus } from '../platforms/sockets/contract.ts';
import type { SocketStates } from '../platforms/sockets/states.ts';

/** The last run of an ingestion job in a day. */
export interface LastJobRun {
  name: string;
  ok: boolean;
  finishedMs: number;
  /** Why it failed, or what it left out; '' if there is nothing to say. */
  note: string;
}

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
  /** What the last run of each job left out, and why. */
  leftOut: string[];
  /** By name. */
  jobs: LastJobRun[];
}

/** Leaving out this many rows or fields in a run means that the platform changed its format; fewer are odd rows. */
const MANY = 5;
/** Data older than this many polls counts as a failure. */
const POLLS_BEHIND = 10;
const LEAST_SECONDS = 120;
/** Jobs that run more rarely are not reported. */
const JOB_DAYS = 1;
/** As long as runs are kept: a platform may not have answered for days. */
const KEPT_DAYS = 30;

const Row = z.object({
  platform: z.string(),
  job: z.string(),
  last_ok: z.boolean(),
  fresh_ms: z.coerce.number(),
  finished_ms: z.coerce.number(),
  last_note: z.string(),
  last_left_out: z.coerce.number(),
  worst: z.tuple([z.coerce.number(), z.string()]),
  worst_fields: z.tuple([z.coerce.number(), z.string()]),
});
type Row = z.output<typeof Row>;

/** The newest time at which both markets and trades are known to be complete, Unix ms; 0 before the first sync. */
function completeTo(runs: readonly Row[], platform: Platform): number {
  const markOf = (...jobs: string[]): number =>
    Math.max(0, ...runs.flatMap((run) => (run.platform === platform && jobs.includes(run.job) ? run.fresh_ms : [])));
  return Math.min(markOf('markets', 'changed'), markOf('trades'));
}

/** The state of each platform from its recorded runs: its lag, failing jobs, and what many rows of the last hour lacked. */
export async function ingestionHealth(
  clickhouse: ClickHouse,
  config: Pick<Config, 'platforms' | 'TRADES_SECONDS' | 'SWEEP_SECONDS'>,
  { sockets, clock }: { sockets?: Pick<SocketStates, 'of'>; clock: Clock },
): Promise<IngestionHealth[]> {
  const runsOf = (days: number): Promise<Row[]> => clickhouse.query('ingestion_health', Row, { days });
  const runs = await runsOf(JOB_DAYS);
  const hasOldMark = config.platforms.some((platform) => completeTo(runs, platform) === 0);
  const marks = hasOldMark ? await runsOf(KEPT_DAYS) : runs;
  const allowed = Math.max(LEAST_SECONDS, POLLS_BEHIND * Math.max(config.TRADES_SECONDS, config.SWEEP_SECONDS));
  return config.platforms.map((platform): IngestionHealth => {
    const own = runs.filter((run) => run.platform === platform);
    const mark = completeTo(marks, platform);
    const lagSeconds = mark > 0 ? Math.max(0, Math.round((clock.now() - mark) / 1000)) : null;
    const problems = own.flatMap(problemsOf);
    if (lagSeconds === null) problems.unshift('the first sync is not complete yet');
    else if (lagSeconds > allowed) problems.unshift(`${lagSeconds} s behind`);
    const socket = sockets?.of(platform) ?? null;
    const fresh = socket?.isLive === true ? 'live' : 'polling';
    const feed = lagSeconds === null || lagSeconds > allowed ? 'stale' : fresh;
    return {
      platform,
      status: problems.length === 0 ? 'ok' : 'degraded',
      lagSeconds,
      feed,
      socket,
      detail: problems.join('; '),
      leftOut: own.filter((run) => run.last_ok && run.last_left_out > 0).map((run) => `${run.job}: ${run.last_note}`),
      jobs: own
        .map((run) => ({ name: run.job, ok: run.last_ok, finishedMs: run.finished_ms, note: run.last_note }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    };
  });
}

function problemsOf({ job, last_ok, last_note, worst, worst_fields }: Row): string[] {
  const [[rows, why], [fields, whyFields]] = [worst, worst_fields];
  return [
    ...(last_ok ? [] : [`${job} fails: ${last_note}`]),
    ...(rows >= MANY ? [`${job} skipped ${rows} rows in one run: ${why}`] : []),
    ...(fields >= MANY ? [`${job} left out ${fields} fields in one run: ${whyFields}`] : []),
  ];
}
