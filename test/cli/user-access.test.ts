import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eq } from 'drizzle-orm';
import { defaultClientRules } from '../../src/accounts/default-clients.ts';
import { users } from '../../src/accounts/tables.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { browser, newEmail, PASSWORD, registered } from '../helpers/browser.ts';
import { migratedDatabase, type OwnDatabase } from '../helpers/databases.ts';
import { LAUNCHER } from '../helpers/process.ts';

const run = promisify(execFile);
const FILE = new URL('../../src/cli/user.ts', import.meta.url).pathname;
const ME = '/v1/api/auth/me';

let database: OwnDatabase;
let service: TestApp;
beforeAll(async () => {
  database = await migratedDatabase();
  service = await startTestApp({ databaseUrl: database.url });
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

const user = (...words: string[]) =>
  run(process.execPath, [LAUNCHER, FILE, ...words], {
    env: { ...process.env, DATABASE_URL: database.url, PUBLIC_URL: 'https://api.example' },
  });
const isKnown = async (key: string): Promise<boolean> => {
  const answer = await service.app.inject({
    url: ME,
    headers: { 'x-api-key': key },
    remoteAddress: service.newAddress(),
  });
  return answer.statusCode === 403;
};
const tokenOf = (text: string): string =>
  /https:\/\/api\.example\/reset-password#token=([\w-]{43})\n/.exec(text)?.[1] ?? '';

test('an account that an operator made sets its password by the link, logs in and revokes its key', async () => {
  const email = newEmail();
  const made = await user('create', email, 'Ann');
  const key = made.stdout.trim();
  const person = browser(service);
  const set = { token: tokenOf(made.stderr), new_password: PASSWORD };
  expect((await person.post('/v1/api/auth/password/reset', set)).statusCode).toBe(200);
  const login = await person.post('/v1/api/auth/login', { email, password: PASSWORD });
  expect(login.json().user).toMatchObject({ email, name: 'Ann' });
  const [held] = (await person.get('/v1/api/auth/api-keys')).json().api_keys;
  expect(held.scopes).toEqual(['read', 'trade']);
  expect((await person.delete(`/v1/api/auth/api-keys/${held.id}`)).statusCode).toBe(200);
  expect(await isKnown(key)).toBe(false);
});

test('an account of a domain without a dot sets its password and logs in; a word that is no e-mail makes no account', async () => {
  const email = `ann${process.pid}@laptop`;
  const made = await user('create', email);
  const person = browser(service);
  const set = { token: tokenOf(made.stderr), new_password: PASSWORD };
  expect((await person.post('/v1/api/auth/password/reset', set)).statusCode).toBe(200);
  const login = await person.post('/v1/api/auth/login', { email: email.toUpperCase(), password: PASSWORD });
  expect([login.statusCode, login.json().user?.email]).toEqual([200, email]);
  expect((await person.post('/v1/api/auth/password/reset', { email })).json().status).toBe('requested');
  for (const word of ['@', 'ann@', '@laptop', 'an n@laptop', 'ann@lap@top'])
    await expect(user('create', word)).rejects.toMatchObject({ code: 1 });
});

test('an operator resets a password, lists keys and revokes them', async () => {
  const email = newEmail();
  const key = (await user('create', email, '--scopes', 'read')).stdout.trim();
  const { stdout: link } = await user('reset', email);
  const set = { token: tokenOf(link), new_password: PASSWORD };
  expect((await browser(service).post('/v1/api/auth/password/reset', set)).statusCode).toBe(200);
  const { stdout: listed } = await user('keys', email);
  const [id = ''] = listed.split(' ');
  expect(listed).toMatch(/^[\w-]{36} {2}pk_\S{8} {2}read {2}last used never {2}expires never {2}first\n$/);
  expect(await isKnown(key)).toBe(true);
  expect((await user('revoke', email, id)).stdout).toBe('1 revoked\n');
  await expect.poll(() => isKnown(key), { timeout: 3000 }).toBe(false);
  await expect(user('revoke', email, id.replace(/^./, 'f').replace(/.$/, '0'))).rejects.toMatchObject({ code: 1 });
});

test('the default clients are not granted to an e-mail that nobody has proven, unless the operator says so', async () => {
  const email = newEmail();
  await registered(service, email);
  const { db } = service.postgres;
  const [account] = await db.select().from(users).where(eq(users.email, email));
  const since = account?.createdAt.toISOString();
  const granted = () => defaultClientRules(db).isGranted(account?.id ?? '');
  const refused = await user('default-clients', email, 'grant').catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`registered ${since}`) });
  expect(refused).toMatchObject({ stderr: expect.stringContaining('--unverified') });
  expect(await granted()).toBe(false);
  await expect(user('default-clients', email, 'revoke', '--unverified')).rejects.toMatchObject({ code: 1 });
  const { stdout } = await user('default-clients', email, 'grant', '--unverified');
  expect(stdout).toBe(`${email} may place orders through the default clients  account since ${since}\n`);
  expect(await granted()).toBe(true);
  expect((await user('default-clients', email, 'revoke')).stdout).toContain('may not place orders');
  await db.update(users).set({ emailVerifiedAt: new Date() }).where(eq(users.email, email));
  expect((await user('default-clients', email, 'grant')).stdout).toContain('may place orders');
});

test.each(['', 'read,write', 'read,read', 'all'])('a key with the scopes %j is not made', async (scopes) => {
  const email = newEmail();
  await expect(user('create', email, '--scopes', scopes)).rejects.toMatchObject({ code: 1 });
  expect((await user('list')).stdout).not.toContain(email);
});
