import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.ts';
import { systemClock } from './time.ts';

/** Creates DATA_DIR, or a directory in it, accessible to this user only. */
export function makeDataDir(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `DATA_DIR: must be a directory that can be written to, received ${JSON.stringify(directory)} (${code})`,
    );
  }
}

/** For commands that read a store: a misspelt DATA_DIR must not become an empty one. */
export function requireStore(dataDir: string, store: 'clickhouse' | 'postgresql'): void {
  if (existsSync(join(dataDir, store))) return;
  throw new ConfigError(`DATA_DIR: must hold the stores of a service, received ${dataDir} without ${store}`);
}

/** Exists in DATA_DIR while a restore runs; one that was interrupted leaves it behind, beside a part of the stores. */
export const RESTORING = 'restoring';

/** Throws if a restore was interrupted: the service would start with a part of its data. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new ConfigError(
    `DATA_DIR: must not hold an unfinished restore, received ${dataDir}; delete its clickhouse, postgresql, files and ${RESTORING}, then restore again`,
  );
}

/** A secret generated once and kept in DATA_DIR; in production it must be set. */
export function keptSecret(dataDir: string, name: string, production: boolean, create: () => string): string {
  if (production) throw new ConfigError(`${name}: required when NODE_ENV=production, received nothing`);
  const file = join(dataDir, name.toLowerCase());
  if (!existsSync(file)) {
    makeDataDir(dataDir);
    try {
      writeFileSync(file, create(), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readFileSync(file, 'utf8').trim();
}

/** Files in DATA_DIR where commands find a running service: its API, and its SQL port with a password that changes at each start. */
type AddressFile = 'api_url' | 'sql_url';
const ANSWER_MS = 2000;

/** Removes the file of an address at which nothing answers any more. */
export const removeAddress = (dataDir: string, name: AddressFile): void => rmSync(join(dataDir, name), { force: true });

/** Writes the file of an address. */
export const writeAddress = (dataDir: string, name: AddressFile, url: string): void =>
  writeFileSync(join(dataDir, name), `${url}\n`, { mode: 0o600 });

/** The address of a running service on this directory; null if none answers. */
export async function runningAddress(dataDir: string, name: AddressFile): Promise<string | null> {
  try {
    const url = readFileSync(join(dataDir, name), 'utf8').trim();
    await fetch(new URL('/ping', new URL(url).origin), { signal: systemClock.deadline(ANSWER_MS) });
    return url;
  } catch {
    // No file, or one left behind by a killed service.
    return null;
  }
}

/** Whether a process runs on this machine, of any user: files of processes that ended are left over. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: a process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
