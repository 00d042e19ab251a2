import { bareSql, withStableStatistics } from '../../core/sql-text.ts';
import { EngineError } from '../clickhouse/errors.ts';
import type { Call } from '../clickhouse/http-server.ts';
import type { Engine } from '../clickhouse/engine.ts';
import type { EngineSession } from '../clickhouse/session.ts';
import type { PureFunctions } from './allowed-functions.ts';
import { type Catalogue, checkStatement, isView } from './syntax-rules.ts';
import { requireFormat, settingsFor } from './allowed-settings.ts';
import { readSyntax } from './explain-ast.ts';

/** Answered from system tables with the filters below. No WHERE, which could call functions. Literals are blanked. */
const SHOW =
  /^SHOW (?:TABLES|DATABASES|COLUMNS FROM \S+)(?: FROM \S+)?(?: (?:NOT )?I?LIKE +)?(?: LIMIT \d+)?(?: FORMAT (?<format>\w+))?$/;

/** Tables of the main database and all databases, as they were at this number of commands. */
interface Names {
  commands: number;
  tables: ReadonlySet<string>;
  databases: ReadonlySet<string>;
}

/**
 * Accepts one read-only statement over the views and rejects everything else, based on the engine's own parse: allow-lists of
 * statement parts, functions, tables, settings and formats. `memoryMb` is the engine's.
 */
export class SqlCheck {
  readonly #engine: Pick<Engine, 'commands'>;
  readonly #functions: PureFunctions;
  readonly #database: string;
  readonly #memoryMb: number;
  /** Hides all rows of system tables except those about the views. */
  readonly #filters: string;
  /** Tables and databases that answers must not name, as of the last statement. */
  #hidden: ReadonlySet<string> = new Set();
  /** Read again after a command, which may have created some. */
  #names: Names | null = null;

  constructor(engine: Pick<Engine, 'commands'>, functions: PureFunctions, database: string, memoryMb: number) {
    this.#engine = engine;
    this.#functions = functions;
    this.#database = database;
    this.#memoryMb = memoryMb;
    const own = (column: string) => `database = '${database}' AND startsWith(${column}, 'v_')`;
    this.#filters = mapLiteral({
      'system.tables': own('name'),
      'system.columns': own('table'),
      'system.databases': `name = '${database}'`,
    });
  }

  /** The call to run: read-only and within its limits. Renew the connection after it, as readonly cannot be undone. */
  async prepare(
    { statement: { sql: written, ...statement }, context, data }: Call,
    session: EngineSession,
  ): Promise<Call> {
    if (data !== null)
      throw EngineError.of('READONLY', 'Send the statement in the body or in the URL, and nothing else.');
    if (![this.#database, 'default', ''].includes(context.database))
      throw EngineError.of('UNKNOWN_DATABASE', `Database ${context.database} does not exist`);
    const asked = withStableStatistics(written);
    const spelled = await this.#spell(asked, session);
    const names = await this.#namesNow(session);
    const bare = bareSql(spelled);
    requirePlainTypes(spelled, bare);
    if (/\bINTO OUTFILE\b/i.test(bare))
      throw EngineError.of('ACCESS_DENIED', 'INTO OUTFILE is not available on this port.');
    const { sql, settings: ownSettings } = cutSettings(spelled, bare) ?? { sql: asked, settings: new Map() };
    const settings = settingsFor(new Map([...context.settings, ...ownSettings]), this.#memoryMb);
    settings.set('additional_table_filters', this.#filters).set('readonly', '1');
    const show = SHOW.exec(bare);
    const catalogue = { database: this.#database, ...names };
    const own = show ? show.groups?.['format'] : await this.#checkSyntax(sql, context.params, session, catalogue);
    const format = own ?? statement.format;
    requireFormat(format);
    return {
      statement: { ...statement, sql, format },
      context: { ...context, settings, database: this.#database },
      data,
    };
  }

  /** The engine's message without hints that name hidden tables; with advice if decimals are refused. */
  reword({ code, message }: EngineError): EngineError {
    const [, called] = DECIMAL_REFUSED.exec(message) ?? [];
    const division = QUOTIENT_REFUSED.test(message) ? ' Divide by a float: notional / toFloat64(price).' : '';
    const advice = called === undefined ? division : ` It takes floats: ${called}(toFloat64(price), …).`;
    const shown = message.replaceAll(HINT, (hint, names: string) =>
      names.match(/\w+/g)?.some((name) => this.#hidden.has(name)) ? '' : hint,
    );
    return new EngineError(code, shown + advice);
  }

  /** Formats the text as a value: anything but exactly one statement fails here, before any of it is run. */
  async #spell(sql: string, session: EngineSession): Promise<string> {
    const params = new Map([['statement', tsvEscaped(sql)]]);
    const formatted = this.#own(session, 'SELECT formatQuerySingleLine({statement:String}) AS spelled', params);
    const row = await formatted.catch((error: unknown) => {
      throw error instanceof EngineError ? withoutScope(error) : error;
    });
    return (row as { spelled: string }).spelled;
  }

  async #namesNow(session: EngineSession): Promise<Names> {
    const { commands } = this.#engine;
    if (this.#names?.commands === commands) return this.#names;
    const { tables, databases } = (await this.#own(
      session,
      `SELECT (SELECT groupArray(name) FROM system.tables WHERE database = '${this.#database}') AS tables,
        (SELECT groupArray(name) FROM system.databases) AS databases`,
    )) as { tables: string[]; databases: string[] };
    this.#names = { commands, tables: new Set(tables), databases: new Set(databases) };
    this.#hidden = new Set([
      ...tables.filter((name) => !isView(name)),
      ...databases.filter((name) => name !== this.#database),
    ]);
    return this.#names;
  }

  /** The row of a statement of this check. */
  async #own(session: EngineSession, sql: string, params = new Map<string, string>()): Promise<object> {
    const context = { settings: settingsFor(new Map(), this.#memoryMb), params, database: this.#database };
    const { bytes } = await session.run(context, sql, 'JSONEachRow');
    return JSON.parse(Buffer.from(bytes).toString()) as object;
  }

  /** Parameters are included: an {x:Identifier} is checked by its value. */
  async #checkSyntax(
    sql: string,
    params: ReadonlyMap<string, string>,
    session: EngineSession,
    catalogue: Catalogue,
  ): Promise<string | undefined> {
    const settings = settingsFor(new Map(), this.#memoryMb).set('readonly', '1');
    try {
      const { bytes } = await session.run(
        { settings, params, database: this.#database },
        `EXPLAIN AST ${sql}`,
        'TSVRaw',
      );
      const root = readSyntax(Buffer.from(bytes).toString());
      if (!root)
        throw EngineError.of(
          'SYNTAX_ERROR',
          'Names with line breaks or counts in them cannot be distinguished from syntax.',
        );
      return checkStatement(root, this.#functions, catalogue);
    } finally {
      session.renew();
    }
  }
}

/** An aggregate function without a form for decimals, as corr. */
const DECIMAL_REFUSED = /types? .*Decimal\(.* (?:of|for|as) .*aggregate function (\w+)/i;
/** A quotient of decimals whose divisor has more digits than its dividend. */
const QUOTIENT_REFUSED = /Decimal result's scale is less than argument's one/;
const HINT = /\.? Maybe you meant:? (\[[^\]]*\]|[^?]*\?)/g;

/** The engine parses parameters before the statement can be checked, so states of aggregate functions are rejected as values. */
function requirePlainTypes(spelled: string, bare: string): void {
  for (const { index, 0: opening } of bare.matchAll(/\{\s*[A-Za-z_]\w*\s*:/g)) {
    const end = bare.indexOf('}', index);
    const type = spelled.slice(index + opening.length, end < 0 ? undefined : end);
    // A quoted name could be spelled with escapes.
    if (/AggregateFunction|[`"\\]/i.test(type))
      throw EngineError.of('ACCESS_DENIED', `A parameter of type ${type} is not available on this port.`);
  }
}

/** The engine's error without the query around the statement, which only this check uses. */
const withoutScope = ({ code, message }: EngineError): EngineError =>
  new EngineError(code, message.replace(/: In scope SELECT formatQuerySingleLine\(.*(?= \([A-Z_]+\)\s*$)/s, ''));

/** Splits off the last SETTINGS clause; null if there is none at the end. */
function cutSettings(spelled: string, bare: string): { sql: string; settings: Map<string, string> } | null {
  const at = bare.lastIndexOf(' SETTINGS ');
  const from = at + ' SETTINGS '.length;
  const [, list = '', format = ''] =
    /^((?:\w+ = [^()]+?)(?:, \w+ = [^()]+?)*)( FORMAT \w+)?$/.exec(bare.slice(from)) ?? [];
  if (at < 0 || list === '') return null;
  const settings = new Map<string, string>();
  let start = from;
  for (const item of list.split(', ')) {
    const [name = '', value = ''] = spelled.slice(start, start + item.length).split(/ = (.*)/s);
    settings.set(name, value.startsWith("'") ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value);
    start += item.length + ', '.length;
  }
  return { sql: spelled.slice(0, at) + format, settings };
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const mapLiteral = (entries: Record<string, string>) =>
  `{${Object.entries(entries)
    .map(([key, value]) => `${quoted(key)}:${quoted(value)}`)
    .join(',')}}`;

/** A String parameter as encoded over HTTP. */
const tsvEscaped = (text: string) =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\0', '\\0');
