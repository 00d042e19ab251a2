import { randomUUID } from 'node:crypto';
import { waitUntil } from '../../core/retry.ts';
import { systemClock } from '../../core/time.ts';
import type { ClickHouse } from './client.ts';
import type { Log } from '../../core/log.ts';
import { forDatabaseEngine } from '../../core/sql-text.ts';

/** A holder that stopped renewing counts as dead after this long. */
const EXPIRES_SECONDS = 60;
const RENEW_MS = 15_000;
const WAIT_MS = 300_000;

/**
 * Runs `work` while no other process runs its own. ClickHouse has no compare-and-set, but an insert is visible once it is acknowledged:
 * a process that claims and then sees no other claim holds the lock, because any other sees this claim and withdraws.
 */
export async function withMigrationLock(
  clickhouse: ClickHouse,
  databaseEngine: string,
  log: Log,
  work: () => Promise<void>,
): Promise<void> {
  await clickhouse.command(
    forDatabaseEngine(
      `CREATE TABLE IF NOT EXISTS schema_lock (holder String, expires_at DateTime64(3, 'UTC'), claimed_at DateTime64(6, 'UTC'))
       ENGINE = ReplacingMergeTree(claimed_at) ORDER BY holder TTL toDateTime(expires_at) + INTERVAL 1 DAY`,
      databaseEngine,
    ),
  );
  const holder = randomUUID();
  const claim = (seconds: number) =>
    clickhouse.command(
      "INSERT INTO schema_lock SELECT {holder:String}, now64(3, 'UTC') + toIntervalSecond({seconds:UInt32}), now64(6, 'UTC')",
      { holder, seconds },
    );
  const otherHolds = async () => {
    const others = await clickhouse.sql(
      "SELECT 1 FROM schema_lock FINAL WHERE holder != {holder:String} AND expires_at > now64(3, 'UTC') LIMIT 1",
      { holder },
    );
    return others.length > 0;
  };
  let logged = false;
  const isTaken = async (): Promise<boolean> => {
    if (!(await otherHolds())) {
      await claim(EXPIRES_SECONDS);
      if (!(await otherHolds())) return true;
      await claim(0);
    }
    if (!logged) log.info('Another process is changing the ClickHouse schema; waiting for it');
    logged = true;
    return false;
  };
  if (!(await waitUntil(isTaken, { withinMs: WAIT_MS, everyMs: 100, jitterMs: 400, clock: systemClock })))
    throw new Error('another process has been changing the ClickHouse schema for five minutes');
  const stopRenewing = systemClock.every(RENEW_MS, () => {
    claim(EXPIRES_SECONDS).catch((error: unknown) => log.warn({ err: error }, 'Failed to renew the migration lock'));
  });
  try {
    await work();
  } finally {
    stopRenewing();
    await claim(0);
  }
}
