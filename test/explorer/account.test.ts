import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { type BareService, FEEDS, healthOf, type Reader, startBareService } from './bare-service.ts';

waitsInRealTime('pages are drawn in a browser');

const PATIENT = { timeout: 60_000 };
const TEST_MS = 200_000;

let service: BareService;
let reader: Reader;
let page: Page;
beforeAll(async () => {
  service = await startBareService();
}, TEST_MS);
afterAll(() => service.close());
beforeEach(async () => {
  reader = await service.signedIn();
  ({ page } = reader);
  await reader.answer('health', healthOf(FEEDS));
  await reader.answer('orders', { orders: [] });
  await page.goto('/account');
  await page.getByText('No active API keys.').waitFor(PATIENT);
}, TEST_MS);
afterEach(() => reader.context.close());

const create = async (name: string): Promise<void> => {
  await page.getByLabel('Name').fill(name);
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
