import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FEEDS, healthOf, LISTED, MARKET, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';
import { axeFindings } from './chromium.ts';

const PATIENT = { timeout: 60_000 };
/** Characters that a name must have room for, and about the width of one. */
const ROOM_PX = 16 * 7;

/** Where the text of an element is drawn. */
const textBox = (locator: Locator): Promise<{ top: number; bottom: number; right: number }> =>
  locator.evaluate((element) => {
    const range = element.ownerDocument.createRange();
    range.selectNodeContents(element);
    const { top, bottom, right } = range.getBoundingClientRect();
    return { top, bottom, right };
  });

/** How much of the links to pages is hidden, in pixels, beside the longest state. */
const HIDDEN_LINKS = `(() => {
  document.querySelector('.connection').lastChild.textContent = 'Not refreshed';
  const nav = document.querySelector('.top nav');
  return nav.scrollWidth - nav.clientWidth;
})()`;

/** Tables that are wider than their panels, and titles of more than one line. */
const BROKEN = `(() => {
  const wide = [...document.querySelectorAll('.panel > table')].filter(
    (table) => table.scrollWidth > table.parentElement.clientWidth,
  );
  const broken = [...document.querySelectorAll('.panel-head h2')].filter((title) => title.clientHeight > 30);
  return [...wide, ...broken].map((element) => element.textContent);
})()`;

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
  ({ page } = reader);
  await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
});

test(
  'heads of the list stand over the right ends of their figures',
  async () => {
    await reader.list({ ...LISTED, markets: [{ ...MARKET, price_24h_changes: { yes: 0.1 } }] });
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.goto('/');
    const end = async (rows: string) =>
      (await textBox(page.locator(`table.list ${rows} .price-pair > :last-child`).first())).right;
    await page.locator('table.list td.title a').first().waitFor(PATIENT);
    expect(Math.abs((await end('thead')) - (await end('tbody')))).toBeLessThan(2);
  },
  TEST_MS,
);

test(
  'every link to a page is whole at any width, whatever the state of the connection',
  async () => {
    await reader.list(LISTED);
    await page.goto('/');
    await page.locator('table.list td.title a').first().waitFor(PATIENT);
    for (const width of [1024, 821, 820, 768, 720, 701, 390]) {
      await page.setViewportSize({ width, height: 700 });
      const hidden = await page.evaluate(HIDDEN_LINKS);
      expect(hidden, `${width} px`).toBeLessThanOrEqual(0);
    }
  },
  TEST_MS,
);

test(
  'a page that is not found names a long address within its panel',
  async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`/wallet/polymarket/0x${'ab'.repeat(20)}`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor(PATIENT);
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(beyond).toBe(0);
  },
  TEST_MS,
);

test.each(['/overview', '/status'])(
  '%s shows each table within its panel, and each title on one line',
  async (path) => {
    await page.goto(path);
    await page.locator('main .panel').first().waitFor(PATIENT);
    for (const width of [1440, 1241, 1240, 1024, 768]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(300);
      const wrong = await page.evaluate(BROKEN);
      expect(wrong, `${width} px`).toEqual([]);
    }
  },
  TEST_MS,
);

test(
  'trades and positions of a wallet name their markets at any width, and their outcomes',
  async () => {
    const title = 'Will the highest temperature in Port Ilan be 21°C tomorrow?';
    const of = { platform: 'polymarket', market_id: '1', title };
    const meta = { errors: [] };
    const trade = {
      ...of,
      trade_id: 'a',
      side: 'buy',
      outcome: 'the-capital',
      label: 'The capital',
      price: 0.9181,
      size: 1186.42,
      timestamp: new Date().toISOString(),
    };
    const position = {
      ...of,
      token_id: '1',
      label: 'Yes',
      shares_normalized: 1475.98,
      average_price: 0.0412,
      current_price: 0.8795,
      value_usd: 1475.98,
      pnl_usd: -1415.23,
    };
    const address = `0x${'ab'.repeat(20)}`;
    const facts = {
      address,
      names: [],
      trades: 1,
      volume_usd: 1,
      markets: 1,
      first_trade_at: null,
      last_trade_at: null,
    };
    await reader.answer('wallets/', { wallet: facts, top_markets: [], meta });
    await reader.answer('wallets/[^/]*/trades', { trades: [trade], meta });
    await reader.answer('wallets/[^/]*/positions', {
      positions: [position, { ...position, token_id: '2', pnl_usd: -0.0004 }],
      meta,
    });
    await page.goto(`/wallet/${address}`);
    await page.locator('td.cut a').nth(1).waitFor(PATIENT);
    expect(await page.locator('td.nowrap.up').innerText()).toBe('buy The capital');
    expect(await page.locator('td.down data').allInnerTexts()).toEqual(['−$1,415.23', '$0.00']);
    for (const width of [1440, 1361, 1360, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const rooms = await page
        .locator('td.cut')
        .evaluateAll((cells) =>
          cells.map(
            (cell) => cell.getBoundingClientRect().right - (cell.querySelector('a')?.getBoundingClientRect().left ?? 0),
          ),
        );
      expect(Math.min(...rooms), `${width} px`).toBeGreaterThan(ROOM_PX);
      const held = page.locator('td.cut .own').first();
      const within = await held.evaluate(
        (own) => own.getBoundingClientRect().right - own.closest('td')!.getBoundingClientRect().right,
      );
      expect(within, `${width} px`).toBeLessThanOrEqual(0);
    }
  },
  TEST_MS,
);

test(
  'the page of streams has the head of the site, a way back and an icon, and axe finds nothing serious',
  async () => {
    await page.goto('/docs/streams');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('svg');
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(reader.faults()).toEqual([]);
    await page.locator('.site-head').getByRole('link', { name: 'Forecastle' }).click();
    await page.waitForURL((url) => url.pathname === '/', PATIENT);
  },
  TEST_MS,
);

test(
  'lines of the first steps do not cover each other',
  async () => {
    await page.goto('/docs');
    await page.getByText('Quick start').waitFor(PATIENT);
    const code = await page.locator('.info li code').first().boundingBox();
    const [before, after] = await Promise.all([0, 2].map((n) => textBox(page.locator('.info ol li').nth(n))));
    expect(before?.bottom).toBeLessThanOrEqual((code?.y ?? 0) + 1);
    expect(after?.top).toBeGreaterThanOrEqual((code?.y ?? 0) + (code?.height ?? 0) - 1);
  },
  TEST_MS,
);
