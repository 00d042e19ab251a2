import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PlatformUrls } from './platforms/platform.ts';
import { PLATFORMS, type Platform } from './schemas.ts';

/** A setting that stops the start; the message names the variable, the rule and the value (never a secret's). */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

const port = z.coerce.number().int().min(0).max(65_535);
const url = (fallback: string) =>
  z
    .url({ protocol: /^https?$/ })
    .default(fallback)
    .transform((value) => value.replace(/\/+$/, ''));
const storeUrl = (protocol: RegExp) => z.url({ protocol }).optional();
const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1');
const seconds = (fallback: number) => z.coerce.number().int().min(1).max(86_400).default(fallback);
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
const secret = z.string().min(32).optional();
/** Windows look back a month. */
const retention = (fallback: number) =>
  z.coerce
    .number()
    .int()
    .min(0)
    .refine((days) => days === 0 || days >= 35, 'must be 0 or at least 35 days')
    .default(fallback);

/** Every setting of the service, with its default and what it is for: `--help` prints this table. */
const settings = {
  HOST: [z.string().min(1).default('127.0.0.1'), 'address to listen on'],
  PORT: [port.default(3000), 'port of the API; 0 picks a free one'],
  DATA_DIR: [z.string().min(1).default('./data'), 'directory of the embedded stores, secrets and the spool'],
  CLICKHOUSE_URL: [
    storeUrl(/^https?$/),
    'ClickHouse over HTTP (user, password, database in the URL); unset = embedded',
  ],
  DATABASE_URL: [storeUrl(/^postgres(ql)?$/), 'PostgreSQL; unset = PGlite in DATA_DIR'],
  REDIS_URL: [storeUrl(/^rediss?$/), 'Redis; unset = in-process'],
  SQL_PORT: [
    z.union([z.literal('off').transform(() => null), port]).default(8123),
    'read-only ClickHouse-HTTP port of the embedded store; off disables',
  ],
  SQL_HOST: [z.string().min(1).default('127.0.0.1'), 'address SQL_PORT listens on'],
  SQL_USER: [z.string().min(1).default('analyst'), 'user of SQL beside API keys, when SQL_PASSWORD is set'],
  SQL_PASSWORD: [
    z.string().min(16).optional(),
    'its password, 16+ characters; on a server a user that migrations make',
  ],
  PLATFORMS: [
    z
      .string()
      .default(PLATFORMS.join(','))
      .transform((value) => value.split(',').map((word) => word.trim()))
      .pipe(z.array(z.enum(PLATFORMS)).min(1)),
    'platforms to ingest and serve, comma-separated',
  ],
  KALSHI_API_URL: [url('https://external-api.kalshi.com/trade-api/v2'), 'Kalshi REST base'],
  KALSHI_SOCIAL_URL: [url('https://api.elections.kalshi.com/v1'), 'Kalshi social base'],
  POLYMARKET_GAMMA_URL: [url('https://gamma-api.polymarket.com'), 'Polymarket catalog base'],
  POLYMARKET_CLOB_URL: [url('https://clob.polymarket.com'), 'Polymarket order book base'],
  POLYMARKET_DATA_URL: [url('https://data-api.polymarket.com'), 'Polymarket trades and positions base'],
  LIMITLESS_API_URL: [url('https://api.limitless.exchange'), 'Limitless REST base'],
  NODE_ENV: [
    z.enum(['production', 'development', 'test']).default('development'),
    'production requires the two secrets',
  ],
  JWT_SECRET: [secret, 'signs session cookies, 32+ characters; generated into DATA_DIR outside production'],
  CREDENTIALS_KEY: [
    z
      .string()
      .regex(
        /^[\w.-]+:[A-Za-z0-9+/_=-]{43,44}(,[\w.-]+:[A-Za-z0-9+/_=-]{43,44})*$/,
        'must be id:base64 of 32 bytes, comma-separated, newest first',
      )
      .optional(),
    'seals platform credentials: id:base64(32 bytes)[,older…]; generated into DATA_DIR outside production',
  ],
  DEMO_API_KEY: [
    z
      .string()
      .regex(/^pk_[\w-]{49}$/, 'must be an API key (pk_…)')
      .optional(),
    'a user with this key exists from the start; refused in production',
  ],
  BACKFILL_DAYS: [z.coerce.number().min(0).max(3650).default(7), 'how far back a fresh store fetches trades'],
  LOG_LEVEL: [z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'), 'log level'],
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
  METRICS_TOKEN: [z.string().min(16).optional(), 'bearer token that /metrics asks for; unset = loopback callers only'],
  PUBLIC_URL: [
    z.url({ protocol: /^https?$/ }).optional(),
    'address users reach the service at (OAuth redirect, Secure cookies)',
  ],
  GOOGLE_CLIENT_ID: [z.string().optional(), 'OAuth client of GET /auth/google; unset = 404'],
  GOOGLE_CLIENT_SECRET: [z.string().optional(), 'its secret'],
  GOOGLE_ISSUER: [z.url().default('https://accounts.google.com'), 'OpenID issuer'],
  GOOGLE_AUTHORIZATION_URL: [z.url().default('https://accounts.google.com/o/oauth2/v2/auth'), 'authorization endpoint'],
  GOOGLE_TOKEN_URL: [z.url().default('https://oauth2.googleapis.com/token'), 'token endpoint'],
  GOOGLE_USERINFO_URL: [z.url().default('https://openidconnect.googleapis.com/v1/userinfo'), 'userinfo endpoint'],
  KALSHI_API_KEY_ID: [z.string().optional(), "the operator's default Kalshi client: key id"],
  KALSHI_PRIVATE_KEY: [z.string().optional(), 'its PEM (\\n for line ends)'],
  POLYMARKET_PRIVATE_KEY: [z.string().optional(), "the operator's default Polymarket client: wallet key (0x…)"],
  POLYMARKET_SIGNATURE_TYPE: [z.coerce.number().int().min(0).max(3).default(0), 'its signature type 0–3'],
  POLYMARKET_FUNDER: [z.string().optional(), 'its proxy, safe or deposit wallet'],
  LIMITLESS_TOKEN_ID: [z.string().optional(), "the operator's default Limitless client: token id"],
  LIMITLESS_SECRET: [z.string().optional(), 'its HMAC secret (base64)'],
  LIMITLESS_PRIVATE_KEY: [z.string().optional(), 'its wallet key (0x…)'],
  RETENTION_TRADES_DAYS: [retention(0), 'raw trades older than this are dropped; 0 = keep all'],
  RETENTION_SNAPSHOTS_DAYS: [retention(400), 'snapshots older than this are dropped; 0 = keep all'],
  CLICKHOUSE_MEMORY_MB: [z.coerce.number().int().min(256).default(1500), 'memory limit of the embedded ClickHouse'],
  CLICKHOUSE_PORT: [port.default(0), 'port of `npm run clickhouse`; 0 picks a free one'],
  SWEEP_SECONDS: [seconds(60), 'period of the price sweep per platform'],
  TRADES_SECONDS: [seconds(15), 'period of the trade poll per platform'],
} satisfies Record<string, [z.ZodType, string]>;

type Settings = { [K in keyof typeof settings]: z.output<(typeof settings)[K][0]> };

const SECRET_NAMES = /SECRET|KEY|TOKEN|PASSWORD|_URL$/;
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
    const given = env[name] === '' ? undefined : env[name];
    const result = schema.safeParse(given);
    if (result.success) values[name] = result.data;
    else {
      const rule = result.error.issues[0]?.message ?? 'invalid';
      const shown = SECRET_NAMES.test(name) ? 'a value that is not shown' : JSON.stringify(given);
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
  const generated = (name: string, create: () => string): string =>
    keptSecret(parsed.DATA_DIR, name, production, create);
  return {
    ...parsed,
    dataDir: parsed.DATA_DIR,
    sqlPortChosen: (env['SQL_PORT'] ?? '') !== '',
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

function credentialKeys(text: string): { id: string; key: Buffer }[] {
  return text.split(',').map((part) => {
    const [id = '', encoded = ''] = part.split(':');
    const key = Buffer.from(encoded, 'base64');
    if (key.length !== 32)
      throw new ConfigError(`CREDENTIALS_KEY: key ${id} must be 32 bytes in base64, received ${key.length} bytes`);
    return { id, key };
  });
}

function keptSecret(dataDir: string, name: string, production: boolean, create: () => string): string {
  if (production) throw new ConfigError(`${name}: required when NODE_ENV=production, received nothing`);
  const file = join(dataDir, name.toLowerCase());
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(file, create(), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readFileSync(file, 'utf8').trim();
}
