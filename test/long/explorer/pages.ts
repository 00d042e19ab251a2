import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { difference } from '../../../src/explorer/parts/exact.ts';
import { type Proxy, startProxy } from '../../helpers/proxy.ts';
import { PASSWORD } from '../../helpers/browser.ts';
import type { WholeService } from '../../helpers/whole-service.ts';
import { axeFindings, EMAIL, signIn, type Site, watchedPage, type Watched } from '../../explorer/chromium.ts';

interface Listed {
  id: string;
  platform_id: string;
  title: string;
  outcomes: { id: string }[];
  current_prices: Record<string, { price: number | null; bid: number | null; ask: number | null }>;
}

/** Every page, for a reader whose way to the service may be cut. */
export function pages(site: () => Site): void {
  let whole: WholeService;
  /** Between the browser and the service. */
  let way: Proxy;
  let reader: Watched;
  let page: Page;
  let market: Listed;
  /** The unified id of an event. */
  let event: string;

  const api = async <T>(path: string): Promise<T> => (await whole.get(`/v1/api/${path}`)).json() as Promise<T>;
  const listed = async (): Promise<Listed[]> =>
    (await api<{ markets: Listed[] }>('markets?provider=kalshi&status=open&sort=volume_24h_usd')).markets;

  beforeAll(async () => {
    const { browser } = site();
    ({ whole } = site());
    const { port } = new URL(whole.service.url);
    way = await startProxy('127.0.0.1', Number(port));
    reader = await watchedPage(browser, `http://127.0.0.1:${way.port}`);
    ({ page } = reader);
    const patient = { timeout: 150_000, interval: 500 };
    await vi.waitFor(async () => expect((await listed()).length).toBeGreaterThan(10), patient);
    const traded = 'trades/whales?platform=kalshi&min_size=0';
    await vi.waitFor(async () => {
      const { trades } = await api<{ trades: unknown[] }>(traded);
      expect(trades.length).toBeGreaterThan(5);
    }, patient);
    [market] = (await listed()) as [Listed];
    const { events } = await api<{ events: { id: string }[] }>('events?provider=kalshi&status=open&sort=markets');
    event = events[0]?.id ?? '';
    await signIn(page);
  });
  afterAll(async () => {
    await reader.context.close();
    await way.close();
  });

  test('markets are searched, filtered, sorted and paged, with the state in the address', async () => {
    await page.goto('/');
    const rows = page.locator('table.list tbody tr:not(.spacer)');
    await rows.first().waitFor();
    await page.keyboard.press('/');
    // The page shows a name in brackets without them.
    const [word = ''] = market.title.split(/[^\p{L}]+/u).toSorted((a, b) => b.length - a.length);
    await page.keyboard.type(word);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(word);
    await expect.poll(async () => (await rows.first().innerText()).toLowerCase()).toContain(word.toLowerCase());
    await page.keyboard.press('Escape');
    await page.getByRole('group', { name: 'Platform' }).getByRole('button', { name: 'Limitless' }).click();
    await expect.poll(() => page.url()).toMatch(/platform=limitless$/);
    await expect.poll(() => page.locator('.list .platform').allInnerTexts()).not.toContain('Kalshi');
    await page.getByLabel('Sort').selectOption('end_date');
    await expect.poll(() => page.locator('th[aria-sort="ascending"]').innerText()).toContain('Ends');
    await page.goto('/?status=any');
    await rows.first().waitFor();
    const before = await rows.first().getAttribute('aria-rowindex');
    const lastAtEnd = async (): Promise<number> => {
      await page.locator('.scroll').evaluate((box) => box.scrollTo(0, 1e6));
      return Number(await rows.last().getAttribute('aria-rowindex'));
    };
    await expect.poll(lastAtEnd).toBeGreaterThan(60);
    expect(await rows.first().getAttribute('aria-rowindex')).not.toBe(before);
    expect(reader.faults()).toEqual([]);
  });

  test('the prices of the list are those of the API', async () => {
    await page.goto('/?platform=kalshi');
    await expect
      .poll(
        async () => {
          const wanted = (await listed()).slice(0, 8).map(({ id, outcomes, current_prices: prices }) => {
            const { price = null } = prices[outcomes[0]?.id ?? ''] ?? {};
            return [id, price === null ? undefined : String(price)];
          });
          const shown = await page
            .locator('table.list tbody tr:not(.spacer)')
            .evaluateAll((rows) =>
              rows
                .slice(0, 8)
                .map((row) => [
                  decodeURIComponent(row.querySelector('a')?.getAttribute('href')?.slice('/market/'.length) ?? ''),
                  row.querySelector('data.strong')?.getAttribute('value') ?? undefined,
                ]),
            );
          return JSON.stringify(shown.toSorted()) === JSON.stringify(wanted.toSorted()) ? 'equal' : { shown, wanted };
        },
        { timeout: 30_000, interval: 300 },
      )
      .toBe('equal');
  });

  test('by keyboard alone a market is found and opened, and left again', async () => {
    await page.goto('/?platform=kalshi');
    await page.locator('table.list tbody tr:not(.spacer)').nth(3).waitFor();
    for (const key of ['j', 'j', 'k']) await page.keyboard.press(key);
    expect(await page.locator('tr.chosen').getAttribute('aria-rowindex')).toBe('2');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/market\//);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => url.pathname === '/');
  });

  test('a market shows its chart, book and trades, and both move', async () => {
    const moving = await busiest();
    await page.goto(`/market/${encodeURIComponent(moving)}`);
    await page.locator('.ladder tr.bid').first().waitFor();
    await page.locator('.chart canvas').first().waitFor();
    await page.locator('.tape tbody tr').first().waitFor();
    const state = async () => [
      await page.locator('.ladder').innerText(),
      await page.locator('.tape tbody tr').first().innerText(),
    ];
    const [book, trade] = await state();
    await expect.poll(async () => (await state())[0] !== book, { timeout: 40_000 }).toBe(true);
    await expect.poll(async () => (await state())[1] !== trade, { timeout: 40_000 }).toBe(true);
    for (const range of ['6H', '1W', 'All']) {
      await page.getByRole('group', { name: 'Range' }).getByRole('button', { name: range }).click();
      await page.locator('.legend time').waitFor();
    }
    expect(page.url()).toContain('range=all');
    await page.getByRole('button', { name: /^Query for Order book/ }).click();
    expect(await page.locator('dialog[open] pre').first().innerText()).toContain('/orderbook?provider=');
    await page.keyboard.press('Escape');
    expect(reader.faults()).toEqual([]);
  });

  test('an event shows the sums of its markets that the API answers, and leads to them', async () => {
    const [, id = ''] = event.split(':');
    interface Shown {
      event: { title: string; volume_24h_usd: number; volume_total_usd: number; liquidity_usd: number };
      markets: { id: string }[];
    }
    const wanted = async (): Promise<(string | undefined)[]> => {
      const { event: sums } = await api<Shown>(`events/${id}?provider=kalshi`);
      return [sums.volume_24h_usd, sums.volume_total_usd, sums.liquidity_usd].map(String);
    };
    await page.goto(`/event/${encodeURIComponent(event)}`);
    const figures = page.getByRole('list', { name: 'Sums over its markets' }).locator('data');
    const shown = () => figures.evaluateAll((all) => all.map((one) => one.getAttribute('value')));
    await expect.poll(async () => JSON.stringify(await shown()) === JSON.stringify(await wanted())).toBe(true);
    const { markets } = await api<Shown>(`events/${id}?provider=kalshi`);
    const links = await page.locator('.rung a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(links.toSorted()).toEqual(markets.map((one) => `/market/${encodeURIComponent(one.id)}`).toSorted());
    expect(reader.faults()).toEqual([]);
  });

  /** The market of the newest of the stored trades. */
  async function busiest(): Promise<string> {
    const { trades } = await api<{ trades: { market_id: string }[] }>(
      'trades/whales?platform=kalshi&min_size=0&limit=50',
    );
    const counts = new Map<string, number>();
    for (const { market_id: id } of trades) counts.set(id, (counts.get(id) ?? 0) + 1);
    const [[id = ''] = []] = [...counts].toSorted(([, a], [, b]) => b - a);
    return `kalshi:${id}`;
  }

  test('SQL is run and its result saved as a file', async () => {
    const statement = 'SELECT number AS n, number * 2 AS twice FROM numbers(3)';
    await page.goto(`/sql?q=${encodeURIComponent(statement)}`);
    await page.locator('.editor .cm-content').click();
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => page.locator('.result tbody tr').allInnerTexts()).toEqual(['0\t0', '1\t2', '2\t4']);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toBe('"n","twice"\n0,0\n1,2\n2,4\n');
    await page.goto(`/sql?q=${encodeURIComponent('SELECT * FROM markets')}`);
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByRole('alert').waitFor();
    expect(reader.faults(/status of 400/)).toEqual([]);
  });

  test('a key is made, shown once and revoked', async () => {
    await page.goto('/account');
    await page.getByLabel('Name').fill('from the page');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const key = await page.locator('.made pre').innerText();
    expect(key).toMatch(/^pk_[\w-]{49}$/);
    const health = () =>
      fetch(`${whole.service.url}/v1/api/markets?provider=kalshi`, { headers: { 'x-api-key': key } });
    expect((await health()).status).toBe(200);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Revoke from the page' }).click();
    await expect.poll(async () => (await health()).status).toBe(401);
    await expect.poll(() => page.locator('body').innerText()).not.toContain(key);
    expect(reader.faults(NO_CREDENTIAL)).toEqual([]);
  });

  /** One user has 250 requests a minute, which these tests use up faster than a person does. */
  const asAnother = async (email: string): Promise<void> => {
    await reader.context.clearCookies();
    await signIn(page, email);
    reader.faults();
  };
  const addresses = () => [
    '/',
    `/market/${encodeURIComponent(market.id)}`,
    `/event/${encodeURIComponent(event)}`,
    '/overview',
    '/sql',
    '/status',
    '/account',
  ];

  const PHONE = { width: 375, height: 740 };
  const DESK = { width: 1280, height: 800 };
  test.each([
    ['at a desk', DESK],
    ['on a phone', PHONE],
  ] as const)(
    'every page fits the width %s, and is without a serious finding of axe, light and dark',
    async (where, size) => {
      await asAnother(`${where.replaceAll(' ', '-')}@example.com`);
      await page.setViewportSize(size);
      for (const address of addresses()) {
        await page.goto(address);
        await page.locator('main .panel').first().waitFor();
        const root = 'document.documentElement';
        const wide = await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`);
        expect([address, wide]).toEqual([address, 0]);
        await page.getByText('Loading …', { exact: true }).first().waitFor({ state: 'detached' });
        for (const colorScheme of ['light', 'dark'] as const) {
          // Colours change at once: axe would find too little contrast halfway.
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          expect([address, colorScheme, await axeFindings(page)]).toEqual([address, colorScheme, []]);
        }
      }
      await page.emulateMedia({ colorScheme: null, reducedMotion: null });
      await page.setViewportSize(DESK);
      expect(reader.faults(NO_CREDENTIAL)).toEqual([]);
    },
  );

  test('hostile titles are shown as text', async () => {
    await asAnother('titles@example.com');
    const titles = ['<script>alert(1)</script><img src=x onerror=alert(2)>', '‮override ‏שלום', 'W'.repeat(5000)];
    await page.route(/\/v1\/api\/(search|markets(\/id\/[^/]+)?)\?/, async (route) => {
      const answer = await route.fetch();
      type Titled = Record<string, unknown>;
      const body = (await answer.json()) as { markets?: Titled[]; results?: { market: Titled }[] };
      const markets = body.markets ?? (body.results ?? []).map(({ market: one }) => one);
      for (const [n, one] of markets.entries()) one['title'] = titles[n % titles.length];
      await route.fulfill({ response: answer, json: body });
    });
    page.once('dialog', () => expect.unreachable('a title ran'));
    await page.goto('/?platform=kalshi');
    await page.locator('table.list tbody tr:not(.spacer)').nth(2).waitFor();
    const shown = await page.locator('.list .title a bdi:last-child').allInnerTexts();
    expect(shown.slice(0, 3)).toEqual(titles);
    // Pictures of markets are from fields of their own.
    expect(await page.locator('main img:not(.picture), main [onerror], main script').count()).toBe(0);
    await page.goto(`/market/${encodeURIComponent(market.id)}`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain(titles[0]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(reader.faults()).toEqual([]);
  });

  test('a service that goes away is said to be offline; what was shown stays, and the tape misses no trade', async () => {
    const id = await busiest();
    await page.goto(`/market/${encodeURIComponent(id)}`);
    const title = await page.getByRole('heading', { level: 1 }).innerText();
    const connection = page.locator('.connection');
    await expect.poll(() => connection.innerText(), { timeout: 20_000 }).toBe('Live');
    await way.cut();
    await expect.poll(() => connection.innerText(), { timeout: 20_000 }).toBe('Offline');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(title);
    // Trading goes on meanwhile.
    await sleep(3000);
    await way.restore();
    await expect.poll(() => connection.innerText(), { timeout: 40_000 }).toBe('Live');
    const [, market_id = ''] = id.split(':');
    const wanted = async (): Promise<string[]> => {
      const { trades } = await api<{ trades: { outcome: string; price: number; size: number }[] }>(
        `trades/whales?platform=kalshi&market_id=${market_id}&min_size=0&limit=40`,
      );
      return trades.map(({ outcome, price, size }) => `${outcome === 'yes' ? price : difference(1, price)} ${size}`);
    };
    const shown = () =>
      page.locator('.tape tbody tr').evaluateAll((rows) =>
        rows.slice(0, 40).map((row) =>
          [...row.querySelectorAll('data')]
            .slice(0, 2)
            .map((one) => one.getAttribute('value'))
            .join(' '),
        ),
      );
    await expect.poll(async () => JSON.stringify(await shown()) === JSON.stringify(await wanted())).toBe(true);
    reader.faults();
  });

  test('who logs out sees the way in, and no data', async () => {
    await page.goto('/account');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('wrong password here');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('API keys').first().waitFor();
  });
}

/** The account page asks for orders of a reader who stored no credential. */
const NO_CREDENTIAL = /422 .*\/v1\/api\/orders/;
