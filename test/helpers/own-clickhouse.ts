import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/time.ts';
import { startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { silent } from './silent-log.ts';

/** A migrated database of a test's own. */
export interface OwnClickHouse {
  readonly clickhouse: ClickHouse;
  /** What CLICKHOUSE_URL of another process must be. */
  readonly url: string;
}

/** A database of the run's ClickHouse; outside of a run, of an engine of its own. It ends as `clickhouse` is closed. */
export async function openOwnClickHouse(memoryMb = 1000): Promise<OwnClickHouse> {
  const broker = process.env['TEST_CLICKHOUSE_BROKER'];
  if (broker) return fromRun(broker);
  const dataDir = await mkdtemp(join(tmpdir(), 'forecastle-clickhouse-'));
  const engine = await startEmbeddedClickHouse({ dataDir, memoryMb, log: silent, clock: systemClock });
  const clickhouse = connect(engine.url, async () => {
    await engine.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  await migrateClickHouse(clickhouse, silent);
  return { clickhouse, url: engine.url };
}

async function fromRun(broker: string): Promise<OwnClickHouse> {
  const reply = await fetch(broker, { method: 'POST' });
  const url = await reply.text();
  if (!reply.ok) throw new Error(`the run's ClickHouse gave no database: ${url}`);
  const drop = async (): Promise<void> => {
    await fetch(new URL(new URL(url).pathname, broker), { method: 'DELETE' });
  };
  return { clickhouse: connect(url, drop), url };
}
