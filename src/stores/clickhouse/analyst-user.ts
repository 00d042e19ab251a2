import { createHash } from 'node:crypto';
import { type ClickHouse, StoreError } from './client.ts';
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';

/** ACCESS_DENIED, ACCESS_STORAGE_READONLY: the service's own user may not create users. */
const REFUSED = new Set(['497', '495']);

/** Limits of one query on a server; a request may lower them. 0 would lift them, so each has a minimum too. */
const LIMITS = {
  max_execution_time: 30,
  max_memory_usage: 2_000_000_000,
  // Memory that no limit counts.
  max_untracked_memory: 4_194_304,
  max_temporary_data_on_disk_size_for_query: 2_000_000_000,
  max_result_rows: 1_000_000,
  max_threads: 2,
};

const PROFILE = [
  // 2: clients such as Grafana send settings with each query.
  'readonly = 2',
  ...Object.entries(LIMITS).map(([name, most]) => `${name} = ${most} MIN 1 MAX ${most}`),
  'priority = 10 MIN 10',
  'max_bytes_before_external_group_by = 800000000',
  'max_bytes_before_external_sort = 800000000',
  "session_timezone = 'UTC'",
  'output_format_json_quote_64bit_integers = 1',
  'validate_enum_literals_in_operators = 1',
  'query_plan_optimize_join_order_limit = 1',
];

/**
 * Statements that create the read-only user on a server, or renew it. It reads only views, with limits that a request may lower, and a
 * rate limit, which each user of POST /v1/api/sql has separately.
 */
export function analystStatements(user: string, password: string, views: readonly string[]): string[] {
  const name = `\`${user.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
  const identified = `IDENTIFIED WITH sha256_hash BY '${createHash('sha256').update(password).digest('hex')}'`;
  const quota = `KEYED BY client_key, user_name FOR INTERVAL 1 minute MAX queries = 600, execution_time = 120 TO ${name}`;
  return [
    'CREATE SETTINGS PROFILE IF NOT EXISTS forecastle_analyst',
    `ALTER SETTINGS PROFILE forecastle_analyst SETTINGS ${PROFILE.join(', ')}`,
    `CREATE USER IF NOT EXISTS ${name} ${identified}`,
    `ALTER USER ${name} ${identified} SETTINGS PROFILE 'forecastle_analyst'`,
    'CREATE QUOTA IF NOT EXISTS forecastle_analyst',
    `ALTER QUOTA forecastle_analyst ${quota}`,
    ...views.map((view) => `GRANT SELECT ON ${view} TO ${name}`),
  ];
}

/** On a server: creates SQL_USER if SQL_PASSWORD is set, or renews its password, limits and grants. */
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
