import { EngineError } from '../clickhouse/errors.ts';
import { LOW } from './low-threads.ts';

/** Limits of one analyst query; a request can ask for less. */
export const MOST: Readonly<Record<string, number>> = {
  max_execution_time: 30,
  max_result_bytes: 268_435_456,
  max_result_rows: 1_000_000,
  max_threads: 1,
};

/** Share of the engine's memory for one query, and the share from which it spills to disk. */
const MEMORY_SHARE = 0.2;
const SPILL_SHARE = 0.08;

/** Settings of output form and SQL semantics; none names a file, an address or another limit. */
const FREE =
  /^(output_format_(arrow|csv|decimal|json|markdown|native|parquet|pretty|tsv|values|xml|write)_\w+|format_csv_\w+|format_tsv_\w+|date_time_(in|out)put_format|bool_(true|false)_representation|join_use_nulls|group_by_use_nulls|union_default_mode|prefer_column_name_to_alias|empty_result_for_aggregation_by_empty_set|transform_null_in|session_timezone|final|limit|offset|log_comment|max_rows_to_read|max_bytes_to_read|use_skip_indexes|optimize_\w+)$/;

/** Sent by clients with every query, without effect here. */
const IGNORED = new Set([
  'readonly',
  'async_insert',
  'wait_for_async_insert',
  'cancel_http_readonly_queries_on_client_close',
]);

/** Output formats that need no schema, template or file of their own. */
const FORMATS =
  /^(Arrow(Stream)?|CSV(WithNames(AndTypes)?)?|JSON\w*|JSONL|LineAsString|MD|Markdown|NDJSON|Native|Null|Parquet|Pretty\w*|RowBinary(WithNames(AndTypes)?)?|T(SV|abSeparated)(Raw)?(WithNames(AndTypes)?)?|TSKV|Values|Vertical|XML)$/;

/** The settings of a query: its limits and defaults, and what the request asks for within them. Throws 164 for any other setting. */
export function settingsFor(asked: ReadonlyMap<string, string>, memoryMb: number): Map<string, string> {
  const memory = memoryMb * 1_000_000;
  const spill = String(Math.round(memory * SPILL_SHARE));
  const settings = new Map([
    ...Object.entries(MOST).map(([name, most]): [string, string] => [name, String(most)]),
    ['max_memory_usage', String(Math.round(memory * MEMORY_SHARE))],
    ['max_bytes_before_external_group_by', spill],
    ['max_bytes_before_external_sort', spill],
    ['max_temporary_data_on_disk_size_for_query', '2000000000'],
    ['result_overflow_mode', 'throw'],
    // Bounds what a short text can expand into during analysis.
    ['max_ast_depth', '300'],
    ['max_ast_elements', '10000'],
    ['max_expanded_ast_elements', '20000'],
    ['max_parser_depth', '300'],
    ['max_subquery_depth', '20'],
    // Queries of the service get the processor first. Without CAP_SYS_NICE this has no effect.
    ['os_thread_priority', String(LOW)],
    // A query can be stopped only between blocks; smaller ones cost a third of the time of a scan.
    ['max_block_size', '32768'],
    ['function_range_max_elements_in_block', '40000000'],
    // A value that is not of the enum, such as an unknown interval, is an error; otherwise it would find no rows.
    ['validate_enum_literals_in_operators', '1'],
    // A view's own join is made first, not once for each row that joins the view: two to three times as fast.
    ['query_plan_optimize_join_order_limit', '1'],
    // JSON numbers are doubles to many readers: a rounded market_key finds nothing.
    ['output_format_json_quote_64bit_integers', '1'],
  ]);
  for (const [name, value] of asked) {
    if (IGNORED.has(name)) continue;
    const most = Object.hasOwn(MOST, name) ? MOST[name] : undefined;
    if (most !== undefined) settings.set(name, String(atMost(name, value, most)));
    else if (FREE.test(name)) settings.set(name, value);
    else throw EngineError.of('READONLY', `Cannot modify '${name}' setting in readonly mode.`);
  }
  return settings;
}

/** To the engine 0 means no limit, so here it means the maximum. */
function atMost(name: string, value: string, most: number): number {
  const wanted = Number(value);
  if (!Number.isFinite(wanted) || wanted < 0) throw EngineError.of('BAD_ARGUMENTS', `Setting ${name}: not a number.`);
  return wanted === 0 ? most : Math.min(wanted, most);
}

export function requireFormat(format: string): void {
  if (!FORMATS.test(format)) throw EngineError.of('UNKNOWN_FORMAT', `Format ${format} is not available on this port.`);
}
