import { type ClickHouse, StoreError } from './client.ts';
import type { Log } from '../../core/log.ts';

/** AUTHENTICATION_FAILED, UNKNOWN_USER, REQUIRED_PASSWORD. */
const NOT_ADMITTED = new Set(['516', '192', '194']);
/** The dictionaries that views use, by market key. */
const DICTIONARIES = ['market_names', 'market_amounts'] as const;

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/**
 * On a server a dictionary reads as the user `default` without a password. If the server refuses that user, the dictionary gets the user
 * and password of `url`; the server shows the password to nobody. If it refuses both, columns from dictionaries fail, and all else works.
 */
export async function admitDictionaries(clickhouse: ClickHouse, url: string, log: Log): Promise<void> {
  for (const name of DICTIONARIES) {
    try {
      if (await isRefused(clickhouse, name)) await readAs(clickhouse, name, new URL(url));
      if (!(await isRefused(clickhouse, name))) continue;
      log.warn({ dictionary: name }, 'The server refuses to load a dictionary: the columns of views that use it fail');
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.warn({ err: error, dictionary: name }, 'A dictionary was not loaded: the columns of views that use it fail');
    }
  }
}

async function isRefused(clickhouse: ClickHouse, name: string): Promise<boolean> {
  try {
    await clickhouse.command(`SYSTEM RELOAD DICTIONARY ${name}`);
    return false;
  } catch (error) {
    if (error instanceof StoreError && NOT_ADMITTED.has(error.code ?? '')) return true;
    throw error;
  }
}

/** Defines a dictionary again, unchanged except for these credentials. */
async function readAs(clickhouse: ClickHouse, name: string, { username, password }: URL): Promise<void> {
  const [made] = await clickhouse.sql<{ text: string }>(
    `SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() AND name = {name:String}`,
    { name },
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
