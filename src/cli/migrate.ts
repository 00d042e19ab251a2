import { openClickHouse } from '../stores/clickhouse/client.ts';
import { loadConfig } from '../core/config.ts';
import { createLog } from '../core/log.ts';
import { migratePostgres, openPostgres } from '../stores/postgres/client.ts';
import { prepareClickHouse } from '../stores/clickhouse/prepare.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run migrate
Brings the schemas of ClickHouse and PostgreSQL (servers or embedded) up to this release. Safe to repeat.`;

await runCommand(USAGE, async () => {
  const config = loadConfig(process.env, 'stores');
  const log = createLog(config);
  const clickhouse = await openClickHouse(config, log);
  try {
    await prepareClickHouse(clickhouse, config, log);
  } finally {
    await clickhouse.close();
  }
  const postgres = await openPostgres(config, log);
  try {
    await migratePostgres(postgres, log);
  } finally {
    await postgres.close();
  }
});
