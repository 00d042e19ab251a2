import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { ConfigError, makeDataDir } from '../config.ts';
import type { Postgres, Run } from '../postgres.ts';

/** PGlite in `<dataDir>/postgres`; a second process is refused, two writers would destroy the files. */
export async function openEmbeddedPostgres(dataDir: string): Promise<Postgres> {
  const folder = join(dataDir, 'postgres');
  makeDataDir(folder);
  const unlock = lock(`${folder}.lock`);
  const client = await PGlite.create({ dataDir: folder }).catch((error: unknown) => {
    unlock();
    throw error;
  });
  return {
    db: drizzle(client),
    transact: (work) =>
      client.transaction(async (tx) => {
        const run: Run = async (text, values) => {
          if (values) return (await tx.query<Record<string, unknown>>(text, values)).rows;
          const results = await tx.exec(text);
          return results.at(-1)?.rows ?? [];
        };
        return work(run);
      }),
    ping: () =>
      client.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    async close() {
      await client.close();
      unlock();
    },
  };
}

/** Takes a lock file that names this process; one left behind by a dead process is taken over. */
function lock(file: string): () => void {
  const mine = `${process.pid} ${startTime(process.pid)}`;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readFileSync(file, 'utf8');
    const pid = Number(holder.split(' ', 1)[0]);
    if (holder === mine || holder === `${pid} ${startTime(pid)}`) {
      throw new ConfigError(
        `DATA_DIR: its database is in use by process ${pid}; stop it, or set DATABASE_URL to share a server`,
      );
    }
    rmSync(file, { force: true });
  }
  throw new ConfigError(`DATA_DIR: cannot take the lock ${file}`);
}

/** When a live process started, so that a reused process id is not taken for the old holder; '' for no such process. */
function startTime(pid: number): string {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return '';
  }
  try {
    // Field 22 of /proc/<pid>/stat, counted after the name in parentheses; other systems have no such file.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? 'alive';
  } catch {
    return 'alive';
  }
}
