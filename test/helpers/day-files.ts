import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Dataset } from '../../src/files/datasets.ts';
import { type FileEntry, MANIFEST, readManifest } from '../../src/files/manifest.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** Rows of a query of DuckDB, which knows Parquet files by their paths. */
export async function duck(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await (await DuckDBInstance.create()).connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
  } finally {
    connection.closeSync();
  }
}

/** The files that a tree's manifest lists, by path; none before the first. */
export const manifestOf = async (tree: string): Promise<Map<string, FileEntry>> =>
  readManifest(await readFile(join(tree, MANIFEST), 'utf8').catch(() => null)).files;

/** Every file below a tree, by its path in it. */
export const namesIn = async (tree: string): Promise<string[]> =>
  (await readdir(tree, { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(tree.length + 1))
    .toSorted();

/** A column of files, the same of the store; both as text compare as they are. */
type Pair = readonly [duck: string, click: string];

const withoutZeros = (text: string): string => (/^\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text);

/** The same columns of the files of a dataset and of the store: a line for each row, in one order. */
async function linesOfBoth(
  { tree, clickhouse }: { tree: string; clickhouse: Pick<ClickHouse, 'sql'> },
  dataset: string,
  columns: readonly Pair[],
  from: string,
) {
  const list = columns.map(([ofFile], i) => `(${ofFile})::VARCHAR AS c${i}`).join();
  const files = await duck(
    `SELECT ${list} FROM read_parquet('${tree}/dataset=${dataset}/**/*.parquet', hive_partitioning = true)`,
  );
  const stored = await clickhouse.sql<Record<string, string>>(
    `SELECT ${columns.map(([, ofStore], i) => `toString(${ofStore}) AS c${i}`).join()} FROM ${from}`,
  );
  const lines = (rows: Record<string, unknown>[]) =>
    rows.map((row) => columns.map((_, i) => withoutZeros(String(row[`c${i}`]))).join(' ')).toSorted();
  return { files: lines(files), stored: lines(stored) };
}

const ID: Pair = ["platform || ':' || market_id", 'm.id'];

/** Every trade of the files and of the store, as lines. */
export const tradesOfBoth = (of: Parameters<typeof linesOfBoth>[0]) =>
  linesOfBoth(
    of,
    'trades',
    [
      ID,
      ['trade_id', 't.trade_id'],
      ['epoch_us(executed_at)', 'toUnixTimestamp64Micro(t.executed_at)'],
      ['side', 't.side'],
      ['outcome', 't.outcome'],
      ['outcome_index', 't.outcome_index'],
      ['price', 't.price'],
      ['size', 't.size'],
      ['notional', 't.notional'],
      ['trader', 't.trader'],
      ['is_block', 't.is_block'],
      ['transaction_hash', 't.transaction_hash'],
    ],
    'v_trades AS t INNER JOIN v_markets AS m ON m.market_key = t.market_key',
  );

/** Every bar of one length of the files and of the store, as lines. */
export const barsOfBoth = (of: Parameters<typeof linesOfBoth>[0], interval: '1m' | '1h') =>
  linesOfBoth(
    of,
    `candles_${interval}`,
    [
      ID,
      ['epoch(start_at)::BIGINT', 'toUnixTimestamp(c.t)'],
      ['series', 'c.series'],
      ...['open', 'high', 'low', 'close', 'volume', 'notional', 'trades'].map((name) => [name, `c.${name}`] as const),
    ],
    `v_candles AS c INNER JOIN v_markets AS m ON m.market_key = c.market_key WHERE c.interval = '${interval}'`,
  );

/** The rows of each dataset, with the names of its columns, as the store's own tables have them. */
export const ROWS_OF: Record<Dataset, string> = {
  trades: `SELECT m.platform_id AS market_id, t.* FROM v_trades AS t INNER JOIN v_markets AS m ON m.market_key = t.market_key`,
  candles_1m: candleRows('1m'),
  candles_1h: candleRows('1h'),
  markets: `SELECT m.platform_id AS market_id, m.*, m.outcome_names AS outcomes, s.* EXCEPT (market_key, platform, at), s.at AS read_at
    FROM (SELECT * FROM market_snapshots FINAL ORDER BY at DESC LIMIT 1 BY market_key, toDate(at)) AS s
    INNER JOIN (SELECT market_key, platform_id, title, event_id, series_id, category, outcome_names FROM markets FINAL) AS m ON m.market_key = s.market_key`,
  quotes: `SELECT m.platform_id AS market_id, s.*, s.at AS read_at FROM (SELECT * FROM market_snapshots FINAL) AS s
    INNER JOIN v_markets AS m ON m.market_key = s.market_key`,
  book_changes: `SELECT m.platform_id AS market_id, b.* FROM v_book_changes AS b INNER JOIN v_markets AS m ON m.market_key = b.market_key`,
};

function candleRows(interval: string): string {
  return `SELECT m.platform_id AS market_id, c.*, c.t AS start_at FROM v_candles AS c
    INNER JOIN v_markets AS m ON m.market_key = c.market_key WHERE c.interval = '${interval}'`;
}

/** A double as the decimal that its shortest text states. */
const exact = (column: string): string => `${column}::VARCHAR::DECIMAL(38, 10)`;

/** How a column is summed in both, by DuckDB's type: text by its bytes, times in microseconds, lists by their length, numbers that stand together each by itself. */
function sumOf(column: string, type: string): Pair {
  const name = `"${column}"`;
  const [, fields] = /^STRUCT\((.*)\)$/.exec(type) ?? [];
  if (fields !== undefined) {
    const own = fields.split(', ').map((field) => field.split(' ', 1)[0]);
    const [files, stored] = [
      own.map((one) => `sum(${name}.${one})`),
      own.map((one) => `toString(sum(${name}.${one}))`),
    ];
    return [`concat_ws(' ', ${files.join()})`, `concatWithSeparator(' ', ${stored.join()})`];
  }
  if (type.endsWith('[]')) return [`sum(len(${name}))`, `sum(length(${name}))`];
  if (type === 'VARCHAR' || type === 'BLOB')
    return [`sum(octet_length(${name}::BLOB))`, `sum(length(toString(${name})))`];
  if (type.startsWith('TIMESTAMP'))
    return [`sum(epoch_us(${name}))`, `sum(toUnixTimestamp64Micro(toDateTime64(${name}, 6, 'UTC')))`];
  if (type === 'BOOLEAN') return [`sum(${name}::INT)`, `sum(toInt64(${name}))`];
  if (type.startsWith('DECIMAL')) return [`sum(${name})`, `sum(${name})`];
  // As their shortest texts: sums of doubles depend on the order.
  if (type === 'DOUBLE') return [`sum(${exact(name)})`, `sum(toDecimal128(toString(${name}), 10))`];
  return [`sum(${name})`, `sum(toInt128(${name}))`];
}

/** Rows, and sum and number of known values of every column of Parquet files, and the same of the store's rows. */
export async function sumsOfBoth(parquet: string, clickhouse: Pick<ClickHouse, 'sql'>, rows: string) {
  const files = `read_parquet('${parquet}', hive_partitioning = false)`;
  const columns = (await duck(`DESCRIBE SELECT * FROM ${files}`)).map((one) => ({
    name: String(one['column_name']),
    sum: sumOf(String(one['column_name']), String(one['column_type'])),
  }));
  // Aliases that no column has.
  const list = (side: 0 | 1, text: (sum: string) => string): string =>
    columns
      .map(({ name, sum }, i) => `${text(sum[side])} AS sum_${i}, ${text(`count("${name}")`)} AS known_${i}`)
      .join();
  const [read] = await duck(
    `SELECT ${list(0, (sum) => `(${sum})::VARCHAR`)}, count(*)::VARCHAR AS every_row FROM ${files}`,
  );
  const [stored] = await clickhouse.sql<Record<string, unknown>>(
    `SELECT ${list(1, (sum) => `toString(${sum})`)}, toString(count()) AS every_row FROM (${rows})`,
  );
  const named = (row: Record<string, unknown> = {}) => ({
    '*': String(row['every_row']),
    ...Object.fromEntries(
      columns.map(({ name }, i) => [name, `${withoutZeros(String(row[`sum_${i}`]))} of ${String(row[`known_${i}`])}`]),
    ),
  });
  return { files: named(read), stored: named(stored) };
}
