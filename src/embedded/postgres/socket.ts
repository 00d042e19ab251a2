import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/config-error.ts';
import type { ServerAccount } from './account.ts';

/** Part of the socket's name; nothing listens on TCP. */
export const SOCKET_PORT = 5432;
/** The system's limit is 108 bytes on Linux and 104 on macOS, with the final NUL. */
const MAX_PATH_BYTES = 103;

/** The directory of the server's socket: the cluster's, or a short one of the same owner if the path would be too long. */
export function socketDirectory(cluster: string, account: ServerAccount | null): string {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_PATH_BYTES) return cluster;
  const short = `/tmp/forecastle-${createHash('sha256').update(cluster).digest('hex').slice(0, 24)}`;
  try {
    mkdirSync(short, { mode: 0o700 });
    if (account) chownSync(short, account.uid, account.gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = lstatSync(short);
  if (!found.isDirectory() || found.uid !== (account?.uid ?? process.getuid?.()) || (found.mode & 0o077) !== 0)
    throw new ConfigError(
      `DATA_DIR: its path is too long for a socket, and ${short} belongs to another user; shorten it`,
    );
  return short;
}
