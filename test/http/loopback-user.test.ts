import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser } from '../../src/accounts/users.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openPostgres, migratePostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { registered, newEmail } from '../helpers/browser.ts';
import { migratedDatabase, type OwnDatabase } from '../helpers/databases.ts';
import { silent } from '../helpers/silent-log.ts';

const EMAIL = 'local@example.com';
/** Identified, then refused for the parameter that is missing. */
const DATA = '/v1/api/markets';
const LOCAL = '127.0.0.1';

let database: OwnDatabase;
let postgres: Postgres;
let service: TestApp;
beforeAll(async () => {
  database = await migratedDatabase();
  postgres = await openPostgres({ DATABASE_URL: database.url, dataDir: '' }, silent);
  await migratePostgres(postgres, silent);
  await createUser(postgres.db, EMAIL, 'Local', null);
  service = await startTestApp({ postgres, env: { LOOPBACK_USER: 'Local@example.com' } });
});
afterAll(async () => {
  await service.close();
  await postgres.close();
  await database.drop();
});

interface Asked {
  url?: string;
  method?: 'GET' | 'POST' | 'DELETE' | 'HEAD';
  headers?: Record<string, string>;
  remoteAddress?: string;
}
const ask = async ({ url = DATA, method = 'GET', headers = {}, remoteAddress = LOCAL }: Asked) =>
  service.app.inject({ method, url, headers: { host: 'localhost:3000', ...headers }, remoteAddress });

test('a request from this machine without a key reads as LOOPBACK_USER, within the limits of the user', async () => {
  for (const remoteAddress of [LOCAL, '::1', '::ffff:127.0.0.1'])
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000']) {
      const answer = await ask({ remoteAddress, headers: { host } });
      expect([remoteAddress, host, answer.statusCode]).toEqual([remoteAddress, host, 400]);
      expect(answer.headers['x-ratelimit-limit']).toBe('250');
    }
  // Of the user's own: it has no credential.
  expect((await ask({ url: '/v1/api/orders?platform=kalshi' })).statusCode).toBe(422);
  expect((await ask({ headers: { origin: 'http://localhost:3000' } })).statusCode).toBe(400);
});

test.each<[string, Asked]>([
  ['another machine', { remoteAddress: '10.0.0.1' }],
  ['a proxy on this machine', { headers: { 'x-forwarded-for': '10.0.0.1' } }],
  ['a proxy that names this machine', { headers: { 'x-forwarded-for': LOCAL } }],
  ['a proxy that only says that it is one', { headers: { via: '1.1 proxy' } }],
  ['a site whose name resolves to this machine', { headers: { host: 'evil.example:3000' } }],
  ['a page of another site', { headers: { origin: 'https://evil.example' } }],
  ['a picture on a page of another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
  ['an order', { url: '/v1/api/orders', method: 'POST' }],
  ['a cancellation', { url: '/v1/api/orders/1?platform=kalshi', method: 'DELETE' }],
  ['SQL', { url: '/v1/api/sql', method: 'POST' }],
  ['the account', { url: '/v1/api/auth/me' }],
  ['the keys of the account', { url: '/v1/api/auth/api-keys' }],
  ['a wrong key', { headers: { 'x-api-key': 'pk_wrong' } }],
])('%s is not LOOPBACK_USER', async (_, asked) => {
  const { statusCode } = await ask(asked);
  expect(statusCode).toBe(401);
});

test('a key and a session that are sent count before LOOPBACK_USER', async () => {
  const { key } = await service.newKey('pro');
  expect((await ask({ headers: { 'x-api-key': key } })).headers['x-ratelimit-limit']).toBe('500');
  const person = await registered(service);
  const jwt = person.cookies.get('jwt') ?? '';
  const cookie = `jwt=${jwt}`;
  const left = async (): Promise<unknown> => (await ask({ headers: { cookie } })).headers['x-ratelimit-remaining'];
  expect([await left(), await left()]).toEqual(['249', '248']);
});

test('without the setting a request from this machine needs a key', async () => {
  const plain = await startTestApp({ postgres });
  const answer = await plain.app.inject({ url: DATA, headers: { host: 'localhost' }, remoteAddress: LOCAL });
  expect(answer.statusCode).toBe(401);
  await plain.close();
});

test('a LOOPBACK_USER without an account stops the start, saying how to make it', async () => {
  const nobody = newEmail();
  await expect(startTestApp({ postgres, env: { LOOPBACK_USER: nobody } })).rejects.toThrow(
    `LOOPBACK_USER: must be the e-mail of an account, received ${nobody}; run: npm run user -- create ${nobody}`,
  );
});

test.each<[Record<string, string>, string]>([
  [{ LOOPBACK_USER: 'ann' }, 'must be the e-mail of an account, received "ann"'],
  [{ HOST: '0.0.0.0' }, 'must be set with HOST 127.0.0.1, ::1 or localhost only, received HOST 0.0.0.0'],
  [{ HOST: '192.168.1.7' }, 'must be set with HOST 127.0.0.1, ::1 or localhost only, received HOST 192.168.1.7'],
  [
    { TRUST_PROXY: '127.0.0.1' },
    'must be unset with TRUST_PROXY, because callers of a proxy are not known by their address',
  ],
  [
    { PUBLIC_URL: 'https://api.example' },
    'must be unset with PUBLIC_URL, because callers of a proxy are not known by their address',
  ],
  [{ NODE_ENV: 'production' }, 'must be unset when NODE_ENV=production'],
])('LOOPBACK_USER with %j stops the start', (env, said) => {
  expect(() => loadConfig({ LOOPBACK_USER: EMAIL, ...env }, 'stores')).toThrow(`LOOPBACK_USER: ${said}`);
});
