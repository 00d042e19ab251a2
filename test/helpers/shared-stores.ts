import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/time.ts';
import { startEmbeddedPostgres } from '../../src/embedded/postgres/supervisor.ts';
import { loadConfig } from '../../src/core/config.ts';
import { migratePostgres, openPostgres } from '../../src/stores/postgres/client.ts';
import { freshDatabase, type OwnDatabase } from './databases.ts';
import { MigratedDatabases } from './migrated-databases.ts';
import { silent } from './silent-log.ts';

/**
 * One embedded ClickHouse for all files of a run, and one embedded PostgreSQL, unless DATABASE_URL names a server: a database takes a
 * tenth of the time that an engine of its own and its migration take. ClickHouse starts with the first file that asks for a database.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'forecastle-test-'));
  const { DATABASE_URL = '' } = process.env;
  const postgres = DATABASE_URL ? null : await startEmbeddedPostgres({ dataDir, log: silent, clock: systemClock });
  if (postgres) process.env['TEST_POSTGRES_URL'] = postgres.url;
  const template = await migratedTemplate(postgres?.url ?? DATABASE_URL);
  process.env['TEST_POSTGRES_TEMPLATE'] = new URL(template.url).pathname.slice(1);
  const databases = new MigratedDatabases(dataDir);
  // Files of a run are processes of their own: POST makes a database, DELETE with its name drops it.
  const broker = createServer((request, response) => {
    const work =
      request.method === 'POST'
        ? databases.take()
        : databases.drop(new URL(request.url ?? '', 'http://broker').pathname.slice(1));
    work.then(
      (url) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  process.env['TEST_CLICKHOUSE_BROKER'] = `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`;
  return async () => {
    broker.close();
    broker.closeAllConnections();
    await databases.close();
    await template.drop();
    await postgres?.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** What databases of tests are copied from. */
async function migratedTemplate(serverUrl: string): Promise<OwnDatabase> {
  const database = await freshDatabase(serverUrl);
  const postgres = await openPostgres(loadConfig({ NODE_ENV: 'test', DATABASE_URL: database.url }), silent);
  await migratePostgres(postgres, silent).finally(() => postgres.close());
  return database;
}
