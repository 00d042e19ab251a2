import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/embedded/postgres/supervisor.ts';
import { silent } from './silent-log.ts';

/** One embedded PostgreSQL for all files of a run: a test takes a database of it in a tenth of the time that a cluster takes. */
export default async function setup(): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'forecastle-test-'));
  const server = await startEmbeddedPostgres({ dataDir, log: silent });
  process.env['TEST_POSTGRES_URL'] = server.url;
  return async () => {
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
