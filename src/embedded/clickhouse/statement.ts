import { Cache } from '../../core/cache.ts';
import { bareSql } from '../../core/sql-text.ts';
import { EngineError } from './errors.ts';
import type { RawInsert } from './session.ts';

/** The properties of a statement that decide how it is run. */
export interface Statement {
  sql: string;
  /** Changes nothing. */
  reads: boolean;
  /** Its result may be sent block by block. */
  streams: boolean;
  /** Output format: the FORMAT clause, else the request's default. */
  format: string;
  /** An INSERT whose rows the engine can read as bytes. */
  insert: RawInsert | null;
  /** Changes the connection in ways that a later call would see. */
  taints: boolean;
}

const STREAM_VERBS = new Set(['SELECT', 'WITH', 'FROM']);
const READ_VERBS = new Set([...STREAM_VERBS, 'SHOW', 'DESCRIBE', 'DESC', 'EXISTS', 'EXPLAIN', 'CHECK']);
/** Formats whose rows are lines of text. */
export const RAW_FORMATS: ReadonlySet<string> = new Set([
  'JSONEachRow',
  'JSONCompactEachRow',
  'CSV',
  'CSVWithNames',
  'TabSeparated',
  'TabSeparatedWithNames',
]);
const RAW_INSERT = /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([\w.]+)\s*(?:\(([\w\s,]+)\))?\s+FORMAT\s+(\w+)\s*$/i;
/** Rows after FORMAT are data, not SQL. */
const INLINE_ROWS = /^\s*INSERT\b[^;]*?\bFORMAT\s+\w+[ \t]*(?:\r?\n|[ \t])/i;

/** The last clause except for SETTINGS; elsewhere `format` is a name. */
const FORMAT_CLAUSE = /\bFORMAT\s+(\w+)\s*(?:\bSETTINGS\b[^;]*)?;?\s*$/i;

/** What depends on the text alone; `format` is null if the text has none. */
type ReadText = Omit<Statement, 'format'> & { format: string | null; placeholders: string[] };

/** The service's own statements are few and repeated; parsing one takes longer than the rest of its way to the engine. */
const known = new Cache<string, ReadText>({ limit: 200 });
const KEPT_CHARS = 16_384;

/** Parses one statement. Throws 62 for several in one request and 456 for a placeholder without a value, as ClickHouse does. */
export function readStatement(sql: string, params: ReadonlyMap<string, string>, defaultFormat: string): Statement {
  let read = known.get(sql);
  if (!read) {
    read = readText(sql);
    if (sql.length <= KEPT_CHARS) known.set(sql, read);
  }
  const { placeholders, format, ...statement } = read;
  for (const name of placeholders)
    if (!params.has(name)) throw EngineError.of('UNKNOWN_QUERY_PARAMETER', `Substitution \`${name}\` is not set.`);
  return { ...statement, format: format ?? defaultFormat };
}

function readText(sql: string): ReadText {
  const inlineRows = INLINE_ROWS.exec(sql.slice(0, 65_536));
  const bare = bareSql(inlineRows ? inlineRows[0] : sql);
  const end = bare.indexOf(';');
  if (end >= 0 && bare.slice(end + 1).trim() !== '')
    throw EngineError.of('SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)');
  const verb = /^[\s(]*(\w+)/.exec(bare)?.[1]?.toUpperCase() ?? '';
  const reads = READ_VERBS.has(verb) && !/\b(INTO\s+OUTFILE|INSERT\s+INTO)\b/i.test(bare);
  return {
    sql: end >= 0 ? sql.slice(0, end) : sql,
    reads,
    // Totals come after the last block, and a stream has none.
    streams: reads && STREAM_VERBS.has(verb) && !/\bWITH\s+TOTALS\b/i.test(bare),
    format: (reads && FORMAT_CLAUSE.exec(bare)?.[1]) || null,
    placeholders: [...bare.matchAll(/\{\s*([A-Za-z_]\w*)\s*:/g)].map(([, name = '']) => name),
    insert: rawInsert(sql),
    taints: verb === 'SET' || verb === 'USE' || /^\s*CREATE\s+(?:OR\s+REPLACE\s+)?TEMPORARY\b/i.test(bare),
  };
}

function rawInsert(sql: string): RawInsert | null {
  const [, table = '', columns, format = ''] = RAW_INSERT.exec(sql.slice(0, 65_536)) ?? [];
  if (!RAW_FORMATS.has(format)) return null;
  return {
    table,
    columns: columns ? columns.split(',').map((name) => name.trim()) : null,
    format: format as RawInsert['format'],
  };
}
