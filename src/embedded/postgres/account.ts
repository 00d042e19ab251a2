import { spawnSync } from 'node:child_process';
import { chownSync, lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/config-error.ts';

/** The user that PostgreSQL runs as if this process is root. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

/** Users to run as if the directory still belongs to root. */
const NAMES = ['forecastle', 'nobody'];
const ADVICE = 'run the service as an ordinary user, or set DATABASE_URL';

/**
 * PostgreSQL refuses to run as root. Under root it runs as the owner of `directory`, or as an unprivileged user who becomes its
 * owner; null = as this process.
 */
export function postgresAccount(directory: string): ServerAccount | null {
  if (process.getuid?.() !== 0) return null;
  if (process.platform !== 'linux')
    throw new ConfigError(
      `DATABASE_URL: must be set if root runs the service, because PostgreSQL refuses root; ${ADVICE}`,
    );
  const owner = lstatSync(directory, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of NAMES) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0 && Number(uid.stdout) > 0)
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new ConfigError(
    `DATABASE_URL: must be set if root is the only user, because PostgreSQL refuses root; or create one: useradd --system forecastle`,
  );
}

/** Makes the account the owner of a directory and its contents. Symbolic links are not followed. */
export function giveTo(account: ServerAccount, directory: string): void {
  try {
    chownSync(directory, account.uid, account.gid);
    for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
      lchownSync(join(directory, entry), account.uid, account.gid);
  } catch (error) {
    throw refusedToRoot(error);
  }
}

/** Advice for a root without its capabilities, as in a restricted container; other errors are returned unchanged. */
export function refusedToRoot(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'EPERM') return error;
  return new ConfigError(`DATABASE_URL: must be set if root may not start processes as another user; or ${ADVICE}`);
}
