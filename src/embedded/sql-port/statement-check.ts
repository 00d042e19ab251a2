import { bareSql, withStableStatistics } from '../../core/sql-text.ts';
import type { Call, EngineClient } from '../clickhouse/client.ts';
import { EngineError } from '../clickhouse/errors.ts';
import type { PureFunctions } from './allowed-functions.ts';
import { checkStatement } from './syntax-rules.ts';
import { requireFormat, settingsFor } from './allowed-settings.ts';
import { readSyntax } from './explain-ast.ts';
import type { ClickHouseRequest } from './request.ts';

/** Answered from system tables with the filters below. No WHERE, which could call functions. Literals are blanked. */
const SHOW =
  /^SHOW (?:TABLES|DATABASES|COLUMNS FROM \S+)(?: FROM \S+)?(?: (?:NOT )?I?LIKE +)?(?: LIMIT \d+)?(?: FORMAT (?<format>\w+))?$/;
const READS = /^\(*(SELECT|WITH|FROM|SHOW|DESCRIBE|EXISTS|EXPLAIN|CHECK)\b/;

/** The engine as the analysts' user, and the functions that it has. */
interface CheckOptions {
  engine: Pick<EngineClient, 'text'>;
  functions: PureFunctions;
  database: string;
  /** The engine's memory. */
  memoryMb: number;
}

/**
 * Accepts one read-only statement and rejects everything else, based on the engine's own parse: allow-lists of statement parts, functions,
 * settings and formats. Which tables may be read, the engine decides by the grants of its user.
 */
export class SqlCheck {
  readonly #options: CheckOptions;
  /** Hides all rows of system tables except those about the views. */
  readonly #filters: string;

  constructor(options: CheckOptions) {
    this.#options = options;
    const { database } = options;
    const own = (column: string) => `database = '${database}' AND startsWith(${column}, 'v_')`;
    this.#filters = mapLiteral({
      'system.tables': own('name'),
      'system.columns': own('table'),
      'system.databases': `name = '${database}'`,
    });
  }

  /** What to run for a request, within its limits. Throws an EngineError if this port does not allow it. */
  async prepare(request: ClickHouseRequest, signal: AbortSignal): Promise<Call> {
    const { database, memoryMb } = this.#options;
    if (request.hasData)
      throw EngineError.of('READONLY', 'Send the statement in the body or in the URL, and nothing else.');
    if (![database, 'default', '', null].includes(request.database))
      throw EngineError.of('UNKNOWN_DATABASE', `Database ${request.database} does not exist`);
    const asked = withStableStatistics(request.sql);
    const spelled = await this.#spell(asked, signal);
    const bare = bareSql(spelled);
    if (!READS.test(bare))
      throw EngineError.of('READONLY', 'Cannot execute query in readonly mode: this port only reads.');
    requirePlainTypes(spelled, bare);
    if (/\bINTO OUTFILE\b/i.test(bare))
      throw EngineError.of('ACCESS_DENIED', 'INTO OUTFILE is not available on this port.');
    const { sql, settings: ownSettings } = cutSettings(spelled, bare) ?? { sql: asked, settings: new Map() };
    const settings = settingsFor(new Map([...request.settings, ...ownSettings]), memoryMb);
    settings.set('additional_table_filters', this.#filters);
    const show = SHOW.exec(bare);
    const own = show ? show.groups?.['format'] : await this.#checkSyntax(sql, request.params, signal);
    const format = own ?? request.defaultFormat;
    requireFormat(format);
    const { params, transport, gzip } = request;
    return { sql, format, settings, params, transport, gzip };
  }

  /** The engine's message with advice for decimals and for tables that may not be read. */
  reword({ code, message }: EngineError): EngineError {
    const [, called] = DECIMAL_REFUSED.exec(message) ?? [];
    const advice = called === undefined ? '' : ` It takes floats: ${called}(toFloat64(price), …).`;
    const division = QUOTIENT_REFUSED.test(message) ? ' Divide by a float: notional / toFloat64(price).' : '';
    const views = TABLE_REFUSED.test(message) ? ' SHOW TABLES lists the views that may be read.' : '';
    return new EngineError(code, message + advice + division + views);
  }

  /** Formats the text as a value: anything but exactly one statement fails here, before any of it is run. */
  async #spell(sql: string, signal: AbortSignal): Promise<string> {
    const params = new Map([['statement', tsvEscaped(sql)]]);
    const call = {
      ...this.#own('SELECT formatQuerySingleLine({statement:String}) AS spelled', params),
      format: 'JSONEachRow',
    };
    const row = await this.#options.engine.text(call, signal).catch((error: unknown) => {
      throw error instanceof EngineError ? withoutScope(error) : error;
    });
    return (JSON.parse(row) as { spelled: string }).spelled;
  }

  /** A statement of this check. */
  #own(sql: string, params: ReadonlyMap<string, string>): Call {
    return { sql, format: 'TSVRaw', settings: settingsFor(new Map(), this.#options.memoryMb), params };
  }

  /** Parameters are included: an {x:Identifier} is checked by its value. */
  async #checkSyntax(
    sql: string,
    params: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { engine, functions } = this.#options;
    const root = readSyntax(await engine.text(this.#own(`EXPLAIN AST ${sql}`, params), signal));
    if (!root)
      throw EngineError.of(
        'SYNTAX_ERROR',
        'Names with line breaks or counts in them cannot be distinguished from syntax.',
      );
    return checkStatement(root, functions);
  }
}

/** A table that does not exist, or that the user has no grant for. */
const TABLE_REFUSED = /Unknown table expression identifier|Not enough privileges.* SELECT/;
/** An aggregate function without a form for decimals, as corr. */
const DECIMAL_REFUSED = /types? .*Decimal\(.* (?:of|for|as) .*aggregate function (\w+)/i;
/** A quotient of decimals whose divisor has more digits than its dividend. */
const QUOTIENT_REFUSED = /Decimal result's scale is less than argument's one/;

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
