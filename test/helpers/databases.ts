import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';

const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const CACHE = `${MODULES}.cache/forecastle`;
const { version } = JSON.parse(readFileSync(`${MODULES}@electric-sql/pglite/package.json`, 'utf8')) as {
  version: string;
};
const EMPTY = `${CACHE}/pglite-${version}`;

/** Making an embedded database takes seconds of work, copying an empty one does not. */
export async function copyEmptyDatabase(folder: string): Promise<void> {
  if (!existsSync(EMPTY)) {
    await mkdir(CACHE, { recursive: true });
    const made = `${EMPTY}.${randomUUID()}`;
    const client = await PGlite.create({ dataDir: made });
    await client.close();
    // Another process may have been first: its copy is as good.
    await rename(made, EMPTY).catch(() => rm(made, { recursive: true }));
  }
  await cp(EMPTY, folder, { recursive: true });
}

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
