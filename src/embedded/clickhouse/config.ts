import { createHash } from 'node:crypto';

/** How the engine is reached, and what it may use. */
export interface EngineConfig {
  port: number;
  memoryMb: number;
  /** The service's own user, who may do everything. */
  user: string;
  password: string;
  /** The password of ANALYST. */
  analystPassword: string;
  database: string;
  /** Folder that BACKUP may write to and RESTORE read from; null = none. */
  backups: string | null;
}

/** The user of statements from the SQL port: reads the views, and changes nothing. */
export const ANALYST = 'analyst';

/** Share of the engine's memory for one query, and the share from which it spills to disk. */
const QUERY_SHARE = 0.7;
const SPILL_SHARE = 0.25;
/**
 * Each holds a thread and up to two megabytes, and the engine ends when they need more than its memory. Further ones wait. A process of the
 * service has sixteen.
 */
const MAX_CONNECTIONS = 128;
const CONNECTION_MB = 3;
/** Statements that run at once; the next wait for their turn, and are refused with 202 after it. */
const MAX_STATEMENTS = 24;
const TURN_WITHIN_MS = 10_000;
/** A statement without its parameters. */
const MAX_STATEMENT_BYTES = 67_108_864;
const MAX_PARAMETER_BYTES = 16_777_216;

/** Elements of XML by name: a text, elements, or several of one name. */
interface Elements {
  readonly [name: string]: Node | readonly Node[];
}
type Node = string | number | Elements;

function xml(name: string, node: Node | readonly Node[]): string {
  if (Array.isArray(node)) return node.map((one: Node) => xml(name, one)).join('');
  const content =
    typeof node === 'object'
      ? Object.entries(node)
          .map(([child, value]) => xml(child, value))
          .join('')
      : String(node).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<${name}>${content}</${name}>`;
}

/** The text of the engine's configuration, as of a ClickHouse server. It names its own `file`, where the users are. */
export function engineConfig(file: string, config: EngineConfig): string {
  const { port, memoryMb, user, password, analystPassword, database, backups } = config;
  const memory = memoryMb * 1_000_000;
  const spill = Math.round(memory * SPILL_SHARE);
  return xml('clickhouse', {
    logger: { level: 'none' },
    display_name: 'forecastle',
    listen_host: '127.0.0.1',
    http_port: port,
    keep_alive_timeout: 10,
    max_connections: Math.min(MAX_CONNECTIONS, Math.floor(memoryMb / CONNECTION_MB)),
    max_concurrent_queries: MAX_STATEMENTS,
    max_server_memory_usage: memory,
    ...(backups === null ? {} : { backups: { allowed_path: backups } }),
    access_control_improvements: { select_from_system_db_requires_grant: 1 },
    users_config: file,
    http_handlers: handlers({ [user]: password, [ANALYST]: analystPassword }),
    profiles: {
      default: {
        max_memory_usage: Math.round(memory * QUERY_SHARE),
        max_bytes_before_external_group_by: spill,
        max_bytes_before_external_sort: spill,
        max_query_size: MAX_STATEMENT_BYTES,
        // Lists of ids, and rows that become a file, travel as parameters.
        http_max_uri_size: MAX_PARAMETER_BYTES,
        http_max_field_value_size: MAX_PARAMETER_BYTES,
        async_insert: 0,
        // Threads that format or parse parts of one result or insert take more memory, and time of the other statements.
        output_format_parallel_formatting: 0,
        input_format_parallel_parsing: 0,
        queue_max_wait_ms: TURN_WITHIN_MS,
        cancel_http_readonly_queries_on_client_close: 1,
      },
      // 2: the SQL port sends settings with each statement.
      [ANALYST]: { profile: 'default', readonly: 2 },
    },
    quotas: { default: {} },
    users: {
      // The engine's own program logs in as this user, and the dictionaries read as it. No handler admits it.
      default: { no_password: '', ...LOCAL, profile: 'default' },
      [user]: { ...identified(password), ...LOCAL, profile: 'default', default_database: database },
      [ANALYST]: {
        ...identified(analystPassword),
        ...LOCAL,
        profile: ANALYST,
        default_database: database,
        // Beside these it sees the lists of its own tables, columns and databases, and of functions.
        // system.processes: without it KILL QUERY is refused for its own queries too.
        grants: { query: [`GRANT SELECT ON ${database}.v_*`, 'GRANT SELECT ON system.processes'] },
      },
    },
  });
}

const LOCAL = { networks: { ip: '127.0.0.1' }, quota: 'default' };

const identified = (password: string): Elements => ({
  password_sha256_hex: createHash('sha256').update(password).digest('hex'),
});

const REFUSED =
  'Code: 516. DB::Exception: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)\n';

/** Only requests with a known password reach a handler of statements; each user may send it in either of two places. */
function handlers(passwords: Record<string, string>): Node {
  const runs = { type: 'dynamic_query_handler', query_param_name: 'query' };
  const known = Object.entries(passwords).flatMap(([user, password]): Elements[] => [
    { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
    { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password },
  ]);
  return {
    rule: [
      { url: '/ping', handler: { type: 'static', response_content: 'Ok.\n' } },
      ...known.map((headers) => ({ headers, handler: runs })),
      { handler: { type: 'static', status: 403, response_content: REFUSED } },
    ],
  };
}
