import { openClickHouse } from '../stores/clickhouse/client.ts';
import { loadConfig } from '../core/config.ts';
import { createLog } from '../core/log.ts';
import { migratePostgres, openPostgres } from '../stores/postgres/client.ts';
import { prepareClickHouse } from '../stores/clickhouse/prepare.ts';
import { buildPresent } from '../present/catch-up.ts';
import { readOptions, runCommand } from './command.ts';

const USAGE = `npm run migrate
Brings the schemas of ClickHouse and PostgreSQL (servers or embedded) up to this release, and copies the markets of ClickHouse to a
PostgreSQL that has none. Safe to repeat.
  --copy  copies them again, where PostgreSQL has others than ClickHouse`;

await runCommand(USAGE, async (args) => {
  const { copy = false } = readOptions(USAGE, args, { copy: { type: 'boolean' } });
  const config = loadConfig(process.env, 'stores');
  const log = createLog(config);
  const clickhouse = await openClickHouse(config, log);
  try {
    await prepareClickHouse(clickhouse, config, log);
    const postgres = await openPostgres(config, log);
    try {
      await migratePostgres(postgres, log);
      await buildPresent({ clickhouse, postgres, log }, { again: copy });
    } finally {
      await postgres.close();
    }
  } finally {
    await clickhouse.close();
  }
});
