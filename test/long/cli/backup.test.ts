import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { loadConfig, type Config } from '../../../src/core/config.ts';
import { backUp, restore } from '../../../src/cli/embedded-backup.ts';
import { createLog } from '../../../src/core/log.ts';
import { migrateClickHouse } from '../../../src/stores/clickhouse/migrations.ts';
import { migratePostgres, openPostgres } from '../../../src/stores/postgres/client.ts';
import { users } from '../../../src/accounts/tables.ts';
import { LAUNCHER } from '../../helpers/process.ts';
import { silent } from '../../helpers/silent-log.ts';
import { insertTrades } from '../../helpers/sql-port.ts';

let root: string;
/** A backup of what beforeAll stores. */
let backup: string;
const log = createLog({ LOG_LEVEL: 'silent' });
const at = (name: string): Config => loadConfig({ DATA_DIR: join(root, name) });

/** What is in the stores of a directory. */
async function contents(config: Config): Promise<unknown> {
  const clickhouse = await openClickHouse(config, silent);
  // Refuses a schema that is not this release's.
  await migrateClickHouse(clickhouse, silent);
  const trades = await clickhouse.sql(
    'SELECT count() AS n, sum(size) AS size, (SELECT sum(v) FROM candles_1h) AS bars, (SELECT count() FROM v_markets) AS markets FROM v_trades',
  );
  await clickhouse.close();
  const postgres = await openPostgres(config, log);
  const people = await postgres.db.select({ email: users.email }).from(users);
  await postgres.close();
  return { trades, people };
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'forecastle-backup-'));
  const config = at('data');
  const clickhouse = await openClickHouse(config, silent);
  await migrateClickHouse(clickhouse, silent);
  await insertTrades(clickhouse, 1000);
  await clickhouse.close();
  const postgres = await openPostgres(config, log);
  await migratePostgres(postgres, log);
  await postgres.db.insert(users).values({ id: randomUUID(), email: 'ann@example.com', tier: 'free' });
  await postgres.close();
  backup = join(root, "back'up");
  await backUp(at('data'), backup, silent);
});

afterAll(() => rmSync(root, { recursive: true }));

/** A copy of the backup, to be spoiled. */
function copied(name: string): string {
  const folder = join(root, name);
  cpSync(backup, folder, { recursive: true });
  return folder;
}

it('brings both stores and the secrets back, into a directory of another name', async () => {
  const before = await contents(at('data'));
  // Made by the start of another directory: a restore must not be mixed up with them.
  const restored = loadConfig({ DATA_DIR: join(root, 'restored') }, 'stores');
  await restore(restored, backup, silent);
  expect(await contents(at('restored'))).toEqual(before);
  expect(at('restored').jwtSecret).toBe(at('data').jwtSecret);
  expect(at('restored').credentialKeys).toEqual(at('data').credentialKeys);
  for (const name of ['jwt_secret', 'credentials_key', 'backup.json'])
    expect(statSync(join(backup, name)).mode & 0o077, name).toBe(0);
});

it('brings the day files back, which may have rows that the store no longer has, without those of a killed export', async () => {
  const folder = join(at('data').dataDir, 'files', 'kalshi');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'part-0.parquet'), 'rows');
  writeFileSync(join(folder, '.part-0.parquet.1.tmp'), 'ro');
  const withFiles = join(root, 'with-files');
  await backUp(at('data'), withFiles, silent);
  const target = loadConfig({ DATA_DIR: join(root, 'of-files') }, 'stores');
  await restore(target, withFiles, silent);
  const restored = join(target.dataDir, 'files', 'kalshi');
  expect(readdirSync(restored)).toEqual(['part-0.parquet']);
  expect(readFileSync(join(restored, 'part-0.parquet'), 'utf8')).toBe('rows');
});

it('is restored so that the service starts, whatever the modes of its copy are', async () => {
  expect(statSync(join(backup, 'postgresql')).mode & 0o777).toBe(0o700);
  const folder = copied('copied');
  chmodSync(join(folder, 'postgresql'), 0o755);
  const target = loadConfig({ DATA_DIR: join(root, 'of-copied') }, 'stores');
  await restore(target, folder, silent);
  expect(statSync(join(target.dataDir, 'postgresql')).mode & 0o777).toBe(0o700);
  await (await openPostgres(target, log)).close();
});

it('is written to a new folder only, and restored only where nothing is', async () => {
  const folder = copied('taken');
  for (const taken of [folder, join(folder, 'backup.json')])
    await expect(backUp(at('data'), taken, silent)).rejects.toThrow(/^DIR: must be an empty directory or new/);
  await expect(restore(at('data'), folder, silent)).rejects.toThrow(/DATA_DIR: must hold no stores/);
  rmSync(join(folder, 'backup.json'));
  await expect(restore(loadConfig({ DATA_DIR: join(root, 'new') }, 'stores'), folder, silent)).rejects.toThrow(
    /finished backup/,
  );
});

it('is not made of a directory without stores, which would be an empty backup that looks like one', async () => {
  const nowhere = loadConfig({ DATA_DIR: join(root, 'nowhere') }, 'stores');
  await expect(backUp(nowhere, join(root, 'of-nothing'), silent)).rejects.toThrow(/^DATA_DIR: must hold the stores/);
  expect(existsSync(join(root, 'of-nothing'))).toBe(false);
});

it('that lacks a part is refused, and one that is damaged leaves no half of it behind', async () => {
  const folder = copied('damaged');
  const target = loadConfig({ DATA_DIR: join(root, 'target') }, 'stores');
  renameSync(join(folder, 'postgresql'), join(folder, 'elsewhere'));
  await expect(restore(target, folder, silent)).rejects.toThrow(/^DIR: must be a finished backup/);
  renameSync(join(folder, 'elsewhere'), join(folder, 'postgresql'));
  const files = readdirSync(join(folder, 'clickhouse'), { recursive: true, withFileTypes: true });
  const parts = files.filter((file) => file.isFile() && file.name.endsWith('.bin'));
  expect(parts.length).toBeGreaterThan(0);
  for (const { parentPath, name } of parts) rmSync(join(parentPath, name));
  await expect(restore(target, folder, silent)).rejects.toThrow();
  for (const name of ['clickhouse', 'postgresql', 'restoring'])
    expect(existsSync(join(target.dataDir, name)), name).toBe(false);
});

it('that is cut off while it is restored leaves nothing that a service or a command starts on, until it is deleted', async () => {
  const folder = copied('cut-off');
  const target = loadConfig({ DATA_DIR: join(root, 'half') }, 'stores');
  const restoring = spawn(process.execPath, [LAUNCHER, 'src/cli/restore.ts', folder], {
    env: { ...process.env, DATA_DIR: target.dataDir, CLICKHOUSE_URL: '', DATABASE_URL: '' },
    stdio: 'ignore',
  });
  await expect.poll(() => existsSync(join(target.dataDir, 'clickhouse')), { interval: 20 }).toBe(true);
  restoring.kill('SIGKILL');
  await once(restoring, 'exit');
  const refused =
    /^DATA_DIR: must not hold an unfinished restore, .*; delete its clickhouse, postgresql, files and restoring/;
  await expect(openPostgres(target, log)).rejects.toThrow(refused);
  await expect(openClickHouse(target, silent)).rejects.toThrow(refused);
  await expect(restore(target, folder, silent)).rejects.toThrow(refused);
  for (const name of ['clickhouse', 'postgresql', 'restoring'])
    rmSync(join(target.dataDir, name), { recursive: true, force: true });
  await restore(target, folder, silent);
  expect(await contents(target)).toEqual(await contents(at('data')));
  expect(existsSync(join(target.dataDir, 'restoring'))).toBe(false);
});

it('is refused while the service runs, in one line', async () => {
  const running = await openClickHouse(at('data'), silent);
  await expect(backUp(at('data'), join(root, 'never'), silent)).rejects.toThrow(
    /DATA_DIR: .* is in use by another process/,
  );
  await running.close();
  expect(readdirSync(join(root, 'never'))).toEqual([]);
});

it('is not made of servers', async () => {
  const config = loadConfig({ DATA_DIR: join(root, 'data'), DATABASE_URL: 'postgres://x@127.0.0.1/x' }, 'stores');
  await expect(backUp(config, join(root, 'servers'), silent)).rejects.toThrow(/DATABASE_URL: must be unset/);
});
