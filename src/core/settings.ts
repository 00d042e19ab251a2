import { z } from 'zod';
import { accountEmail } from './fields.ts';
import { PLATFORMS } from './model.ts';

/** A number within bounds; one message covers every violation. */
function numberSetting(min: number, max: number, kind: 'a number' | 'a whole number' = 'a whole number') {
  const error = `must be ${kind} from ${min} to ${max}`;
  const inside = z.coerce.number({ error }).min(min, { error }).max(max, { error });
  return kind === 'a number' ? inside : inside.int({ error });
}
const port = numberSetting(0, 65_535);
const oneOf = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
const WEB = { protocol: /^https?$/, error: 'must be an http or https URL' };
const url = (fallback: string) =>
  z
    .url(WEB)
    .default(fallback)
    .transform((value) => value.replace(/\/+$/, ''));
const socketUrl = (fallback: string) =>
  z
    .url({ protocol: /^wss?$/, error: 'must be a ws or wss URL' })
    .default(fallback)
    .transform((value) => value.replace(/\/+$/, ''));
const flag = oneOf(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1');
const seconds = (fallback: number) => numberSetting(1, 86_400).default(fallback);
const list = <T extends z.ZodType<string, string>>(item: T) =>
  z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item));
const text = z.string().min(1);
const longText = (min: number) => z.string().min(min, { error: `must have at least ${min} characters` });
const secret = longText(32).optional();
/** Analytics windows look back 30 days. */
const retention = (fallback: number) =>
  numberSetting(0, 36_500)
    .refine((days) => days === 0 || days >= 35, 'must be 0 or at least 35 days')
    .default(fallback);

/** Ciphertexts name their key by id; without an explicit id it is derived from the key. */
const KEY_LIST = /^([\w.-]+:)?([\w+/-]{43}=?|[0-9a-f]{64})(,([\w.-]+:)?([\w+/-]{43}=?|[0-9a-f]{64}))*$/i;

const UNIFIED_ID = new RegExp(`^(${PLATFORMS.join('|')}):.{1,512}$`);

/** Every setting of the service, with its default and what it is for: `--help` prints this table. */
export const settings = {
  HOST: [text.default('127.0.0.1'), 'address to listen on'],
  PORT: [port.default(3000), 'port of the API; 0 picks a free one'],
  DATA_DIR: [text.default('./data'), 'directory of the embedded stores, secrets, the spool and day files'],
  CLICKHOUSE_URL: [
    z.url(WEB).optional(),
    'ClickHouse over HTTP, with user, password and database in the URL; unset = embedded',
  ],
  DATABASE_URL: [
    z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres or postgresql URL' }).optional(),
    'PostgreSQL; unset = embedded',
  ],
  REDIS_URL: [
    z.url({ protocol: /^rediss?$/, error: 'must be a redis or rediss URL' }).optional(),
    'Redis; unset = in-process, for a single process',
  ],
  SQL_PORT: [
    z
      .union([z.literal('off').transform(() => null), port], { error: 'must be off or a whole number from 0 to 65535' })
      .default(8123),
    'read-only ClickHouse-HTTP port of the embedded store; off disables',
  ],
  SQL_HOST: [text.default('127.0.0.1'), 'address that SQL_PORT listens on'],
  SQL_USER: [text.default('analyst'), 'SQL user in addition to API keys, when SQL_PASSWORD is set'],
  SQL_PASSWORD: [
    longText(16).optional(),
    'password of SQL_USER, 16+ characters; on a ClickHouse server the migrations create the user',
  ],
  PLATFORMS: [
    z
      .string()
      .default(PLATFORMS.join(','))
      .transform((value) => value.split(',').map((word) => word.trim()))
      .pipe(z.array(oneOf(PLATFORMS)).min(1)),
    'platforms to ingest and serve, comma-separated',
  ],
  KALSHI_API_URL: [url('https://external-api.kalshi.com/trade-api/v2'), 'base URL of the Kalshi REST API'],
  KALSHI_SOCIAL_URL: [url('https://api.elections.kalshi.com/v1'), 'base URL of the Kalshi social API'],
  POLYMARKET_GAMMA_URL: [url('https://gamma-api.polymarket.com'), 'base URL of the Polymarket catalog'],
  POLYMARKET_CLOB_URL: [url('https://clob.polymarket.com'), 'base URL of the Polymarket order book'],
  POLYMARKET_DATA_URL: [url('https://data-api.polymarket.com'), 'base URL of Polymarket trades and positions'],
  LIMITLESS_API_URL: [url('https://api.limitless.exchange'), 'base URL of the Limitless REST API'],
  SOCKETS: [
    oneOf(['on', 'off']).default('on'),
    "follow the platforms' sockets in addition to polling, for immediate trades, quotes and changes of streamed orders; off = polling only",
  ],
  PRIVATE_SOCKETS: [
    numberSetting(0, 10_000).default(200),
    'most private sockets of users that one API process opens at once, at most 10 of a user; 0 = none',
  ],
  KALSHI_WS_URL: [
    socketUrl('wss://external-api-ws.kalshi.com/trade-api/ws/v2'),
    "address of Kalshi's socket, which needs KALSHI_API_KEY_ID and its private key",
  ],
  POLYMARKET_WS_URL: [
    socketUrl('wss://ws-subscriptions-clob.polymarket.com/ws/market'),
    "address of Polymarket's market channel",
  ],
  POLYMARKET_LIVE_URL: [socketUrl('wss://ws-live-data.polymarket.com'), "address of Polymarket's live-data socket"],
  LIMITLESS_WS_URL: [socketUrl('wss://ws.limitless.exchange'), "address of Limitless' socket, without a path"],
  NODE_ENV: [
    oneOf(['production', 'development', 'test']).default('development'),
    'environment; production requires JWT_SECRET and CREDENTIALS_KEY',
  ],
  JWT_SECRET: [
    secret,
    'signs cookies and cursors, 32+ characters, the same in every api process; generated into DATA_DIR outside production',
  ],
  CREDENTIALS_KEY: [
    z
      .string()
      .regex(KEY_LIST, 'must be 32 bytes in base64 or hex, or several as id:bytes, comma-separated, newest first')
      .optional(),
    'encrypts platform credentials: 32 bytes in base64 or hex; id:new,id:old to rotate; generated into DATA_DIR outside production',
  ],
  REGISTRATION: [
    oneOf(['open', 'closed']).optional(),
    'open or closed: whether anyone can create an account; unset = closed in production, else open',
  ],
  LOOPBACK_USER: [
    accountEmail({ error: 'must be the e-mail of an account' }).optional(),
    'e-mail of the account as which requests from this machine read without an API key; needs a HOST of this machine, and is refused in production and with TRUST_PROXY or PUBLIC_URL',
  ],
  PICTURES: [
    oneOf(['on', 'off']).default('on'),
    'show pictures of markets in the explorer, which browsers load from hosts of the platforms',
  ],
  SMTP_URL: [
    z.url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' }).optional(),
    'mail server for password resets, with user and password; unset = links are printed by `npm run user -- reset`',
  ],
  MAIL_FROM: [z.email({ error: 'must be an e-mail address' }).optional(), 'sender of password reset mails'],
  DEMO_API_KEY: [
    z
      .string()
      .regex(/^pk_[\w-]{49}$/, 'must be an API key (pk_…)')
      .optional(),
    'API key of a demo user that is created at the start; refused in production',
  ],
  BACKFILL_DAYS: [
    numberSetting(0, 3650, 'a number').default(7),
    'days before the first start whose trades are fetched; on Polymarket back to the previous month at most',
  ],
  FREE_PER_MINUTE: [
    numberSetting(1, 1_000_000).default(250),
    'requests a minute of a free user, all keys and sessions together',
  ],
  PRO_PER_MINUTE: [numberSetting(1, 1_000_000).default(500), 'the same of a pro user'],
  LOG_FORMAT: [oneOf(['auto', 'json', 'text']).default('auto'), 'json, text, or auto: text on a terminal, else json'],
  LOG_LEVEL: [
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    'log level; for a person at a terminal warn, unless set',
  ],
  TRUST_PROXY: [
    list(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be addresses or CIDR blocks' })),
    'proxies whose X-Forwarded-For is trusted: addresses or CIDR blocks, comma-separated',
  ],
  CORS_ORIGINS: [
    list(
      z
        .url({ protocol: /^https?$/, error: 'must be origins such as https://app.example' })
        .transform((value) => new URL(value).origin),
    ),
    'origins allowed by CORS, comma-separated; empty = off',
  ],
  METRICS: [flag.default(true), 'serve Prometheus metrics at /metrics'],
  METRICS_PORT: [port.optional(), 'port of /metrics in the role ingest; unset = none'],
  METRICS_TOKEN: [longText(16).optional(), 'bearer token required by /metrics; unset = loopback callers only'],
  PUBLIC_URL: [
    z.url(WEB).optional(),
    'public address of the service, for OAuth redirects, Secure cookies and links in mails',
  ],
  GOOGLE_CLIENT_ID: [z.string().optional(), 'OAuth client id for GET /auth/google; unset = 404'],
  GOOGLE_CLIENT_SECRET: [z.string().optional(), 'OAuth client secret'],
  GOOGLE_ISSUER: [z.url(WEB).default('https://accounts.google.com'), 'OpenID issuer'],
  GOOGLE_AUTHORIZATION_URL: [
    z.url(WEB).default('https://accounts.google.com/o/oauth2/v2/auth'),
    'authorization endpoint',
  ],
  GOOGLE_TOKEN_URL: [z.url(WEB).default('https://oauth2.googleapis.com/token'), 'token endpoint'],
  GOOGLE_USERINFO_URL: [z.url(WEB).default('https://openidconnect.googleapis.com/v1/userinfo'), 'userinfo endpoint'],
  KALSHI_API_KEY_ID: [
    z.string().optional(),
    "operator's Kalshi API key id: enables the socket, quadruples the read limit, and is the default order client",
  ],
  KALSHI_PRIVATE_KEY: [z.string().optional(), 'its private key in PEM, with \\n as line breaks'],
  KALSHI_PRIVATE_KEY_FILE: [z.string().optional(), 'path of a file with that private key'],
  POLYMARKET_PRIVATE_KEY: [z.string().optional(), "the operator's default Polymarket client: wallet key (0x…)"],
  POLYMARKET_SIGNATURE_TYPE: [
    numberSetting(0, 3).default(0),
    'signature type of the default Polymarket client, 0 to 3',
  ],
  POLYMARKET_FUNDER: [z.string().optional(), 'proxy, safe or deposit wallet of the default Polymarket client'],
  POLYMARKET_V2_NEGATIVE_RISK: [
    flag.default(false),
    'sign orders on negative-risk markets of Polymarket Protocol V2, which are documented but have not been seen trading',
  ],
  LIMITLESS_TOKEN_ID: [z.string().optional(), "the operator's default Limitless client: token id"],
  LIMITLESS_SECRET: [z.string().optional(), 'the default Limitless client: HMAC secret in base64'],
  LIMITLESS_PRIVATE_KEY: [z.string().optional(), 'the default Limitless client: wallet key (0x…)'],
  RETENTION_TRADES_DAYS: [retention(0), 'days after which raw trades are dropped; 0 = keep all'],
  RETENTION_SNAPSHOTS_DAYS: [
    retention(400),
    'days after which snapshots, and bars read from platforms, are dropped; 0 = keep all',
  ],
  RETENTION_STREAM_DAYS: [
    numberSetting(1, 36_500).default(30),
    'days that streams can be resumed from: older events are dropped from their log',
  ],
  RETENTION_BOOKS_DAYS: [
    numberSetting(1, 36_500).default(30),
    'days after which recorded order books are dropped; their depth by the minute is kept',
  ],
  RETENTION_ACCOUNTS_DAYS: [
    numberSetting(30, 36_500).default(400),
    'days after which security events and revoked or expired keys are dropped',
  ],
  RETENTION_ORDER_ATTEMPTS_DAYS: [
    numberSetting(30, 36_500).default(400),
    'days after which the record of attempts to place, find or cancel an order is dropped',
  ],
  COLD_AFTER_DAYS: [
    retention(0),
    'days after which rows of the large tables of a ClickHouse server move to object storage; 0 = never',
  ],
  CLICKHOUSE_MEMORY_MB: [numberSetting(256, 1_000_000).default(1500), 'memory limit of the embedded ClickHouse in MB'],
  CLICKHOUSE_PORT: [port.default(0), 'port of `npm run clickhouse`; 0 picks a free one'],
  SWEEP_SECONDS: [seconds(60), 'seconds between price sweeps of a platform'],
  FILES_SECONDS: [numberSetting(0, 86_400).default(600), 'seconds between checks for day files to write; 0 = no files'],
  TRADES_SECONDS: [seconds(15), 'seconds between trade polls of a platform'],
  BOOKS_RECORD: [
    numberSetting(0, 2000).default(200),
    'most traded open markets of each platform whose order books are recorded; 0 = none of them',
  ],
  BOOKS_MARKETS: [
    list(z.string().regex(UNIFIED_ID, `must be ids of the form <platform>:<platform id>, of ${PLATFORMS.join(', ')}`)),
    'further markets whose order books are recorded: unified ids, comma-separated',
  ],
} satisfies Record<string, [z.ZodType, string]>;

/** Every setting as read. */
export type Settings = { [K in keyof typeof settings]: z.output<(typeof settings)[K][0]> };

/** The settings table: name, default, meaning. */
export function settingsHelp(): string {
  const width = Math.max(...Object.keys(settings).map((name) => name.length));
  return Object.entries(settings)
    .map(([name, [schema, meaning]]) => {
      const initial = schema.safeParse(undefined);
      const shown =
        initial.success && initial.data !== undefined && `${String(initial.data)}` !== ''
          ? ` [${String(initial.data)}]`
          : '';
      return `  ${name.padEnd(width)}  ${meaning}${shown}`;
    })
    .join('\n');
}
