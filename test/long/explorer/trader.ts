import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rowsOf, type WholeService } from '../../helpers/whole-service.ts';
import { type SignedIn, signedIn, type Site, type Watched } from '../../explorer/chromium.ts';

interface Twin {
  id: string;
  platform_id: string;
  title: string;
}

/** The question that both markets of a game ask. */
const gameOf = ({ title }: Twin): string => title.replace(/ \([^()]+\)$/, '');

/** What somebody who trades looks for. */
export function trader(site: () => Site): void {
  let session: SignedIn;
  let whole: WholeService;
  let reader: Watched;
  let page: Page;
  beforeAll(async () => {
    session = await signedIn(site(), 'trader@example.com');
    ({ whole, reader, page } = session);
  });
  afterAll(() => session.close());

  const rows = () => page.locator('table.list tbody tr:not(.spacer)');
  /** Two markets of one game: their titles end with their names. */
  async function twins(): Promise<[Twin, Twin]> {
    const statement = `SELECT id, platform_id, title FROM v_markets WHERE platform = 'kalshi' AND event_id IN
    (SELECT event_id FROM v_markets WHERE platform = 'kalshi' AND title LIKE '% at % Winner? (%)' GROUP BY event_id HAVING count() = 2)
    ORDER BY event_id, id LIMIT 2`;
    const [a, b] = await whole.sql<Twin>(statement);
    if (!a || !b || a.title === b.title || gameOf(a) !== gameOf(b)) throw new Error('no game is stored');
    return [a, b];
  }

  test('two markets of one game have names of their own wherever markets are listed', async () => {
    const [a, b] = await vi.waitFor(twins, { timeout: 60_000, interval: 1000 });
    const links = [a, b].map(({ id }) => `a[href="/market/${encodeURIComponent(id)}"]`);
    const names = async (within: string): Promise<string[]> => {
      for (const link of links) await page.locator(`${within} ${link}`).first().waitFor();
      return Promise.all(links.map((link) => page.locator(`${within} ${link}`).first().innerText()));
    };
    const [first = '', second = ''] = gameOf(a).replace(' Winner?', '').split(' at ');
    const wanted = [first, second].map((name) => `${name} · ${gameOf(a)}`).toSorted();
    await page.goto(`/?status=any&q=${encodeURIComponent(`${first} ${second}`)}`);
    expect((await names('.list')).toSorted()).toEqual(wanted);
    // Both stand in both lists, whatever trades now.
    await page.route(/\/(analytics\/trending|trades\/whales)\?/, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { trending?: object[]; trades?: object[] };
      for (const [n, { platform_id, title }] of [a, b].entries()) {
        const own = { platform: 'kalshi', market_id: platform_id };
        if (body.trending?.[n]) Object.assign(body.trending[n], own, { title });
        if (body.trades?.[n]) Object.assign(body.trades[n], own, { market_title: title });
      }
      await route.fulfill({ response: answer, json: body });
    });
    await page.goto('/overview');
    for (const title of ['Trending, 24 hours', 'Large trades']) {
      const within = `section.panel:has(> header h2:text("${title}"))`;
      await expect.poll(async () => (await names(within)).toSorted()).toEqual(wanted);
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto(`/market/${encodeURIComponent(a.id)}`);
    await expect.poll(() => page.getByRole('heading', { level: 1 }).innerText()).toBe(a.title);
    expect(await page.title()).toBe(`${a.title} · Forecastle`);
    expect(reader.faults()).toEqual([]);
  });

  test('markets of any status by their end begin with the next to end, and the address says what was chosen', async () => {
    await page.goto('/');
    await rows().first().waitFor();
    await page.getByLabel('Status').selectOption('any');
    await page.getByLabel('Sort').selectOption('end_date');
    await expect.poll(() => page.url()).toMatch(/\/\?status=any&sort=end_date$/);
    const ends = (): Promise<number[]> =>
      rows()
        .locator('td:last-child time')
        .evaluateAll((all) => all.slice(0, 5).map((one) => Date.parse(one.getAttribute('datetime') ?? '')));
    const isNext = async (): Promise<boolean> => {
      const [first = 0, ...rest] = await ends();
      return first > Date.now() - 90_000 && rest.every((end, n) => end >= ([first, ...rest][n] ?? 0));
    };
    await expect.poll(isNext).toBe(true);
    expect(await page.locator('.panel-aside [role=status]').innerText()).toContain('not ended');
    await page.getByRole('button', { name: /^Query for Markets/ }).click();
    const [curl = '', statement = ''] = await page.locator('dialog[open] pre').allInnerTexts();
    expect(curl).toContain('ends_after=');
    expect((await whole.sql(statement)).length).toBeGreaterThan(0);
    await page.keyboard.press('Escape');
    await page.getByLabel('Sort').selectOption('volume_24h');
    await expect.poll(() => page.url()).toMatch(/\/\?status=any$/);
    expect(await page.locator('.panel-aside [role=status]').innerText()).not.toContain('not ended');
    expect(reader.faults()).toEqual([]);
  });

  test('the focus is on the chosen row, however fast the keys follow', async () => {
    await page.goto('/?status=any');
    await rows().nth(12).waitFor();
    const key = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))";
    // The second key comes when the first row is drawn, and before it has the focus.
    await page.evaluate(`${key}; new Promise((done) => setTimeout(() => done(${key}), 2))`);
    const state =
      "[document.activeElement.closest('tr')?.ariaRowIndex, document.querySelector('tr.chosen')?.ariaRowIndex].join(' ')";
    await expect.poll(() => page.evaluate(state)).toBe('3 3');
  });

  test('the form of credentials names the fields of the platform that is chosen', async () => {
    await page.goto('/account');
    await page.getByRole('button', { name: 'Add credentials' }).click();
    const named = (): Promise<string[]> =>
      page.locator('[name^="field."]').evaluateAll((all) => all.map((one) => one.getAttribute('name') ?? ''));
    await expect.poll(named).toEqual(['field.api_key_id', 'field.private_key']);
    await page.locator('select[name=platform]').selectOption('limitless');
    await expect.poll(named).toEqual(['field.token_id', 'field.secret', 'field.private_key', 'field.address']);
    // Who stored no credential has no orders either.
    expect(reader.faults(/422 .*\/v1\/api\/orders/)).toEqual([]);
  });

  const pressed = (label: string): Promise<string> =>
    page.getByRole('group', { name: label }).locator('button[aria-pressed="true"]').innerText();

  test.each(['open', 'settled'])('a market of five minutes that is %s opens in candles of a minute', async (status) => {
    const statement = `SELECT id FROM v_markets INNER JOIN v_trades USING (market_key) WHERE v_markets.platform = 'kalshi' AND title LIKE '% in 5 minutes?%'
    AND status = '${status}' AND executed_at > now() - 86400 * 5 GROUP BY id HAVING count() > 2 LIMIT 1`;
    await rowsOf(whole, statement);
    const [found] = await whole.sql<{ id: string }>(statement);
    await page.goto(`/market/${encodeURIComponent(found?.id ?? '')}`);
    await page.locator('.legend time').waitFor();
    expect([await pressed('Range'), await pressed('Candle interval')]).toEqual(['6H', '1m']);
    await page.getByRole('group', { name: 'Range' }).getByRole('button', { name: '1W' }).click();
    await expect.poll(() => page.url()).toContain('range=1w');
    expect(await pressed('Range')).toBe('1W');
    // The market may end meanwhile; and the account page of the test before asks for orders late.
    expect(reader.faults(/404 .*\/orderbook|422 .*\/orders/)).toEqual([]);
  });
}
