import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { browser, newEmail, PASSWORD, registered, type Browser } from '../helpers/browser.ts';
import { issueReset, redeemReset } from '../../src/accounts/password-resets.ts';
import { inTurns } from '../helpers/user-turns.ts';
import { startIdentityProvider, type IdentityProvider } from '../helpers/identity-provider.ts';

const START = '/v1/api/auth/google';
const ME = '/v1/api/auth/me';
const HOST = { host: 'localhost:3000' };

let provider: IdentityProvider;
let service: TestApp;
beforeAll(async () => {
  provider = await startIdentityProvider(`http://${HOST.host}${START}/callback`);
  service = await startTestApp({ env: provider.env });
});
afterAll(async () => {
  await service.close();
  await provider.close();
});
beforeEach(() => {
  const email = newEmail();
  provider.person = { sub: `sub-of-${email}`, email, email_verified: true, name: 'Ann' };
});

/** The way to the provider and back; the path and query the browser then asks us for. */
async function comeBack(person: Browser): Promise<string> {
  const start = await person.get(START, HOST);
  expect(start.statusCode).toBe(302);
  const back = await provider.authorize(String(start.headers.location));
  expect(back.origin).toBe(`http://${HOST.host}`);
  return `${back.pathname}${back.search}`;
}

const signIn = async (person: Browser) => person.get(await comeBack(person), HOST);

test('a new person gets an account and a session, by authorization code with PKCE and state', async () => {
  const person = browser(service);
  const start = await person.get(START, HOST);
  const sent = new URL(String(start.headers.location)).searchParams;
  expect(sent.get('code_challenge_method')).toBe('S256');
  expect(sent.get('state')?.length).toBeGreaterThan(15);
  const answer = await signIn(person);
  expect(answer.statusCode).toBe(200);
  expect(answer.json().user).toMatchObject({ email: provider.person.email, name: 'Ann', tier: 'free' });
  expect((await person.get(ME)).json().user.email).toBe(provider.person.email);
  expect(person.cookies.get('oauth2-code-verifier')).toBeUndefined();
});

test('addresses of a provider keep their query (RFC 6749 §3.1)', async () => {
  const { env } = provider;
  const asked: string[] = [];
  const front = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const { port } = front.address() as AddressInfo;
  const realm = await startTestApp({
    postgres: service.postgres,
    env: {
      ...env,
      GOOGLE_AUTHORIZATION_URL: `${env['GOOGLE_AUTHORIZATION_URL']}?realm=staff`,
      GOOGLE_TOKEN_URL: `http://127.0.0.1:${port}/token?realm=staff`,
    },
  });
  const person = browser(realm);
  const { searchParams: sent } = new URL(String((await person.get(START, HOST)).headers.location));
  expect([sent.get('realm'), sent.get('client_id')]).toEqual(['staff', env['GOOGLE_CLIENT_ID']]);
  await person.get(`${START}/callback?code=x&state=${sent.get('state')}`, HOST);
  expect(asked).toEqual(['POST /token?realm=staff']);
  await realm.close();
  front.close();
});

test('the same person comes back to the same account, also under a new e-mail', async () => {
  const first = (await signIn(browser(service))).json().user;
  provider.person = { ...provider.person, email: newEmail() };
  const second = (await signIn(browser(service))).json().user;
  expect(second.id).toBe(first.id);
});

test('a name that no store takes as it is signs its person in all the same', async () => {
  provider.person = { ...provider.person, name: `A\0${'n'.repeat(98)}\u{1F600}` };
  const answer = await signIn(browser(service));
  expect(answer.statusCode).toBe(200);
  expect(answer.json().user.name).toBe(`A${'n'.repeat(98)}`);
});

test('the first link to an account that owns keys deletes none: the owner of the password is asked to log in', async () => {
  const { email } = provider.person;
  const person = await registered(service, email);
  const { key } = (await person.post('/v1/api/auth/api-keys', { name: 'kept' })).json();
  const stranger = browser(service);
  const answer = await signIn(stranger);
  expect(answer.statusCode).toBe(409);
  expect(answer.json().error.resolution).toMatch(/Log in .* reset/);
  expect(stranger.cookies.has('jwt')).toBe(false);
  const byKey = { url: ME, headers: { 'x-api-key': key }, remoteAddress: service.newAddress() };
  expect((await service.app.inject(byKey)).statusCode, 'the key lives').toBe(403);
  expect((await person.get(ME)).statusCode, 'the session lives').toBe(200);
  expect((await signIn(person)).statusCode, 'logged in, it links').toBe(200);
  expect((await signIn(browser(service))).statusCode, 'linked, it stays so').toBe(200);
});

test('where there is nothing to lose the password and sessions of an unproven owner end at the link', async () => {
  const { email } = provider.person;
  const squatter = await registered(service, email);
  const { id } = (await squatter.get(ME)).json().user;
  const owner = browser(service);
  expect((await signIn(owner)).json().user.id).toBe(id);
  expect((await squatter.get(ME)).statusCode).toBe(401);
  const relogin = await browser(service).post('/v1/api/auth/login', { email, password: PASSWORD });
  expect(relogin.statusCode).toBe(401);
  const fresh = { new_password: 'another 7 good words here' };
  expect((await owner.post('/v1/api/auth/password', fresh)).statusCode).toBe(200);
});

test('a key that is made while the account is linked is refused, or keeps it from being linked', async () => {
  const { email } = provider.person;
  const squatter = await registered(service, email);
  const { id } = (await squatter.get(ME)).json().user;
  const make = () => squatter.post('/v1/api/auth/api-keys', { name: 'k' });
  const link = () => signIn(browser(service));
  const linked = await inTurns(service.postgres.db, id, [link, make]);
  expect(linked.map(({ statusCode }) => statusCode)).toEqual([200, 401]);
  const other = newEmail();
  provider.person = { ...provider.person, sub: `sub-of-${other}`, email: other };
  const owner = await registered(service, other);
  const { id: otherId } = (await owner.get(ME)).json().user;
  const kept = await inTurns(service.postgres.db, otherId, [
    () => owner.post('/v1/api/auth/api-keys', { name: 'k' }),
    link,
  ]);
  expect(kept.map(({ statusCode }) => statusCode)).toEqual([201, 409]);
});

test('a reset that proves the e-mail while the account is linked keeps its new password', async () => {
  const { email } = provider.person;
  const { id } = (await (await registered(service, email)).get(ME)).json().user;
  const { db } = service.postgres;
  const now = Date.now();
  const token = (await issueReset(db, { userId: id, mailed: true, now })) ?? '';
  const password = 'another 7 good words here';
  const [, linked] = await inTurns<unknown>(db, id, [
    () => redeemReset(db, { userId: id, token, password, revokesKeys: false, now }),
    () => signIn(browser(service)),
  ]);
  expect(linked).toMatchObject({ statusCode: 200 });
  const login = await browser(service).post('/v1/api/auth/login', { email, password });
  expect(login.statusCode).toBe(200);
});

test('who is logged in to the account keeps everything when linking', async () => {
  const { email } = provider.person;
  const person = await registered(service, email);
  const { key } = (await person.post('/v1/api/auth/api-keys', { name: 'kept' })).json();
  expect((await signIn(person)).statusCode).toBe(200);
  const login = await browser(service).post('/v1/api/auth/login', { email, password: PASSWORD });
  expect(login.statusCode).toBe(200);
  const byKey = await service.app.inject({
    url: ME,
    headers: { 'x-api-key': key },
    remoteAddress: service.newAddress(),
  });
  expect(byKey.statusCode).toBe(403);
});

test('a wrong, a missing and a foreign state are refused', async () => {
  const person = browser(service);
  const path = await comeBack(person);
  const wrong = path.replace(/state=[^&]+/, 'state=invented');
  const missing = path.replace(/state=[^&]+&?/, '');
  for (const bad of [wrong, missing]) {
    const answer = await person.get(bad, HOST);
    expect(answer.statusCode).toBe(401);
    expect(answer.cookies.some(({ name }) => name === 'jwt')).toBe(false);
  }
  const victim = browser(service);
  await victim.get(START, HOST);
  expect((await victim.get(path, HOST)).statusCode).toBe(401);
});

test('parameters that the provider adds are ignored (RFC 6749 §4.1.2)', async () => {
  const person = browser(service);
  const answer = await person.get(`${await comeBack(person)}&scope=openid&hd=example.com&new_one=1`, HOST);
  expect(answer.statusCode).toBe(200);
});

test('a browser is sent to the page of its account, signed in', async () => {
  const person = browser(service);
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const answer = await person.get(await comeBack(person), { ...HOST, accept });
  expect([answer.statusCode, answer.headers.location]).toEqual([302, '/account']);
  expect((await person.get(ME)).json().user.email).toBe(provider.person.email);
});

test('cookies of a sign-in under an https PUBLIC_URL are Secure and of this host alone, behind any proxy', async () => {
  const env = { ...provider.env, PUBLIC_URL: 'https://forecastle.example' };
  const behind = await startTestApp({ postgres: service.postgres, env });
  const { cookies } = await browser(behind).get(START);
  const expected = ['state', 'verifier'].map((which) => ({
    name: `__Host-oauth2-${which === 'state' ? 'redirect-state' : 'code-verifier'}`,
    secure: true,
    path: '/',
  }));
  expect(cookies).toMatchObject(expected);
  await behind.close();
});

test('a code is good once: replayed, with the same state and verifier, it is refused', async () => {
  const person = browser(service);
  const path = await comeBack(person);
  const cookies = new Map(person.cookies);
  expect((await person.get(path, HOST)).statusCode).toBe(200);
  const thief = browser(service);
  for (const [name, value] of cookies) thief.cookies.set(name, value);
  const answer = await thief.get(path, HOST);
  expect(answer.statusCode).toBe(401);
  expect(answer.json().error.error_text).toContain('code');
});

test('a code is worth nothing without its verifier', async () => {
  const person = browser(service);
  const path = await comeBack(person);
  person.cookies.set('oauth2-code-verifier', 'A'.repeat(43));
  expect((await person.get(path, HOST)).statusCode).toBe(401);
});

test('an unverified e-mail does not sign in', async () => {
  provider.person = { ...provider.person, email_verified: false };
  const person = browser(service);
  const answer = await signIn(person);
  expect(answer.statusCode).toBe(403);
  expect(person.cookies.has('jwt')).toBe(false);
});

test('what the provider refused, and an answer of another issuer, are 401', async () => {
  const denied = await browser(service).get(`${START}/callback?error=access_denied&state=x`, HOST);
  expect(denied.statusCode).toBe(401);
  const foreign = await browser(service).get(`${START}/callback?code=x&state=x&iss=https://evil.example`, HOST);
  expect(foreign.statusCode).toBe(401);
});

test('without a configured client the answer is 404 and says what to set', async () => {
  const plain = await startTestApp({ postgres: service.postgres });
  const answer = await browser(plain).get(START);
  expect(answer.statusCode).toBe(404);
  expect(answer.json().error.resolution).toContain('GOOGLE_CLIENT_ID');
  await plain.close();
});

test('a provider that is down is 503 with Retry-After, and nothing of the failure is shown', async () => {
  const person = browser(service);
  const path = await comeBack(person);
  await provider.close();
  const answer = await person.get(path, HOST);
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('30');
  expect(answer.body).not.toMatch(/ECONN|127\.0\.0\.1/);
  provider = await startIdentityProvider(`http://${HOST.host}${START}/callback`);
});
