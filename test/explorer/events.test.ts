import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FEEDS, foundOf, healthOf, LISTED, MARKET, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 60_000 };
const EVENT = {
  platform: 'kalshi',
  series_id: '',
  category: 'Politics',
  tags: [],
  status: 'open',
  markets_count: 3,
  open_markets: 3,
  volume_24h: 100,
  volume_total: 200,
  volume_24h_usd: 100,
  volume_7d_usd: null,
  volume_total_usd: 200,
  liquidity_usd: null,
  usd_markets: { volume_24h: 3, volume_7d: 0, volume_total: 3, liquidity: 0 },
  liquidity: null,
  mutually_exclusive: true,
  trading_end_at: null,
  image_url: '',
  source_url: '',
  market_ids: [],
};
const RACE = { ...EVENT, id: 'kalshi:RACE', event_id: 'RACE', title: 'Who will win the race?' };
const RAIN = { ...EVENT, id: 'kalshi:RAIN', event_id: 'RAIN', title: 'Will it rain?', volume_24h: 50 };
const named = (id: string, name: string, price: number) => ({
  ...MARKET,
  id: `kalshi:${id}`,
  platform_id: id,
  title: `Who will win the race? (${name})`,
  metadata: { yes_sub_title: name },
  current_prices: { yes: { price, bid: null, ask: null } },
});
const MARKETS = [named('B', 'Ben Ode', 0.3), named('A', 'Ada Reyes', 0.62), named('C', 'Carl Voss', 0.08)];

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
  ({ page } = reader);
  await reader.answer('analytics/', { error: { status: 503, message: 'Not yet' } }, 503);
  await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
});

test(
  'an event is a row with its leading markets as bars, and the keyboard moves over events and opens one',
  async () => {
    const meta = { data_freshness: null };
    // Without an SQL port.
    await reader.answer('sql', { error: { status: 404, message: 'Not found' } }, 404);
    const led = { ...RACE, leading_markets: ['A', 'B', 'C'] };
    const results = [led, RAIN].map((event) => ({ type: 'event', id: event.id, event }));
    await reader.answer('search', { results, pagination: { next_cursor: null, total: 2 }, meta });
    await reader.answer('markets', { ...LISTED, markets: MARKETS });
    await page.goto('/events');
    const race = page.locator('.event-list > li').first();
    await expect
      .poll(() => race.locator('.leaders a').allInnerTexts(), PATIENT)
      .toEqual(['Ada Reyes', 'Ben Ode', 'Carl Voss']);
    const widths = await race.locator('.bar > span').evaluateAll((all) => all.map((one) => one.getAttribute('style')));
    expect(widths).toEqual(['width: 62%;', 'width: 30%;', 'width: 8%;']);
    expect(await race.locator('.price').allInnerTexts()).toEqual(['0.62', '0.30', '0.08']);
    for (const key of ['j', 'ArrowDown', 'k', 'j']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Will it rain?');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/event\/kalshi%3ARAIN/, PATIENT);
  },
  TEST_MS,
);

test(
  'Enter in the search of events opens the first one found, and the filters go along to the list of markets',
  async () => {
    const meta = { data_freshness: null };
    const events = [{ type: 'event', id: RAIN.id, event: RAIN }];
    await reader.answer('search\\?q=rain&types=markets', foundOf(LISTED));
    await reader.answer('search\\?q=rain&types=events', {
      results: events,
      pagination: { next_cursor: null, total: 1 },
      meta,
    });
    await reader.answer('markets', LISTED);
    await page.goto('/?q=rain&platform=kalshi');
    await page.getByRole('link', { name: 'Group by event' }).click();
    await page.waitForURL(/\/events\?q=rain&platform=kalshi/, PATIENT);
    await page.locator('.event-list > li').first().waitFor(PATIENT);
    await page.keyboard.press('/');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/event\/kalshi%3ARAIN/, PATIENT);
  },
  TEST_MS,
);

test(
  'a list sorts by change, price, spread and volume in both directions, over all markets and without an SQL port',
  async () => {
    const asked: string[] = [];
    await reader.answer('sql', { error: { status: 404, message: 'Not found' } }, 404);
    await reader.list({ ...LISTED, markets: MARKETS });
    await page.route(/\/v1\/api\/search/, (route) => {
      const { searchParams } = new URL(route.request().url());
      asked.push(['sort', 'order'].flatMap((name) => searchParams.get(name) ?? []).join(' '));
      const markets = asked.length === 2 ? MARKETS.toReversed() : MARKETS;
      return route.fulfill({ json: foundOf({ ...LISTED, markets }) });
    });
    await page.goto('/?platform=kalshi');
    const names = () => page.locator('table.list td.title .own').allInnerTexts();
    await expect.poll(names, PATIENT).toEqual(['Ben Ode', 'Ada Reyes', 'Carl Voss']);
    const head = (name: RegExp) => page.locator('table.list thead').getByRole('button', { name });
    await head(/^Change/).click();
    await expect.poll(names, PATIENT).toEqual(['Carl Voss', 'Ada Reyes', 'Ben Ode']);
    const further = [/^Change/, /^Bid/, /^Bid/, /^Price/, /^Vol 24/, /^Vol 24/];
    for (const [n, name] of further.entries()) {
      await head(name).click();
      await expect.poll(() => asked.length, PATIENT).toBe(3 + n);
    }
    expect(asked).toEqual([
      'volume_24h_usd',
      'price_change_24h',
      'price_change_24h asc',
      'spread',
      'spread desc',
      'price',
      'volume_24h_usd',
      'volume_24h_usd asc',
    ]);
    expect(await page.locator('th[aria-sort="ascending"]').innerText()).toContain('Vol 24 h');
    expect(page.url()).toContain('dir=reverse');
  },
  TEST_MS,
);

/** Opens the page of an event with these figures; `bars` are those of its markets. */
async function openRace(event: object, bars: readonly object[]): Promise<void> {
  const meta = { data_freshness: null };
  await reader.answer('matches', { matches: [], events: [], pagination: { next_cursor: null, total: 0 }, meta });
  await reader.answer('events/RACE', { event: { ...RACE, ...event }, markets: MARKETS, meta });
  await reader.answer('markets/price-history', { data: bars, meta: { complete: true } });
  await page.goto('/event/kalshi:RACE');
}

test(
  'the head of an event has sums in USD, and says of how many markets where some are unknown',
  async () => {
    const usd_markets = { volume_24h: 2, volume_7d: 0, volume_total: 3, liquidity: 0 };
    await openRace({ volume_24h: null, volume_24h_usd: 1250, usd_markets }, []);
    const sums = page.getByRole('list', { name: 'Sums over its markets' }).locator('li');
    await sums.first().waitFor(PATIENT);
    const texts = (await sums.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    expect(texts).toEqual(['Volume 24 h $1,250.00 (of 2 markets)', 'Volume $200.00', 'Liquidity –']);
  },
  TEST_MS,
);

test(
  'the chart of an event names its last prices with the digits of its markets',
  async () => {
    const bars = [3600, 7200].flatMap((timestamp) =>
      MARKETS.map(({ platform_id: marketId }, n) => ({
        timestamp,
        marketId,
        price: { close: [0.1, 0.458158051, 0.0044][n] },
      })),
    );
    await openRace({}, bars);
    const values = page.locator('.lines .u-series .u-value');
    await values.nth(1).waitFor(PATIENT);
    expect((await values.allInnerTexts()).slice(1)).toEqual(['0.46', '0.10', '0.0044']);
  },
  TEST_MS,
);

test(
  'the chart of an event draws steps: a price stays until the next one',
  async () => {
    await page.addInitScript(`
      globalThis.drawn = [];
      const { lineTo } = Path2D.prototype;
      Path2D.prototype.lineTo = function (x, y) {
        drawn.push({ path: this, x, y });
        lineTo.call(this, x, y);
      };`);
    const closes = [0.3, 0.5, 0.2];
    const bars = closes.flatMap((close, n) =>
      MARKETS.map(({ platform_id: marketId }) => ({ timestamp: 3600 * (n + 1), marketId, price: { close } })),
    );
    await openRace({}, bars);
    await page.locator('.lines .u-series').nth(1).waitFor(PATIENT);
    const turns = (): Promise<unknown> =>
      page.evaluate(`(() => {
        const lines = drawn.flatMap(({ path, x, y }, n) =>
          n > 0 && drawn[n - 1].path === path ? [{ across: x - drawn[n - 1].x, up: y - drawn[n - 1].y }] : [],
        );
        return {
          hasSteps: lines.some(({ across, up }) => across === 0 && up !== 0),
          slants: lines.filter(({ across, up }) => across !== 0 && up !== 0).length,
        };
      })()`);
    await expect.poll(turns, PATIENT).toEqual({ hasSteps: true, slants: 0 });
  },
  TEST_MS,
);
