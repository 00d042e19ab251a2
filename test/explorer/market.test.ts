import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { waitsInRealTime } from '../helpers/real-time.ts';
import { type BareService, FEEDS, healthOf, LISTED, MARKET, type Reader, startBareService } from './bare-service.ts';

waitsInRealTime('pages are drawn in a browser');

const PATIENT = { timeout: 60_000 };
const TEST_MS = 200_000;
const RAIN = {
  ...MARKET,
  outcomes: [
    { id: 'yes', name: 'Yes' },
    { id: 'no', name: 'No' },
  ],
  current_prices: { yes: { price: 0.4, bid: 0.39, ask: 0.41 }, no: { price: 0.6, bid: 0.59, ask: 0.61 } },
  last_synced_at: '2026-11-20T10:00:00.000Z',
  trading_start_at: null,
  resolution_date: null,
  resolved_at: null,
  source_url: '',
  description: '',
  resolution_criteria: '',
  resolution_source: '',
  image_url: '',
};
const level = (price: number, size = 10) => ({ price, size });
const BOOK = {
  timestamp: '2026-11-20T10:00:00.000Z',
  yes: { bids: [level(0.39)], asks: [level(0.41)], depth: 20 },
  no: { bids: [level(0.59)], asks: [level(0.61)], depth: 20 },
};
const trade = (trade_id: string, change: object) => ({
  trade_id,
  platform: 'kalshi',
  market_id: 'KXONE',
  market_title: RAIN.title,
  outcome_name: null,
  side: 'buy',
  outcome: 'yes',
  price: 0.4,
  size: 5,
  notional_value: 2,
  timestamp: 1_795_000_000,
  transaction_hash: '',
  trader: { address: '', name: '', pseudonym: '', profile_image: '' },
  metadata: {},
  ...change,
});
const now = Math.floor(Date.now() / 60_000) * 60;
const BAR = {
  timestamp: now - 7200,
  price: { open: 0.3, high: 0.45, low: 0.28, close: 0.4, mean: null },
  volume: 5,
  open_interest: null,
  trade_count: 1,
  notional_value: 2,
  liquidity: { best_bid: 0.39, best_ask: 0.41, spread: 0.02, midpoint: 0.4 },
};

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
  const failed = { error: { status: 503, message: 'Not yet' } };
  await reader.answer('analytics/', failed, 503);
  await reader.answer('metrics/snapshot', failed, 503);
  await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
  await reader.answer('metrics/historical', {
    data: [BAR, { ...BAR, timestamp: now - 3600 }],
    meta: { complete: true, data_freshness: null },
  });
  const trades = [trade('a', { side: 'buy', outcome: 'no', price: 0.6 }), trade('b', { side: 'sell', outcome: 'no' })];
  await reader.answer('trades/whales', { trades, meta: { data_freshness: null } });
  await reader.answer('markets/id/KXONE', { ...LISTED, markets: [RAIN] });
  await reader.answer('markets/id/KXONE/orderbook', { data: BOOK });
}, TEST_MS);
afterEach(() => reader.context.close());

const valuesOf = (selector: string): Promise<string[]> =>
  page.locator(selector).evaluateAll((all) => all.map((one) => one.getAttribute('value') ?? ''));

test(
  'the choice beside the book turns book, tape and chart to the other outcome, and stays in the address',
  async () => {
    await page.goto('/market/kalshi%3AKXONE');
    await page.locator('.tape tbody tr').nth(1).waitFor(PATIENT);
    await page.locator('.history .legend data').first().waitFor(PATIENT);
    const prices = '.tape td:nth-child(3) data';
    const moves = () => page.locator('.tape td:nth-child(3)').evaluateAll((all) => all.map((one) => one.className));
    expect(await valuesOf(prices)).toEqual(['0.4', '0.6']);
    expect(await moves()).toEqual(['number down', 'number up']);
    expect((await valuesOf('.history .legend data')).slice(0, 6)).toEqual([
      '0.3',
      '0.45',
      '0.28',
      '0.4',
      '0.39',
      '0.41',
    ]);
    await page.getByRole('group', { name: 'Outcome' }).getByRole('button', { name: 'No' }).click();
    await page.waitForURL(/outcome=no/);
    await expect.poll(() => valuesOf(prices), PATIENT).toEqual(['0.6', '0.4']);
    expect(await moves()).toEqual(['number up', 'number down']);
    expect(await valuesOf('.ladder tbody:first-of-type .price')).toEqual(['0.61']);
    await expect
      .poll(async () => (await valuesOf('.history .legend data')).slice(0, 6), PATIENT)
      .toEqual(['0.7', '0.72', '0.55', '0.6', '0.59', '0.61']);
    expect(await page.locator('.history > header h2').first().innerText()).toBe('Price of No');
  },
  TEST_MS,
);
