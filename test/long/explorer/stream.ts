import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignedIn, signedIn, type Site, type Watched } from '../../explorer/chromium.ts';

/** A busy machine serves eight tabs slowly. */
const PATIENT = { timeout: 90_000 };

const connectionOf = (page: Page): Promise<string> => page.locator('.connection').innerText();
const showsMarket = async (page: Page): Promise<void> => {
  await page.locator('.ladder tr.bid').first().waitFor(PATIENT);
  await page.locator('.tape tbody tr').first().waitFor(PATIENT);
};
/** Headless pages are all in front. */
const turn = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
  );

/** Tabs that share the streams and the requests of one reader. */
export function stream(site: () => Site): void {
  let session: SignedIn;
  let reader: Watched;
  let market: string;
  beforeAll(async () => {
    session = await signedIn(site(), 'stream@example.com');
    ({ reader } = session);
    const [row] = await session.whole.sql<{ id: string }>(
      "SELECT id FROM v_markets WHERE platform = 'kalshi' AND status = 'open' ORDER BY volume_24h DESC LIMIT 1",
    );
    market = row?.id ?? '';
  });
  afterAll(() => session.close());

  const address = (): string => `/market/${encodeURIComponent(market)}`;
  /** Tabs of one reader, which hold streams and spend requests until they are closed. */
  async function withTabs(count: number, use: (tabs: Page[]) => Promise<void>): Promise<void> {
    const tabs = await Promise.all(Array.from({ length: count }, () => reader.context.newPage()));
    try {
      await use(tabs);
    } finally {
      await Promise.all(tabs.map((tab) => tab.close()));
    }
  }

  test('eight tabs beside each other all show the market: five stream, as many as a free user may, the others ask', () =>
    withTabs(8, async (tabs) => {
      await reader.page.goto('about:blank');
      const refused: string[] = [];
      reader.context.on('response', (answer) => {
        if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`);
      });
      await Promise.all(tabs.map((tab) => tab.goto(address(), PATIENT)));
      for (const tab of tabs) await showsMarket(tab);
      const states = async () => (await Promise.all(tabs.map(connectionOf))).toSorted();
      await expect
        .poll(states, PATIENT)
        .toEqual([...Array<string>(3).fill('Every 5 s'), ...Array<string>(5).fill('Live')]);
      // A tab that goes behind gives its stream to those in front.
      const live = await Promise.all(tabs.map(async (tab) => ((await connectionOf(tab)) === 'Live' ? [tab] : [])));
      const behind = live.flat().slice(0, 3);
      for (const tab of behind) await turn(tab, true);
      const front = tabs.filter((tab) => !behind.includes(tab));
      await expect
        .poll(async () => [...new Set(await Promise.all(front.map(connectionOf)))], PATIENT)
        .toEqual(['Live']);
      expect(refused).toEqual([]);
      expect(reader.faults()).toEqual([]);
    }));

  test('a tab opened behind another loads when it comes to the front, and follows the stream from there', () =>
    withTabs(1, async ([page]) => {
      if (!page) return expect.unreachable();
      await page.addInitScript("Object.defineProperty(document, 'hidden', { value: true, configurable: true })");
      await page.goto(address(), PATIENT);
      await page.getByText('Loading …').first().waitFor(PATIENT);
      await turn(page, false);
      await showsMarket(page);
      await expect.poll(() => connectionOf(page), PATIENT).toBe('Live');
      await turn(page, true);
      await expect.poll(() => connectionOf(page), PATIENT).toBe('Every 5 s');
      await turn(page, false);
      await expect.poll(() => connectionOf(page), PATIENT).toBe('Live');
    }));

  test('a reader whose requests of this minute are used up gets the page by itself in the next', () =>
    withTabs(1, async ([page]) => {
      if (!page) return expect.unreachable();
      await page.goto('/status', PATIENT);
      await page.getByRole('table').first().waitFor(PATIENT);
      const used = `(async () => {
      for (;;) if ((await fetch('/v1/api/auth/me')).status === 429) return;
    })()`;
      await page.evaluate(used);
      await page.goto(address(), PATIENT);
      await page.getByText('Rate limit exceeded').first().waitFor(PATIENT);
      await showsMarket(page);
    }));
}
