import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The server of DATABASE_URL, else the one that all tests of a run share; '' outside of a run. */
export const TEST_SERVER = process.env['DATABASE_URL'] || process.env['TEST_POSTGRES_URL'] || '';

export interface OwnDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A database of its own to migrate. On TEST_SERVER it is a copy of a migrated one, which takes less time than migrations. */
export const migratedDatabase = (url = TEST_SERVER): Promise<OwnDatabase> =>
  freshDatabase(url, url === TEST_SERVER ? process.env['TEST_POSTGRES_TEMPLATE'] : undefined);

/** An empty database of its own on the server of `url`, or a copy of another there. */
export async function freshDatabase(url: string, template = 'template1'): Promise<OwnDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const run = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  await run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}
