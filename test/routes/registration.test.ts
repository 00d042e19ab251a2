import { afterAll, beforeAll, expect, test } from 'vitest';
import { users } from '../../src/accounts/tables.ts';
import { loadConfig } from '../../src/core/config.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { browser, newEmail, PASSWORD, registered } from '../helpers/browser.ts';
import { startIdentityProvider, type IdentityProvider } from '../helpers/identity-provider.ts';

const REGISTER = '/v1/api/auth/register';
const START = '/v1/api/auth/google';
const HOST = { host: 'localhost:3000' };

let provider: IdentityProvider;
let open: TestApp;
let closed: TestApp;
beforeAll(async () => {
  provider = await startIdentityProvider(`http://${HOST.host}${START}/callback`);
  open = await startTestApp();
  closed = await startTestApp({ env: { ...provider.env, REGISTRATION: 'closed' }, postgres: open.postgres });
});
afterAll(async () => {
  await closed.close();
  await open.close();
  await provider.close();
});

/** A sign-in with Google as the person of this e-mail. */
async function google(email: string) {
  provider.person = { sub: `sub-of-${email}`, email, email_verified: true, name: 'Ann' };
  const person = browser(closed);
  const start = await person.get(START, HOST);
  const back = await provider.authorize(String(start.headers.location));
  return person.get(`${back.pathname}${back.search}`, HOST);
}

test('registration is open outside production, closed in it, unless REGISTRATION says otherwise', () => {
  const secrets = { JWT_SECRET: 'x'.repeat(32), CREDENTIALS_KEY: `k1:${'a'.repeat(64)}` };
  const isOpen = (env: object) => loadConfig({ ...secrets, ...env }).registrationOpen;
  expect(isOpen({})).toBe(true);
  expect(isOpen({ NODE_ENV: 'production' })).toBe(false);
  expect(isOpen({ NODE_ENV: 'production', REGISTRATION: 'open' })).toBe(true);
  expect(isOpen({ REGISTRATION: 'closed' })).toBe(false);
});

test('closed registration makes no account and gives one answer, whether the e-mail has one or not', async () => {
  const known = newEmail();
  await registered(open, known);
  const email = newEmail();
  const answers = await Promise.all(
    [known, email].map((mail) => browser(closed).post(REGISTER, { email: mail, password: PASSWORD })),
  );
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 403]);
  expect(answers[0]?.body).toBe(answers[1]?.body);
  expect(answers[0]?.json().error.message).toBe('Registration is closed');
  const login = await browser(closed).post('/v1/api/auth/login', { email, password: PASSWORD });
  expect(login.statusCode).toBe(401);
});

test('closed registration lets Google in for an e-mail that has an account, and nobody else', async () => {
  const email = newEmail();
  await open.postgres.db.insert(users).values({ email });
  expect((await google(email)).statusCode).toBe(200);
  const stranger = await google(newEmail());
  expect(stranger.statusCode).toBe(403);
  expect(stranger.json().error.message).toBe('Registration is closed');
});
