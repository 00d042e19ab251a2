import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { browser, newEmail, PASSWORD, registered, type Browser } from '../helpers/browser.ts';

const LOGIN = '/v1/api/auth/login';
const WRONG = 'no such password';

let service: TestApp;
beforeAll(async () => {
  // Its minutes do not end.
  service = await startTestApp({ clock: virtualClock(Date.now()) });
});
afterAll(() => service.close());

const logIn = async (person: Browser, email: string, password = PASSWORD) =>
  (await person.post(LOGIN, { email, password })).statusCode;

/** Wrong passwords for an account from as many addresses, until strangers are refused. */
async function attack(email: string): Promise<void> {
  for (let i = 0; i < 10; i++) expect(await logIn(browser(service), email, WRONG)).toBe(401);
  expect(await logIn(browser(service), email)).toBe(429);
}

test('wrong passwords from anywhere do not lock out the owner on a device that logged in before', async () => {
  const email = newEmail();
  const owner = await registered(service, email);
  await owner.post('/v1/api/auth/logout');
  await attack(email);
  const elsewhere = browser(service);
  for (const [name, value] of owner.cookies) elsewhere.cookies.set(name, value);
  expect(await logIn(elsewhere, email)).toBe(200);
});

test('nor at an address that logged in before, without any cookie', async () => {
  const email = newEmail();
  const owner = await registered(service, email);
  await attack(email);
  owner.cookies.clear();
  expect(await logIn(owner, email)).toBe(200);
});

test('a flood of logins from the address of the owner does not stop the known device', async () => {
  const email = newEmail();
  const owner = await registered(service, email);
  for (let i = 0; i < 11; i++) {
    await service.app.inject({
      method: 'POST',
      url: LOGIN,
      payload: { email: newEmail(), password: WRONG },
      remoteAddress: owner.address,
    });
  }
  expect(await logIn(owner, email)).toBe(200);
  owner.cookies.clear();
  expect(await logIn(owner, email)).toBe(429);
});

test('a known device has ten attempts a minute of its own, no more', async () => {
  const email = newEmail();
  const owner = await registered(service, email);
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push(await logIn(owner, email, WRONG));
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});

test('the device of one account is unknown to every other account, and to the count of its address', async () => {
  const [email, other] = [newEmail(), newEmail()];
  await registered(service, email);
  const thief = await registered(service, other);
  await attack(email);
  expect(await logIn(thief, email)).toBe(429);
  const fresh = await registered(service);
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push(await logIn(fresh, newEmail(), WRONG));
  expect(statuses.at(-1)).toBe(429);
});

test('a forged device, and a session in its place, pass no brake', async () => {
  const email = newEmail();
  const owner = await registered(service, email);
  await attack(email);
  const [head, body] = (owner.cookies.get('device') ?? '').split('.');
  for (const device of ['x.y.z', `${head}.${body}.AAAA`, owner.cookies.get('jwt') ?? '']) {
    const forger = browser(service);
    forger.cookies.set('device', device);
    expect(await logIn(forger, email)).toBe(429);
  }
});
