import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The server of DATABASE_URL, else the one that all tests of a run share; '' outside of a run. */
export const TEST_SERVER = process.env['DATABASE_URL'] || process.env['TEST_POSTGRES_URL'] || '';

/** A database of its own on the server of `url`. */
export async function freshDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const run = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  await run(`CREATE DATABASE ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}
