import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import { writeAddress } from '../../core/data-dir.ts';
import type { Log } from '../../core/log.ts';
import { urlHost } from '../../core/text.ts';
import type { EmbeddedClickHouse } from '../clickhouse/supervisor.ts';
import { type KeyOwner, serveSql, type SqlPort } from './server.ts';

type Settings = Pick<Config, 'SQL_PORT' | 'SQL_HOST' | 'SQL_USER' | 'SQL_PASSWORD' | 'sqlPortChosen' | 'dataDir'>;

/**
 * Opens SQL_PORT on the embedded engine: for API keys, SQL_USER and `npm run sql`. A taken port fails the start if it was
 * configured; for the default port it is only logged. Null if there is none.
 */
export async function openSqlPort(
  embedded: EmbeddedClickHouse,
  config: Settings,
  log: Log,
  ownerOfKey: KeyOwner,
): Promise<SqlPort | null> {
  const { SQL_PORT: port, SQL_HOST: host, SQL_USER: user, SQL_PASSWORD: password, dataDir } = config;
  if (port === null) return null;
  const shell = { user: 'shell', password: randomBytes(24).toString('base64url') };
  const accounts = password === undefined ? [shell] : [shell, { user, password }];
  try {
    const opened = await serveSql(embedded, { host, port, accounts, ownerOfKey, log });
    writeAddress(dataDir, 'sql_url', `http://${shell.user}:${shell.password}@${urlHost(host)}:${opened.port}`);
    return opened;
  } catch (error) {
    if (/EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL/.test(String(error)))
      throw new ConfigError(`SQL_HOST: must be an address of this machine, received ${JSON.stringify(host)}`);
    if (!/EADDRINUSE|EACCES/.test(String(error))) throw error;
    const reason = `SQL_PORT: must be free, received ${port}, which cannot be listened on at ${host}`;
    if (config.sqlPortChosen) throw new ConfigError(reason);
    log.warn(`${reason}; continuing without the SQL port`);
    return null;
  }
}
