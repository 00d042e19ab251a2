import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { type Clock, DAY_MS, sharedAbort, type Stop } from '../src/core/time.ts';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { RunLog } from '../src/stores/clickhouse/run-log.ts';
import { PlatformError, type PlatformErrorKind } from '../src/core/errors.ts';
import { SingleFlight } from '../src/core/single-flight.ts';
import { messageOf } from '../src/core/log.ts';
import type { ReadContext } from '../src/platforms/contract.ts';
import type { Priority } from '../src/platforms/http/request.ts';
import type { Lease, Shared } from '../src/stores/shared/shared.ts';
import type { FinishedRun, Platform } from '../src/core/model.ts';
import { LeftOut } from '../src/platforms/left-out.ts';
import { failedJobs } from './last-run.ts';

const LEASE_MS = 20_000;
const RENEW_MS = 5000;
/** Runs that have not ended this long after they were aborted are left, and so is what they still write. */
const STOP_MS = 8000;
/** Failures that all jobs of a platform have at once: it does not answer. */
const AWAY: ReadonlySet<PlatformErrorKind> = new Set(['unavailable', 'timeout', 'maintenance', 'geo_blocked']);

export interface JobRun {
  lease: Lease;
  signal: AbortSignal;
  /** A context for reads of the platform; what is left out is counted and logged. */
  context(priority: Priority): ReadContext;
}

export interface JobResult {
  /** The instant up to which the job's data is complete. */
  freshTo: Date;
  rows: number;
  note?: string;
  /** Whether `freshTo` is the time of a row that cannot be stored yet. */
  isHeld?: boolean;
}

/** A periodic job of one platform. Only the holder of the lease `<platform>:<lease>` runs it. */
export interface Job {
  platform: Platform;
  name: string;
  /** Jobs that name the same lease run in one process. */
  lease: string;
  everySeconds: number;
  /** The first run waits this long, but no longer than a period; default: not at all. */
  firstAfterSeconds?: number;
  run(run: JobRun): Promise<JobResult | null>;
}

export interface JobDeps {
  clock: Clock;
  shared: Shared;
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
  /** Called after every run, even if it could not be recorded. */
  onRun?: ((run: FinishedRun) => void) | undefined;
}

/** Runs jobs at the start, or after their delay, and then every period, under their leases. A lost lease aborts before a further write. */
export class JobRunner {
  readonly #deps: JobDeps;
  readonly #clock: Clock;
  readonly #runs: RunLog;
  readonly #stops: Stop[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #jobs = new Map<string, Job>();
  /** Jobs triggered while they were running. */
  readonly #again = new Set<string>();
  readonly #leases = new Map<string, Lease>();
  readonly #acquiring = new SingleFlight<string>();
  readonly #readingFailed = new SingleFlight<Platform>();
  /** Every request in flight waits for its signal. */
  readonly #stopping = sharedAbort();
  readonly #worker = randomUUID().slice(0, 8);
  /** Per job: up to when its data is complete, and whether its last run failed; null if that may have been in another process. */
  readonly #last = new Map<string, { failed: boolean | null; freshTo: Date | null }>();
  /** The jobs that failed since a platform stopped answering, by platform. */
  readonly #away = new Map<Platform, Set<string>>();

  constructor(deps: JobDeps) {
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#runs = new RunLog(deps);
  }

  start(jobs: readonly Job[]): void {
    void this.#stayAlive();
    this.#stops.push(this.#clock.every(RENEW_MS, () => void this.#renewAll()));
    for (const job of jobs) {
      this.#jobs.set(`${job.platform}:${job.name}`, job);
      const everyMs = job.everySeconds * 1000;
      let dueMs = this.#clock.elapsed();
      const tick = (): void => {
        const lateMs = this.#clock.elapsed() - dueMs;
        if (lateMs > everyMs) this.#log(job).warn({ lateMs }, 'The process was busy: runs of a job were missed');
        dueMs = this.#clock.elapsed() + everyMs;
        void this.#tick(job);
      };
      this.#stops.push(this.#clock.every(everyMs, tick));
      const firstMs = (job.firstAfterSeconds ?? 0) * 1000;
      if (firstMs === 0) tick();
      else if (firstMs < everyMs) this.#stops.push(this.#clock.timeout(firstMs, tick));
    }
  }

  /** Runs a job now; if it is running, once more afterwards. */
  trigger(platform: Platform, name: string): void {
    const key = `${platform}:${name}`;
    const job = this.#jobs.get(key);
    if (this.#running.has(key)) this.#again.add(key);
    else if (job) void this.#tick(job);
  }

  /** Stops starting runs, aborts those that run, and releases the leases; bounded by STOP_MS for each. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([Promise.allSettled(this.#running.values()), this.#clock.late(STOP_MS)]);
    for (const stop of this.#stops) stop();
    await Promise.race([this.#runs.flush(), this.#clock.late(STOP_MS)]);
    for (const lease of this.#leases.values()) await lease.release();
  }

  /** Keeps the process alive. Periods of a clock do not, and a process that only ingests may have no other timer. */
  async #stayAlive(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) await this.#clock.sleep(DAY_MS, signal).catch(() => {});
  }

  #log({ platform, name: job }: Job): FastifyBaseLogger {
    return this.#deps.log.child({ platform, job });
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
    const log = this.#log(job);
    const startedAt = new Date(this.#clock.now());
    const leftOut = new LeftOut();
    const context = (priority: Priority): ReadContext => ({
      priority,
      signal: this.#stopping.signal,
      onBadRow: (row) => leftOut.add(row),
    });
    let result: JobResult | null = null;
    let failure = '';
    try {
      const lease = await this.#lease(`${job.platform}:${job.lease}`);
      if (!lease) return;
      result = await job.run({ lease, signal: this.#stopping.signal, context });
      if (result !== null) this.#logReturn(job, log);
      // Nothing was due. After a failure it is still recorded, or /health would show the failure until something is due.
      if (result === null && !(await this.#failedBefore(key, job))) return;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      failure = error instanceof PlatformError ? `${error.message} ${error.detail}` : messageOf(error as Error);
      this.#logFailure(job, error, log);
    }
    const { rows: badRows, fields: badFields, examples } = leftOut;
    if (badRows + badFields > 0) log.warn({ badRows, badFields, examples }, 'Left out malformed rows and fields');
    const note = failure || leftOut.words() || (result?.note ?? '');
    await this.#report(key, job, startedAt, { ok: failure === '', result, badRows, badFields, note });
  }

  /** Logs a platform's failure without a stack. While the platform does not answer, only its first failing job logs it. */
  #logFailure({ platform, name }: Job, error: unknown, log: FastifyBaseLogger): void {
    if (!(error instanceof PlatformError)) return log.error({ err: error }, 'Job failed');
    const { kind, detail } = error;
    if (AWAY.has(kind)) {
      const failed = this.#away.get(platform);
      this.#away.set(platform, (failed ?? new Set()).add(name));
      if (failed) return log.debug({ kind, detail }, error.message);
    }
    log.warn({ kind, detail }, error.message);
  }

  /** Logs that a platform answers again. Only a run of a job that failed before shows it: other jobs may not have called the platform. */
  #logReturn({ platform, name }: Job, log: FastifyBaseLogger): void {
    if (!this.#away.get(platform)?.has(name)) return;
    this.#away.delete(platform);
    log.info('The platform answers again');
  }

  async #report(
    key: string,
    job: Job,
    startedAt: Date,
    outcome: { ok: boolean; result: JobResult | null; badRows: number; badFields: number; note: string },
  ): Promise<void> {
    const finishedAt = new Date(this.#clock.now());
    const known = outcome.result?.freshTo ?? this.#last.get(key)?.freshTo ?? null;
    // A time recorded while the clock was ahead is wrong.
    const freshTo = known !== null && known > finishedAt ? finishedAt : known;
    const { ok, badRows, badFields, note } = outcome;
    this.#last.set(key, { failed: !ok, freshTo });
    const ms = finishedAt.getTime() - startedAt.getTime();
    const rows = outcome.result?.rows ?? 0;
    const { platform, name } = job;
    this.#deps.onRun?.({ platform, job: name, ok, seconds: ms / 1000, freshTo, rows, badRows, badFields });
    if (rows > 0) this.#deps.log.info({ platform, job: name, rows, badRows, badFields, ms }, 'stored');
    await this.#runs.add({
      platform,
      job: name,
      started_at: startedAt.toISOString(),
      finished_at: finishedAt.toISOString(),
      ok,
      fresh_to: (freshTo ?? new Date(0)).toISOString(),
      rows,
      bad_rows: badRows,
      bad_fields: badFields,
      note: note.slice(0, 1000).toWellFormed(),
      worker: this.#worker,
    });
  }

  /** Whether the last run of a job failed, in any process; false while the store does not answer. */
  async #failedBefore(key: string, { platform, name }: Job): Promise<boolean> {
    const { failed: known = null, freshTo = null } = this.#last.get(key) ?? {};
    if (known !== null) return known;
    try {
      const jobs = await this.#readingFailed.run(platform, () => failedJobs(this.#deps.clickhouse, platform));
      const failed = jobs.includes(name);
      this.#last.set(key, { failed, freshTo });
      return failed;
    } catch {
      return false;
    }
  }

  /** The lease of this process, or null while another process holds it. Jobs of one lease share it. */
  held(name: string): Lease | null {
    const lease = this.#leases.get(name);
    return lease && lease.remainingMs() > 0 ? lease : null;
  }

  async #lease(name: string): Promise<Lease | null> {
    const held = this.held(name);
    if (held) return held;
    return this.#acquiring.run(name, async () => {
      const lease = await this.#deps.shared.lease(name, LEASE_MS);
      if (!lease) {
        this.#leases.delete(name);
        return null;
      }
      this.#leases.set(name, lease);
      // Another process may have held it.
      for (const [key, job] of this.#jobs) {
        const last = this.#last.get(key);
        if (last && `${job.platform}:${job.lease}` === name) this.#last.set(key, { ...last, failed: null });
      }
      return lease;
    });
  }

  async #renewAll(): Promise<void> {
    for (const [name, lease] of this.#leases) {
      if (await lease.renew(LEASE_MS).catch(() => false)) continue;
      if (this.#leases.get(name) === lease) this.#leases.delete(name);
      this.#deps.log.warn({ lease: name }, 'Lease lost; another process takes over');
    }
  }
}
