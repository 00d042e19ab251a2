import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { PGlite } from '@electric-sql/pglite';
import { ConfigError, makeDataDir } from '../config.ts';
import { PostgresStream } from './postgres-stream.ts';

/** PostgreSQL inside this process. */
export interface EmbeddedPostgres {
  /** Its one connection; another when that broke. */
  connect(): Duplex;
  close(): Promise<void>;
}

/** PGlite in `<dataDir>/postgres`; a second process is refused, two writers would destroy the files. */
export async function openEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const folder = join(dataDir, 'postgres');
  makeDataDir(folder);
  const unlock = lock(`${folder}.lock`);
  const engine = await PGlite.create({ dataDir: folder }).catch((error: unknown) => {
    unlock();
    throw error;
  });
  return {
    connect: () => new PostgresStream(engine),
    async close() {
      await engine.close();
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
