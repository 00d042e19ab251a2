import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FEEDS, healthOf, LISTED, MARKET, type Reader } from './bare-service.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 60_000 };
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

let reader: Reader;
let page: Page;
eachReader(async (opened) => {
  reader = opened;
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
});

/** Keeps the texts that are drawn on canvases. */
const KEEP_DRAWN = `{
  const draw = CanvasRenderingContext2D.prototype.fillText;
  globalThis.drawn = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    globalThis.drawn.push(text);
    return draw.call(this, text, ...at);
  };
}`;

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

test(
  'the last trades show each figure within their panel at any width, beside long names and amounts',
  async () => {
    const trader = { address: `0x${'ab'.repeat(20)}`, name: 'avisitorwithalongname', pseudonym: '', profile_image: '' };
    const long = { trader, price: 0.4312, size: 15_632.5, notional_value: 112_530.25 };
    await reader.answer('trades/whales', {
      trades: Array.from({ length: 40 }, (_, n) => trade(String(n), long)),
      meta: { data_freshness: null },
    });
    await page.goto('/market/kalshi%3AKXONE');
    await page.locator('.tape tbody tr').nth(1).waitFor(PATIENT);
    for (const width of [1440, 1200, 1024, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const beyond = await page.locator('.tape .scroll').evaluate((box) => box.scrollWidth - box.clientWidth);
      expect([width, beyond]).toEqual([width, 0]);
    }
  },
  TEST_MS,
);

test(
  'the query of the chart has the choices of the chart or its title beside it at any width',
  async () => {
    await page.goto('/market/kalshi%3AKXONE');
    await page.locator('.history .legend data').first().waitFor(PATIENT);
    for (const width of [1440, 1200, 1024, 920, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const alone = await page.locator('.history > header').evaluate((head) => {
        const query = [...head.querySelectorAll('button.quiet')][0]!.getBoundingClientRect();
        const middle = (query.top + query.bottom) / 2;
        return [...head.querySelectorAll(':scope > h2, .choice')].every((other) => {
          const { top, bottom } = other.getBoundingClientRect();
          return middle < top || middle > bottom;
        });
      });
      expect([width, alone]).toEqual([width, false]);
    }
  },
  TEST_MS,
);

test(
  'the wallet of a trade opens its page, and once it is watched the tape shows its trades alone',
  async () => {
    const address = '0x23607dcccfc5f457f2e5baa285fcfc836d091858';
    const trader = { address, name: 'sturdypebble', pseudonym: '', profile_image: '' };
    const trades = [trade('a', { trader }), trade('b', { price: 0.41 })];
    await reader.answer('trades/whales', { trades, meta: { data_freshness: null } });
    // Without an SQL port.
    await reader.answer('sql', { error: { status: 404, message: 'Not found' } }, 404);
    const figures = { address, names: ['sturdypebble'], trades: 7, volume_usd: 12.5, markets: 2 };
    const times = { first_trade_at: null, last_trade_at: null, complete_from: null };
    const top = { id: 'polymarket:540220', platform: 'polymarket', market_id: '540220', title: 'Will it snow?' };
    const most = { ...top, outcome_name: null, trades: 3, volume_usd: 12.5, last_trade_at: '2026-11-20T10:00:00.000Z' };
    const wallet = { wallet: { ...figures, ...times }, top_markets: [most], meta: {} };
    await reader.answer(`wallets/${address}\\?`, wallet);
    await reader.answer(`wallets/${address}/trades`, { trades: [], meta: { errors: [] } });
    const position = {
      platform: 'polymarket',
      token_id: '1',
      market_id: '540217',
      title: 'Will it rain?',
      label: 'Yes',
      shares_normalized: 10,
      average_price: 0.4,
      current_price: 0.5,
      value_usd: 5,
      pnl_usd: null,
    };
    await reader.answer(`wallets/${address}/positions`, { positions: [position], meta: { errors: [] } });
    await page.goto('/market/kalshi%3AKXONE');
    await page.locator('.tape').getByRole('link', { name: 'sturdypebble' }).click(PATIENT);
    await page.waitForURL(new RegExp(`/wallet/${address}$`), PATIENT);
    await page.getByRole('heading', { level: 1, name: /sturdypebble/ }).waitFor(PATIENT);
    const row = page.getByRole('row').filter({ hasText: 'Will it rain?' });
    await expect.poll(() => row.innerText(), PATIENT).toMatch(/10\.00[^]*0\.50[^]*\$5\.00[^]*–/);
    const traded = page.getByRole('row').filter({ hasText: 'Will it snow?' });
    await expect.poll(() => traded.innerText(), PATIENT).toMatch(/3\s+\$12\.50/);
    const star = page.getByRole('button', { name: 'Watch this wallet' });
    await star.click();
    await expect.poll(() => star.getAttribute('aria-pressed'), PATIENT).toBe('true');
    await page.goto('/market/kalshi%3AKXONE');
    await page.getByRole('button', { name: /Watched/ }).click(PATIENT);
    await page.waitForURL(/wallets=watched/);
    await expect.poll(() => page.locator('.tape tbody tr').count(), PATIENT).toBe(1);
    expect(await page.locator('.tape .wallet').innerText()).toContain('★');
  },
  TEST_MS,
);

/** The ticket with a key and a size of 10; the bodies that it sends. A check of an order answers its worst price and its most cost. */
async function openTicket(worst = 0.41, usd = 4.1) {
  await reader.answer('markets/id/KXONE', { ...LISTED, markets: [RAIN] });
  await reader.answer('markets/id/KXONE/orderbook', { data: BOOK });
  const sent: Record<string, unknown>[] = [];
  await page.route(/\/v1\/api\/orders$/, (route) => {
    const body = route.request().postDataJSON() as Record<string, unknown>;
    sent.push(body);
    const isDry = body['dry_run'] === true;
    const { side, type } = body;
    const order = { order_id: 'o-1', status: isDry ? 'pending' : 'open', side, type, price: worst, size: 10 };
    const worst_case = { usd, fee_usd: 0.17 };
    return route.fulfill({ status: isDry ? 200 : 201, json: { order, meta: isDry ? { worst_case } : {} } });
  });
  await page.goto('/market/kalshi%3AKXONE');
  const ticket = page.locator('.ticket');
  await ticket.getByRole('button', { name: 'Trade' }).click(PATIENT);
  await ticket.getByRole('button', { name: 'Stop trading' }).waitFor(PATIENT);
  await ticket.getByRole('button', { name: /^Make a key/ }).click();
  await expect.poll(() => ticket.getByPlaceholder('pk_…').inputValue(), PATIENT).toMatch(/^pk_/);
  await ticket.getByLabel('Size').fill('10');
  return { sent, ticket };
}

test(
  'an order is checked first, says what it costs at worst, and is sent once by the second click',
  async () => {
    const { sent, ticket } = await openTicket();
    await ticket.getByLabel(/^Price/).fill('0.41');
    await ticket.getByRole('button', { name: 'Check the order' }).click();
    const text = () => ticket.locator('.checked').innerText();
    await expect.poll(text, PATIENT).toMatch(/Costs at most\s+\$4\.10\s+Fee as a taker\s+\$0\.17\s+Both\s+\$4\.27/);
    await ticket.getByRole('button', { name: 'Buy 10 Yes', exact: true }).click();
    await ticket.getByText('Your orders').waitFor(PATIENT);
    expect(await ticket.locator('.checked').count()).toBe(0);
    const [check, order] = sent;
    expect(check).toEqual({ ...order, dry_run: true });
    expect(order).toMatchObject({ platform: 'kalshi', market_id: 'KXONE', side: 'buy', outcome: 'yes', price: '0.41' });
    expect([sent.length, String(order?.['idempotency_key'])]).toEqual([2, expect.stringMatching(/^[0-9a-f]{32}$/)]);
  },
  TEST_MS,
);

test(
  'what an order costs at most is shown with all its digits',
  async () => {
    const { ticket } = await openTicket(0.41, 12_349.9912);
    await ticket.getByLabel(/^Price/).fill('0.41');
    await ticket.getByRole('button', { name: 'Check the order' }).click();
    const text = () => ticket.locator('.checked').innerText();
    await expect.poll(text, PATIENT).toMatch(/Costs at most\s+\$12,349\.9912\s+.*\s+Both\s+\$12,350\.1612/s);
  },
  TEST_MS,
);

test(
  'the ticket states whether orders are accepted once it knows, and why it could not stop them',
  async () => {
    const settings = /\/v1\/api\/auth\/order-settings$/;
    const json = { error: { code: 'internal', message: 'The store is away.', resolution: 'Try again.' } };
    await page.route(settings, (route) => route.fulfill({ status: 503, json }));
    await reader.answer('markets/id/KXONE', { ...LISTED, markets: [RAIN] });
    await reader.answer('markets/id/KXONE/orderbook', { data: BOOK });
    await page.goto('/market/kalshi%3AKXONE');
    const ticket = page.locator('.ticket');
    await ticket.getByRole('button', { name: 'Trade' }).click(PATIENT);
    await ticket.getByText('The store is away.').waitFor(PATIENT);
    expect(await ticket.getByText('Orders are accepted.').count()).toBe(0);
    await page.unroute(settings);
    await page.reload();
    await ticket.getByRole('button', { name: 'Trade' }).click(PATIENT);
    const stop = ticket.getByRole('button', { name: 'Stop trading' });
    await stop.waitFor(PATIENT);
    await page.route(settings, (route) => route.fulfill({ status: 503, json }));
    await stop.click();
    await ticket.getByText('The store is away.').waitFor(PATIENT);
  },
  TEST_MS,
);

test(
  'a market order is sent with the worst price that was shown, whatever the book offers by then',
  async () => {
    const { sent, ticket } = await openTicket();
    await ticket.getByRole('button', { name: 'Market', exact: true }).click();
    await ticket.getByRole('button', { name: 'Check the order' }).click();
    await ticket.getByRole('button', { name: 'Buy 10 Yes', exact: true }).click(PATIENT);
    await ticket.getByText('Your orders').waitFor(PATIENT);
    const [check, order] = sent;
    expect(check).toMatchObject({ type: 'market', dry_run: true });
    expect(order).toMatchObject({ type: 'market', price: '0.41', idempotency_key: check?.['idempotency_key'] });
  },
  TEST_MS,
);

test(
  'a market order that cannot be limited to the worst price that was shown is not offered',
  async () => {
    const { sent, ticket } = await openTicket(0.995);
    await ticket.getByRole('button', { name: 'Market', exact: true }).click();
    await ticket.getByRole('button', { name: 'Check the order' }).click();
    await ticket.getByText('Place a limit order instead').waitFor(PATIENT);
    expect(await ticket.getByRole('button', { name: 'Buy 10 Yes', exact: true }).count()).toBe(0);
    expect(sent).toHaveLength(1);
  },
  TEST_MS,
);

test(
  'a checked order is not offered under the name of the other outcome',
  async () => {
    const { sent, ticket } = await openTicket();
    await ticket.getByLabel(/^Price/).fill('0.41');
    await ticket.getByRole('button', { name: 'Check the order' }).click();
    await ticket.getByRole('button', { name: 'Buy 10 Yes', exact: true }).waitFor(PATIENT);
    await page.getByRole('group', { name: 'Outcome' }).getByRole('button', { name: 'No' }).click();
    await ticket.getByRole('button', { name: 'Buy No', exact: true }).waitFor(PATIENT);
    expect(await ticket.locator('.checked').count()).toBe(0);
    await ticket.getByRole('button', { name: 'Check the order' }).click();
    await ticket.getByRole('button', { name: 'Buy 10 No', exact: true }).click(PATIENT);
    await ticket.getByText('Your orders').waitFor(PATIENT);
    expect(sent.map(({ outcome }) => outcome)).toEqual(['yes', 'no', 'no']);
  },
  TEST_MS,
);

test(
  'the chart is saved as a picture and as CSV, and the book is shown as depth and at a past instant',
  async () => {
    await page.goto('/market/kalshi%3AKXONE');
    const saved = async (name: string) => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return file.suggestedFilename();
    };
    await page.getByRole('button', { name: 'Save as CSV' }).waitFor(PATIENT);
    expect(await saved('Save as CSV')).toMatch(/^KXONE_.*\.csv$/);
    expect(await saved('Save as PNG')).toMatch(/^KXONE_.*\.png$/);
    await page.getByRole('button', { name: 'Depth' }).click();
    await expect
      .poll(() => page.locator('.depths .bids').getAttribute('points'), PATIENT)
      .toBe('140.4,200 140.4,0 0,0 0,200 140.4,200');
    const past = { ...BOOK, yes: { bids: [level(0.2, 3)], asks: [], depth: 3 } };
    const gap = { from: '2026-11-18T11:00:00.000Z', to: '2026-11-18T11:10:00.000Z', reason: 'socket closed' };
    const recorded = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-19T00:00:00.000Z', gap };
    await reader.answer('markets/id/KXONE/orderbook\\?.*at=1795000000000', { data: past, meta: { recorded } });
    await page.getByLabel('Recorded book at, UTC').fill('2026-11-18T11:06:40');
    await page.waitForURL(/at=2026-11-18/);
    await page.getByRole('button', { name: 'Ladder' }).click();
    await expect.poll(() => valuesOf('.ladder .price'), PATIENT).toEqual(['0.2']);
    const times = page.locator('.book .foot time');
    const instants = await times.evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
    expect(instants).toEqual([BOOK.timestamp, '2026-11-18T11:06:40.000Z', gap.from, gap.to]);
    expect(await page.locator('.book .warn').innerText()).toContain('(socket closed)');
  },
  TEST_MS,
);

test(
  'the newest open interest is on its axis however low its pane is, and amounts of a bucket have two decimals',
  async () => {
    const held = [
      { ...BAR, open_interest: 1000 },
      { ...BAR, timestamp: now - 3600, open_interest: 88_593.73, volume: 85_514.125053 },
    ];
    await reader.answer('metrics/historical', { data: held, meta: { complete: true, data_freshness: null } });
    await page.addInitScript(KEEP_DRAWN);
    await page.setViewportSize({ width: 768, height: 900 });
    await page.goto('/market/kalshi%3AKXONE');
    await page.locator('.history .legend data').first().waitFor(PATIENT);
    await expect.poll(() => page.evaluate('globalThis.drawn'), PATIENT).toContain('88.59K');
    const texts = await page.locator('.history .legend data').allInnerTexts();
    expect(texts.slice(6).map((text) => text.split(' ')[0])).toEqual(['85,514.13', '1', '88,593.73']);
  },
  TEST_MS,
);
