import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FEEDS, foundOf, healthOf, LISTED, MARKET, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 60_000 };

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
  ({ page } = reader);
  await reader.answer('analytics/', { error: { status: 503, message: 'Not yet' } }, 503);
  await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
});

const list = (...markets: object[]) => ({
  ...LISTED,
  markets: markets.map((change, n) => ({ ...MARKET, id: `kalshi:${n}`, title: `Market ${n}`, ...change })),
  pagination: { next_cursor: null, total: markets.length },
});
const links = () => page.locator('table.list td.title a');
/** Pixels of text that the first name shows, over all its lines. */
const NAME_PX = `(() => {
  const link = document.querySelector('table.list td.title a');
  return link.clientWidth * Math.round(link.clientHeight / parseFloat(getComputedStyle(link).lineHeight));
})()`;
const CHARACTER_PX = 6.5;
const LEAST_CHARACTERS = 16;

test(
  'names keep room for 16 characters at every width, also at 200 % zoom',
  async () => {
    const long = 'Will the upper bound of the federal funds target range be above 4.00% after the meeting?';
    await reader.list(list({ title: long }, { title: `${long} (2)`, volume_24h_usd: 1_234_567 }));
    await page.goto('/');
    await links().first().waitFor(PATIENT);
    const widths = [1440, 1024, 768, 390].flatMap((width) => [width, width / 2]);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 700 });
      const shown = await page.evaluate<number>(NAME_PX);
      expect([width, shown / CHARACTER_PX]).toEqual([
        width,
        expect.toSatisfy((fit: number) => fit >= LEAST_CHARACTERS),
      ]);
      const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect([width, beyond]).toEqual([width, 0]);
    }
  },
  TEST_MS,
);

test(
  'at 1024 two titles that differ at their end alone begin with what differs',
  async () => {
    const titles = ['4.00%', '4.25%'].map((rate) => `Will the upper bound of the base rate be above ${rate}?`);
    await reader.list(list({ title: titles[0] }, { title: titles[1] }));
    await page.setViewportSize({ width: 1024, height: 700 });
    await page.goto('/');
    await expect
      .poll(() => page.locator('table.list td.title .own').allInnerTexts(), PATIENT)
      .toEqual(['… 4.00%?', '… 4.25%?']);
    await page.setViewportSize({ width: 1440, height: 700 });
    await expect.poll(() => page.locator('table.list td.title .own').count(), PATIENT).toBe(0);
  },
  TEST_MS,
);

test(
  'a resolved market says for what, changes are points, and a far end is a month',
  async () => {
    const settled = { status: 'settled', metadata: { payouts: { yes: 1 } } };
    const moved = { price_24h_changes: { yes: -0.05 }, trading_end_at: '2039-05-02T00:00:00.000Z' };
    const hardly = {
      price_24h_changes: { yes: -0.00004 },
      current_prices: { yes: { price: 0.0440588458, bid: null, ask: null } },
    };
    await reader.list(list(settled, moved, hardly));
    await page.goto('/?status=any');
    await links().nth(2).waitFor(PATIENT);
    const rows = page.locator('table.list tbody tr');
    await expect.poll(() => rows.nth(0).innerText()).toContain('Resolved: Yes');
    expect(await rows.nth(1).innerText()).toMatch(/−5 pt[^]*May 2039/);
    const text = await rows.nth(2).innerText();
    expect(text).toMatch(/0\.04[^0-9]/);
    expect(text).not.toMatch(/0440588|−0|%/);
  },
  TEST_MS,
);

test(
  'an empty store says that the first sync is running and how far it is, and fills by itself',
  async () => {
    const [feed] = FEEDS;
    await reader.answer('health', healthOf([{ ...feed, lag_seconds: null }]));
    // Without an SQL port.
    await reader.answer('sql', { error: { status: 404, message: 'Not found' } }, 404);
    await reader.list(list());
    await reader.answer('markets\\?', { ...list(), pagination: { next_cursor: null, total: 1200 } });
    await page.goto('/');
    await page.getByText('The first sync is running').waitFor(PATIENT);
    await expect.poll(() => page.locator('.notice li').innerText(), PATIENT).toBe('Kalshi: 1,200 markets so far');
    await reader.list(list({}));
    await links().first().waitFor(PATIENT);
  },
  TEST_MS,
);

test(
  'Enter in the search opens the first market found, and arrows choose another',
  async () => {
    await reader.list(list({}, {}, {}));
    await page.goto('/');
    await links().nth(2).waitFor(PATIENT);
    await page.keyboard.press('/');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.locator('tr.chosen').getAttribute('aria-rowindex'), PATIENT).toBe('3');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => page.locator('tr.chosen').getAttribute('aria-rowindex'), PATIENT).toBe('2');
    await page.keyboard.press('/');
    await page.keyboard.type('found');
    const found = { ...MARKET, id: 'kalshi:FOUND', title: 'Found' };
    await reader.answer('search', foundOf({ ...LISTED, markets: [found] }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/market\/kalshi%3AFOUND/, PATIENT);
  },
  TEST_MS,
);

test(
  'without a credential the orders are empty, not an error',
  async () => {
    const error = {
      status: 422,
      message: 'No Kalshi credential is stored',
      resolution: 'Add one above.',
      error_text: '',
    };
    await reader.answer('orders', { error }, 422);
    await page.goto('/account');
    const panel = page.locator('section.panel:has(> header h2:text("Orders"))');
    await expect.poll(() => panel.innerText(), PATIENT).toContain('No Kalshi credential is stored. Add one above');
    expect(await panel.getByRole('alert').count()).toBe(0);
    expect(await panel.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  },
  TEST_MS,
);

test(
  'prices are USD, cents or per cent, as chosen: at once, on the next page, in the address and on the next visit',
  async () => {
    await reader.list(list({}));
    const text = () => page.locator('table.list tbody tr').first().innerText();
    await page.goto('/');
    await expect.poll(text, PATIENT).toContain('0.40');
    await page.locator('.prefs summary').click();
    await page.getByRole('button', { name: '94 ¢' }).click();
    await expect.poll(text, PATIENT).toMatch(/40 ¢[^]*39 ¢ \/ 41 ¢/);
    await page.waitForURL(/prices=cents/);
    await page.locator('.prefs summary').click();
    await page.getByRole('link', { name: 'Status' }).click();
    await page.waitForURL(/\/status\?prices=cents$/);
    await page.goto('/');
    await expect.poll(text, PATIENT).toContain('40 ¢');
    await page.goto('/?prices=percent');
    await expect.poll(text, PATIENT).toContain('40 %');
    expect(await page.locator('table.list data.price').first().getAttribute('value')).toBe('0.4');
  },
  TEST_MS,
);

test(
  'times are in UTC or local, and say which',
  async () => {
    await page.clock.install({ time: '2026-11-20T12:00:00Z' });
    await reader.list({ ...list({}), meta: { data_freshness: '2026-11-20T10:00:00.000Z' } });
    await page.goto('/');
    const listed = page.locator('.keys time');
    await expect.poll(() => listed.innerText(), PATIENT).toBe('10:00:00 UTC');
    await page.goto('/?times=local');
    await expect.poll(() => listed.innerText(), PATIENT).toMatch(/local$/);
  },
  TEST_MS,
);

test(
  'pictures of markets are shown without telling where from, and one that does not load leaves no mark',
  async () => {
    await page.route('https://images.example.org/broken.png', (route) => route.abort());
    const image_url = 'https://images.example.org/rain.png';
    const broken = 'https://images.example.org/broken.png';
    await reader.list(list({ image_url }, { image_url: broken }, { image_url: 'javascript:alert(1)' }));
    await page.goto('/');
    await links().nth(2).waitFor(PATIENT);
    const pictures = page.locator('table.list img');
    await expect.poll(() => pictures.count(), PATIENT).toBe(1);
    const shown = await pictures.evaluate((img) => [img.getAttribute('src'), img.getAttribute('referrerpolicy')]);
    expect(shown).toEqual([image_url, 'no-referrer']);
  },
  TEST_MS,
);

test(
  'the site has an icon of its own',
  async () => {
    await page.goto('/status');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/);
    expect(reader.faults(/api\//)).toEqual([]);
  },
  TEST_MS,
);
