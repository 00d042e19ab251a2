import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import cron from 'node-cron';
import type { FastifyBaseLogger } from 'fastify';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { PlatformError } from '../src/core/errors.ts';
import type { BadRow, ReadContext } from '../src/platforms/contract.ts';
import type { Priority } from '../src/platforms/http/request.ts';
import type { Lease, Shared } from '../src/stores/shared/shared.ts';
import type { FinishedRun, Platform } from '../src/core/model.ts';

const LEASE_MS = 20_000;
const RENEW_MS = 5000;
/** A clock that goes back by more was set; by less it is kept in time. */
const SET_BACK_MS = 1000;

export interface JobRun {
  lease: Lease;
  signal: AbortSignal;
  /** A context for reads of the platform; bad rows are counted and logged. */
  context(priority: Priority): ReadContext;
}

export interface JobResult {
  /** The instant up to which the job's data is complete. */
  freshTo: Date;
  rows: number;
  note?: string;
}

/** One periodic duty for one platform. Only the holder of `<platform>:<lease>` runs it. */
export interface Job {
  platform: Platform;
  name: string;
  /** Jobs that name the same lease run in one process. */
  lease: string;
  everySeconds: number;
  run(run: JobRun): Promise<JobResult | null>;
}

export interface JobDeps {
  shared: Shared;
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  /** Called with every run that ended, whether it could be recorded or not. */
  onRun?: ((run: FinishedRun) => void) | undefined;
}

/** What one run skipped. */
class BadRows {
  count = 0;
  readonly examples: BadRow[] = [];
  readonly #reasons = new Map<string, number>();

  add(row: BadRow): void {
    this.count += 1;
    if (this.examples.length < 5) this.examples.push(row);
    const reason = `${row.kind} ${row.reason}`.slice(0, 200);
    if (this.#reasons.size < 100 || this.#reasons.has(reason)) {
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    }
  }

  /** The commonest reasons, `market volume_fp: missing (45 rows)`; '' when nothing was skipped. */
  words(): string {
    const common = [...this.#reasons].toSorted(([, a], [, b]) => b - a).slice(0, 3);
    return common.map(([reason, rows]) => `${reason} (${rows} ${rows === 1 ? 'row' : 'rows'})`).join('; ');
  }
}

/** node-cron counts whole seconds, minutes or hours; a period between is rounded up to the next that divides. */
export function cronExpression(seconds: number): string {
  if (seconds < 60) return `*/${[1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].find((n) => n >= seconds) ?? 30} * * * * *`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `0 */${[1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].find((n) => n >= minutes) ?? 30} * * * *`;
  const hours = Math.ceil(minutes / 60);
  return `0 0 */${[1, 2, 3, 4, 6, 8, 12].find((n) => n >= hours) ?? 12} * * *`;
}

const clockAheadMs = (): number => Date.now() - performance.now();

/**
 * Runs jobs on node-cron's clock: at once after start, then every period; never two runs of one job, never without the lease.
 * A lease lost in the middle aborts the run before anything more is written under it.
 */
export class JobRunner {
  readonly #deps: JobDeps;
  readonly #tasks: Pick<ReturnType<typeof cron.schedule>, 'start' | 'stop'>[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #jobs = new Map<string, Job>();
  /** Jobs that were asked for while they ran. */
  readonly #again = new Set<string>();
  readonly #leases = new Map<string, Lease>();
  readonly #acquiring = new Map<string, Promise<Lease | null>>();
  readonly #stopping = new AbortController();
  readonly #worker = randomUUID().slice(0, 8);
  /** Of each job: whether its last run went well, and up to when its data is complete. */
  readonly #last = new Map<string, { ok: boolean; freshTo: Date | null }>();
  #renewal: NodeJS.Timeout | undefined;
  /** By how much the clock is ahead of the time since the process began. */
  #clockAheadMs = clockAheadMs();

  constructor(deps: JobDeps) {
    this.#deps = deps;
    // Every request in flight listens to it, of all jobs together: more than the ten at which Node suspects a leak.
    setMaxListeners(0, this.#stopping.signal);
  }

  start(jobs: readonly Job[]): void {
    this.#renewal = setInterval(() => {
      void this.#renewAll();
      void this.#followClock();
    }, RENEW_MS);
    for (const job of jobs) {
      this.#jobs.set(`${job.platform}:${job.name}`, job);
      const tick = (): void => void this.#tick(job);
      const logger = this.#deps.log.child({ platform: job.platform, job: job.name });
      this.#tasks.push(cron.schedule(cronExpression(job.everySeconds), tick, { logger }));
      tick();
    }
  }

  /** Runs a job now instead of at its next period; once more if it is running. */
  trigger(platform: Platform, name: string): void {
    const key = `${platform}:${name}`;
    const job = this.#jobs.get(key);
    if (this.#running.has(key)) this.#again.add(key);
    else if (job) void this.#tick(job);
  }

  /** Stops starting runs, aborts those that run, and releases the leases; bounded by `timeoutMs`. */
  async stop(timeoutMs = 8000): Promise<void> {
    this.#stopping.abort();
    for (const task of this.#tasks) await task.stop();
    await Promise.race([
      Promise.allSettled(this.#running.values()),
      new Promise((resolve) => setTimeout(resolve, timeoutMs).unref()),
    ]);
    clearInterval(this.#renewal);
    for (const lease of this.#leases.values()) await lease.release();
  }

  async #tick(job: Job): Promise<void> {
    const key = `${job.platform}:${job.name}`;
    if (this.#stopping.signal.aborted || this.#running.has(key)) return;
    const run = this.#run(job, key);
    this.#running.set(key, run);
    await run.finally(() => this.#running.delete(key));
    if (this.#again.delete(key)) void this.#tick(job);
  }

  async #run(job: Job, key: string): Promise<void> {
    const log = this.#deps.log.child({ platform: job.platform, job: job.name });
    const startedAt = new Date();
    const bad = new BadRows();
    const context = (priority: Priority): ReadContext => ({
      priority,
      signal: this.#stopping.signal,
      onBadRow: (row) => bad.add(row),
    });
    let result: JobResult | null = null;
    let failure = '';
    try {
      const lease = await this.#lease(`${job.platform}:${job.lease}`);
      if (!lease) return;
      result = await job.run({ lease, signal: this.#stopping.signal, context });
      // Nothing was due. After a failure that is reported too: /health would otherwise show the failure until something is due.
      if (result === null && this.#last.get(key)?.ok !== false) return;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      failure = error instanceof PlatformError ? `${error.message} ${error.detail}` : String((error as Error).message);
      log.error({ err: error }, 'Job failed');
    }
    const badRows = bad.count;
    if (badRows > 0)
      log.warn({ badRows, examples: bad.examples }, 'Skipped rows: a required field is missing or malformed');
    const note = failure || bad.words() || (result?.note ?? '');
    await this.#report(key, job, startedAt, { ok: failure === '', result, badRows, note });
  }

  async #report(
    key: string,
    job: Job,
    startedAt: Date,
    outcome: { ok: boolean; result: JobResult | null; badRows: number; note: string },
  ): Promise<void> {
    const finishedAt = new Date();
    const known = outcome.result?.freshTo ?? this.#last.get(key)?.freshTo ?? null;
    // What a clock that was ahead recorded is no longer true.
    const freshTo = known !== null && known > finishedAt ? finishedAt : known;
    const { ok, badRows, note } = outcome;
    this.#last.set(key, { ok, freshTo });
    const ms = finishedAt.getTime() - startedAt.getTime();
    const rows = outcome.result?.rows ?? 0;
    this.#deps.onRun?.({ platform: job.platform, job: job.name, ok, seconds: ms / 1000, freshTo, rows, badRows });
    if (rows > 0) this.#deps.log.info({ platform: job.platform, job: job.name, rows, badRows, ms }, 'stored');
    await this.#deps.clickhouse
      .insert('ingestion_runs', [
        {
          platform: job.platform,
          job: job.name,
          started_at: startedAt.toISOString(),
          finished_at: finishedAt.toISOString(),
          ok,
          fresh_to: (freshTo ?? new Date(0)).toISOString(),
          rows,
          bad_rows: badRows,
          note: note.slice(0, 500).toWellFormed(),
          worker: this.#worker,
        },
      ])
      .catch((error: unknown) => this.#deps.log.error({ err: error, job: key }, 'Failed to record the run'));
  }

  /** The lease of this process, or null while another process holds it. Jobs of one lease share it. */
  held(name: string): Lease | null {
    const lease = this.#leases.get(name);
    return lease && lease.remainingMs() > 0 ? lease : null;
  }

  async #lease(name: string): Promise<Lease | null> {
    const held = this.held(name);
    if (held) return held;
    const acquiring =
      this.#acquiring.get(name) ?? this.#deps.shared.lease(name, LEASE_MS).finally(() => this.#acquiring.delete(name));
    this.#acquiring.set(name, acquiring);
    const lease = await acquiring;
    if (lease) this.#leases.set(name, lease);
    else this.#leases.delete(name);
    return lease;
  }

  /** node-cron waits for an instant: after a clock that was set back it would wait for all the time until then. */
  async #followClock(): Promise<void> {
    const before = this.#clockAheadMs;
    this.#clockAheadMs = clockAheadMs();
    if (this.#clockAheadMs > before - SET_BACK_MS) return;
    this.#deps.log.warn({ ms: before - this.#clockAheadMs }, 'The clock was set back; jobs are rescheduled');
    for (const task of this.#tasks) {
      await task.stop();
      if (!this.#stopping.signal.aborted) await task.start();
    }
  }

  async #renewAll(): Promise<void> {
    for (const [name, lease] of this.#leases) {
      if (await lease.renew(LEASE_MS).catch(() => false)) continue;
      if (this.#leases.get(name) === lease) this.#leases.delete(name);
      this.#deps.log.warn({ lease: name }, 'Lease lost; another process takes over');
    }
  }
}
