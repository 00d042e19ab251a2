import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clockAt } from '../helpers/virtual-clock.ts';
import { issueReset } from '../../src/accounts/password-resets.ts';
import { passwordResets, users } from '../../src/accounts/tables.ts';
import { loadConfig } from '../../src/core/config.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { browser, newEmail, PASSWORD, registered } from '../helpers/browser.ts';
import { inTurns } from '../helpers/user-turns.ts';
import { startMailServer, type MailServer } from '../helpers/mail-server.ts';

const RESET = '/v1/api/auth/password/reset';
const LOGIN = '/v1/api/auth/login';
const KEYS = '/v1/api/auth/api-keys';
const ME = '/v1/api/auth/me';
const NEXT = 'another 7 good words here';
const FIELDS = { token_id: 't', secret: Buffer.alloc(32).toString('base64'), private_key: `0x${'1'.repeat(64)}` };
const CREDENTIAL = { platform: 'limitless', label: 'l', fields: FIELDS };
const PUBLIC_URL = 'http://localhost:3000';

let mail: MailServer;
let service: TestApp;
let ahead = 0;
beforeAll(async () => {
  mail = await startMailServer();
  service = await startTestApp({ env: { ...mail.env, PUBLIC_URL }, clock: clockAt(() => Date.now() + ahead) });
});
afterAll(async () => {
  await service.close();
  await mail.close();
});

const ask = (email: string) => browser(service).post(RESET, { email });
const use = (token: string, more: object = {}) => browser(service).post(RESET, { token, new_password: NEXT, ...more });
const mailed = (email: string) => mail.mails.filter(({ to }) => to.includes(email));

/** The token of the newest link mailed to this e-mail, asked for with this Host. */
async function tokenFor(email: string, host = 'localhost'): Promise<string> {
  const before = mailed(email).length;
  expect((await browser(service).post(RESET, { email }, { host })).statusCode).toBe(200);
  await vi.waitFor(() => expect(mailed(email).length).toBe(before + 1), { timeout: 20_000 });
  const [, token = ''] =
    /http:\/\/localhost:3000\/reset-password#token=([\w-]{43})/.exec(mailed(email).at(-1)?.text ?? '') ?? [];
  expect(token, 'the link is of PUBLIC_URL').not.toBe('');
  return token;
}

test('a mailed link sets a new password once, and ends every session but no key', async () => {
  const email = newEmail();
  const person = await registered(service, email);
  const { key } = (await person.post(KEYS, { name: 'k' })).json();
  const token = await tokenFor(email, 'evil.example');
  const [stored] = await service.postgres.db.select().from(passwordResets);
  expect(JSON.stringify(stored)).not.toContain(token);
  expect((await use(token)).json()).toMatchObject({ status: 'reset', delivery: null });
  expect((await person.get(ME)).statusCode).toBe(401);
  expect((await browser(service).post(LOGIN, { email, password: PASSWORD })).statusCode).toBe(401);
  expect((await browser(service).post(LOGIN, { email, password: NEXT })).statusCode).toBe(200);
  const byKey = { url: ME, headers: { 'x-api-key': key }, remoteAddress: service.newAddress() };
  expect((await service.app.inject(byKey)).statusCode).toBe(403);
  const again = await use(token);
  expect(again.statusCode).toBe(400);
  expect(again.json().error.error_text).toContain('token: of a link that is neither used nor expired');
  expect(service.logged()).not.toContain(token);
});

test('of ten uses of one link at once one succeeds', async () => {
  const email = newEmail();
  await registered(service, email);
  const token = await tokenFor(email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => use(token)));
  expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 9 }, () => 400),
  ]);
});

test('with revoke_keys every API key of the account is refused from then on', async () => {
  const email = newEmail();
  const person = await registered(service, email);
  const { key } = (await person.post(KEYS, { name: 'k' })).json();
  await use(await tokenFor(email), { revoke_keys: true });
  const byKey = { url: ME, headers: { 'x-api-key': key }, remoteAddress: service.newAddress() };
  expect((await service.app.inject(byKey)).statusCode).toBe(401);
});

test.each([
  ['a change of the password', '/v1/api/auth/password', { new_password: 'some 5 more words to know' }],
  ['a new key', KEYS, { name: 'k' }],
  ['a new credential', '/v1/api/auth/credentials', CREDENTIAL],
])('%s that was proven before a reset is refused after it', async (_, url, body) => {
  const email = newEmail();
  const person = await registered(service, email);
  const { id } = (await person.get(ME)).json().user;
  const token = await tokenFor(email);
  const answers = await inTurns(service.postgres.db, id, [
    () => use(token),
    () => person.post(url, { ...body, current_password: PASSWORD }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 401]);
  const owner = browser(service);
  expect((await owner.post(LOGIN, { email, password: NEXT })).statusCode).toBe(200);
  expect((await owner.get(KEYS)).json().api_keys).toEqual([]);
  expect((await owner.get('/v1/api/auth/credentials')).json().credentials).toEqual([]);
});

test('a link expires after an hour, and a change of the password ends it', async () => {
  const email = newEmail();
  const person = await registered(service, email);
  const old = await tokenFor(email);
  ahead = 3_601_000;
  expect((await use(old)).statusCode).toBe(400);
  ahead = 0;
  const token = await tokenFor(email);
  await person.post('/v1/api/auth/password', { current_password: PASSWORD, new_password: 'some 5 more words to know' });
  expect((await use(token)).statusCode).toBe(400);
});

test('an unknown e-mail gets the same answer and no mail', async () => {
  const email = newEmail();
  await registered(service, email);
  const unknown = newEmail();
  const [one, other] = [await ask(email), await ask(unknown)];
  expect([one.statusCode, other.statusCode]).toEqual([200, 200]);
  expect({ ...one.json(), meta: {} }).toEqual({ ...other.json(), meta: {} });
  await vi.waitFor(() => expect(mailed(email)).toHaveLength(1), { timeout: 20_000 });
  expect(mailed(unknown)).toEqual([]);
});

test('one account is mailed three links an hour at most', async () => {
  const email = newEmail();
  await registered(service, email);
  for (let i = 0; i < 3; i++) await tokenFor(email);
  expect((await ask(email)).statusCode).toBe(200);
  await sleep(500);
  expect(mailed(email)).toHaveLength(3);
});

test('of eight requests at once three are mailed', async () => {
  const { db } = service.postgres;
  const email = newEmail();
  const { user } = (await (await registered(service, email)).get(ME)).json();
  const request = { userId: user.id, mailed: true, now: Date.now() };
  const tokens = await Promise.all(Array.from({ length: 8 }, () => issueReset(db, request)));
  expect(tokens.filter((token) => token !== null)).toHaveLength(3);
});

test('a weak password does not use the link up, and half a request names what lacks', async () => {
  const email = newEmail();
  await registered(service, email);
  const token = await tokenFor(email);
  const weak = await use(token, { new_password: 'password12345' });
  expect(weak.json().error.error_text).toContain('new_password');
  expect((await use(token)).statusCode).toBe(200);
  const texts = [];
  for (const body of [{}, { token }, { new_password: NEXT }, { email, token }])
    texts.push((await browser(service).post(RESET, body)).json().error.error_text);
  expect(texts).toEqual([
    expect.stringMatching(/^email: /),
    expect.stringMatching(/^new_password: /),
    expect.stringMatching(/^token: /),
    expect.stringMatching(/^token: nothing: not allowed with email/),
  ]);
});

test('a mailed link proves the e-mail: Google then links to the account and keeps what it owns', async () => {
  const email = newEmail();
  await registered(service, email);
  const verified = async () => {
    const [user] = await service.postgres.db.select().from(users).where(eq(users.email, email));
    return user?.emailVerifiedAt ?? null;
  };
  expect(await verified()).toBeNull();
  await use(await tokenFor(email));
  expect(await verified()).not.toBeNull();
});

test('without a mail server the operator is named, whoever asks', async () => {
  const plain = await startTestApp({ postgres: service.postgres });
  const email = newEmail();
  await registered(plain, email);
  for (const one of [email, newEmail()])
    expect((await browser(plain).post(RESET, { email: one })).json()).toMatchObject({ delivery: 'operator' });
  await plain.close();
});

test('the page of the link is served with its script, and needs nothing from elsewhere', async () => {
  const page = await browser(service).get('/reset-password');
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain('<script src="/reset-password.js">');
  expect(page.headers['referrer-policy']).toBe('no-referrer');
  const script = await browser(service).get('/reset-password.js');
  expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
});

test('a mail server without a sender or a public address stops the start', () => {
  const SMTP_URL = 'smtp://user:hidden@mail.example';
  expect(() => loadConfig({ SMTP_URL })).toThrow(
    'SMTP_URL: must be set with MAIL_FROM and PUBLIC_URL, received without',
  );
  expect(() => loadConfig({ SMTP_URL: 'http://mail.example' })).toThrow(/^SMTP_URL: must be an smtp or smtps URL/);
});
