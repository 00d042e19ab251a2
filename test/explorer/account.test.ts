import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { PASSWORD } from '../helpers/browser.ts';
import { FEEDS, healthOf, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 30_000 };

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
  ({ page } = reader);
  await reader.answer('health', healthOf(FEEDS));
  await reader.answer('orders', { orders: [] });
  await page.goto('/account');
  await page.getByText('No active API keys.').waitFor(PATIENT);
});

const create = async (name: string): Promise<void> => {
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Create a key' }).click();
};

test(
  'the secret of a new key stays until that key is revoked, whichever others are',
  async () => {
    page.on('dialog', (dialog) => void dialog.accept());
    const revoke = (name: string) => page.getByRole('button', { name: `Revoke ${name}` });
    await create('first');
    await revoke('first').waitFor(PATIENT);
    await create('second');
    await revoke('second').waitFor(PATIENT);
    const secret = await page.locator('.made pre').innerText();
    await revoke('first').click();
    await revoke('first').waitFor({ state: 'detached', ...PATIENT });
    expect(await page.locator('.made pre').allInnerTexts()).toEqual([secret]);
    await revoke('second').click();
    await page.locator('.made').waitFor({ state: 'detached', ...PATIENT });
  },
  TEST_MS,
);

test(
  'a password that is asked for is asked for again after a mistyped one',
  async () => {
    const refused = async (status: number): Promise<void> => {
      const message = `Refused with ${status}`;
      await page.unroute(/auth\/api-keys/);
      await page.route(/auth\/api-keys/, (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status, json: { error: { status, message } } })
          : route.continue(),
      );
      await create('notebook');
      await page.getByText(message).waitFor(PATIENT);
    };
    const password = page.getByLabel('Confirm your password');
    expect(await password.count()).toBe(0);
    await refused(403);
    await password.fill('mistyped');
    await refused(400);
    expect(await password.count()).toBe(1);
    await page.unroute(/auth\/api-keys/);
    await password.fill('');
    await create('notebook');
    await page.locator('.made').waitFor(PATIENT);
    expect(await password.count()).toBe(0);
  },
  TEST_MS,
);

test(
  'credentials have a field for each part, and what is secret is masked while it is typed',
  async () => {
    await page.getByRole('button', { name: 'Add credentials' }).click();
    await page.locator('select[name=platform]').selectOption('limitless');
    const masked = (name: string): Promise<unknown> =>
      page.getByLabel(name).evaluate((field) => [field.getAttribute('type'), field.getAttribute('class')]);
    await page.getByLabel('Token id').waitFor(PATIENT);
    expect(await masked('Token id')).toEqual([null, null]);
    expect(await masked('Secret')).toEqual(['password', null]);
    expect(await masked('Private key')).toEqual([null, 'masked']);
    const security = "getComputedStyle(document.querySelector('textarea.masked')).webkitTextSecurity";
    expect(await page.evaluate(security)).toBe('disc');
    await page.getByLabel('Label').fill('mine');
    await page.getByLabel('Token id').fill('t-1');
    await page.getByLabel('Secret').fill('c2VjcmV0');
    await page.getByLabel('Private key').fill('0x12');
    const sent = page.waitForRequest((request) => request.method() === 'POST' && /credentials/.test(request.url()));
    await page.getByRole('button', { name: 'Store' }).click();
    expect((await sent).postDataJSON()).toEqual({
      platform: 'limitless',
      label: 'mine',
      fields: { token_id: 't-1', secret: 'c2VjcmV0', private_key: '0x12' },
    });
    const said = page.locator('section.panel:has(> header h2:text("Platform credentials"))').getByRole('alert');
    await expect.poll(() => said.innerText(), PATIENT).toMatch(/^Secret must be [^]*Private key must be /);
    expect(await said.innerText()).not.toMatch(/error_text|Invalid request/);
  },
  TEST_MS,
);

const ofApi = (path: string): Promise<Record<string, unknown>> =>
  page.evaluate(`fetch('/v1/api/auth/${path}').then((answer) => answer.json())`);

test(
  'the kill switch and the limits of orders are set on the page',
  async () => {
    await page.getByRole('button', { name: 'Stop trading' }).click();
    await page.getByText('Every order is refused').waitFor(PATIENT);
    await page.getByLabel('Most for one order, USD').fill('12.5');
    await page.getByRole('button', { name: 'Set the limits' }).click();
    await expect
      .poll(() => ofApi('order-settings'), PATIENT)
      .toMatchObject({ trading_enabled: false, max_order_notional: 12.5, max_day_notional: null });
    await page.getByRole('button', { name: 'Allow trading' }).click();
    await page.getByText('Orders are accepted.').waitFor(PATIENT);
    expect(await page.getByLabel('Most for one order, USD').inputValue()).toBe('12.5');
  },
  TEST_MS,
);

test(
  'a key is made that reads only and expires, and its row says so',
  async () => {
    await page.getByLabel('may place and cancel orders').uncheck();
    await page.getByLabel('Expires').selectOption('in 30 days');
    await create('month');
    const row = page.getByRole('row').filter({ hasText: 'month' });
    await expect.poll(() => row.innerText(), PATIENT).toMatch(/reads only[^]*in 29d|reads only[^]*in 30d/);
  },
  TEST_MS,
);

test(
  'sessions are shown and ended, the password changes, and the log says all of it',
  async () => {
    const panel = page.locator('section.panel:has(> header h2:text("Sessions and password"))');
    await panel.getByText('this one').waitFor(PATIENT);
    const { user } = (await ofApi('me')) as { user: { email: string } };
    const body = JSON.stringify({ email: user.email, password: PASSWORD });
    const headers = { 'content-type': 'application/json', 'user-agent': 'curl/8' };
    await fetch(new URL('/v1/api/auth/login', page.url()), { method: 'POST', headers, body });
    await page.reload();
    await panel.getByText('curl/8').waitFor(PATIENT);
    await panel.getByRole('button', { name: 'End', exact: true }).click();
    await panel.getByText('curl/8').waitFor({ state: 'detached', ...PATIENT });
    await panel.getByLabel('Current password').fill('wrong');
    await panel.getByLabel(/^New password/).fill('apple tree 43 on the hill');
    await panel.getByRole('button', { name: 'Change the password' }).click();
    await panel.getByRole('alert').waitFor(PATIENT);
    await panel.getByLabel('Current password').fill(PASSWORD);
    await panel.getByRole('button', { name: 'Change the password' }).click();
    await panel.getByText('The password is changed').waitFor(PATIENT);
    const log = page.getByRole('region', { name: 'Events of the account' });
    await expect.poll(() => log.innerText(), PATIENT).toMatch(/Password changed[^]*Session ended[^]*Logged in/);
  },
  TEST_MS,
);

test(
  'who forgot the password asks for a link, and reads what comes next',
  async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Forgot the password?' }).click();
    await page.getByLabel('E-mail').fill('anybody@example.com');
    await page.getByRole('button', { name: 'Ask for a link' }).click();
    await page.getByText('npm run user -- reset').waitFor(PATIENT);
    await page.getByRole('button', { name: 'Back to sign in' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor(PATIENT);
  },
  TEST_MS,
);
