import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FEEDS, foundOf, healthOf, LISTED, MARKET, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 60_000 };
const MARKETS = /\/v1\/api\/markets\?/;
const SEARCH = /\/v1\/api\/search\?/;
/** Two of the platforms. */
const [KALSHI, , LIMITLESS] = FEEDS.map(({ platform }) => platform);

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
  ({ page } = reader);
  await page.clock.install();
  await reader.answer('analytics/', { error: { status: 503, message: 'Not yet' } }, 503);
  await showing([KALSHI]);
});

const showing = (platforms: readonly (string | undefined)[]): Promise<void> =>
  reader.answer('health', healthOf(FEEDS.filter(({ platform }) => platforms.includes(platform))));
const marketOf = (id: string, change: object = {}) => ({ ...MARKET, id, title: `Market ${id}`, ...change });
const pageOf = (markets: object[], next_cursor: string | null = null) => ({
  ...LISTED,
  markets,
  pagination: { next_cursor, total: 60 },
});
/** A list of one market at this price. */
const priced = (price: number) =>
  pageOf([marketOf('kalshi:1', { current_prices: { yes: { price, bid: null, ask: null } } })]);
const BUSY = { status: 503, json: { error: { status: 503, message: 'Busy' } } };
const linksOf = () => page.locator('table.list td.title a').allInnerTexts();
const toTheEnd = () => page.locator('.scroll').evaluate((box) => box.scrollTo(0, 1e6));
const connectionOf = () => page.locator('.connection').innerText();

/** A stream that confirms subscriptions and sends nothing; returns how many were opened. */
async function withSilentStream(): Promise<() => number> {
  let opened = 0;
  await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => {
    opened += 1;
    socket.onMessage((text) => {
      const { id } = JSON.parse(String(text)) as { id: string };
      socket.send(JSON.stringify({ op: 'subscribed', id, sid: 1 }));
    });
  });
  return () => opened;
}

test(
  'a stream that falls silent is taken for dead and opened again',
  async () => {
    const opened = await withSilentStream();
    await reader.list(LISTED);
    await page.goto('/');
    await expect.poll(connectionOf, PATIENT).toBe('Live');
    const before = opened();
    await page.clock.fastForward(30_000);
    await page.waitForTimeout(500);
    expect([opened(), await connectionOf()]).toEqual([before, 'Live']);
    await page.clock.fastForward(16_000);
    await expect.poll(opened, PATIENT).toBe(before + 1);
    await expect.poll(connectionOf, PATIENT).toBe('Live');
  },
  TEST_MS,
);

test(
  'a next page that fails is requested again after a while, not at once',
  async () => {
    let asked = 0;
    const ids = Array.from({ length: 60 }, (_, n) => `kalshi:${n}`);
    await page.route(SEARCH, (route) => {
      const { searchParams } = new URL(route.request().url());
      const rows = ids.map((id) => marketOf(id));
      if (!searchParams.has('cursor')) return route.fulfill({ json: foundOf(pageOf(rows.slice(0, 50), 'next')) });
      asked += 1;
      return route.fulfill(asked < 3 ? BUSY : { json: foundOf(pageOf(rows.slice(50))) });
    });
    await page.goto('/');
    await page.getByRole('link', { name: 'Market kalshi:0' }).waitFor(PATIENT);
    await toTheEnd();
    await page.getByText('Busy').waitFor(PATIENT);
    await page.waitForTimeout(1000);
    expect(asked).toBe(1);
    for (const count of [2, 3]) {
      await page.clock.fastForward(6000);
      await expect.poll(() => asked, PATIENT).toBe(count);
    }
    await page.getByText('Busy').waitFor({ state: 'detached', ...PATIENT });
    await toTheEnd();
    await page.getByRole('link', { name: 'Market kalshi:59' }).waitFor(PATIENT);
  },
  TEST_MS,
);

test(
  'a list that is come back to keeps its polled prices and is polled at once; a new list shows its own',
  async () => {
    let polls = 0;
    let polled: number | null = 0.5;
    await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => socket.close());
    await page.route(SEARCH, (route) => {
      const { searchParams } = new URL(route.request().url());
      return route.fulfill({ json: foundOf(priced(searchParams.get('sort') === 'created' ? 0.7 : 0.4)) });
    });
    await page.route(MARKETS, (route) => {
      polls += 1;
      return route.fulfill(polled === null ? BUSY : { json: priced(polled) });
    });
    const shown = () => page.locator('.price-pair .price').allInnerTexts();
    await page.goto('/');
    await expect.poll(shown, PATIENT).toEqual(['0.40']);
    await page.clock.fastForward(6000);
    await expect.poll(shown, PATIENT).toEqual(['0.50']);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Log out' }).waitFor(PATIENT);
    const before = polls;
    polled = null;
    await page.goBack();
    await expect.poll(() => polls - before, PATIENT).toBe(1);
    expect(await shown()).toEqual(['0.50']);
    await page.getByLabel('Sort').selectOption('created');
    await expect.poll(shown, PATIENT).toEqual(['0.70']);
  },
  TEST_MS,
);

/** Rows of two platforms in the order of the answer, whatever their volumes are; returns what is asked for. */
async function overPlatforms(): Promise<URLSearchParams[]> {
  await showing([KALSHI, LIMITLESS]);
  const asked: URLSearchParams[] = [];
  const markets = [
    marketOf('limitless:2', { platform: 'limitless', volume_24h_usd: 900, usd_basis: { volume_24h: 'reported' } }),
    marketOf('kalshi:1', { volume_24h: 5000, volume_24h_usd: 12, usd_basis: { volume_24h: 'traded' } }),
    marketOf('kalshi:3', { volume_24h: 7000 }),
  ];
  await reader.answer('markets', pageOf([]));
  await page.route(SEARCH, (route) => {
    asked.push(new URL(route.request().url()).searchParams);
    return route.fulfill({ json: foundOf(pageOf(markets)) });
  });
  return asked;
}

test(
  'the list is one request over all platforms, in the order of the answer, with amounts in USD and their basis',
  async () => {
    const asked = await overPlatforms();
    await page.goto('/');
    await expect.poll(linksOf, PATIENT).toEqual(['Market limitless:2', 'Market kalshi:1', 'Market kalshi:3']);
    const volumes = page.locator('table.list tbody td:nth-child(4)');
    expect(await volumes.allInnerTexts()).toEqual(['$900.00', '$12.00', '–']);
    expect(await volumes.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')))).toEqual([
      "The platform's own figure",
      'Sum of the stored trades',
      null,
    ]);
    expect(asked.map((one) => Object.fromEntries(one))).toEqual([
      { types: 'markets', status: 'open', sort: 'volume_24h_usd', limit: '50' },
    ]);
  },
  TEST_MS,
);

test(
  'addresses with an order of the list lead to it, and the columns go by amounts in USD',
  async () => {
    const asked = await overPlatforms();
    await page.goto('/?sort=volume_total&platform=kalshi&category=sports&liquidity=1000&event=kalshi:RAIN');
    await expect.poll(() => asked.length, PATIENT).toBe(1);
    await page.locator('table.list thead').getByRole('button', { name: 'Liquidity' }).click();
    await expect.poll(() => asked.length, PATIENT).toBe(2);
    const filters = { types: 'markets', platform: 'kalshi', status: 'open', event_id: 'RAIN', limit: '50' };
    const chosen = { ...filters, category: 'sports', min_liquidity: '1000' };
    expect(asked.map((one) => Object.fromEntries(one))).toEqual([
      { ...chosen, sort: 'volume_total_usd' },
      { ...chosen, sort: 'liquidity_usd' },
    ]);
  },
  TEST_MS,
);

test(
  'rows stay dimmed until those of another filter are there',
  async () => {
    await showing([KALSHI]);
    await reader.list(pageOf([marketOf('kalshi:1')]));
    await page.goto('/');
    await expect.poll(linksOf, PATIENT).toEqual(['Market kalshi:1']);
    const held: (() => void)[] = [];
    await page.route(SEARCH, async (route) => {
      await new Promise<void>((release) => held.push(release));
      await route.fulfill({ json: foundOf(pageOf([marketOf('kalshi:2')])) });
    });
    await page.getByLabel('Status').selectOption('settled');
    await page.locator('.scroll.old').waitFor(PATIENT);
    expect(await linksOf()).toEqual(['Market kalshi:1']);
    await expect.poll(() => held.length, PATIENT).toBe(1);
    for (const release of held) release();
    await expect.poll(linksOf, PATIENT).toEqual(['Market kalshi:2']);
    expect(await page.locator('.scroll.old').count()).toBe(0);
  },
  TEST_MS,
);

test(
  'what a visitor types is one search over all platforms, shown in the order of the answer',
  async () => {
    const asked = await overPlatforms();
    await page.goto('/');
    await expect.poll(() => asked.length, PATIENT).toBe(1);
    await page.getByRole('searchbox').fill('KXHIGH');
    await page.clock.runFor(1000);
    await expect.poll(() => asked.length, PATIENT).toBe(2);
    await expect.poll(linksOf, PATIENT).toEqual(['Market limitless:2', 'Market kalshi:1', 'Market kalshi:3']);
    expect(Object.fromEntries(asked[1] ?? [])).toEqual({
      q: 'KXHIGH',
      types: 'markets',
      status: 'open',
      sort: 'match',
      limit: '50',
    });
    await page.getByRole('button', { name: 'Limitless' }).click();
    await expect.poll(() => asked.at(-1)?.get('platform'), PATIENT).toBe('limitless');
  },
  TEST_MS,
);

test(
  'a search for the address of a wallet leads to the wallet',
  async () => {
    const address = `0x${'ab'.repeat(20)}`;
    await reader.list(pageOf([]));
    await page.goto(`/?q=${address.toUpperCase().replace('X', 'x')}`);
    const link = page.locator('table.list ~ .notice a');
    await link.waitFor(PATIENT);
    expect(await link.getAttribute('href')).toBe(`/wallet/${address}`);
  },
  TEST_MS,
);
