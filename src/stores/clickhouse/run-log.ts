import PQueue from 'p-queue';
import type { Clock, Stop } from '../../core/time.ts';
import type { Log } from '../../core/log.ts';
import type { ClickHouse } from './client.ts';

const EVERY_MS = 10_000;

/** A row of `ingestion_runs`. */
export interface RunRow {
  platform: string;
  job: string;
  started_at: string;
  finished_at: string;
  ok: boolean;
  fresh_to: string;
  rows: number;
  bad_rows: number;
  bad_fields: number;
  note: string;
  worker: string;
}

/** Records the runs of jobs every ten seconds. The first run of a job, and a run whose outcome differs from the last, is recorded at once. */
export class RunLog {
  readonly #deps: { clickhouse: Pick<ClickHouse, 'insert'>; log: Pick<Log, 'error'>; clock: Clock };
  readonly #outcomes = new Map<string, string>();
  #waiting: RunRow[] = [];
  readonly #writes = new PQueue({ concurrency: 1 });
  #stop: Stop | undefined;

  constructor(deps: { clickhouse: Pick<ClickHouse, 'insert'>; log: Pick<Log, 'error'>; clock: Clock }) {
    this.#deps = deps;
  }

  /** Resolves at once; for a run that is recorded at once, when that has ended. */
  async add(row: RunRow): Promise<void> {
    this.#waiting.push(row);
    const job = `${row.platform}:${row.job}`;
    const isWhole = row.ok && row.bad_rows + row.bad_fields === 0;
    const outcome = isWhole ? '' : `${row.ok} ${row.bad_rows} ${row.bad_fields} ${row.note}`;
    const isNews = this.#outcomes.get(job) !== outcome;
    this.#outcomes.set(job, outcome);
    if (isNews) return this.flush();
    this.#stop ??= this.#deps.clock.timeout(EVERY_MS, () => void this.flush());
  }

  /** Records what waits. */
  flush(): Promise<void> {
    this.#stop?.();
    this.#stop = undefined;
    return this.#writes.add(() => this.#write());
  }

  async #write(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    try {
      if (rows.length > 0) await this.#deps.clickhouse.insert('ingestion_runs', rows);
    } catch (error) {
      this.#deps.log.error({ err: error, runs: rows.length }, 'Failed to record runs of jobs');
    }
  }
}
