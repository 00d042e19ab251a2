import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSessions } from '../../src/accounts/sessions.ts';
import { changePassword, findByEmail } from '../../src/accounts/users.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { systemClock } from '../../src/core/time.ts';
import { browser, newEmail, PASSWORD, registered } from '../helpers/browser.ts';
import { statusOfLateBody } from '../helpers/late-body.ts';

const SESSIONS = '/v1/api/auth/sessions';
const EVENTS = '/v1/api/auth/events';
const LOGIN = '/v1/api/auth/login';
const ME = '/v1/api/auth/me';

interface Page {
  events: { event: string; address: string; detail: object }[];
  pagination: { total: number; next_cursor: string | null };
}

let service: TestApp;
/** Time that passes beside that of the machine; it only grows. */
let passedMs = 0;
const passSecond = async () => (passedMs += 1000);
beforeAll(async () => {
  service = await startTestApp({ clock: { ...systemClock, elapsed: () => systemClock.elapsed() + passedMs } });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => service.close());

test('sessions are listed with their origin, and each can be ended from another', async () => {
  const email = newEmail();
  const laptop = await registered(service, email);
  const phone = browser(service);
  await phone.post(LOGIN, { email, password: PASSWORD }, { 'user-agent': 'Phone/1.0' });
  const { sessions } = (await laptop.get(SESSIONS)).json();
  expect(sessions).toMatchObject([
    { current: false, address: phone.address, user_agent: 'Phone/1.0', last_used_at: null },
    { current: true, address: laptop.address, last_used_at: expect.any(String) },
  ]);
  expect((await laptop.delete(`${SESSIONS}/${sessions[0].id}`)).json()).toMatchObject({ ended: true });
  expect((await phone.get(ME)).statusCode).toBe(401);
  expect((await laptop.delete(`${SESSIONS}/${sessions[0].id}`)).statusCode).toBe(404);
});

test('all other sessions end at once, and nobody else’s', async () => {
  const email = newEmail();
  const laptop = await registered(service, email);
  const stranger = await registered(service);
  const others = [browser(service), browser(service)];
  for (const other of others) await other.post(LOGIN, { email, password: PASSWORD });
  expect((await laptop.delete(SESSIONS)).json()).toMatchObject({ ended: 2 });
  for (const other of others) expect((await other.get(ME)).statusCode).toBe(401);
  expect((await laptop.get(ME)).statusCode).toBe(200);
  expect((await stranger.get(ME)).statusCode).toBe(200);
});

test('a session that ends before the body of a request arrives makes no key', async () => {
  const person = await registered(service);
  const headers = { cookie: `jwt=${person.cookies.get('jwt')}` };
  const made = { method: 'POST', url: '/v1/api/auth/api-keys', headers, body: { name: 'k' } } as const;
  expect(await statusOfLateBody(service.app, made, passSecond), 'the session is valid').toBe(201);
  const end = async () => {
    await person.get(ME);
    await person.post('/v1/api/auth/logout');
    await passSecond();
  };
  expect(await statusOfLateBody(service.app, made, end)).toBe(401);
});

test('the security log is paged newest first, and shows the own account alone', async () => {
  const email = newEmail();
  const person = await registered(service, email);
  await browser(service).post(LOGIN, { email, password: 'no such password' });
  const { id } = (await person.post('/v1/api/auth/api-keys', { name: 'k' })).json();
  await registered(service);
  const seen = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page = (await person.get(`${EVENTS}?limit=2&cursor=${cursor}`)).json();
    expect(page.pagination.total).toBe(3);
    seen.push(...page.events);
    cursor = page.pagination.next_cursor;
  }
  expect(seen.map(({ event }) => event)).toEqual(['key_created', 'login_failed', 'registered']);
  expect(seen[0]).toMatchObject({ address: person.address, detail: { id, scopes: 'read trade' } });
});

test('over TLS the session is the cookie jwt, Secure, and a forged one is not believed', async () => {
  const secure = await startTestApp({ env: { PUBLIC_URL: 'https://api.example' }, postgres: service.postgres });
  const person = browser(secure);
  const answer = await person.post('/v1/api/auth/register', { email: newEmail(), password: PASSWORD });
  expect(answer.cookies).toMatchObject([
    { name: 'jwt', secure: true, httpOnly: true, path: '/', sameSite: 'Lax' },
    { name: '__Host-device', secure: true, httpOnly: true, path: '/', sameSite: 'Lax' },
  ]);
  expect(answer.cookies.every((cookie) => !('domain' in cookie))).toBe(true);
  expect((await person.get(ME)).statusCode).toBe(200);
  const planted = browser(secure);
  planted.cookies.set('jwt', `${person.cookies.get('jwt')}x`);
  expect((await planted.get(ME)).statusCode).toBe(401);
  expect((await person.post('/v1/api/auth/logout')).statusCode).toBe(200);
  expect(person.cookies.has('jwt')).toBe(false);
  await secure.close();
});

test('no session starts with a password that was changed since it was checked', async () => {
  const { db } = service.postgres;
  const email = newEmail();
  await registered(service, email);
  const checked = await findByEmail(db, email);
  if (!checked) throw new Error('no such account');
  const sessions = createSessions(db, service.app.jwt, Date.now);
  const origin = { address: '127.0.0.1', userAgent: 'Late/1.0' };
  expect(await sessions.start(checked, origin)).not.toBeNull();
  const [{ id: sessionId } = { id: '' }] = await sessions.list(checked.id);
  const passwordHash = await changePassword(db, { ...checked, sessionId }, 'another long password of mine');
  expect(await sessions.start(checked, origin)).toBeNull();
  expect(await sessions.list(checked.id)).toEqual([]);
  expect(await sessions.start({ ...checked, passwordHash }, origin)).not.toBeNull();
});

test('a session that has ended changes no password', async () => {
  const email = newEmail();
  const person = await registered(service, email);
  const { db } = service.postgres;
  const user = await findByEmail(db, email);
  if (!user) throw new Error('no such account');
  const change = changePassword(db, { ...user, sessionId: randomUUID() }, 'another long password of mine');
  await expect(change).rejects.toMatchObject({ status: 401 });
  expect((await person.get(ME)).statusCode).toBe(200);
});

test('what is done is answered as done, also if the security log cannot be written, and the log of the service says so', async () => {
  const person = await registered(service);
  const { db } = service.postgres;
  await db.execute(sql`ALTER TABLE account_events RENAME TO unreachable`);
  try {
    const made = await person.post('/v1/api/auth/api-keys', { name: 'made' });
    expect([made.statusCode, made.json().key]).toEqual([201, expect.stringMatching(/^pk_/)]);
    expect((await person.delete(`/v1/api/auth/api-keys/${made.json().id}`)).statusCode).toBe(200);
    expect((await person.post('/v1/api/auth/logout')).statusCode).toBe(200);
  } finally {
    await db.execute(sql`ALTER TABLE unreachable RENAME TO account_events`);
  }
  expect(service.logged().match(/Failed to record an event of an account/g)).toHaveLength(3);
});
