import { type ClickHouse, StoreError } from './client.ts';
import type { Log } from '../../core/log.ts';

/** AUTHENTICATION_FAILED, UNKNOWN_USER, REQUIRED_PASSWORD. */
const NOT_ADMITTED = new Set(['516', '192', '194']);
const DICTIONARY = 'market_names';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/**
 * On a server: a dictionary reads as the user `default` without a password. Where the server refuses that, it gets the user and the
 * password of `url`; the server hides them from everybody. Without either the names in views stay unreadable, everything else works.
 */
export async function admitMarketNames(clickhouse: ClickHouse, url: string, log: Log): Promise<void> {
  try {
    if (await isRefused(clickhouse)) await readAs(clickhouse, new URL(url));
    if (!(await isRefused(clickhouse))) return;
    log.warn('The server refuses to load the names of markets: market_id and title of views cannot be read');
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn({ err: error }, 'The names of markets were not loaded: market_id and title of views cannot be read');
  }
}

async function isRefused(clickhouse: ClickHouse): Promise<boolean> {
  try {
    await clickhouse.command(`SYSTEM RELOAD DICTIONARY ${DICTIONARY}`);
    return false;
  } catch (error) {
    if (error instanceof StoreError && NOT_ADMITTED.has(error.code ?? '')) return true;
    throw error;
  }
}

/** Defines it again as it is, with these credentials. */
async function readAs(clickhouse: ClickHouse, { username, password }: URL): Promise<void> {
  const [made] = await clickhouse.sql<{ text: string }>(
    `SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() AND name = {name:String}`,
    { name: DICTIONARY },
  );
  const user = quoted(decodeURIComponent(username) || 'default');
  const credentials = `USER ${user} PASSWORD ${quoted(decodeURIComponent(password))}`;
  await clickhouse.command(
    (made?.text ?? '')
      .replace(/^CREATE DICTIONARY/, 'CREATE OR REPLACE DICTIONARY')
      .replace(
        /SOURCE\(CLICKHOUSE\((USER '(?:[^'\\]|\\.)*' PASSWORD '\[HIDDEN\]' )?/,
        () => `SOURCE(CLICKHOUSE(${credentials} `,
      ),
  );
}
