import { createHash } from 'node:crypto';
import { type ClickHouse, StoreError } from './client.ts';
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';

/** ACCESS_DENIED, ACCESS_STORAGE_READONLY: the service's own user may not create users. */
const REFUSED = new Set(['497', '495']);

/** Statements that create the read-only user on a server. It reads only views, with limits that a request may lower, and a rate limit. */
export function analystStatements(user: string, password: string, views: readonly string[]): string[] {
  const name = `\`${user.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
  const identified = `IDENTIFIED WITH sha256_hash BY '${createHash('sha256').update(password).digest('hex')}'`;
  return [
    // readonly = 2: clients such as Grafana send settings with each query.
    `CREATE SETTINGS PROFILE IF NOT EXISTS forecastle_analyst SETTINGS readonly = 2, max_execution_time = 30 MAX 30, max_memory_usage = 2000000000 MAX 2000000000, max_result_rows = 1000000 MAX 1000000, max_threads = 2 MAX 2, priority = 10 MIN 10`,
    `CREATE USER IF NOT EXISTS ${name} ${identified}`,
    `ALTER USER ${name} ${identified} SETTINGS PROFILE 'forecastle_analyst', output_format_json_quote_64bit_integers = 1, validate_enum_literals_in_operators = 1, query_plan_optimize_join_order_limit = 1`,
    `CREATE QUOTA IF NOT EXISTS forecastle_analyst KEYED BY user_name FOR INTERVAL 1 minute MAX queries = 600, execution_time = 120 TO ${name}`,
    ...views.map((view) => `GRANT SELECT ON ${view} TO ${name}`),
  ];
}

/** On a server: creates SQL_USER if SQL_PASSWORD is set. Repeating it only renews the password and the grants. */
export async function admitAnalyst(
  clickhouse: ClickHouse,
  { SQL_USER: user, SQL_PASSWORD: password }: Pick<Config, 'SQL_USER' | 'SQL_PASSWORD'>,
  log: Log,
): Promise<void> {
  if (password === undefined) return;
  const rows = await clickhouse.sql<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'v_') ORDER BY name",
  );
  try {
    for (const statement of analystStatements(
      user,
      password,
      rows.map((row) => row.name),
    ))
      await clickhouse.command(statement);
  } catch (error) {
    if (!(error instanceof StoreError && REFUSED.has(error.code ?? ''))) throw error;
    log.warn({ user }, 'The user of CLICKHOUSE_URL cannot create users: create SQL_USER manually');
  }
}
