import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { FEEDS, healthOf, LISTED, MARKET, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 60_000 };

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
  ({ page } = reader);
  await reader.answer('analytics/trending', { error: { status: 503, message: 'Not yet' } }, 503);
  await reader.answer('analytics/calibration', { error: { status: 503, message: 'Not yet' } }, 503);
  await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
  await reader.list(LISTED);
});

const panel = (title: string) => page.locator('section.panel', { has: page.getByRole('heading', { name: title }) });
const rowsOf = (title: string) => panel(title).locator('tbody tr').allInnerTexts();
const cells = (rows: readonly string[]): string[][] => rows.map((row) => row.split('\t').map((cell) => cell.trim()));

const category = (name: string, usd: number | null, known: number, contracts: number) => ({
  name,
  slug: name.toLowerCase(),
  active_markets: 2,
  total_markets: 5,
  volume_24h: contracts,
  volume_7d: contracts,
  volume_24h_usd: usd,
  volume_7d_usd: usd,
  usd_markets: { volume_24h: known, volume_7d: known, volume_total: 0, liquidity: 0 },
  avg_spread: null,
  platforms: ['kalshi'],
});

test(
  'volumes of categories and platforms are sums in USD, in their order, and say of how many markets they are known',
  async () => {
    // A thousand contracts at one cent are 10 USD.
    const categories = [
      category('Crypto', 10, 5, 1000),
      category('Sports', null, 0, 500),
      category('Culture', 40, 2, 50),
    ];
    const meta = { total_active_markets: 6, total_volume_24h: 1550, as_of: null, data_freshness: null };
    await reader.answer('analytics/categories', { categories, meta });
    await page.goto('/overview');
    await expect
      .poll(async () => cells(await rowsOf('Volume by category')), PATIENT)
      .toEqual([
        ['Culture', '2', '–', '$40.00 (of 2 markets)'],
        ['Crypto', '2', '–', '$10.00'],
        ['Sports', '2', '–', '–'],
      ]);
    expect(await panel('Volume by category').locator('.foot').innerText()).toMatch(/^Total \$50\.00 \(of 7 markets\)/);
    await expect
      .poll(async () => cells(await rowsOf('Volume by platform')), PATIENT)
      .toEqual([['Kalshi', '6', '$50.00 (of 7 markets)', '$50.00 (of 7 markets)']]);
  },
  TEST_MS,
);

const trendingVolumes = async () => cells(await rowsOf('Trending')).map((row) => row.at(-1));
const trending = (platform: string, volume: number) => ({
  market_id: 'ONE',
  platform,
  title: `Will it rain on ${platform}?`,
  category: 'Climate',
  status: 'open',
  url: '',
  image_url: '',
  current_price: { yes: 0.4, no: 0.6 },
  change: { volume_24h: volume, volume_change_percent: 10, price_change_24h: 0, price_change_percent: 0 },
  metrics: { total_volume: null, liquidity: null, open_interest: null },
});

test(
  'a trending volume is shown once its unit is known: contracts and other tokens never have a dollar sign',
  async () => {
    const rows = [trending('kalshi', 1500), trending('polymarket', 200), trending('limitless', 30)];
    const meta = { total_markets_analyzed: 2, as_of: null, data_freshness: null, data_completeness: {} };
    await reader.answer('analytics/trending', { trending: rows, meta });
    const held: Route[] = [];
    await page.route(/\/v1\/api\/markets\?.*market_ids=ONE/, (route) => void held.push(route));
    await page.goto('/overview');
    await expect.poll(() => held.length, PATIENT).toBe(rows.length);
    expect(await trendingVolumes()).toEqual(['–', '–', '–']);
    for (const route of held) {
      const platform = new URL(route.request().url()).searchParams.get('provider') ?? '';
      const metadata = { volume_basis: { kalshi: 'contracts', polymarket: 'usd', limitless: 'raw' }[platform] };
      await route.fulfill({ json: { ...LISTED, markets: [{ ...MARKET, id: `${platform}:ONE`, metadata }] } });
    }
    await expect.poll(trendingVolumes, PATIENT).toEqual(['1,500.00 ct', '$200.00', '30.00']);
  },
  TEST_MS,
);

test(
  'the list of trending markets says what it is ordered by, which is none of its columns',
  async () => {
    const meta = { total_markets_analyzed: 2, as_of: null, data_freshness: null, data_completeness: {} };
    await reader.answer('analytics/trending', { trending: [trending('kalshi', 1500)], meta });
    for (const what of ['volume', 'price']) {
      await page.goto(`/overview?by=${what}`);
      await expect
        .poll(() => panel('Trending').locator('.foot').innerText(), PATIENT)
        .toMatch(`Ordered by the change of ${what} in percent.`);
    }
  },
  TEST_MS,
);

test(
  'markets that were settled last are listed without an SQL port, with what they paid',
  async () => {
    await reader.answer('sql', { error: { status: 404, message: 'Not found' } }, 404);
    const settled = {
      ...MARKET,
      title: 'Did it rain?',
      status: 'settled',
      resolved_at: '2026-11-20T10:00:00.000Z',
      metadata: { payouts: { yes: 1 } },
    };
    await page.route(/\/v1\/api\/search\?types=markets&status=settled&sort=resolved&limit=15$/, (route) =>
      route.fulfill({ json: { ...LISTED, results: [{ type: 'market', market: settled }] } }),
    );
    await page.goto('/overview?list=settled');
    await expect
      .poll(async () => cells(await rowsOf('Settled markets')).map((row) => [row[0], row.at(-1)]), PATIENT)
      .toEqual([[expect.stringContaining('Did it rain?'), '1.00']]);
  },
  TEST_MS,
);

test(
  'the page of the state shows what is stored and how jobs ended without an SQL port',
  async () => {
    await reader.answer('sql', { error: { status: 404, message: 'Not found' } }, 404);
    const at = '2026-11-20T10:00:00.000Z';
    const [feed] = FEEDS;
    const stored = { markets: 1200, open_markets: 300, trades: 45_000, first_trade_at: at, last_trade_at: at };
    const jobs = [
      { name: 'markets', status: 'ok', finished_at: at, note: '' },
      { name: 'trades', status: 'failed', finished_at: at, note: 'maintenance until noon' },
    ];
    await reader.answer('health', healthOf([{ ...feed, stored, jobs }]));
    await page.goto('/status');
    await expect
      .poll(async () => cells(await rowsOf('Stored data')).map((row) => row.slice(0, 4)), PATIENT)
      .toEqual([['Kalshi', '1,200', '300', '45,000']]);
    const ended = cells(await rowsOf('Jobs, last run')).map((row) => row.slice(0, 3));
    expect(ended).toEqual([['Kalshi', 'markets', 'ok'], ['Kalshi', 'trades', 'failed'], ['maintenance until noon']]);
  },
  TEST_MS,
);

const game = (id: string, trading_end_at: string) => ({ ...MARKET, id, title: 'Pines vs. Mesa', trading_end_at });
const namesIn = async (title: string) => cells(await rowsOf(title)).map(([name]) => name);

test(
  'games of one title are told apart by the day on which their trading ends, in new markets and in trending ones',
  async () => {
    const games = [game('kalshi:ONE', '2026-12-01T18:00:00Z'), game('kalshi:TWO', '2026-12-03T18:00:00Z')];
    await reader.list({ ...LISTED, markets: games });
    const row = { ...trending('kalshi', 10), title: 'Pines vs. Mesa' };
    const meta = { total_markets_analyzed: 2, as_of: null, data_completeness: {} };
    const rows = [
      { ...row, market_id: 'ONE' },
      { ...row, market_id: 'TWO' },
    ];
    await reader.answer('analytics/trending', { trending: rows, meta });
    await page.goto('/overview');
    const expected = ['Kalshi Dec 1 · Pines vs. Mesa', 'Kalshi Dec 3 · Pines vs. Mesa'];
    for (const title of ['New markets', 'Trending']) await expect.poll(() => namesIn(title), PATIENT).toEqual(expected);
  },
  TEST_MS,
);
