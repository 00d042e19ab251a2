import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BareService, startBareService } from './bare-service.ts';
import { axeFindings } from './chromium.ts';

const PATIENT = { timeout: 60_000 };
const TEST_MS = 200_000;

let service: BareService;
beforeAll(async () => {
  service = await startBareService();
}, TEST_MS);
afterAll(() => service.close());

test(
  'the reader of the API has the head of the site, a way back and the first steps, and axe finds nothing serious',
  async () => {
    const reader = await service.signedIn();
    const { page } = reader;
    await page.goto('/docs');
    await page.locator('.opblock').first().waitFor(PATIENT);
    await page.getByText('Quick start').waitFor(PATIENT);
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('icon.svg');
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.opblock-body').first().waitFor(PATIENT);
    expect(await axeFindings(page)).toEqual([]);
    expect(reader.faults()).toEqual([]);
    await page.locator('.site-head').getByRole('link', { name: 'Forecastle' }).click();
    await page.waitForURL((url) => url.pathname === '/', PATIENT);
    await reader.context.close();
  },
  TEST_MS,
);
