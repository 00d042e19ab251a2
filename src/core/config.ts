import { createHash, randomBytes } from 'node:crypto';
import { distance } from 'fastest-levenshtein';
import { readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { isLoopbackHost } from './client-address.ts';
import { ConfigError } from './config-error.ts';
import { keptSecret } from './data-dir.ts';
import { PLATFORMS, type Platform } from './model.ts';
import { settings, type Settings } from './settings.ts';

const HEX_KEY = /^[0-9a-f]{64}$/i;
const SECRET_NAMES = /SECRET|KEY|TOKEN|PASSWORD|_URL$/;
/** A value ending in _URL is secret only if it holds a password. */
const isShown = (name: string, value: string): boolean =>
  !SECRET_NAMES.test(name) || (name.endsWith('_URL') && !/[@?]/.test(value));
/** The placeholder of secrets in .env.example. */
const PLACEHOLDER = /change-me/i;

/** Settings of one process, resolved once at start and passed in. */
export type Config = Settings & {
  dataDir: string;
  /** false if LOG_LEVEL is the default. */
  logLevelChosen: boolean;
  /** false if SQL_PORT is the default. */
  sqlPortChosen: boolean;
  platforms: Platform[];
  jwtSecret: string;
  /** Newest first: the first encrypts, all decrypt. */
  credentialKeys: { id: string; key: Buffer }[];
  production: boolean;
  registrationOpen: boolean;
  /** From package.json. */
  version: string;
};

/**
 * Reads the environment; throws ConfigError with one line per wrong setting. Outside production missing secrets are
 * generated into DATA_DIR. `needs: 'stores'` is for commands that touch neither sessions nor credentials: their secrets
 * stay empty.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env, needs: 'all' | 'stores' = 'all'): Config {
  const issues: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, [schema]] of Object.entries(settings)) {
    // A blank value counts as unset, not as 0.
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
  parsed.KALSHI_PRIVATE_KEY = givenOrRead(parsed, 'KALSHI_PRIVATE_KEY');
  const production = parsed.NODE_ENV === 'production';
  const example = Object.entries(parsed).find(
    ([name, value]) => SECRET_NAMES.test(name) && PLACEHOLDER.test(String(value)),
  );
  if (production && example) throw new ConfigError(`${example[0]}: must not be the example's when NODE_ENV=production`);
  if (production && parsed.DEMO_API_KEY) throw new ConfigError('DEMO_API_KEY: must be unset when NODE_ENV=production');
  const half = [parsed.GOOGLE_CLIENT_ID, parsed.GOOGLE_CLIENT_SECRET].filter((value) => value !== undefined);
  if (half.length === 1)
    throw new ConfigError('GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET: must both be set, received one');
  const exposed = parsed.LOOPBACK_USER === undefined ? null : exposure(parsed);
  if (exposed !== null) throw new ConfigError(`LOOPBACK_USER: ${exposed}`);
  // Links in mails use PUBLIC_URL, because a client can send any Host header.
  const mail = ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const;
  const unset = mail.filter((name) => parsed[name] === undefined);
  if (parsed.SMTP_URL !== undefined && unset.length > 0)
    throw new ConfigError(`SMTP_URL: must be set with ${unset.join(' and ')}, received without`);
  if (parsed.COLD_AFTER_DAYS > 0 && parsed.CLICKHOUSE_URL === undefined)
    throw new ConfigError(
      `COLD_AFTER_DAYS: must be 0 without CLICKHOUSE_URL, because the embedded store has no object storage, received ${parsed.COLD_AFTER_DAYS}`,
    );
  const generated = (name: string, create: () => string): string =>
    keptSecret(parsed.DATA_DIR, name, production, create);
  return {
    ...parsed,
    dataDir: parsed.DATA_DIR,
    logLevelChosen: (env['LOG_LEVEL'] ?? '').trim() !== '',
    sqlPortChosen: (env['SQL_PORT'] ?? '').trim() !== '',
    platforms: PLATFORMS.filter((platform) => parsed.PLATFORMS.includes(platform)),
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
    registrationOpen: (parsed.REGISTRATION ?? (production ? 'closed' : 'open')) === 'open',
    version: manifest.version,
  };
}

/** The rule that LOOPBACK_USER breaks, null if none: callers of other machines, also those behind a proxy, must not pass as this one. */
function exposure({ NODE_ENV, HOST, TRUST_PROXY, PUBLIC_URL }: Settings): string | null {
  if (NODE_ENV === 'production') return 'must be unset when NODE_ENV=production';
  if (!isLoopbackHost(HOST)) return `must be set with HOST 127.0.0.1, ::1 or localhost only, received HOST ${HOST}`;
  const proxied = TRUST_PROXY.length > 0 ? 'TRUST_PROXY' : PUBLIC_URL === undefined ? null : 'PUBLIC_URL';
  return proxied && `must be unset with ${proxied}, because callers of a proxy are not known by their address`;
}

/** Adds the settings of `.env` in the working directory, where there is one; what the environment has stays. */
export function readEnvFile(path = '.env'): void {
  try {
    process.loadEnvFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ConfigError(`${path}: must be a file that can be read, received ${code}`);
  }
}

/** Shorter names are not compared: they may belong to other programs. */
const NAME_LETTERS = 6;
const TYPOS = 2;

/** Names in the environment that no setting has and that look like one, each with that one. */
export function misspelt(env: NodeJS.ProcessEnv = process.env): { name: string; nearest: string }[] {
  const names = Object.keys(settings);
  const unknown = Object.keys(env).filter((name) => name.length >= NAME_LETTERS && !Object.hasOwn(settings, name));
  return unknown.flatMap((name) => {
    const nearest = names.find((known) => distance(name.toUpperCase(), known) <= TYPOS && name[0] === known[0]);
    return nearest === undefined ? [] : [{ name, nearest }];
  });
}

/** One line for a misspelt setting. */
export const misspeltLine = ({ name, nearest }: { name: string; nearest: string }): string =>
  `${name} is not a setting and is ignored; the nearest setting is ${nearest}`;

/** Removes secrets from the environment after reading: child processes inherit it, and Node writes it into crash reports. */
export function forgetSecrets(): void {
  for (const name of Object.keys(settings)) if (SECRET_NAMES.test(name)) delete process.env[name];
}

/** A secret from its setting, or from the file named by NAME_FILE. */
function givenOrRead(parsed: Settings, name: 'KALSHI_PRIVATE_KEY'): string | undefined {
  const file = parsed[`${name}_FILE`];
  if (file === undefined) return parsed[name];
  if (parsed[name] !== undefined) throw new ConfigError(`${name}, ${name}_FILE: only one can be set, received both`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name}_FILE: must be a file that can be read, received one that cannot (${code})`);
  }
}

function credentialKeys(list: string): { id: string; key: Buffer }[] {
  const keys = list.split(',').map((part) => {
    const [encoded = '', named] = part.split(':').toReversed();
    const key = Buffer.from(encoded, HEX_KEY.test(encoded) ? 'hex' : 'base64');
    const id = named ?? createHash('sha256').update(key).digest('hex').slice(0, 8);
    if (key.length !== 32)
      throw new ConfigError(`CREDENTIALS_KEY: key ${id} must have 32 bytes, received ${key.length} bytes`);
    return { id, key };
  });
  const twice = keys.find(({ id }, i) => keys.findIndex((other) => other.id === id) !== i);
  if (twice) throw new ConfigError(`CREDENTIALS_KEY: each key must have its own id, received ${twice.id} twice`);
  return keys;
}
