import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { clockAt } from '../helpers/virtual-clock.ts';
import { accountEvents, sessions, users } from '../../src/accounts/tables.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { browser, newEmail, PASSWORD, registered } from '../helpers/browser.ts';

const REGISTER = '/v1/api/auth/register';
const LOGIN = '/v1/api/auth/login';
const ME = '/v1/api/auth/me';

let service: TestApp;
let ahead = 0;
beforeAll(async () => {
  service = await startTestApp({ clock: clockAt(() => Date.now() + ahead) });
});
afterAll(() => service.close());

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[4] ?? 0;
const errorText = (answer: { json(): { error: { error_text: string } } }): string => answer.json().error.error_text;

describe('register', () => {
  test('answers 201 with the account and a session cookie that opens it', async () => {
    const person = browser(service);
    const email = newEmail();
    const answer = await person.post(REGISTER, { email: ` ${email.toUpperCase()} `, password: PASSWORD, name: 'Ann' });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ user: { email, name: 'Ann', tier: 'free' } });
    expect(answer.body).not.toContain(PASSWORD);
    const [cookie] = answer.cookies;
    expect(cookie).toMatchObject({ name: 'jwt', httpOnly: true, sameSite: 'Lax', path: '/', maxAge: 7 * 86_400 });
    expect((await person.get(ME)).json().user.email).toBe(email);
  });

  test('refuses an e-mail that has an account, in any case of letters', async () => {
    const email = newEmail();
    await registered(service, email);
    const answer = await browser(service).post(REGISTER, { email: email.toUpperCase(), password: PASSWORD });
    expect(answer.statusCode).toBe(409);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('lists every failing field and never repeats the password', async () => {
    const answer = await browser(service).post(REGISTER, { email: 'nobody', password: 'short-secret', nam: 'x' });
    expect(answer.statusCode).toBe(400);
    expect(errorText(answer)).toContain('email: an e-mail address, received "nobody"');
    expect(errorText(answer)).toContain('nam: no such parameter (nearest: name)');
    const tooShort = await browser(service).post(REGISTER, { email: newEmail(), password: 'sevench' });
    expect(errorText(tooShort)).toBe('password: text of 8 to 128 characters, received a value that is not shown');
    const tooLong = await browser(service).post(REGISTER, { email: newEmail(), password: `${PASSWORD} `.repeat(6) });
    expect(tooLong.statusCode).toBe(400);
    expect(tooLong.body + tooShort.body + answer.body).not.toMatch(/sevench|short-secret|plum tree/);
  });

  test.each(['Ann\0', 'Ann\uD800', '\uDC00Ann'])('refuses the name %j, which no store takes', async (name) => {
    const answer = await browser(service).post(REGISTER, { email: newEmail(), password: PASSWORD, name });
    expect(answer.statusCode).toBe(400);
    expect(errorText(answer)).toMatch(/^name: text of at most 100 characters of valid Unicode without NUL/);
  });

  test.each([
    'Password1234!',
    '123456789012',
    'qwertyuiopas',
    'P@ssw0rd2026',
    'abababababab',
    'iloveyou12345',
    '12345678',
    'qwertyui',
    'abc123abc123',
    'football',
  ])('refuses the common password %s', async (password) => {
    const answer = await browser(service).post(REGISTER, { email: newEmail(), password });
    expect(answer.statusCode).toBe(400);
    expect(errorText(answer)).toMatch(/^password: a password that/);
  });

  test.each(['a'.repeat(8), '7'.repeat(128), 'xkwpzvqj', 'ürgüläää'])(
    'takes a password of 8 to 128 characters that is not common: %s',
    async (password) => {
      const answer = await browser(service).post(REGISTER, { email: newEmail(), password });
      expect(answer.statusCode).toBe(201);
    },
  );

  test('names a common password beside the other failing fields', async () => {
    const answer = await browser(service).post(REGISTER, { email: 'nobody', password: 'passwordpassword' });
    expect(errorText(answer)).toMatch(/email: .*password: a password that/s);
  });

  test('refuses a password made from the e-mail address', async () => {
    const answer = await browser(service).post(REGISTER, {
      email: 'ann.miller@example.com',
      password: 'AnnMiller1990',
    });
    expect(answer.statusCode).toBe(400);
  });

  test('fifty at once with one e-mail make one account', async () => {
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => browser(service).post(REGISTER, { email, password: PASSWORD })),
    );
    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set([201, 409, 429]));
    const rows = await service.postgres.db.select().from(users).where(eq(users.email, email));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});

describe('login', () => {
  test('opens the account with the right password, however its accents were typed', async () => {
    const email = newEmail();
    const composed = 'caf\u00e9 au lait, s\u2019il vous pla\u00eet';
    await browser(service).post(REGISTER, { email, password: composed });
    const person = browser(service);
    const answer = await person.post(LOGIN, { email, password: composed.normalize('NFD') });
    expect(answer.statusCode).toBe(200);
    expect((await person.get(ME)).statusCode).toBe(200);
  });

  test('gives one answer for an unknown e-mail and for a wrong password', async () => {
    const email = newEmail();
    await registered(service, email);
    const wrong = await browser(service).post(LOGIN, { email, password: `${PASSWORD}!` });
    const unknown = await browser(service).post(LOGIN, { email: newEmail(), password: PASSWORD });
    expect(wrong.statusCode).toBe(401);
    expect(unknown.body).toBe(wrong.body);
    expect(wrong.headers['set-cookie']).toBeUndefined();
  });

  test('takes as long for an unknown e-mail as for a wrong password', async () => {
    const email = newEmail();
    await registered(service, email);
    const time = async (mail: string): Promise<number> => {
      const started = performance.now();
      await browser(service).post(LOGIN, { email: mail, password: 'no such password' });
      return performance.now() - started;
    };
    const [known, unknown]: [number[], number[]] = [[], []];
    for (let i = 0; i < 8; i++) {
      known.push(await time(email));
      unknown.push(await time(newEmail()));
    }
    expect(median(unknown) / median(known)).toBeGreaterThan(0.5);
    expect(median(unknown) / median(known)).toBeLessThan(2);
  });

  test('allows ten attempts a minute from one address, counting them in its headers', async () => {
    const person = browser(service);
    for (let left = 9; left >= 0; left--) {
      const answer = await person.post(LOGIN, { email: newEmail(), password: 'no such password' });
      expect(answer.statusCode).toBe(401);
      expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': String(left) });
    }
    const answer = await person.post(LOGIN, { email: newEmail(), password: 'no such password' });
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(50);
    expect(answer.headers['x-ratelimit-remaining']).toBe('0');
  });

  test('allows ten attempts a minute on one account, from any number of addresses', async () => {
    const email = newEmail();
    await registered(service, email);
    const statuses = [];
    for (let i = 0; i < 11; i++) {
      const answer = await browser(service).post(LOGIN, { email, password: 'no such password' });
      statuses.push(answer.statusCode);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  });
});

describe('session', () => {
  test('logout ends it on the server: the cookie copied before opens nothing', async () => {
    const person = await registered(service);
    const copied = person.cookies.get('jwt') ?? '';
    const answer = await person.post('/v1/api/auth/logout');
    expect(answer.statusCode).toBe(200);
    expect(person.cookies.has('jwt')).toBe(false);
    const thief = browser(service);
    expect((await thief.get(ME, { cookie: `jwt=${copied}` })).statusCode).toBe(401);
    const select = vi.spyOn(service.postgres.db, 'select');
    expect((await thief.get(ME, { cookie: `jwt=${copied}` })).statusCode).toBe(401);
    expect(select, 'an ended session is not looked up again').toHaveBeenCalledTimes(0);
    select.mockRestore();
  });

  test('a change of password ends all others and goes on with a new one', async () => {
    const email = newEmail();
    const person = await registered(service, email);
    const other = browser(service);
    await other.post(LOGIN, { email, password: PASSWORD });
    const before = person.cookies.get('jwt');
    const next = 'another 7 good words here';
    const body = { current_password: PASSWORD, new_password: next };
    expect((await person.post('/v1/api/auth/password', body)).statusCode).toBe(200);
    expect(person.cookies.get('jwt')).not.toBe(before);
    expect((await person.get(ME)).statusCode).toBe(200);
    expect((await other.get(ME)).statusCode).toBe(401);
    expect((await browser(service).post(LOGIN, { email, password: PASSWORD })).statusCode).toBe(401);
    expect((await browser(service).post(LOGIN, { email, password: next })).statusCode).toBe(200);
  });

  test('a change of password asks for the current one and refuses a common new one', async () => {
    const person = await registered(service);
    const wrong = { current_password: 'not the current one', new_password: 'another 7 good words here' };
    const answer = await person.post('/v1/api/auth/password', wrong);
    expect(answer.statusCode).toBe(400);
    expect(errorText(answer)).toBe('current_password: the current password, received another');
    const { new_password } = wrong;
    const none = await person.post('/v1/api/auth/password', { new_password });
    expect(errorText(none)).toBe('current_password: the current password, received nothing');
    const common = { current_password: PASSWORD, new_password: 'password12345' };
    expect(errorText(await person.post('/v1/api/auth/password', common))).toContain('new_password');
    expect((await person.get(ME)).statusCode).toBe(200);
  });

  test('ends after seven days on the server, whatever the cookie says', async () => {
    const person = await registered(service);
    ahead = 7 * 86_400_000 - 5_000;
    expect((await person.get(ME)).statusCode).toBe(200);
    ahead = 7 * 86_400_000 + 5_000;
    expect((await person.get(ME)).statusCode).toBe(401);
    ahead = 0;
  });

  test('a cookie with a changed or foreign signature opens nothing', async () => {
    const person = await registered(service);
    const [head, , signature] = (person.cookies.get('jwt') ?? '').split('.');
    const [row] = await service.postgres.db.select().from(sessions);
    const claims = Buffer.from(JSON.stringify({ sub: row?.userId, sid: row?.id })).toString('base64url');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    for (const forged of [`${head}.${claims}.${signature}`, `${none}.${claims}.`, 'x.y.z', '']) {
      const answer = await browser(service).get(ME, { cookie: `jwt=${forged}` });
      expect(answer.statusCode).toBe(401);
    }
  });

  test('the cookie is Secure except on plain http to this machine', async () => {
    const secure = [];
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'api.example.com', '10.0.0.7:3000']) {
      const answer = await browser(service).post(REGISTER, { email: newEmail(), password: PASSWORD }, { host });
      secure.push(answer.cookies[0]?.secure);
    }
    expect(secure).toEqual([undefined, undefined, undefined, true, true]);
  });
});

describe('cross-site requests', () => {
  const FOREIGN: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  test.each(FOREIGN)('with %o change nothing on any account route', async (headers) => {
    const person = await registered(service);
    const calls = [
      await person.post('/v1/api/auth/logout', undefined, headers),
      await person.post('/v1/api/auth/api-keys', { name: 'stolen' }, headers),
      await person.post('/v1/api/auth/password', {}, headers),
      await person.post('/v1/api/auth/credentials', {}, headers),
      await person.post(LOGIN, { email: newEmail(), password: PASSWORD }, headers),
      await person.send('DELETE', '/v1/api/auth/api-keys/x', undefined, headers),
    ];
    expect(calls.map(({ statusCode }) => statusCode)).toEqual(calls.map(() => 403));
    expect((await person.get('/v1/api/auth/api-keys', headers)).json().api_keys).toEqual([]);
  });

  test("from the service's own origin are served", async () => {
    const person = await registered(service);
    const headers = { origin: 'http://localhost:80', host: 'localhost:80', 'sec-fetch-site': 'same-origin' };
    expect((await person.post('/v1/api/auth/api-keys', { name: 'mine' }, headers)).statusCode).toBe(201);
  });
});

test('account events are kept with their account and address', async () => {
  const email = newEmail();
  const person = await registered(service, email);
  await person.post(LOGIN, { email, password: 'no such password' });
  await person.post(LOGIN, { email, password: PASSWORD });
  await person.post('/v1/api/auth/logout');
  const [user] = await service.postgres.db.select().from(users).where(eq(users.email, email));
  const rows = await service.postgres.db
    .select()
    .from(accountEvents)
    .where(eq(accountEvents.address, person.address))
    .orderBy(accountEvents.id);
  expect(rows.map(({ event }) => event)).toEqual(['registered', 'login_failed', 'logged_in', 'logged_out']);
  expect(rows.map(({ userId }) => userId)).toEqual(rows.map(() => user?.id));
});
