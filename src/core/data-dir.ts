import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.ts';

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

/** A service on a part of its stores would look like one that has lost the rest. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new ConfigError(
    `DATA_DIR: must not hold an unfinished restore, received ${dataDir}; delete its clickhouse, postgresql and ${RESTORING}, then restore again`,
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
