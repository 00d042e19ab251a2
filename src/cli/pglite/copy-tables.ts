import { z } from 'zod';
import { ConfigError } from '../../core/config-error.ts';
import type { Postgres, Run } from '../../stores/postgres/client.ts';

type Transacts = Pick<Postgres, 'transact'>;

/** The tables of the schema, with the facts that a copy needs. */
const TABLES = `
  SELECT c.oid::regclass::text AS name,
    (SELECT coalesce(json_agg(DISTINCT k.confrelid::regclass::text), '[]') FROM pg_constraint AS k
     WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid) AS refers,
    (SELECT json_agg(quote_ident(a.attname) ORDER BY a.attnum) FROM pg_attribute AS a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    (SELECT coalesce(json_agg(a.attname), '[]') FROM pg_attribute AS a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       AND pg_get_serial_sequence(c.oid::regclass::text, a.attname) IS NOT NULL) AS numbered
  FROM pg_class AS c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_migrations'
  ORDER BY name`;
const Table = z.object({
  name: z.string(),
  refers: z.array(z.string()),
  columns: z.array(z.string()),
  numbered: z.array(z.string()),
});
type Table = z.output<typeof Table>;
const BATCH = 500;

/** Copies every row into a database of the same schema without accounts, in one transaction; returns the row count of each table. */
export async function copyTables(source: Transacts, target: Transacts): Promise<[table: string, rows: number][]> {
  return source.transact((read) =>
    target.transact(async (write) => {
      if ((await write('SELECT 1 FROM users LIMIT 1')).length > 0)
        throw new ConfigError('DATABASE_URL: must name a database without accounts');
      const tables = inOrder((await read(TABLES)).map((row) => Table.parse(row)));
      // Default rows inserted by migrations are replaced by the source's.
      await write(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
      const copied: [string, number][] = [];
      for (const table of tables) copied.push([table.name, await copy(table, read, write)]);
      return copied;
    }),
  );
}

/** Referenced tables first. */
function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = [];
  const isDone = (name: string): boolean => ordered.some((table) => table.name === name);
  while (ordered.length < tables.length) {
    const ready = tables.filter(({ name, refers }) => !isDone(name) && refers.every(isDone));
    if (ready.length === 0) throw new Error('the tables refer to each other in a circle');
    ordered.push(...ready);
  }
  return ordered;
}

/** As JSON, which keeps every digit of numbers and times. */
async function copy({ name, columns, numbered }: Table, read: Run, write: Run): Promise<number> {
  const list = columns.join(', ');
  let rows = 0;
  await read(`DECLARE rows CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${name} AS t`);
  for (;;) {
    const batch = await read(`FETCH ${BATCH} FROM rows`);
    if (batch.length === 0) break;
    rows += batch.length;
    await write(
      `INSERT INTO ${name} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1::json)`,
      [`[${batch.map(({ row }) => String(row)).join(',')}]`],
    );
  }
  await read('CLOSE rows');
  for (const column of numbered)
    await write(
      `SELECT setval(pg_get_serial_sequence($1, $2), max("${column}")) FROM ${name} HAVING max("${column}") IS NOT NULL`,
      [name, column],
    );
  return rows;
}
