import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf, type WholeService } from '../../helpers/whole-service.ts';
import { type SignedIn, signedIn, type Site, type Watched } from '../../explorer/chromium.ts';

/** Lists, keys, focus and what a page keeps while it asks again. */
export function reading(site: () => Site): void {
  let session: SignedIn;
  let whole: WholeService;
  let reader: Watched;
  let page: Page;
  let market: { id: string; event_id: string };
  beforeAll(async () => {
    session = await signedIn(site(), 'reading@example.com');
    ({ whole, reader, page } = session);
    const [row] = await whole.sql<{ id: string; event_id: string }>(
      "SELECT id, event_id FROM v_markets WHERE platform = 'kalshi' AND status = 'open' AND event_id != '' ORDER BY volume_24h DESC LIMIT 1",
    );
    market = row ?? { id: '', event_id: '' };
  });
  afterAll(() => session.close());

  const address = (): string => `/market/${encodeURIComponent(market.id)}`;
  const eventAddress = (): string => `/event/${encodeURIComponent(`kalshi:${market.event_id}`)}`;
  const rows = () => page.locator('table.list tbody tr:not(.spacer)');
  const scrolled = (): Promise<number> => page.locator('.scroll').evaluate((box) => box.scrollTop);

  test('a search keeps each letter, however slowly it is typed', async () => {
    await page.goto('/?platform=kalshi');
    await rows().first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('will the price', { delay: 210 });
    await expect.poll(() => page.url()).toContain('q=will+the+price');
    expect(await page.getByRole('searchbox').inputValue()).toBe('will the price');
    expect(reader.faults()).toEqual([]);
  });

  test('the list is as it was left after Escape and after Back: filters, row and place', async () => {
    await page.goto('/?platform=kalshi&status=any&sort=liquidity');
    await rows().nth(3).waitFor();
    await page.locator('.scroll').click({ position: { x: 5, y: 5 } });
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL(/\/market\//);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/\?platform=kalshi&status=any&sort=liquidity$/);
    await expect.poll(() => page.locator('tr.chosen').getAttribute('aria-rowindex')).toBe('3');
    await page.locator('.scroll').evaluate((box) => box.scrollTo(0, 20 * 46));
    await expect.poll(() => rows().first().getAttribute('aria-rowindex')).not.toBe('2');
    const place = await scrolled();
    await rows().nth(9).locator('a').click();
    await page.waitForURL(/\/market\//);
    await page.goBack();
    await rows().first().waitFor();
    expect(await scrolled()).toBe(place);
    expect(reader.faults()).toEqual([]);
  });

  test('keys pressed faster than the page is drawn choose and open the row they name', async () => {
    await page.goto('/?platform=kalshi&status=any&sort=liquidity');
    await rows().nth(3).waitFor();
    const third = await rows().nth(2).locator('a').getAttribute('href');
    // Within one task, so that nothing is drawn between the keys.
    await page.evaluate(`for (const key of ['j', 'j', 'k', 'j', 'j'])
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    document.activeElement.click();`);
    await page.waitForURL((url) => url.pathname === third);
    expect(reader.faults()).toEqual([]);
  });

  const focused = (): Promise<string> =>
    page.evaluate("document.activeElement.tagName + ' ' + document.activeElement.textContent");

  test('another page has the focus on its heading, and Tab goes on from there', async () => {
    await page.goto('/');
    await rows().first().waitFor();
    const nav = page.getByRole('navigation', { name: 'Pages' });
    for (const name of ['Overview', 'Status', 'SQL', 'Account', 'Markets']) {
      await nav.getByRole('link', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
      await expect.poll(focused).toBe(`H1 ${name}`);
      await expect.poll(() => page.title()).toBe(`${name} · Forecastle`);
    }
    await page.keyboard.press('Tab');
    expect(await page.evaluate("document.querySelector('main').contains(document.activeElement)")).toBe(true);
    await rows().first().locator('a').focus();
    await page.keyboard.press('Enter');
    await expect.poll(focused).toMatch(/^H1 ./);
    expect(await focused()).toBe(`H1 ${await page.getByRole('heading', { level: 1 }).innerText()}`);
    expect(reader.faults(NO_CREDENTIAL)).toEqual([]);
  });

  test('the skip link moves the focus into the content, also a second time', async () => {
    await page.goto('/status');
    await page.getByRole('heading', { name: 'Status', level: 1 }).waitFor({ state: 'attached' });
    for (const _ of [1, 2]) {
      await page.getByRole('link', { name: 'Skip to the content' }).focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    }
    expect(await page.getByRole('heading', { name: 'Status', level: 1 }).count()).toBe(1);
    expect(reader.faults()).toEqual([]);
  });

  test('the link to the list leads to all markets, and Back to the list as it was filtered', async () => {
    await page.goto('/?platform=kalshi&sort=liquidity');
    await rows().first().waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Markets', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/' && url.search === '');
    await page.goBack();
    await page.waitForURL(/\/\?platform=kalshi&sort=liquidity$/);
    await page.goto(`/?platform=kalshi&ends=7`);
    await rows().first().waitFor();
    const date = page.getByLabel('Ends before, UTC');
    await date.fill('2040-01-02');
    await page.waitForURL(/ends=2040-01-02$/);
    await expect.poll(() => page.getByLabel('Ends', { exact: true }).inputValue()).toBe('2040-01-02');
    await page.getByLabel('Ends', { exact: true }).selectOption('1');
    await page.waitForURL(/ends=1$/);
    expect(await date.inputValue()).toBe('');
  });

  test('the list of an event holds its markets', async () => {
    await page.goto(eventAddress());
    await page.getByRole('link', { name: 'Show in the list' }).click();
    await rows().first().waitFor();
    const links = await rows()
      .locator('.title > a')
      .evaluateAll((all) =>
        all.map((link) => decodeURIComponent(link.getAttribute('href')?.slice('/market/'.length) ?? '')),
      );
    const wanted = await whole.sql<{ id: string }>(
      `SELECT id FROM v_markets WHERE platform = 'kalshi' AND event_id = '${market.event_id}'`,
    );
    expect(links.toSorted()).toEqual(wanted.map(({ id }) => id).toSorted());
    await page.getByRole('button', { name: /^Event:|Event: / }).click();
    await expect.poll(() => page.url()).not.toContain('event=');
  });

  test('the chart stays while another range is on its way', async () => {
    await page.goto(address());
    await page.locator('.chart canvas').first().waitFor();
    const height = async () => (await page.locator('.history').boundingBox())?.height;
    const before = await height();
    await page.route(/metrics\/historical/, async (route) => {
      await sleep(1500);
      await route.continue();
    });
    await page.getByRole('group', { name: 'Range' }).getByRole('button', { name: '1D' }).click();
    await page.locator('.chart.old canvas').first().waitFor();
    expect(await height()).toBe(before);
    await page.locator('.chart:not(.old) canvas').first().waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(reader.faults()).toEqual([]);
  });

  test('the statement behind the list answers the markets that it shows', async () => {
    // What rests in books is read later than the listing.
    await rowsOf(whole, "SELECT 1 FROM v_markets WHERE platform = 'kalshi' AND status = 'open' AND liquidity >= 1");
    await page.goto('/?platform=kalshi&sort=liquidity&liquidity=1');
    await rows().first().waitFor();
    await page.getByRole('button', { name: /^Query for Markets/ }).click();
    const statement = await page.locator('dialog[open] pre').nth(1).innerText();
    const wanted = (await whole.sql<{ id: string }>(statement)).map(({ id }) => id);
    await page.keyboard.press('Escape');
    const shown = await rows()
      .locator('.title > a')
      .evaluateAll((all) =>
        all.map((link) => decodeURIComponent(link.getAttribute('href')?.slice('/market/'.length) ?? '')),
      );
    expect(wanted).toEqual(expect.arrayContaining(shown.slice(0, 5)));
  });

  /** How far the document sticks out of the window, and what does. */
  const OVERFLOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return '';
  const wide = [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > clientWidth + 0.5);
  return scrollWidth - clientWidth + ' px: ' + wide.slice(0, 3).map((one) => one.tagName + '.' + one.className).join(' ');
})()`;

  test.each([
    ['as they are', (text: string) => text],
    ['of one endless word', () => 'W'.repeat(300)],
  ])('pages of markets and events fit a phone once their data is there, with names %s', async (_, named) => {
    await page.setViewportSize({ width: 375, height: 740 });
    await page.route(/\/v1\/api\/(search|markets|events)(\/id\/[^/]+|\/[^/]+)?\?/, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { results?: { market: Named }[]; markets?: Named[]; event?: Named };
      const found = (body.results ?? []).map(({ market: one }) => one);
      for (const one of [...found, ...(body.markets ?? []), ...(body.event ? [body.event] : [])]) {
        one.title = named(one.title);
        one.event_name &&= named(one.event_name);
        one.metadata = {};
        for (const outcome of one.outcomes ?? []) outcome.name = named(outcome.name);
      }
      await route.fulfill({ response: answer, json: body });
    });
    for (const [at, ready] of [
      ['/', 'table.list tbody tr:nth-child(3)'],
      [address(), '.market-rest dl'],
      [eventAddress(), '.u-legend'],
    ] as const) {
      await page.goto(at);
      await page.locator(ready).first().waitFor();
      await page.getByText('Loading …', { exact: true }).first().waitFor({ state: 'detached' });
      expect([at, await page.evaluate(OVERFLOW)]).toEqual([at, '']);
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  interface Named {
    title: string;
    event_name?: string;
    outcomes?: { name: string }[];
    metadata?: object;
  }

  /** Lets time pass on the page, and waits for the answers to what it asks meanwhile; how much that was. */
  async function pass(ms: number): Promise<number> {
    const asked = new Set<Request>();
    const open = new Set<Request>();
    const begin = (request: Request): void => {
      asked.add(request);
      open.add(request);
    };
    const end = (request: Request): void => void open.delete(request);
    page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
    await page.clock.runFor(ms);
    await expect.poll(() => open.size).toBe(0);
    page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
    return asked.size;
  }

  test('what is asked for again is not taken away meanwhile', async () => {
    await page.clock.install();
    for (const at of ['/overview', address()]) {
      await page.goto(at);
      await page.locator('main .panel table').first().waitFor();
      await page.getByText('Loading …', { exact: true }).first().waitFor({ state: 'detached' });
      await page.evaluate(
        "window.waits = 0; new MutationObserver(() => { if (document.body.innerText.includes('Loading …')) window.waits += 1; }).observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true })",
      );
      // A page asks again every 30 s, and every 120 s while its user has few calls left.
      let asked = 0;
      for (let n = 0; n < 8 || (asked === 0 && n < 32); n += 1) asked += await pass(4000);
      expect(asked).toBeGreaterThan(0);
      expect([at, await page.evaluate('window.waits')]).toEqual([at, 0]);
    }
  });

  test('a market that is not stored is said so once, with a way on', async () => {
    let asked = 0;
    page.on('request', (request) => (asked += request.url().includes('/markets/id/NONE?') ? 1 : 0));
    await page.goto('/market/kalshi%3ANONE');
    await page.getByRole('heading', { level: 1, name: 'No such market' }).waitFor();
    await pass(6000);
    expect(asked).toBe(1);
    await page.getByRole('link', { name: 'Search the list of markets' }).click();
    await rows().first().waitFor();
    reader.faults();
  });

  test('an address that no page has says so, with a way to the list', async () => {
    for (const path of ['/nothing', '/market/unknown', '/<script>alert(1)</script>']) {
      const answer = await page.goto(path);
      expect(answer?.status()).toBe(404);
      await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
      expect(await page.getByRole('main').innerText()).toContain(`There is no page at ${path}.`);
    }
    await page.getByRole('link', { name: 'Search the list of markets' }).click();
    await rows().first().waitFor();
    expect(reader.faults(/ 404 /)).toEqual([]);
  });

  /** The account page asks for orders of a reader who stored no credential. */
  const NO_CREDENTIAL = /422 .*\/v1\/api\/orders/;
}
