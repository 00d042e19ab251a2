import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { loadConfig } from '../../src/core/config.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { migratePostgres, openPostgres } from '../../src/stores/postgres/client.ts';
import { freshDatabase, TEST_SERVER } from '../helpers/databases.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { silent } from '../helpers/silent-log.ts';

let clickhouse: ClickHouse;
beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
});
afterAll(() => clickhouse.close());

const NAMES = `name NOT LIKE '.%' AND name NOT LIKE 'schema_%' AND database = currentDatabase()`;
const schema = () => clickhouse.sql(`SELECT name, create_table_query FROM system.tables WHERE ${NAMES} ORDER BY name`);
const ledger = () =>
  clickhouse.sql('SELECT number, statement, name, checksum FROM schema_migrations FINAL ORDER BY number, statement');

/** Makes the store what the last version before 1.0 left: other files applied, and a table that 1.0 does not have. */
async function makeFormer(files: [number, string][]): Promise<void> {
  await clickhouse.command('TRUNCATE TABLE schema_migrations');
  await clickhouse.command('TRUNCATE TABLE schema_views');
  const rows = files.map(([number, name]) => ({ number, statement: 1, statements: 1, name, checksum: 'former' }));
  await clickhouse.insert('schema_migrations', rows);
  await clickhouse.command(
    'CREATE TABLE IF NOT EXISTS market_info_texts (market_key UInt64, body String) ENGINE = MergeTree ORDER BY market_key',
  );
  await clickhouse.command(
    `CREATE MATERIALIZED VIEW IF NOT EXISTS market_info_texts_mv TO market_info_texts AS SELECT market_key, title AS body FROM markets`,
  );
}

const LAST: [number, string][] = [
  [1, '001_trades.sql'],
  [100, '100_matches_view.sql'],
];

test('a ClickHouse of before 1.0 is converted wherever the conversion is killed, and keeps its rows', async () => {
  const [whole, files] = [await schema(), await ledger()];
  await clickhouse.command(`INSERT INTO trade_gaps (platform, gap_from, gap_to, filled) VALUES ('p', 1, 2, 0)`);
  for (const killedBehind of [0, 1, 3, 5, 8, 9, 10, 11, 20, 1000]) {
    await makeFormer(LAST);
    let left = killedBehind;
    const killed: ClickHouse = {
      ...clickhouse,
      async command(text, ...rest) {
        if (!/schema_lock/.test(text) && (left -= 1) < 0) throw new Error('killed');
        await clickhouse.command(text, ...rest);
      },
    };
    await migrateClickHouse(killed, silent).catch((error: Error) => expect(error.message).toBe('killed'));
    await migrateClickHouse(clickhouse, silent);
    expect([await schema(), await ledger()]).toEqual([whole, files]);
  }
  expect(await clickhouse.sql('SELECT count() AS rows FROM trade_gaps')).toEqual([{ rows: '1' }]);
});

test('a ClickHouse that is older than the last version before 1.0 is refused, and left as it is', async () => {
  await makeFormer(LAST.slice(0, 1));
  await expect(migrateClickHouse(clickhouse, silent)).rejects.toThrow(/^ClickHouse: .* run npm run migrate of commit/);
  expect(await ledger()).toHaveLength(1);
  await makeFormer(LAST);
  await migrateClickHouse(clickhouse, silent);
});

/** Drops what the former files did not make. */
const NEW = `
  DROP TABLE IF EXISTS present_feeds, present_spans, present_tapes, present_trades, present_traders, present_events, present_event_ranks,
    present_event_ranks_were, present_series, present_searched, present_event_searched, watched_wallets, schema_functions;
  DROP FUNCTION IF EXISTS present_event_ranks_changed, present_event_sums;`;

test('a PostgreSQL of before 1.0 is converted in one transaction, and an older one is refused', async () => {
  const database = await freshDatabase(TEST_SERVER);
  const log = createLog({ LOG_LEVEL: 'silent' });
  const postgres = await openPostgres(loadConfig({ DATABASE_URL: database.url }, 'stores'), log);
  const files = () => postgres.transact((run) => run('SELECT number, name FROM schema_migrations ORDER BY number'));
  const makeOld = (...names: string[]) =>
    postgres.transact(async (run) => {
      const files = names.map((name) => `(${Number(name.slice(0, 3))}, '${name}')`);
      await run(
        `${NEW} DELETE FROM schema_migrations; INSERT INTO schema_migrations (number, name) VALUES ${files.join()}`,
      );
    });
  await migratePostgres(postgres, log);
  const applied = await files();
  await postgres.transact((run) => run(`INSERT INTO users (email) VALUES ('ann@example.com')`));
  await makeOld('001_accounts.sql', '002_orders.sql', '003_account_security.sql');
  await expect(migratePostgres(postgres, log)).rejects.toThrow(/^DATABASE_URL: .* run npm run migrate of commit/);
  await makeOld('001_accounts.sql', '002_orders.sql', '003_account_security.sql', '024_user_limits.sql');
  await migratePostgres(postgres, log);
  expect(await files()).toEqual(applied);
  expect(await postgres.transact((run) => run('SELECT email FROM users'))).toHaveLength(1);
  await postgres.close();
  await database.drop();
});
