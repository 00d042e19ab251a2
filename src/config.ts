import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PlatformUrls } from './platforms/platform.ts';
import { PLATFORMS, type Platform } from './schemas.ts';

/** A setting that stops the start; the message names the variable, the rule and the value (never a secret's). */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** A number within bounds; every way of missing them is told by the one rule. */
function numberSetting(min: number, max: number, kind: 'a number' | 'a whole number' = 'a whole number') {
  const error = `must be ${kind} of ${min} to ${max}`;
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
const longText = (min: number) => z.string().min(min, { error: `must be of at least ${min} characters` });
const secret = longText(32).optional();
/** Windows look back a month. */
const retention = (fallback: number) =>
  numberSetting(0, 36_500)
    .refine((days) => days === 0 || days >= 35, 'must be 0 or at least 35 days')
    .default(fallback);

const HEX_KEY = /^[0-9a-f]{64}$/i;
/** The id of a key names it in what it sealed; without one it is made from the key. */
const KEY_LIST = /^([\w.-]+:)?([\w+/-]{43}=?|[0-9a-f]{64})(,([\w.-]+:)?([\w+/-]{43}=?|[0-9a-f]{64}))*$/i;

/** Every setting of the service, with its default and what it is for: `--help` prints this table. */
const settings = {
  HOST: [text.default('127.0.0.1'), 'address to listen on'],
  PORT: [port.default(3000), 'port of the API; 0 picks a free one'],
  DATA_DIR: [text.default('./data'), 'directory of the embedded stores, secrets and the spool'],
  CLICKHOUSE_URL: [
    z.url(WEB).optional(),
    'ClickHouse over HTTP (user, password, database in the URL); unset = embedded',
  ],
  DATABASE_URL: [
    z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres or postgresql URL' }).optional(),
    'PostgreSQL; unset = PGlite in DATA_DIR',
  ],
  REDIS_URL: [
    z.url({ protocol: /^rediss?$/, error: 'must be a redis or rediss URL' }).optional(),
    'Redis; unset = in-process',
  ],
  SQL_PORT: [
    z
      .union([z.literal('off').transform(() => null), port], { error: 'must be off or a whole number of 0 to 65535' })
      .default(8123),
    'read-only ClickHouse-HTTP port of the embedded store; off disables',
  ],
  SQL_HOST: [text.default('127.0.0.1'), 'address SQL_PORT listens on'],
  SQL_USER: [text.default('analyst'), 'user of SQL beside API keys, when SQL_PASSWORD is set'],
  SQL_PASSWORD: [longText(16).optional(), 'its password, 16+ characters; on a server a user that migrations make'],
  PLATFORMS: [
    z
      .string()
      .default(PLATFORMS.join(','))
      .transform((value) => value.split(',').map((word) => word.trim()))
      .pipe(z.array(oneOf(PLATFORMS)).min(1)),
    'platforms to ingest and serve, comma-separated',
  ],
  KALSHI_API_URL: [url('https://external-api.kalshi.com/trade-api/v2'), 'Kalshi REST base'],
  KALSHI_SOCIAL_URL: [url('https://api.elections.kalshi.com/v1'), 'Kalshi social base'],
  POLYMARKET_GAMMA_URL: [url('https://gamma-api.polymarket.com'), 'Polymarket catalog base'],
  POLYMARKET_CLOB_URL: [url('https://clob.polymarket.com'), 'Polymarket order book base'],
  POLYMARKET_DATA_URL: [url('https://data-api.polymarket.com'), 'Polymarket trades and positions base'],
  LIMITLESS_API_URL: [url('https://api.limitless.exchange'), 'Limitless REST base'],
  NODE_ENV: [
    oneOf(['production', 'development', 'test']).default('development'),
    'production requires the two secrets',
  ],
  JWT_SECRET: [secret, 'signs session cookies, 32+ characters; generated into DATA_DIR outside production'],
  CREDENTIALS_KEY: [
    z
      .string()
      .regex(KEY_LIST, 'must be 32 bytes in base64 or hex, or several as id:bytes, comma-separated, newest first')
      .optional(),
    'seals platform credentials: 32 bytes in base64 or hex, to rotate id:new,id:old; generated into DATA_DIR outside production',
  ],
  DEMO_API_KEY: [
    z
      .string()
      .regex(/^pk_[\w-]{49}$/, 'must be an API key (pk_…)')
      .optional(),
    'a user with this key exists from the start; refused in production',
  ],
  BACKFILL_DAYS: [
    numberSetting(0, 3650, 'a number').default(7),
    'how far back trades are fetched; on Polymarket to the month before at most',
  ],
  LOG_LEVEL: [oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'), 'log level'],
  TRUST_PROXY: [
    list(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be addresses or CIDR blocks' })),
    'proxies whose X-Forwarded-For is believed (addresses or CIDR, comma-separated)',
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
  METRICS_PORT: [port.optional(), 'port of /metrics in the role ingest, which has no API; unset = none'],
  METRICS_TOKEN: [longText(16).optional(), 'bearer token that /metrics asks for; unset = loopback callers only'],
  PUBLIC_URL: [z.url(WEB).optional(), 'address users reach the service at (OAuth redirect, Secure cookies)'],
  GOOGLE_CLIENT_ID: [z.string().optional(), 'OAuth client of GET /auth/google; unset = 404'],
  GOOGLE_CLIENT_SECRET: [z.string().optional(), 'its secret'],
  GOOGLE_ISSUER: [z.url(WEB).default('https://accounts.google.com'), 'OpenID issuer'],
  GOOGLE_AUTHORIZATION_URL: [
    z.url(WEB).default('https://accounts.google.com/o/oauth2/v2/auth'),
    'authorization endpoint',
  ],
  GOOGLE_TOKEN_URL: [z.url(WEB).default('https://oauth2.googleapis.com/token'), 'token endpoint'],
  GOOGLE_USERINFO_URL: [z.url(WEB).default('https://openidconnect.googleapis.com/v1/userinfo'), 'userinfo endpoint'],
  KALSHI_API_KEY_ID: [z.string().optional(), "the operator's default Kalshi client: key id"],
  KALSHI_PRIVATE_KEY: [z.string().optional(), 'its PEM (\\n for line ends)'],
  POLYMARKET_PRIVATE_KEY: [z.string().optional(), "the operator's default Polymarket client: wallet key (0x…)"],
  POLYMARKET_SIGNATURE_TYPE: [numberSetting(0, 3).default(0), 'its signature type 0–3'],
  POLYMARKET_FUNDER: [z.string().optional(), 'its proxy, safe or deposit wallet'],
  LIMITLESS_TOKEN_ID: [z.string().optional(), "the operator's default Limitless client: token id"],
  LIMITLESS_SECRET: [z.string().optional(), 'its HMAC secret (base64)'],
  LIMITLESS_PRIVATE_KEY: [z.string().optional(), 'its wallet key (0x…)'],
  RETENTION_TRADES_DAYS: [retention(0), 'raw trades older than this are dropped; 0 = keep all'],
  RETENTION_SNAPSHOTS_DAYS: [retention(400), 'snapshots older than this are dropped; 0 = keep all'],
  CLICKHOUSE_MEMORY_MB: [numberSetting(256, 1_000_000).default(1500), 'memory limit of the embedded ClickHouse'],
  CLICKHOUSE_PORT: [port.default(0), 'port of `npm run clickhouse`; 0 picks a free one'],
  SWEEP_SECONDS: [seconds(60), 'period of the price sweep per platform'],
  TRADES_SECONDS: [seconds(15), 'period of the trade poll per platform'],
} satisfies Record<string, [z.ZodType, string]>;

type Settings = { [K in keyof typeof settings]: z.output<(typeof settings)[K][0]> };

const SECRET_NAMES = /SECRET|KEY|TOKEN|PASSWORD|_URL$/;
/** A name ending in _URL is secret only for the password its value may hold. */
const isShown = (name: string, value: string): boolean =>
  !SECRET_NAMES.test(name) || (name.endsWith('_URL') && !/[@?]/.test(value));
/** Stands in .env.example wherever a secret belongs. */
const PLACEHOLDER = /change-me/i;

/** Settings of one process, resolved once at start and passed in. */
export type Config = Settings & {
  dataDir: string;
  /** false where SQL_PORT is the default that nobody asked for. */
  sqlPortChosen: boolean;
  platforms: Platform[];
  platformUrls: PlatformUrls;
  jwtSecret: string;
  /** Newest first: the first seals, all open. */
  credentialKeys: { id: string; key: Buffer }[];
  production: boolean;
  version: string;
};

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

/**
 * Reads the environment; throws ConfigError with one line per wrong setting. Outside production missing secrets are generated
 * into DATA_DIR. `needs: 'stores'` is for commands that touch neither sessions nor credentials: their secrets stay empty.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env, needs: 'all' | 'stores' = 'all'): Config {
  const issues: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, [schema]] of Object.entries(settings)) {
    // Blanks are nothing, not the number 0.
    const given = env[name]?.trim() === '' ? undefined : env[name];
    const result = schema.safeParse(given);
    if (result.success) values[name] = result.data;
    else {
      const rule = result.error.issues[0]?.message ?? 'invalid';
      const shown = isShown(name, given ?? '') ? JSON.stringify(given) : 'a value that is not shown';
      issues.push(`${name}: ${rule}, received ${shown}`);
    }
  }
  if (issues.length > 0) throw new ConfigError(issues.join('\n'));
  const parsed = values as Settings;
  const production = parsed.NODE_ENV === 'production';
  const example = Object.entries(parsed).find(
    ([name, value]) => SECRET_NAMES.test(name) && PLACEHOLDER.test(String(value)),
  );
  if (production && example) throw new ConfigError(`${example[0]}: must not be the example's when NODE_ENV=production`);
  if (production && parsed.DEMO_API_KEY) throw new ConfigError('DEMO_API_KEY: must be unset when NODE_ENV=production');
  const half = [parsed.GOOGLE_CLIENT_ID, parsed.GOOGLE_CLIENT_SECRET].filter((value) => value !== undefined);
  if (half.length === 1)
    throw new ConfigError('GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET: must both be set, received one');
  const generated = (name: string, create: () => string): string =>
    keptSecret(parsed.DATA_DIR, name, production, create);
  return {
    ...parsed,
    dataDir: parsed.DATA_DIR,
    sqlPortChosen: (env['SQL_PORT'] ?? '').trim() !== '',
    platforms: PLATFORMS.filter((platform) => parsed.PLATFORMS.includes(platform)),
    platformUrls: {
      kalshi: parsed.KALSHI_API_URL,
      kalshiSocial: parsed.KALSHI_SOCIAL_URL,
      polymarketGamma: parsed.POLYMARKET_GAMMA_URL,
      polymarketClob: parsed.POLYMARKET_CLOB_URL,
      polymarketData: parsed.POLYMARKET_DATA_URL,
      limitless: parsed.LIMITLESS_API_URL,
    },
    jwtSecret:
      needs === 'stores'
        ? ''
        : (parsed.JWT_SECRET ?? generated('JWT_SECRET', () => randomBytes(48).toString('base64url'))),
    credentialKeys:
      needs === 'stores'
        ? []
        : credentialKeys(
            parsed.CREDENTIALS_KEY ?? generated('CREDENTIALS_KEY', () => `k1:${randomBytes(32).toString('base64')}`),
          ),
    production,
    version: '1.0.0',
  };
}

/**
 * Takes the secrets out of the environment once they are read: processes started from this one inherit it, and Node writes it
 * into its crash reports.
 */
export function forgetSecrets(env: NodeJS.ProcessEnv = process.env): void {
  for (const name of Object.keys(settings)) if (SECRET_NAMES.test(name)) delete env[name];
}

function credentialKeys(list: string): { id: string; key: Buffer }[] {
  const keys = list.split(',').map((part) => {
    const [encoded = '', named] = part.split(':').toReversed();
    const key = Buffer.from(encoded, HEX_KEY.test(encoded) ? 'hex' : 'base64');
    const id = named ?? createHash('sha256').update(key).digest('hex').slice(0, 8);
    if (key.length !== 32)
      throw new ConfigError(`CREDENTIALS_KEY: key ${id} must be of 32 bytes, received ${key.length} bytes`);
    return { id, key };
  });
  const twice = keys.find(({ id }, i) => keys.findIndex((other) => other.id === id) !== i);
  if (twice) throw new ConfigError(`CREDENTIALS_KEY: each key must have an id of its own, received ${twice.id} twice`);
  return keys;
}

/** Why a store that a URL names cannot be used, without what the URL may hold of a password. */
export function noStore(
  name: 'CLICKHOUSE_URL' | 'DATABASE_URL' | 'REDIS_URL',
  what: string,
  at: string,
  why: Error,
): ConfigError {
  const { host } = new URL(at);
  const reason = why.message || ((why as NodeJS.ErrnoException).code ?? '');
  return new ConfigError(`${name}: no ${what} at ${host}: ${reason.split('\n', 1)[0]}`);
}

/** What a listener that failed says of the settings that named its place; other failures stay as they are. */
export function notListening(name: 'PORT' | 'METRICS_PORT', port: number, host: string, why: unknown): unknown {
  const { code = '', message } = why as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE' || code === 'EACCES')
    return new ConfigError(`${name}: must be free, received ${port}, which cannot be listened on at ${host} (${code})`);
  if (!/^(EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(code)) return why;
  return new ConfigError(`HOST: must be an address of this machine, received ${JSON.stringify(host)}: ${message}`);
}

/** Makes DATA_DIR, or a directory in it, for this user only. */
export function makeDataDir(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `DATA_DIR: must be a directory that can be written to, received ${JSON.stringify(directory)} (${code})`,
    );
  }
}

/** For commands that read a store: a misspelt DATA_DIR must not become an empty one. */
export function requireStore(dataDir: string, store: 'clickhouse' | 'postgres'): void {
  if (existsSync(join(dataDir, store))) return;
  throw new ConfigError(`DATA_DIR: must hold the stores of a service, received ${dataDir} without ${store}`);
}

function keptSecret(dataDir: string, name: string, production: boolean, create: () => string): string {
  if (production) throw new ConfigError(`${name}: required when NODE_ENV=production, received nothing`);
  const file = join(dataDir, name.toLowerCase());
  if (!existsSync(file)) {
    makeDataDir(dataDir);
    try {
      writeFileSync(file, create(), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readFileSync(file, 'utf8').trim();
}
