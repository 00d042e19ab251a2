import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from 'pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { createLog } from '../../src/core/log.ts';
import { openPostgres } from '../../src/stores/postgres/client.ts';
import { freshDatabase, TEST_SERVER } from '../helpers/databases.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

waitsInRealTime('commands run in child processes');

const execute = promisify(execFile);
const log = createLog({ LOG_LEVEL: 'silent' });
/** The schema of the last release that used PGlite. */
const SCHEMA = ['001_accounts.sql', '002_orders.sql'];
const USER = '11111111-1111-4111-8111-111111111111';
const ROWS = `
  INSERT INTO users (id, email, name, password_hash, created_at)
    VALUES ('${USER}', 'ann@example.com', 'Ann “A” \\ ☃', '$argon2id$x', '2025-01-02 03:04:05.678901+00');
  INSERT INTO identities (issuer, subject, user_id) VALUES ('https://id.example', 's-1', '${USER}');
  INSERT INTO api_keys (user_id, name, prefix, hash) SELECT '${USER}', 'key ' || n, 'pk_' || n, 'hash ' || n FROM generate_series(1, 1200) AS n;
  INSERT INTO credentials (user_id, platform, label, key_id, sealed) SELECT '${USER}', 'kalshi', 'c' || n, 'k1', 'c2VhbGVk' FROM generate_series(1, 3) AS n;
  DELETE FROM credentials WHERE label = 'c2';
  INSERT INTO account_events (user_id, event, detail) VALUES ('${USER}', 'registered', '{"by": "operator", "n": 1.10}');
  INSERT INTO orders (id, user_id, platform, origin, market_ref, market_id, outcome, outcome_index, side, type, time_in_force,
    price, size, client_order_id, notional, idempotency_key, wire, state, status, filled_size, created_at, updated_at, asked_at)
    VALUES (gen_random_uuid(), '${USER}', 'polymarket', 'service', 'r', 'm', 'Yes', 0, 'buy', 'limit', 'gtc',
    0.12345678901234567890, 1000000.000000001, 'c-1', 0, 'idem', '{"a": "\\u2603"}', 'unknown', 'pending', NULL, now(), now(), now());
  INSERT INTO order_settings VALUES ('${USER}', false, 12.50, NULL);`;

let root: string;
let dataDir: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'forecastle-import-'));
  dataDir = join(root, 'data');
  mkdirSync(dataDir);
  const engine = await PGlite.create({ dataDir: join(dataDir, 'postgres') });
  await engine.exec(
    'CREATE TABLE schema_migrations (number int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  for (const [i, name] of SCHEMA.entries()) {
    await engine.exec(readFileSync(new URL(`../../sql/postgres/${name}`, import.meta.url), 'utf8'));
    await engine.query('INSERT INTO schema_migrations (number, name) VALUES ($1, $2)', [i + 1, name]);
  }
  await engine.exec(ROWS);
  await engine.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function command(env: Record<string, string>): Promise<string> {
  const file = new URL('../../src/cli/import-pglite.ts', import.meta.url).pathname;
  const { stdout } = await execute(process.execPath, ['--import', 'tsx', file], {
    env: { PATH: process.env['PATH'], ...env },
  });
  return stdout;
}

/** Every row as the text that PostgreSQL makes of it, columns of later migrations left out. */
const TEXTS = {
  users: 'id, email, name, password_hash, tier, created_at',
  identities: 'issuer, subject, user_id, created_at',
  api_keys: 'id, user_id, name, prefix, hash, created_at, last_used_at, revoked_at',
  credentials: 'id, user_id, platform, label, is_default, key_id, sealed, created_at',
  account_events: 'id, at, user_id, event, address, detail',
  orders: 'id, price, size, notional, wire, state, filled_size, idempotency_key, created_at, asked_at, metadata',
  order_settings: 'user_id, trading_enabled, max_order_notional, max_day_notional',
};
type Query = (text: string) => Promise<Record<string, unknown>[]>;
async function contents(query: Query): Promise<Record<string, unknown[]>> {
  await query("SET timezone = 'UTC'");
  const found: Record<string, unknown[]> = {};
  for (const [table, columns] of Object.entries(TEXTS))
    found[table] = (await query(`SELECT ROW(${columns})::text AS row FROM ${table} ORDER BY 1`)).map(({ row }) => row);
  return found;
}
async function made(): Promise<Record<string, unknown[]>> {
  const engine = await PGlite.create({ dataDir: join(dataDir, 'postgres') });
  return contents(async (text) => (await engine.query<Record<string, unknown>>(text)).rows).finally(() =>
    engine.close(),
  );
}
const imported = async (env: Record<string, string>): Promise<Record<string, unknown[]>> => {
  const postgres = await openPostgres(loadConfig(env, 'stores'), log);
  return postgres
    .transact(async (run) => {
      const found = await contents(run);
      // The next number is free.
      await run(
        `INSERT INTO credentials (user_id, platform, label, key_id, sealed) VALUES ('${USER}', 'kalshi', 'next', 'k1', '')`,
      );
      expect((await run(`SELECT id::int AS id FROM credentials WHERE label = 'next'`))[0]).toEqual({ id: 4 });
      await run(`DELETE FROM credentials WHERE label = 'next'`);
      return found;
    })
    .finally(() => postgres.close());
};

test('everything that PGlite held is in the embedded PostgreSQL, to the last digit, and the older files stay', async () => {
  const before = await made();
  expect(before['api_keys']).toHaveLength(1200);
  expect(await command({ DATA_DIR: dataDir })).toMatch(
    /^moved: .*\bapi_keys 1200\b.*\busers 1\b|^moved: .*\busers 1\b.*\bapi_keys 1200\b/,
  );
  expect(await imported({ DATA_DIR: dataDir })).toEqual(before);
  expect(await made()).toEqual(before);
  expect(existsSync(join(dataDir, 'import-pglite'))).toBe(false);
  await expect(command({ DATA_DIR: dataDir })).rejects.toThrow(/DATA_DIR: must hold no embedded PostgreSQL yet/);
});

test('it also moves to a server, and refuses one that has accounts', async () => {
  const database = await freshDatabase(TEST_SERVER);
  const env = { DATA_DIR: dataDir, DATABASE_URL: database.url };
  await command(env);
  expect(await imported(env)).toEqual(await made());
  await expect(command(env)).rejects.toThrow(/DATABASE_URL: must name a database without accounts/);
  await database.drop();
});

test('an import that breaks off leaves DATA_DIR as it was', async () => {
  const broken = join(root, 'broken');
  await execute('cp', ['-r', dataDir, broken]);
  rmSync(join(broken, 'postgresql'), { recursive: true, force: true });
  const engine = await PGlite.create({ dataDir: join(broken, 'postgres') });
  await engine.exec(`INSERT INTO schema_migrations VALUES (999, 'later')`);
  await engine.close();
  await expect(command({ DATA_DIR: broken })).rejects.toThrow(/version 999/);
  expect(existsSync(join(broken, 'postgresql'))).toBe(false);
  await expect(openPostgres(loadConfig({ DATA_DIR: broken }, 'stores'), log)).rejects.toThrow(/npm run import-pglite$/);
});
