import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { convertClickHouse, isClickHouseBefore10 } from '../before-1.0.ts';
import { type ClickHouse, StoreError } from './client.ts';
import { ConfigError } from '../../core/config-error.ts';
import type { Log } from '../../core/log.ts';
import { retry, waits } from '../../core/retry.ts';
import { systemClock } from '../../core/time.ts';
import { changedDefinitions, type Defined, type Definition, readDefinitions } from '../definitions.ts';
import { withMigrationLock } from './migration-lock.ts';
import { normalizeSql, forDatabaseEngine, splitStatements } from '../../core/sql-text.ts';

const FOLDER = new URL('../../../sql/schema/', import.meta.url);

/** One statement of a numbered file. */
interface Migration {
  number: number;
  name: string;
  /** Position in its file, and the file's number of statements. */
  statement: number;
  statements: number;
  text: string;
  checksum: string;
  /** The file that replaces what this statement makes; undefined for most. */
  replacedBy: string | undefined;
}

/** The comment of a statement whose result a later file replaces; it is no part of the checksum. */
const REPLACED = /^-- Replaced by (\d{3}_\w+\.sql): a new store passes over this statement\.$/m;

/** Numbers whose files only defined what has a file of its own in `views` now. Stores that applied them still start. No file takes them again. */
const RETIRED: ReadonlySet<number> = new Set([20, 21, 22, 23, 24]);

type Applied = Pick<Migration, 'number' | 'statement' | 'statements' | 'checksum'>;

/**
 * Applies the files of `folder`: NNN_name.sql, in order, each statement once and recorded separately, so that an interrupted migration
 * continues where it stopped. A new store, which is empty, is recorded as a whole (a third faster), passes over replaced statements and
 * starts again after a kill. Then it defines the views of `folder`/views whose text has changed. One process at a time; up only. Throws
 * ConfigError if the store has a newer release's schema, or if an applied file was edited.
 */
export async function migrateClickHouse(clickhouse: ClickHouse, log: Log, folder: URL = FOLDER): Promise<void> {
  const migrations = readMigrations(folder);
  const views = readDefinitions(new URL('views/', folder));
  const engine = await databaseEngine(clickhouse);
  await createLedgers(clickhouse, engine);
  if (await isClickHouseBefore10(clickhouse)) {
    await withMigrationLock(clickhouse, engine, log, async () => {
      if (await isClickHouseBefore10(clickhouse)) await convertClickHouse(clickhouse);
      await createLedgers(clickhouse, engine);
    });
  }
  if ((await pending(clickhouse, migrations)).length === 0 && (await changedViews(clickhouse, views)).length === 0)
    return;
  await withMigrationLock(clickhouse, engine, log, async () => {
    // Read again: another process may have migrated while this one waited.
    const left = await pending(clickhouse, migrations);
    const isNew = left.length === migrations.length;
    // A numbered file may define a view until its own file does: from here on, also after a kill, all views are due.
    const due = isNew || left.length === 0 ? [] : views.map(({ name, release }) => ({ name, checksum: '', release }));
    await clickhouse.insert('schema_views', due);
    const applied: Migration[] = [];
    const isReplaced = ({ replacedBy }: Migration): boolean => left.some(({ name }) => name === replacedBy);
    try {
      for (const migration of left) {
        if (!isNew || !isReplaced(migration)) {
          await apply(clickhouse, forDatabaseEngine(migration.text, engine));
          log.info({ migration: migration.name, statement: migration.statement }, 'ClickHouse schema changed');
        }
        applied.push(migration);
        if (!isNew) await record(clickhouse, applied.splice(0));
      }
    } finally {
      await record(clickhouse, applied);
    }
    const changed = await changedViews(clickhouse, views);
    for (const { name, text } of changed) {
      await apply(clickhouse, text);
      log.info({ view: name }, 'ClickHouse view defined');
    }
    await clickhouse.insert(
      'schema_views',
      changed.map(({ name, checksum, release }) => ({ name, checksum, release })),
    );
  });
}

const LEDGERS = [
  `CREATE TABLE IF NOT EXISTS schema_migrations (
    number UInt32, statement UInt32, statements UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC')
  ) ENGINE = ReplacingMergeTree(applied_at) ORDER BY (number, statement)`,
  `CREATE TABLE IF NOT EXISTS schema_views (
    name String, checksum String, release String, defined_at DateTime64(3, 'UTC') DEFAULT now64(3)
  ) ENGINE = ReplacingMergeTree(defined_at) ORDER BY name`,
];

async function createLedgers(clickhouse: ClickHouse, engine: string): Promise<void> {
  for (const ledger of LEDGERS) await clickhouse.command(forDatabaseEngine(ledger, engine));
}

const changedViews = async (clickhouse: ClickHouse, views: readonly Definition[]): Promise<Definition[]> =>
  changedDefinitions(
    'ClickHouse',
    views,
    await clickhouse.sql<Defined>('SELECT name, checksum, release FROM schema_views FINAL'),
  );

function readMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{3}_.*\.sql$/.test(name))
    .toSorted()
    .flatMap((name) => {
      const texts = splitStatements(readFileSync(new URL(name, folder), 'utf8'));
      return texts.map((text, index) => ({
        number: Number(name.slice(0, 3)),
        name,
        statement: index + 1,
        statements: texts.length,
        text,
        checksum: createHash('sha256').update(normalizeSql(text)).digest('hex'),
        replacedBy: REPLACED.exec(text)?.[1],
      }));
    });
}

/** Engine of the connection's database: Replicated on a cluster. */
export async function databaseEngine(clickhouse: ClickHouse): Promise<string> {
  try {
    const [row] = await clickhouse.sql<{ engine: string }>(
      'SELECT engine FROM system.databases WHERE name = currentDatabase()',
    );
    return row?.engine ?? '';
  } catch (error) {
    if (error instanceof StoreError && error.code === '81')
      throw new ConfigError('CLICKHOUSE_URL: names a database that does not exist; create it first');
    throw error;
  }
}

/** Statements not applied yet; throws if an applied one differs from the files, unless its number is retired. */
async function pending(clickhouse: ClickHouse, migrations: Migration[]): Promise<Migration[]> {
  const rows = await clickhouse.sql<Applied>(
    'SELECT number, statement, statements, checksum FROM schema_migrations FINAL ORDER BY number, statement',
  );
  const newest = Math.max(0, ...rows.map((row) => row.number));
  const known = Math.max(0, ...migrations.map((migration) => migration.number));
  if (newest > known)
    throw new ConfigError(
      `ClickHouse: its schema has version ${newest}, this release knows ${known}: run a newer release`,
    );
  const applied = new Map(rows.map((row) => [`${row.number}/${row.statement}`, row]));
  for (const row of rows) {
    if (RETIRED.has(row.number)) continue;
    const file = migrations.filter((migration) => migration.number === row.number);
    const complete = applied.has(`${row.number}/${row.statements}`);
    const same = file[row.statement - 1]?.checksum === row.checksum && (!complete || file.length === row.statements);
    if (!same)
      throw new ConfigError(
        `${file[0]?.name ?? `migration ${row.number}`}: was edited after it had been applied; put the change into a new file`,
      );
  }
  return migrations.filter(({ number, statement }) => !applied.has(`${number}/${statement}`));
}

/** CANNOT_ASSIGN_ALTER: another replica is altering the same table. */
const BUSY_CODE = '517';
const BUSY_WAITS_MS = [500, 1000, 1500, 2000];

const isBusy = (error: unknown): boolean => error instanceof StoreError && error.code === BUSY_CODE;

const apply = (clickhouse: ClickHouse, text: string): Promise<void> =>
  retry(() => clickhouse.command(text), { waitMs: waits(BUSY_WAITS_MS, isBusy), sleep: systemClock.sleep });

async function record(clickhouse: ClickHouse, migrations: readonly Migration[]): Promise<void> {
  const appliedAt = new Date(systemClock.now()).toISOString();
  const rows = migrations.map(({ number, statement, statements, name, checksum }) => {
    return { number, statement, statements, name, checksum, applied_at: appliedAt };
  });
  await clickhouse.insert('schema_migrations', rows);
}
