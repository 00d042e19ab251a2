import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eq, sql } from 'drizzle-orm';
import { defaultClientRules } from '../../../src/accounts/default-clients.ts';
import { createCredentials } from '../../../src/accounts/credentials.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { createLog } from '../../../src/core/log.ts';
import { rowsOf } from '../../../src/stores/postgres/json-row.ts';
import { openPostgres } from '../../../src/stores/postgres/client.ts';
import { users } from '../../../src/accounts/tables.ts';
import { startTestApp } from '../../helpers/app.ts';
import { migratedDatabase } from '../../helpers/databases.ts';
import { flowingClock, passes } from '../../helpers/flowing-clock.ts';
import { LAUNCHER } from '../../helpers/process.ts';

const run = promisify(execFile);
const clock = flowingClock();
const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
const OLD = `old:${key(1)}`;
const BOTH = `new:${key(2)},${OLD}`;

let env: NodeJS.ProcessEnv;
let clean: () => Promise<void>;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'forecastle-cli-'));
  const database = await migratedDatabase();
  env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: database.url, CREDENTIALS_KEY: OLD };
  clean = async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
});
afterAll(() => clean());

async function command(name: string, args: string[], more: NodeJS.ProcessEnv = {}) {
  const file = new URL(`../../../src/cli/${name}.ts`, import.meta.url).pathname;
  const done = run(process.execPath, [LAUNCHER, file, ...args], { env: { ...env, ...more } });
  return done.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

test('an operator makes a user with a key, sets its tier and sees both in the list', async () => {
  const made = await command('user', ['create', 'Ann@Example.com', 'Ann']);
  expect(made.stdout).toMatch(/^pk_[\w-]{49}\n$/);
  const again = await command('user', ['create', 'ann@example.com']);
  expect(again).toMatchObject({ code: 1, stderr: 'EMAIL: must be new, received ann@example.com\n' });
  expect((await command('user', ['tier', 'ann@example.com', 'pro'])).stdout).toBe('ann@example.com is pro\n');
  const { stdout } = await command('user', ['list']);
  expect(stdout).toMatch(/^ann@example\.com {2}pro {2}since \S+Z {2}1 keys {2}last used never\n$/);
});

test('an operator gives a user a limit of its own, and takes it back', async () => {
  await command('user', ['create', 'kim@example.com']);
  const set = async (word: string): Promise<string> =>
    (await command('user', ['limit', 'Kim@example.com', word])).stdout;
  const shown = async (): Promise<string> =>
    (await command('user', ['list'])).stdout.split('\n').find((line) => line.startsWith('kim@')) ?? '';
  expect(await set('1200')).toBe('kim@example.com may make 1200 requests a minute\n');
  expect(await shown()).toMatch(/^kim@example\.com {2}free {2}1200 a minute {2}since /);
  expect(await set('none')).toBe("kim@example.com may make its tier's requests a minute\n");
  expect(await shown()).toMatch(/^kim@example\.com {2}free {2}since /);
});

test('tiers, limits and keys change while the service runs, also on the embedded store', async () => {
  const embedded = { DATABASE_URL: '' };
  const key = (await command('user', ['create', 'joe@example.com'], embedded)).stdout.trim();
  const postgres = await openPostgres(
    loadConfig({ ...env, ...embedded }, 'stores'),
    createLog({ LOG_LEVEL: 'silent' }),
  );
  const service = await startTestApp({ postgres, clock, env: embedded });
  try {
    const asked = async () => {
      const headers = { 'x-api-key': key };
      return service.app.inject({ url: '/v1/api/health', headers, remoteAddress: service.newAddress() });
    };
    const allowed = async (): Promise<unknown> => (await asked()).headers['x-ratelimit-limit'];
    const becomes = (limit: string) => passes(clock, async () => expect(await allowed()).toBe(limit), 1000);
    expect(await allowed()).toBe('250');
    expect((await command('user', ['tier', 'joe@example.com', 'pro'], embedded)).code).toBe(0);
    await becomes('500');
    expect((await command('user', ['limit', 'joe@example.com', '777'], embedded)).code).toBe(0);
    await becomes('777');
    expect((await command('user', ['revoke', 'joe@example.com', 'all'], embedded)).stdout).toBe('1 revoked\n');
    await becomes('60');
    expect((await command('default-clients', ['show'], embedded)).code).toBe(0);
  } finally {
    await service.close();
    await postgres.close();
  }
});

test('an operator names who may use the default clients, limits their orders and switches them off', async () => {
  await command('user', ['create', 'eve@example.com']);
  const named = await command('user', ['default-clients', 'Eve@example.com', 'grant']);
  expect(named.stdout).toMatch(
    /^eve@example\.com may place orders through the default clients {2}account since \S+Z\n$/,
  );
  const after = async (...words: string[]): Promise<string> => (await command('default-clients', words)).stdout;
  expect(await after('show')).toBe('default clients: on, no limit for one order\n');
  expect(await after('limit', '250.5')).toBe('default clients: on, at most 250.5 USD for one order\n');
  expect(await after('off')).toBe('default clients: off, at most 250.5 USD for one order\n');
  expect(await after('limit', 'none')).toBe('default clients: off, no limit for one order\n');
  expect(await after('on')).toBe('default clients: on, no limit for one order\n');
  const postgres = await openPostgres(loadConfig({ ...env }, 'stores'), createLog({ LOG_LEVEL: 'silent' }));
  const [eve] = await postgres.db.select().from(users).where(eq(users.email, 'eve@example.com'));
  expect(await defaultClientRules(postgres.db).isGranted(eve?.id ?? '')).toBe(true);
  await postgres.close();
  const taken = await command('user', ['default-clients', 'eve@example.com', 'revoke']);
  expect(taken.stdout).toBe('eve@example.com may not place orders through the default clients\n');
  for (const words of [['limit', '-1'], ['limit'], ['of'], ['off', 'now']]) {
    expect(await command('default-clients', words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^npm run/),
    });
  }
});

test.each([
  [['default-clients', 'ann@example.com', 'allow'], /^npm run user -- default-clients EMAIL .*; received \S+ allow\n$/],
  [['default-clients', 'nobody@example.com', 'grant'], /^EMAIL: must be the e-mail of an account/],
  [['tier', 'nobody@example.com', 'pro'], /^EMAIL: must be the e-mail of an account, received nobody@example\.com\n$/],
  [['tier', 'ann@example.com', 'gold'], /^npm run user -- tier EMAIL free\|pro: .*; received \S+ gold\n$/],
  [['limit', 'ann@example.com', '0'], /^npm run user -- limit EMAIL .*; received \S+ 0\n$/],
  [['limit', 'ann@example.com', '1000001'], /^npm run user -- limit EMAIL .*; received \S+ 1000001\n$/],
  [['limit', 'ann@example.com', '2.5'], /^npm run user -- limit EMAIL .*; received \S+ 2\.5\n$/],
  [['limit', 'nobody@example.com', '9'], /^EMAIL: must be the e-mail of an account/],
  [['delete', 'ann@example.com'], /^npm run user -- list/],
])('%j is refused, saying what to do', async (args, expected) => {
  const { code, stderr } = await command('user', args);
  expect(code).toBe(1);
  expect(stderr).toMatch(expected);
});

test('a command that is misspelt opens no store, and so makes none', async () => {
  const DATA_DIR = join(env['DATA_DIR'] ?? '', 'misspelt');
  const { code, stderr } = await command('user', ['lists'], { DATA_DIR, DATABASE_URL: '' });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^npm run user -- list/)]);
  expect(existsSync(DATA_DIR)).toBe(false);
});

test.each([
  ['default-clients', ['off']],
  ['credentials', ['rotate']],
  ['user', ['list']],
])('%s %j with a DATA_DIR that holds no store is refused, and makes none', async (name, words) => {
  const DATA_DIR = join(env['DATA_DIR'] ?? '', 'elsewhere');
  const own = { DATA_DIR, DATABASE_URL: '', JWT_SECRET: '', CREDENTIALS_KEY: '' };
  const { code, stdout, stderr } = await command(name, words, own);
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    expect.stringMatching(/^DATA_DIR: must hold the stores of a service/),
  ]);
  expect(existsSync(DATA_DIR)).toBe(false);
});

/** The stored credentials as a process with this CREDENTIALS_KEY sees them. */
async function open(CREDENTIALS_KEY: string) {
  const config = loadConfig({ ...env, CREDENTIALS_KEY });
  const postgres = await openPostgres(config, createLog({ LOG_LEVEL: 'silent' }));
  return { postgres, vault: createCredentials(postgres.db, config.credentialKeys) };
}

test('credentials are sealed again under the first key, and open without the old one', async () => {
  const fields = { token_id: 't', secret: key(3), private_key: `0x${'1'.repeat(64)}` as const };
  const before = await open(OLD);
  const [user] = await before.postgres.db.insert(users).values({ email: 'b@example.com' }).returning();
  await before.vault.store(user?.id ?? '', 'limitless', 'l', fields, true);
  await before.postgres.close();
  const rotated = await command('credentials', ['rotate'], { CREDENTIALS_KEY: BOTH });
  expect(rotated).toEqual({ code: 0, stdout: '1 credentials re-encrypted with key new\n', stderr: '' });
  const after = await open(`new:${key(2)}`);
  expect((await after.vault.open(user?.id ?? '', 'limitless'))?.fields).toEqual(fields);
  await after.postgres.close();
});

test('the verdict of the operator on a pair is stored with its note, replaced and forgotten; another id is refused', async () => {
  const postgres = await openPostgres(loadConfig(env, 'stores'), createLog({ LOG_LEVEL: 'fatal' }), { beside: true });
  try {
    const { db } = postgres;
    for (const [key, platform] of [
      [1, 'kalshi'],
      [2, 'polymarket'],
    ] as const)
      await db.execute(sql`
        INSERT INTO present_markets (key, platform, ref, platform_id, token_ids, info, first_seen_at, info_version, texts)
        VALUES (${key}, ${platform}, 'R', 'R', '{}', '{}', now(), now(), 7)`);
    // 2^63 less than the number of the id.
    await db.execute(sql`
      INSERT INTO present_matches VALUES (1, 2, ${'-9223372036854775797'}::bigint, 'kalshi', 7, '', '', 'polymarket', 7, '', '', 'subset', 'game', '[]', 1, false, now(), now())`);
    const id = '000000000000000b';
    const verdicts = async () =>
      rowsOf(await db.execute(sql`SELECT user_id, relation, note, a_texts::int FROM match_verdicts`));
    expect((await command('match-verdict', [id, 'confirm', 'identical', 'read both'])).code).toBe(0);
    expect(await verdicts()).toEqual([{ user_id: null, relation: 'identical', note: 'read both', a_texts: 7 }]);
    expect((await command('match-verdict', [id, 'refuse'])).stdout).toBe(`${id}: refuse\n`);
    expect(await verdicts()).toEqual([{ user_id: null, relation: 'unknown', note: null, a_texts: 7 }]);
    expect((await command('match-verdict', [id, 'forget'])).code).toBe(0);
    expect(await verdicts()).toEqual([]);
    expect(await command('match-verdict', [id, 'forget'])).toMatchObject({
      code: 1,
      stderr: `ID: must be the id of a match with a verdict of the operator, received ${id}\n`,
    });
    expect(await command('match-verdict', ['00000000000000ff', 'refuse'])).toMatchObject({
      code: 1,
      stderr: 'ID: must be the id of a match, received 00000000000000ff\n',
    });
  } finally {
    await postgres.close();
  }
});
