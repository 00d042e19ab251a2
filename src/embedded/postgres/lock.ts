import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/config-error.ts';
import { isRunning } from '../../core/data-dir.ts';

/** Takes a lock file that names this process, also from a dead one. Returns the function that releases it. */
export function lock(file: string): () => void {
  const mine = `${process.pid} ${startTime(process.pid)}`;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = holderOf(file);
    if (holder !== null) throw inUse(holder);
    rmSync(file, { force: true });
  }
  throw new ConfigError(`DATA_DIR: cannot take the lock ${file}`);
}

/** The live process that holds a lock file; null if none does. */
export function holderOf(file: string): number | null {
  const holder = textOf(file);
  const pid = Number(holder.split(' ', 1)[0]);
  return holder === `${pid} ${startTime(pid)}` ? pid : null;
}

/** The text of a lock file; '' if its holder has just removed it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** The error for a database that another process holds. */
export function inUse(pid: number): ConfigError {
  return new ConfigError(
    `DATA_DIR: its database is in use by process ${pid}; stop it, or share the store: npm run postgres, then DATABASE_URL`,
  );
}

/** The file of a cluster that its server locks in the kernel, which sees processes of other containers too. */
export const LOCKED_FILE = 'PG_VERSION';

/** Whether a server holds the cluster; false where there is no flock(1). */
export const isHeld = (cluster: string): boolean =>
  spawnSync('flock', ['-n', join(cluster, LOCKED_FILE), 'true']).status === 1;

/** Start time of a live process, so that a reused process id is not taken for the old holder; '' if there is no such process. */
function startTime(pid: number): string {
  if (!isRunning(pid)) return '';
  try {
    // Field 22 of /proc/<pid>/stat, counted after the name in parentheses; other systems have no such file.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? 'alive';
  } catch {
    return 'alive';
  }
}
