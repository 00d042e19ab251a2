import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import type { Platform } from '../src/core/model.ts';

const Row = z.object({ fresh_to_ms: z.coerce.number() });

/** Up to when a job's data was complete after its last successful run in any process; null before the first. */
export async function lastRun(clickhouse: ClickHouse, platform: Platform, job: string): Promise<Date | null> {
  const [row] = await clickhouse.query('last_run', Row, { platform, job });
  return row ? new Date(row.fresh_to_ms) : null;
}

const FailedRow = z.object({ job: z.string() });

/** The jobs of a platform whose last run failed, in any process. */
export async function failedJobs(clickhouse: ClickHouse, platform: Platform): Promise<string[]> {
  const rows = await clickhouse.query('failed_jobs', FailedRow, { platform });
  return rows.map(({ job }) => job);
}
