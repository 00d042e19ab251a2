import { pipeline } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { systemClock } from '../core/time.ts';
import { passOrFail } from '../stores/clickhouse/exception-stream.ts';
import { ConfigError } from '../core/config-error.ts';
import { loadConfig, type Config } from '../core/config.ts';
import { requireStore, runningAddress } from '../core/data-dir.ts';
import { startEmbeddedClickHouse } from '../embedded/clickhouse/supervisor.ts';
import { createLog } from '../core/log.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run sql -- "SELECT …"
Runs one read-only statement on ClickHouse (CLICKHOUSE_URL, else the store in DATA_DIR) and prints its rows:
a table on a terminal, tab-separated otherwise, or as the statement's FORMAT says. While a service runs on DATA_DIR
the statement goes to its SQL_PORT, which has the views: SHOW TABLES. Otherwise it runs as the service's own user, who
reads every table, without the limits of SQL_PORT.`;

/** An option of the command. A comment of SQL has a blank after its dashes. */
const OPTION = /^--?\w/;

await runCommand(USAGE, async (args) => {
  const query = args.join(' ').trim();
  if (query === '' || OPTION.test(query)) throw new ConfigError(USAGE);
  const config = loadConfig(process.env, 'stores');
  const store = await openStore(config);
  const client = createClient({
    url: store.url,
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: 600_000,
  });
  try {
    const format = process.stdout.isTTY ? 'PrettyCompact' : 'TabSeparatedWithNames';
    const result = await client.exec({
      query,
      clickhouse_settings: { readonly: '2', session_timezone: 'UTC' },
      http_headers: { 'X-ClickHouse-Format': format },
    });
    const rows = passOrFail(result.stream, result.response_headers['x-clickhouse-exception-tag']);
    await pipeline(rows, process.stdout, { end: false });
  } finally {
    await client.close();
    await store.close();
  }
});

async function openStore(config: Config): Promise<{ url: string; close(): Promise<void> }> {
  const url = config.CLICKHOUSE_URL ?? (await runningAddress(config.dataDir, 'sql_url'));
  if (url !== null) return { url, close: async () => {} };
  requireStore(config.dataDir, 'clickhouse');
  return startEmbeddedClickHouse({
    dataDir: config.dataDir,
    memoryMb: config.CLICKHOUSE_MEMORY_MB,
    log: createLog(config, process.stderr),
    clock: systemClock,
  });
}
