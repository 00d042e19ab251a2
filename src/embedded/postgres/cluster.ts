import { execFile } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../../core/config-error.ts';
import { isRunning } from '../../core/data-dir.ts';
import { waitUntil } from '../../core/retry.ts';
import type { Clock } from '../../core/time.ts';
import { giveTo, refusedToRoot, type ServerAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { inUse, isHeld } from './lock.ts';

const run = promisify(execFile);
/** Time for the server of a killed service to write its last checkpoint. */
const PREDECESSOR_MS = 10_000;

/** The working directory as a path that the account can use, even if it may not enter the directories above. */
export const pathFor = (account: ServerAccount | null, directory: string): string =>
  account === null ? directory : '/proc/self/cwd';

/** Creates the cluster in `directory` if there is none, and checks that it is ours and that no process serves it. */
export async function prepareCluster(
  directory: string,
  binaries: Binaries,
  account: ServerAccount | null,
  clock: Clock,
): Promise<void> {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found) claim(directory, found, account);
  else {
    await initialize(directory, binaries, account);
  }
  await predecessorEnds(directory, clock);
}

/** A link, or a directory that other users may write to, could have been planted. */
function claim(directory: string, found: Stats, account: ServerAccount | null): void {
  if (!found.isDirectory())
    throw new ConfigError(
      `DATA_DIR: ${directory} must be a directory, received ${found.isSymbolicLink() ? 'a symbolic link' : 'a file'}`,
    );
  const uid = account?.uid ?? process.getuid?.();
  if (account && found.uid === 0) giveTo(account, directory);
  else if (found.uid !== uid)
    throw new ConfigError(
      `DATA_DIR: ${directory} must belong to the user of the service, user id ${uid}, received one of user id ${found.uid}`,
    );
  if ((found.mode & 0o077) !== 0)
    throw new ConfigError(`DATA_DIR: ${directory} must be its owner's only; run: chmod 700 ${directory}`);
}

/** Creates it in a directory beside `directory`, which is renamed when complete. */
async function initialize(directory: string, { initdb }: Binaries, account: ServerAccount | null): Promise<void> {
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  if (account) giveTo(account, unfinished);
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--wal-segsize=4'];
  const collation = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  try {
    await run(initdb, ['-D', pathFor(account, unfinished), ...options, ...collation, '--no-instructions'], {
      cwd: unfinished,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      ...account,
    });
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const [reason] = (stderr || message).trim().split('\n').toReversed();
    const refused = refusedToRoot(error);
    throw refused instanceof ConfigError
      ? refused
      : new ConfigError(`DATABASE_URL: must be set, because the embedded PostgreSQL does not work here: ${reason}`);
  }
  renameSync(unfinished, directory);
  // fsync of the parent: a power cut must not lose the directory entry.
  const parent = openSync(dirname(directory), 'r');
  fsyncSync(parent);
  closeSync(parent);
}

/**
 * Waits for the server of a killed service to exit. A `postmaster.pid` whose number now belongs to another program is removed,
 * because PostgreSQL would take that program for a server; PostgreSQL itself handles the file of a dead process.
 */
async function predecessorEnds(directory: string, clock: Clock): Promise<void> {
  const file = join(directory, 'postmaster.pid');
  let pid = 0;
  const hasEnded = (): boolean => {
    if (!existsSync(file)) return true;
    pid = Number(readFileSync(file, 'utf8').split('\n', 1)[0]);
    if (!isRunning(pid)) return true;
    // In another container the number means another process than here.
    if (serves(pid, directory) || isHeld(directory)) return false;
    rmSync(file, { force: true });
    return true;
  };
  if (!(await waitUntil(hasEnded, { withinMs: PREDECESSOR_MS, everyMs: 50, clock }))) throw inUse(pid);
}

/** A server's working directory is its cluster. Without /proc any live process may be the server. */
function serves(pid: number, directory: string): boolean {
  if (process.platform !== 'linux') return true;
  const [its, ours] = [`/proc/${pid}/cwd`, directory].map((path) => {
    try {
      return statSync(path);
    } catch {
      return undefined;
    }
  });
  return its !== undefined && its.ino === ours?.ino && its.dev === ours.dev;
}
