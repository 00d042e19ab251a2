import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type BareService,
  FEEDS,
  healthOf,
  LISTED,
  MARKET,
  type Reader,
  startBareService,
  STORES,
} from '../../explorer/bare-service.ts';

const PATIENT = { timeout: 60_000 };
const TEST_MS = 200_000;
const column = (name: string) => ({ name, type: 'String' });
const pricesOf = (price: number) => ({ yes: { price, bid: null, ask: null } });
/** The result of any statement. */
const RESULT = {
  meta: ['platform', 'job', 'state'].map(column),
  data: [
    ['kalshi', 'markets', 'ok'],
    ['polymarket', 'streamed_books_of_every_market', 'failed'],
  ],
  rows: 2,
};
const order = {
  order_id: '1',
  platform: 'kalshi',
  market_id: 'KXALONGTICKEROFAMARKETWITHOUTASPACE-26NOV25-T68',
  side: 'buy',
  outcome: 'yes',
  type: 'limit',
  price: 0.5512,
  size: 1000,
  filled_size: 3.5,
  remaining_size: 996.5,
  status: 'partially_filled',
  created_at: '2026-11-20T10:00:00.000Z',
};

let service: BareService;
beforeAll(async () => {
  service = await startBareService();
}, TEST_MS);
afterAll(() => service.close());

describe('pages of a service with a fault', () => {
  let reader: Reader;
  let context: BrowserContext;
  let page: Page;
  let answer: Reader['answer'];
  beforeEach(async () => {
    reader = await service.signedIn();
    ({ context, page, answer } = reader);
    await page.clock.install();
    await answer('sql', RESULT);
    await answer('analytics/', { error: { status: 503, message: 'Not yet' } }, 503);
  }, TEST_MS);
  afterEach(() => context.close());

  const orders = () => page.getByRole('region', { name: 'Orders' });
  /** Lets the seconds pass after which a page asks again, and after which it asks beside a stream. */
  const polls = (): Promise<void> => page.clock.fastForward(6000);
  const pollsBesideStream = (): Promise<void> => page.clock.fastForward(16_000);

  test(
    'platforms that /health does not name yet are waited for, not taken for none',
    async () => {
      await answer('health', healthOf(STORES, 'ok'));
      await answer('orders', { orders: [order] });
      await page.goto('/account');
      await orders().getByText('Loading …').waitFor(PATIENT);
      expect(await orders().getByText('no orders').count()).toBe(0);
      await answer('health', healthOf([...STORES, ...FEEDS]));
      await polls();
      await orders().getByRole('button', { name: 'Kalshi' }).waitFor(PATIENT);
      await orders().getByText('partially filled').waitFor(PATIENT);
    },
    TEST_MS,
  );

  test(
    'a /health of 503 is shown check by check, and names the platforms all the same',
    async () => {
      const down = { name: 'clickhouse', status: 'down' };
      await answer('health', healthOf([down, ...FEEDS], 'down'), 503);
      await page.goto('/status');
      const part = page.getByRole('region', { name: 'Service' });
      await part.getByRole('row', { name: 'clickhouse down' }).waitFor(PATIENT);
      await part.getByText('Socket not open: maintenance').first().waitFor();
      await page.goto('/overview');
      await page.getByRole('button', { name: 'Limitless' }).first().waitFor(PATIENT);
    },
    TEST_MS,
  );

  test(
    'a refresh that fails leaves the figures with their time; a 401 leads to the way in',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS]));
      await page.goto('/status');
      await page.getByRole('row', { name: 'clickhouse ok' }).waitFor(PATIENT);
      await answer('health', { error: { status: 500, message: 'Internal error' } }, 500);
      await polls();
      await page.getByText('Not refreshed since').first().waitFor(PATIENT);
      expect(await page.locator('.connection').innerText()).toBe('Not refreshed');
      expect(await page.getByRole('row', { name: 'clickhouse ok' }).count()).toBe(1);
      await context.clearCookies();
      await answer('analytics/trending', { error: { status: 401, message: 'Authentication required' } }, 401);
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByLabel('E-mail').waitFor(PATIENT);
    },
    TEST_MS,
  );

  test(
    'after a 401 a service that signs in whoever opens a page is let do so',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS]));
      await page.goto('/account');
      await page.getByText('No active API keys.').waitFor(PATIENT);
      const cookies = await context.cookies();
      await context.clearCookies();
      await page.route(
        ({ pathname }) => pathname === '/account',
        async (route) => {
          await context.addCookies(cookies);
          await route.continue();
        },
      );
      await page.getByLabel('Name').fill('notebook');
      await page.getByRole('button', { name: 'Create a key' }).click();
      await expect.poll(() => context.cookies(), PATIENT).toEqual(cookies);
      await page.getByText('No active API keys.').waitFor(PATIENT);
      expect(await page.getByLabel('E-mail').count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'typing over a selection of the SQL editor replaces it, without a report of the policy',
    async () => {
      await page.goto('/sql?q=SELECT%201');
      const text = page.locator('.editor .cm-content');
      await text.click(PATIENT);
      for (const statement of ['SELECT platform FROM v_markets', 'SELECT 2']) {
        await page.keyboard.press('Control+a');
        await page.keyboard.type(statement);
        await page.keyboard.press('Escape');
        expect(await text.innerText()).toBe(statement);
      }
      expect(reader.faults()).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a file holds the shown result, whatever the editor says by then',
    async () => {
      const asked: string[] = [];
      await page.unroute(/\/v1\/api\/sql/);
      await page.route(/\/v1\/api\/sql/, (route) => {
        const { query, format } = route.request().postDataJSON() as { query: string; format: string };
        if (format === 'json') return route.fulfill({ json: RESULT });
        asked.push(query);
        return route.fulfill({ contentType: 'text/csv', body: 'a\n1\n' });
      });
      await page.goto('/sql?q=SELECT%201');
      await page.locator('.editor .cm-content').click(PATIENT);
      await page.keyboard.press('Control+Enter');
      await page.getByText(/^2 rows in/).waitFor(PATIENT);
      await page.keyboard.press('Control+a');
      await page.keyboard.type('SELECT 2');
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV' }).click();
      expect((await saved).suggestedFilename()).toBe('result.csv');
      expect(asked).toEqual(['SELECT 1']);
    },
    TEST_MS,
  );

  test(
    'a page whose script arrives late does not replace the page opened after it',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS]));
      await page.goto('/account');
      await page.getByRole('button', { name: 'Log out' }).waitFor(PATIENT);
      const held: (() => void)[] = [];
      const pages = /\/explorer\/page-[^/]+\.js$/;
      await page.route(pages, async (route) => {
        await new Promise<void>((release) => held.push(release));
        await route.continue();
      });
      const nav = page.getByRole('navigation', { name: 'Pages' });
      await nav.getByRole('link', { name: 'Status' }).click();
      await expect.poll(() => held.length, PATIENT).toBe(1);
      await nav.getByRole('link', { name: 'Account' }).click();
      await page.getByRole('button', { name: 'Log out' }).waitFor(PATIENT);
      const late = page.waitForResponse(pages);
      for (const release of held) release();
      await (await late).finished();
      await page.waitForTimeout(300);
      expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(1);
      expect(await page.getByText('Loading …', { exact: true }).count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'Ctrl-Enter aborts the running statement, whose late answer does not replace the newer one',
    async () => {
      const held: (() => void)[] = [];
      const aborted: string[] = [];
      page.on('requestfailed', (request) => aborted.push(request.postData() ?? ''));
      await page.unroute(/\/v1\/api\/sql/);
      await page.route(/\/v1\/api\/sql/, async (route) => {
        const { query } = route.request().postDataJSON() as { query: string };
        if (query === 'SELECT 1') await new Promise<void>((release) => held.push(release));
        const json = { meta: [column('a')], data: [[query]], rows: 1 };
        await route.fulfill({ json }).catch(() => {});
      });
      await page.goto('/sql?q=SELECT%201');
      await page.locator('.editor .cm-content').click(PATIENT);
      await page.keyboard.press('Control+Enter');
      await expect.poll(() => held.length, PATIENT).toBe(1);
      await page.keyboard.press('Control+a');
      await page.keyboard.type('SELECT 2');
      await page.keyboard.press('Control+Enter');
      const shown = () => page.locator('.result tbody td').allInnerTexts();
      await expect.poll(shown, PATIENT).toEqual(['SELECT 2']);
      for (const release of held) release();
      await page.waitForTimeout(300);
      expect(await shown()).toEqual(['SELECT 2']);
      expect(aborted.filter((body) => body.includes('SELECT 1'))).toHaveLength(1);
      expect(await page.getByRole('button', { name: /^Run / }).isEnabled()).toBe(true);
    },
    TEST_MS,
  );

  test(
    'shortcuts of the list do nothing behind an open dialog',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS.slice(0, 1)]));
      await reader.list(LISTED);
      await page.goto('/');
      await page.getByRole('link', { name: MARKET.title }).waitFor(PATIENT);
      await page.getByRole('button', { name: /^Query for Markets/ }).click();
      for (const key of ['j', '/']) await page.keyboard.press(key);
      expect(await page.locator('tr.chosen').count()).toBe(0);
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      await page.keyboard.press('j');
      await page.locator('tr.chosen').waitFor();
    },
    TEST_MS,
  );

  test(
    'a list whose prices cannot be polled is said to be not refreshed, until they can',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS.slice(0, 1)]));
      await reader.list(LISTED);
      await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => socket.close());
      await page.goto('/');
      await page.getByRole('link', { name: MARKET.title }).waitFor(PATIENT);
      await answer('markets', { error: { status: 500, message: 'Internal error' } }, 500);
      const said = () => page.locator('.connection').innerText();
      await polls();
      await expect.poll(said, PATIENT).toBe('Not refreshed');
      await answer('markets', LISTED);
      await polls();
      await expect.poll(said, PATIENT).toBe('Every 5 s');
    },
    TEST_MS,
  );

  test(
    'a list in a stream has the newest of the streamed and the polled price of each market',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS.slice(0, 1)]));
      const pollOf = (price: number, second: number) =>
        answer('markets', {
          ...LISTED,
          markets: [{ ...MARKET, current_prices: pricesOf(price), last_synced_at: `2026-11-20T10:00:0${second}.000Z` }],
        });
      await reader.list(LISTED);
      await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => {
        socket.onMessage((text) => {
          const { id } = JSON.parse(String(text)) as { id: string };
          socket.send(JSON.stringify({ op: 'subscribed', id, sid: 1 }));
          const times = { exchange_at: null, received_at: '2026-11-20T10:00:05.000Z' };
          const data = { platform: 'kalshi', market_id: 'KXONE', prices: pricesOf(0.5), ...times };
          socket.send(JSON.stringify({ event: 'quote', sid: 1, data }));
        });
      });
      await page.goto('/');
      const price = () => page.locator('.price-pair .price').first().getAttribute('value');
      await expect.poll(price, PATIENT).toBe('0.5');
      await pollOf(0.4, 4);
      const polled = page.waitForResponse(/\/v1\/api\/markets\?.*market_ids=/, PATIENT);
      await pollsBesideStream();
      await polled;
      await page.waitForTimeout(500);
      expect(await price()).toBe('0.5');
      await pollOf(0.6, 6);
      await pollsBesideStream();
      await expect.poll(price, PATIENT).toBe('0.6');
    },
    TEST_MS,
  );

  test(
    'a market whose polls fail once its stream has ended is said to be not refreshed, and its book too',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS.slice(0, 1)]));
      const market = { ...MARKET, outcomes: [{ id: 'yes', name: 'Yes' }], source_url: '' };
      const side = { bids: [{ price: 0.39, size: 1 }], asks: [], depth: 1 };
      await answer('trades/whales', { trades: [], meta: { data_freshness: null } });
      await answer('markets/id/KXONE', { ...LISTED, markets: [market] });
      const book = { market_id: 'KXONE', platform: 'kalshi', timestamp: '2026-11-20T10:00:00.000Z', yes: side };
      await answer('markets/id/KXONE/orderbook', { data: book });
      const open: { close(): Promise<void> }[] = [];
      let isOver = false;
      await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => {
        if (isOver) return void socket.close();
        open.push(socket);
        let sid = 0;
        socket.onMessage((text) => {
          const { id, channel } = JSON.parse(String(text)) as { id: string; channel: string };
          socket.send(JSON.stringify({ op: 'subscribed', id, sid: (sid += 1) }));
          if (channel === 'books') socket.send(JSON.stringify({ event: 'book', sid, data: { ...book, sequence: 1 } }));
        });
      });
      await page.goto('/market/kalshi%3AKXONE');
      const said = () => page.locator('.connection').innerText();
      await expect.poll(said, PATIENT).toBe('Live');
      await page.locator('.ladder tr.bid').first().waitFor(PATIENT);
      await answer('markets/id/KXONE', { error: { status: 500, message: 'Internal error' } }, 500);
      await answer('markets/id/KXONE/orderbook', { error: { status: 500, message: 'Internal error' } }, 500);
      isOver = true;
      for (const socket of open) await socket.close();
      await polls();
      await expect.poll(said, PATIENT).toBe('Not refreshed');
      const panel = page.getByRole('region', { name: 'Order book' });
      await panel.getByText('Not refreshed since').waitFor(PATIENT);
      expect(await panel.locator('.ladder tr.bid').count()).toBe(1);
    },
    TEST_MS,
  );

  test(
    'a price that becomes unknown while it is highlighted is not highlighted when it is back',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS.slice(0, 1)]));
      await reader.list(LISTED);
      let quote: ((price: number | null) => void) | undefined;
      await page.routeWebSocket(/\/v1\/api\/ws/, (socket) => {
        quote = (price) => {
          const data = { platform: 'kalshi', market_id: 'KXONE', prices: { yes: { price, bid: null, ask: null } } };
          socket.send(JSON.stringify({ event: 'quote', sid: 1, data }));
        };
        socket.onMessage((text) => {
          const { id } = JSON.parse(String(text)) as { id: string };
          socket.send(JSON.stringify({ op: 'subscribed', id, sid: 1 }));
        });
      });
      await page.goto('/');
      await expect.poll(() => page.locator('.connection').innerText(), PATIENT).toBe('Live');
      const price = page.locator('.price-pair .price');
      quote?.(0.5);
      await page.locator('.price-pair .price.moved').waitFor();
      quote?.(null);
      await price.waitFor({ state: 'detached' });
      quote?.(0.6);
      await price.waitFor();
      expect(await price.innerText()).toBe('0.60');
      // A highlight that belongs to no move has no end either.
      await page.clock.runFor(1500);
      expect(await page.locator('.price-pair .price.moved').count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a logout that fails is said so, and the user stays signed in',
    async () => {
      await answer('health', healthOf([...STORES, ...FEEDS]));
      await answer('auth/logout', { error: { status: 500, message: 'Internal error' } }, 500);
      await page.goto('/account');
      await page.getByRole('button', { name: 'Log out' }).click(PATIENT);
      await page.getByText('Not logged out: Internal error').waitFor(PATIENT);
      expect(await page.getByRole('button', { name: 'Log out' }).isEnabled()).toBe(true);
      expect(reader.faults(/status of (4|5)\d\d/)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'status and account fit a phone with keys, orders, jobs and budgets of long names',
    async () => {
      await page.setViewportSize({ width: 375, height: 740 });
      await answer('health', healthOf([...STORES, ...FEEDS]));
      await answer('orders', { orders: [order] });
      await answer('auth/credentials', {
        credentials: [
          { id: 1, platform: 'polymarket', label: 'W'.repeat(60), is_default: true, created_at: order.created_at },
        ],
      });
      await page.route(/\/metrics$/, (route) =>
        route.fulfill({
          body: `forecastle_platform_budget_refill_per_second{budget="polymarket:data-v2/prices-history/live/user"} 100\n`,
        }),
      );
      const tooWide = (): Promise<number> =>
        page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      await page.goto('/status');
      await page.getByText('polymarket:data-v2').waitFor(PATIENT);
      await page.getByText('WWWWWWWW').first().waitFor();
      expect(await tooWide()).toBe(0);
      await page.goto('/account');
      await page.getByLabel('Name').fill('a key of a long name for the notebook on the laptop');
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('button', { name: /^Revoke/ }).waitFor(PATIENT);
      await orders().getByText('partially filled').waitFor(PATIENT);
      expect(await tooWide()).toBe(0);
      const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      expect(await links.allInnerTexts()).toEqual(['Markets', 'Events', 'Overview', 'SQL', 'Status', 'Account', 'API']);
      const places = await links.evaluateAll((all) => all.map((link) => link.getBoundingClientRect()));
      for (const { left, right } of places) expect(left >= 0 && right <= 375).toBe(true);
    },
    TEST_MS,
  );
});
