import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASETS } from '../src/files/datasets.ts';
import { writeDayFiles } from '../src/files/day-files.ts';
import { directoryTarget } from '../src/files/directory-target.ts';
import { filesRoot } from '../src/files/stored-files.ts';
import type { Platform } from '../src/core/model.ts';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { JobResult, JobRun } from './job-runner.ts';
import { DAY_MS, HOUR_MS, type Clock } from '../src/core/time.ts';

/** Days checked on every run; older days are checked every hour, for late trades. */
const RECENT_DAYS = 2;

/** Keeps the day files of one platform in DATA_DIR/files. */
export class DayFileWriter {
  readonly #deps: { clickhouse: ClickHouse; dataDir: string; platform: Platform; clock: Clock };
  #wholeAtMs = 0;
  /** Whether all older days of quotes and books have been checked since the start. */
  #readingsWritten = false;

  constructor(deps: { clickhouse: ClickHouse; dataDir: string; platform: Platform; clock: Clock }) {
    this.#deps = deps;
  }

  async run({ signal }: JobRun): Promise<JobResult> {
    const { clickhouse, dataDir, platform, clock } = this.#deps;
    const nowMs = clock.now();
    const whole = Math.abs(nowMs - this.#wholeAtMs) >= HOUR_MS;
    const target = directoryTarget(filesRoot(dataDir, platform), { keepPrevious: true });
    const temporary = join(dataDir, 'files', '.tmp', platform);
    // Left over from a run that was killed.
    await rm(temporary, { recursive: true, force: true });
    const recentMs = nowMs - RECENT_DAYS * DAY_MS;
    const deps = { clickhouse, target, temporary, clock, signal };
    const selection = { platforms: [platform], datasets: DATASETS, fromMs: recentMs, toMs: nowMs };
    const done = await writeDayFiles(deps, selection);
    if (whole) {
      // A day that fails is retried after an hour, so that recent days are not held up.
      this.#wholeAtMs = nowMs;
      const readingsFromMs = this.#readingsWritten ? recentMs : 0;
      const older = await writeDayFiles(deps, { ...selection, fromMs: 0, readingsFromMs });
      this.#readingsWritten = true;
      done.made += older.made;
      done.rows += older.rows;
    }
    return { freshTo: new Date(nowMs), rows: 0, note: `${done.made} files with ${done.rows} rows written` };
  }
}
