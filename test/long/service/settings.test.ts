import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { ConfigError } from '../../../src/core/config-error.ts';
import { loadConfig, misspelt, readEnvFile } from '../../../src/core/config.ts';
import { settingsHelp } from '../../../src/core/settings.ts';
import { createLog } from '../../../src/core/log.ts';
import { openPostgres } from '../../../src/stores/postgres/client.ts';
import { prepareClickHouse } from '../../../src/stores/clickhouse/prepare.ts';
import { migratedDatabase } from '../../helpers/databases.ts';
import { LAUNCHER, startProcess } from '../../helpers/process.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-settings-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const load = (env: Record<string, string>) => loadConfig({ DATA_DIR: join(directory, 'data'), ...env });
const main = (...args: string[]) => run(process.execPath, [LAUNCHER, MAIN, ...args]);
const silent = createLog({ LOG_LEVEL: 'silent' });
const unusable = (path: string, code = 'ENOTDIR') =>
  `DATA_DIR: must be a directory that can be written to, received "${path}" (${code})`;
const HIDDEN = 'a value that is not shown';
const failure = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'no failure';
  } catch (error) {
    return error instanceof ConfigError ? error.message : String(error);
  }
};

test.each([
  ['PORT', '70000', 'must be a whole number from 0 to 65535, received "70000"'],
  ['PORT', '30a', 'must be a whole number from 0 to 65535, received "30a"'],
  ['SQL_PORT', 'maybe', 'must be off or a whole number from 0 to 65535, received "maybe"'],
  ['BACKFILL_DAYS', '-1', 'must be a number from 0 to 3650, received "-1"'],
  ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent, received "loud"'],
  ['PLATFORMS', 'kalshi,foo', 'must be one of kalshi, polymarket, limitless, received "kalshi,foo"'],
  ['NODE_ENV', 'prod', 'must be one of production, development, test, received "prod"'],
  ['KALSHI_API_URL', 'kalshi.test', 'must be an http or https URL, received "kalshi.test"'],
  ['LIMITLESS_API_URL', 'https://a:b@host:99999', `must be an http or https URL, received ${HIDDEN}`],
  ['CLICKHOUSE_URL', 'tcp://store:9000', 'must be an http or https URL, received "tcp://store:9000"'],
  ['DATABASE_URL', 'mysql://u:secret@h/db', `must be a postgres or postgresql URL, received ${HIDDEN}`],
  ['REDIS_URL', 'http://h?password=secret', `must be a redis or rediss URL, received ${HIDDEN}`],
  ['FREE_PER_MINUTE', '0', 'must be a whole number from 1 to 1000000, received "0"'],
  ['LOG_FORMAT', 'xml', 'must be one of auto, json, text, received "xml"'],
  ['PRO_PER_MINUTE', 'many', 'must be a whole number from 1 to 1000000, received "many"'],
  ['BACKFILL_DAYS', '7 days', 'must be a number from 0 to 3650, received "7 days"'],
  ['LOOPBACK_USER', 'ann', 'must be the e-mail of an account, received "ann"'],
  ['PUBLIC_URL', 'example.com', 'must be an http or https URL, received "example.com"'],
  ['MAIL_FROM', 'Ann', 'must be an e-mail address, received "Ann"'],
  ['SMTP_URL', 'smtp.example.com:25', 'must be an smtp or smtps URL, received "smtp.example.com:25"'],
  ['SMTP_URL', 'ann:secret@smtp.example.com', `must be an smtp or smtps URL, received ${HIDDEN}`],
  ['TRUST_PROXY', 'nginx', 'must be addresses or CIDR blocks, received "nginx"'],
  [
    'BOOKS_MARKETS',
    'KXHERE-1',
    'must be ids of the form <platform>:<platform id>, of kalshi, polymarket, limitless, received "KXHERE-1"',
  ],
  ['JWT_SECRET', 'short', `must have at least 32 characters, received ${HIDDEN}`],
  ['DEMO_API_KEY', 'pk_short', `must be an API key (pk_…), received ${HIDDEN}`],
])(
  '%s=%s stops the start with its name, the rule and the value unless that may be secret',
  async (name, value, said) => {
    expect(await failure(() => load({ [name]: value }))).toBe(`${name}: ${said}`);
  },
);

test('docs/settings.md lists every setting with its default and meaning, and no other', () => {
  const page = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| `(\w+)` \| (.*?) \| (.*) \|$/gm)].map(
    ([, name = '', initial = '', meaning = '']) => `${name} ${meaning}${initial === '' ? '' : ` [${initial}]`}`,
  );
  const own = settingsHelp()
    .split('\n')
    .map((line) => line.trim().replace(/ +/, ' '));
  expect(listed.toSorted()).toEqual(own.toSorted());
});

test('CREDENTIALS_KEY is 32 bytes in base64, base64url or hex, under a name of its own or one made from it', () => {
  const bytes = Buffer.alloc(32, 0xfb);
  const [base64, url, hex] = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
  const unnamed = [base64, url, hex].map((text) => load({ CREDENTIALS_KEY: text }).credentialKeys);
  expect(unnamed).toEqual(
    Array.from({ length: 3 }, () => [{ id: expect.stringMatching(/^[0-9a-f]{8}$/), key: bytes }]),
  );
  const older = Buffer.alloc(32, 1);
  const rotated = load({ CREDENTIALS_KEY: `k2:${hex},${older.toString('base64')}` }).credentialKeys;
  expect(rotated).toEqual([
    { id: 'k2', key: bytes },
    { id: expect.stringMatching(/^[0-9a-f]{8}$/), key: older },
  ]);
  for (const text of [hex.slice(2), `${base64}x`, `k1:${base64},`, 'k1:', `k 1:${hex}`]) {
    expect(() => load({ CREDENTIALS_KEY: text }), text).toThrow(/^CREDENTIALS_KEY: must be 32 bytes/);
  }
});

test('KALSHI_PRIVATE_KEY_FILE names a file with the key, and stands for it alone', () => {
  const file = join(directory, 'kalshi.pem');
  writeFileSync(file, '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n');
  const pem = readFileSync(file, 'utf8').trim();
  expect(load({ KALSHI_PRIVATE_KEY_FILE: file }).KALSHI_PRIVATE_KEY).toBe(pem);
  expect(() => load({ KALSHI_PRIVATE_KEY_FILE: file, KALSHI_PRIVATE_KEY: 'another' })).toThrow(
    /^KALSHI_PRIVATE_KEY, KALSHI_PRIVATE_KEY_FILE: only one can be set, received both$/,
  );
  expect(() => load({ KALSHI_PRIVATE_KEY_FILE: `${file}.gone` })).toThrow(
    /^KALSHI_PRIVATE_KEY_FILE: must be a file that can be read, received one that cannot \(ENOENT\)$/,
  );
});

test('a setting of blanks is unset, and no number', () => {
  const blank = { JWT_SECRET: 'x'.repeat(32), CREDENTIALS_KEY: `k1:${'a'.repeat(64)}`, PORT: ' ', BACKFILL_DAYS: '  ' };
  expect(loadConfig(blank)).toMatchObject({ PORT: 3000, BACKFILL_DAYS: 7 });
});

test('a name that no setting has is reported where one is like it, and no name of another program', () => {
  const others = {
    HOME: '/',
    HOSTNAME: 'x',
    LOGNAME: 'x',
    MYSQL_PASSWORD: 'x',
    CLICKHOUSE_PASSWORD: 'x',
    API_PORTS: '1',
  };
  expect(misspelt({ ...others, PORT: '1', KALSHI_API_URLS: 'x', Backfill_days: '1', SWEEP_SECOND: '1' })).toEqual([
    { name: 'KALSHI_API_URLS', nearest: 'KALSHI_API_URL' },
    { name: 'Backfill_days', nearest: 'BACKFILL_DAYS' },
    { name: 'SWEEP_SECOND', nearest: 'SWEEP_SECONDS' },
  ]);
});

test('settings are read from .env, where the environment has no other', () => {
  const file = join(directory, '.env');
  writeFileSync(file, '# ours\nSMTP_URL=smtp://mail.example\nMAIL_FROM="a@example.com"\n');
  vi.stubEnv('MAIL_FROM', 'b@example.com');
  vi.stubEnv('SMTP_URL', undefined);
  try {
    readEnvFile(file);
    expect([process.env['SMTP_URL'], process.env['MAIL_FROM']]).toEqual(['smtp://mail.example', 'b@example.com']);
    expect(() => readEnvFile(join(directory, 'none'))).not.toThrow();
    expect(() => readEnvFile(directory)).toThrow(/: must be a file that can be read, received E\w+$/);
  } finally {
    delete process.env['SMTP_URL'];
    vi.unstubAllEnvs();
  }
});

test('two keys of one id in CREDENTIALS_KEY stop the start: only one of them would ever be used', () => {
  const keys = ['a', 'b'].map((hex) => `k1:${hex.repeat(64)}`).join(',');
  expect(() => loadConfig({ JWT_SECRET: 'x'.repeat(32), CREDENTIALS_KEY: keys })).toThrow(
    /^CREDENTIALS_KEY: each key must have its own id, received k1 twice$/,
  );
});

test('a server store that does not answer is named, without its password', async () => {
  const config = load({
    DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/db',
    CLICKHOUSE_URL: 'http://u:hidden@127.0.0.1:1/',
  });
  expect(await failure(() => openPostgres(config, silent))).toBe(
    'DATABASE_URL: no PostgreSQL at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
  );
  expect(await failure(() => openClickHouse(config, silent))).toBe(
    'CLICKHOUSE_URL: no ClickHouse at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
  );
});

/** Answers the first question, and refuses all others as this says. */
async function grudging(refusal: string): Promise<{ url: string; host: string; close(): void }> {
  let questions = 0;
  const server = createHttpServer((request, response) => {
    request.resume().on('end', () => {
      if (refusal === '') return;
      if ((questions += 1) === 1) response.end('{"1":1}\n');
      else response.writeHead(403, { 'x-clickhouse-exception-code': '497' }).end(refusal);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://u:hidden@${host}/`, host, close: () => void server.closeAllConnections() };
}

test('a ClickHouse that refuses what the schema needs is named with its reason', async () => {
  const { url, close } = await grudging('Code: 497. DB::Exception: u: Not enough privileges. (ACCESS_DENIED)');
  const config = load({ CLICKHOUSE_URL: url });
  const store = await openClickHouse(config, silent);
  expect(await failure(() => prepareClickHouse(store, config, silent))).toBe(
    'CLICKHOUSE_URL: its schema could not be migrated: u: Not enough privileges. (code 497)',
  );
  await store.close();
  close();
});

test('a ClickHouse that never answers is distinguished from one that does not exist', async () => {
  const { url, host, close } = await grudging('');
  const soon = AbortSignal.timeout(300);
  const clock = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(soon);
  expect(await failure(() => openClickHouse(load({ CLICKHOUSE_URL: url }), silent))).toBe(
    `CLICKHOUSE_URL: no ClickHouse at ${host}: no answer within 30 s`,
  );
  clock.mockRestore();
  close();
});

test('half a Google client stops the start', async () => {
  for (const name of ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'])
    expect(await failure(() => load({ [name]: 'x' }))).toBe(
      'GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET: must both be set, received one',
    );
});

test('an argument that means nothing stops the start instead of being passed over', async () => {
  expect((await main('api', '-h')).stdout).toContain('npm run api');
  await expect(main('api', '--port=4000')).rejects.toMatchObject({
    code: 1,
    stderr:
      'forecastle: arguments: only --help is accepted, settings come from the environment and .env, received --port=4000\n',
  });
});

test('a DATA_DIR that cannot be a directory is named, whichever part needs it first', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const config = { ...load({}), dataDir: file };
  expect(await failure(() => load({ DATA_DIR: join(file, 'x') }))).toBe(unusable(join(file, 'x')));
  expect(await failure(() => openPostgres(config, silent))).toBe(unusable(file, 'EEXIST'));
  expect(await failure(() => openClickHouse(config, silent))).toBe(unusable(join(file, 'clickhouse')));
});

test('a port that is taken and a host that is not this machine stop the start with one line', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  const database = await migratedDatabase();
  onTestFinished(() => database.drop());
  for (const [env, line] of [
    [{ PORT: port }, `PORT: must be free, received ${port}, which cannot be listened on at 127.0.0.1 (EADDRINUSE)`],
    [{ HOST: '203.0.113.9' }, 'HOST: must be an address of this machine, received "203.0.113.9": listen EADDRNOTAVAIL'],
  ] as const) {
    const dataDir = mkdtempSync(join(directory, 'start-'));
    const service = startProcess('api', { DATA_DIR: dataDir, DATABASE_URL: database.url, ...env });
    expect(await service.ended).toBe(1);
    expect(service.output().trimEnd().split('\n').at(-1)).toContain(`forecastle: ${line}`);
  }
  taken.close();
});
