import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { waitsInRealTime } from '../helpers/real-time.ts';
import {
  type BareService,
  FEEDS,
  FOUND,
  healthOf,
  LISTED,
  MARKET,
  type Reader,
  startBareService,
} from './bare-service.ts';

waitsInRealTime('pages are drawn in a browser');

const PATIENT = { timeout: 60_000 };
const TEST_MS = 200_000;
const MARKETS = /\/v1\/api\/markets\?/;
/** Two of the platforms. */
const [KALSHI, , LIMITLESS] = FEEDS.map(({ platform }) => platform);

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
  await page.clock.install();
  await reader.answer('analytics/', { error: { status: 503, message: 'Not yet' } }, 503);
  await showing([KALSHI]);
}, TEST_MS);
afterEach(() => reader.context.close());

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
    await reader.answer('markets', LISTED);
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
    await page.route(MARKETS, (route) => {
      const { searchParams } = new URL(route.request().url());
      if (!searchParams.has('cursor'))
        return route.fulfill({
          json: pageOf(
            ids.slice(0, 50).map((id) => marketOf(id)),
            'next',
          ),
        });
      asked += 1;
      return route.fulfill(asked < 3 ? BUSY : { json: pageOf(ids.slice(50).map((id) => marketOf(id))) });
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
  'a platform that answers late is listed once, though another fails meanwhile',
  async () => {
    await showing([KALSHI, LIMITLESS]);
    const held: (() => void)[] = [];
    const asked = { kalshi: 0, limitless: 0 };
    await page.route(MARKETS, async (route) => {
      const provider = new URL(route.request().url()).searchParams.get('provider') as 'kalshi' | 'limitless';
      asked[provider] += 1;
      if (provider === 'limitless') await new Promise<void>((release) => held.push(release));
      const isBusy = provider === 'kalshi' && asked.kalshi === 1;
      await route.fulfill(isBusy ? BUSY : { json: pageOf([marketOf(`${provider}:1`, { platform: provider })]) });
    });
    await page.goto('/');
    await expect.poll(() => asked, PATIENT).toEqual({ kalshi: 1, limitless: 1 });
    await page.waitForTimeout(500);
    await page.clock.fastForward(6000);
    await page.waitForTimeout(500);
    for (const release of held) release();
    await page.waitForTimeout(500);
    await page.clock.fastForward(6000);
    await expect
      .poll(async () => (await linksOf()).toSorted(), PATIENT)
      .toEqual(['Market kalshi:1', 'Market limitless:1']);
  },
  TEST_MS,
);

test(
  'a list that is come back to keeps its polled prices and is polled at once; a new list shows its own',
  async () => {
    let polls = 0;
    let polled: number | null = 0.5;
    await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => socket.close());
    await page.route(MARKETS, (route) => {
      const { searchParams } = new URL(route.request().url());
      if (!searchParams.has('market_ids'))
        return route.fulfill({ json: priced(searchParams.get('sort') === 'created' ? 0.7 : 0.4) });
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
    await expect.poll(() => polls - before, { timeout: 3000 }).toBe(1);
    expect(await shown()).toEqual(['0.50']);
    await page.getByLabel('Sort').selectOption('created');
    await expect.poll(shown, PATIENT).toEqual(['0.70']);
  },
  TEST_MS,
);

test(
  'what a visitor types is one search over all platforms, shown in the order of the answer',
  async () => {
    await showing([KALSHI, LIMITLESS]);
    await reader.answer('markets', pageOf([]));
    const asked: URLSearchParams[] = [];
    const found = ['limitless:2', 'kalshi:1'].map((id) => marketOf(id, { platform: id.split(':')[0] }));
    const results = found.map((market) => ({ type: 'market', id: market.id, market }));
    await page.route(/\/v1\/api\/search/, (route) => {
      asked.push(new URL(route.request().url()).searchParams);
      return route.fulfill({ json: { ...FOUND, results } });
    });
    await page.goto('/');
    await page.getByRole('searchbox').fill('KXHIGH');
    await page.clock.runFor(1000);
    await expect.poll(linksOf, PATIENT).toEqual(['Market limitless:2', 'Market kalshi:1']);
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
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
