import { systemClock } from '../../src/core/time.ts';
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { silent } from './silent-log.ts';

interface Started {
  engine: EmbeddedClickHouse;
  store: ClickHouse;
  /** The statements that make the tables of a migrated database in database `name`, in order. */
  statementsFor(name: string): string[];
}

/** Databases of one embedded ClickHouse, each as migrations make it. The next one is made before somebody asks for it. */
export class MigratedDatabases {
  readonly #dataDir: string;
  #started: Promise<Started> | undefined;
  #next: Promise<string> | undefined;
  #count = 0;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** The URL of a database that nobody else uses. */
  async take(): Promise<string> {
    const make = (): Promise<string> => this.#make();
    const given = (this.#next ??= make());
    this.#next = given.then(make, make);
    this.#next.catch(() => {});
    return given;
  }

  async drop(name: string): Promise<string> {
    const { store } = await this.#start();
    await store.command(`DROP DATABASE IF EXISTS ${name} SYNC`);
    return '';
  }

  async close(): Promise<void> {
    // A statement that is aborted at the end of a run fails the run: its error has no source any more.
    await this.#next?.catch(() => {});
    const started = await this.#started?.catch(() => undefined);
    await started?.store.close();
  }

  async #make(): Promise<string> {
    const { engine, store, statementsFor } = await this.#start();
    const name = `test_${(this.#count += 1)}`;
    await store.command(`CREATE DATABASE ${name} ENGINE = Atomic`);
    for (const statement of statementsFor(name)) await store.command(statement);
    const url = new URL(engine.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  #start(): Promise<Started> {
    return (this.#started ??= (async () => {
      const engine = await startEmbeddedClickHouse({
        dataDir: this.#dataDir,
        memoryMb: 2000,
        log: silent,
        clock: systemClock,
      });
      const store = connect(engine.url, () => engine.close());
      await migrateClickHouse(store, silent);
      return { engine, store, statementsFor: await copyOf(store) };
    })());
  }
}

/** How the tables of the connection's database are made in another: tables, their rows, views, and then what fills tables from others. */
async function copyOf(store: ClickHouse): Promise<Started['statementsFor']> {
  const made = await store.sql<{ database: string; name: string; engine: string; text: string; rows: string | null }>(
    `SELECT database, name, engine, create_table_query AS text, total_rows AS rows FROM system.tables
     WHERE database = currentDatabase() AND name NOT LIKE '.%' ORDER BY metadata_modification_time, name`,
  );
  const tables = made.filter(({ engine }) => !engine.endsWith('View'));
  const filled = tables.filter(({ rows }) => Number(rows) > 0);
  const views = ['View', 'MaterializedView'].flatMap((kind) => made.filter(({ engine }) => engine === kind));
  // Nobody reads the migrated database itself.
  for (const { name, text } of views) if (text.includes(' REFRESH ')) await store.command(`SYSTEM STOP VIEW ${name}`);
  return (into) => {
    // A Merge table names its database as a text.
    const create = ({ database, text }: (typeof made)[number]): string =>
      text.replaceAll(`${database}.`, `${into}.`).replaceAll(`'${database}'`, `'${into}'`);
    const fill = ({ database, name }: (typeof made)[number]): string =>
      `INSERT INTO ${into}.${name} SELECT * FROM ${database}.${name}`;
    return [...tables.map(create), ...filled.map(fill), ...views.map(create)];
  };
}
