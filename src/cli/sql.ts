import { pipeline } from 'node:stream/promises';
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { passOrFail } from '../clickhouse-stream.ts';
import { ConfigError, loadConfig } from '../config.ts';
import { startEmbeddedClickHouse } from '../embedded/clickhouse.ts';
import { createLog } from '../log.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run sql -- "SELECT …"
Runs one reading statement against ClickHouse (CLICKHOUSE_URL, else the store in DATA_DIR) and prints its rows:
a table on a terminal, tab-separated otherwise, or as the statement's FORMAT says.`;

await runCommand(USAGE, async (args) => {
  const query = args.join(' ').trim();
  if (query === '') throw new ConfigError(USAGE);
  const config = loadConfig(process.env, 'stores');
  const embedded = config.CLICKHOUSE_URL
    ? null
    : await startEmbeddedClickHouse({
        dataDir: config.dataDir,
        memoryMb: config.CLICKHOUSE_MEMORY_MB,
        log: createLog(config, process.stderr),
      });
  const client = createClient({
    url: config.CLICKHOUSE_URL ?? embedded?.url,
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: 600_000,
  });
  try {
    const format = process.stdout.isTTY ? 'PrettyCompact' : 'TabSeparatedWithNames';
    const result = await client.exec({
      query,
      clickhouse_settings: { readonly: '2' },
      http_headers: { 'X-ClickHouse-Format': format },
    });
    const rows = passOrFail(result.stream, result.response_headers['x-clickhouse-exception-tag']);
    await pipeline(rows, process.stdout, { end: false });
  } catch (error) {
    // At the shell the store's own words are wanted, unlike in an answer of the API.
    const cause = error instanceof Error && error.cause instanceof ClickHouseError ? error.cause : error;
    throw cause instanceof ClickHouseError ? new Error(`${cause.message.trim()} (code ${cause.code})`) : cause;
  } finally {
    await client.close();
    await embedded?.close();
  }
});
