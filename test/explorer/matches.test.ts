import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BareService, LISTED, MARKET, type Reader, startBareService } from './bare-service.ts';

let service: BareService;
beforeAll(async () => {
  service = await startBareService();
}, 120_000);
afterAll(() => service?.close());

const side = (platform: string, id: string, title: string, prices: readonly [number, number]) => ({
  id: `${platform}:${id}`,
  platform,
  platform_id: id,
  title,
  outcome_name: null,
  status: 'open',
  outcomes: [
    { id: 'yes', name: 'Yes' },
    { id: 'no', name: 'No' },
  ],
  current_prices: Object.fromEntries(
    ['yes', 'no'].map((outcome, n) => [outcome, { price: prices[n], bid: null, ask: null }]),
  ),
  event_id: 'RAIN',
  event_name: '',
  category: 'Climate',
  volume_24h: null,
  trading_end_at: null,
  source_url: '',
});
const own = side('kalshi', 'KXONE', 'Will it rain?', [0.4, 0.6]);
const reason = { field: 'window', a: 'in May', b: 'by May 31, 2027', verdict: 'same' };
const match = (relation: string, id: string, mapping: object[]) => ({
  id,
  relation,
  verdict: { by: 'rules', decision: null, note: null, given_at: null, is_on_older_texts: false },
  rules_relation: relation,
  kind: 'weather',
  a: own,
  b: side('polymarket', id, `${relation} of it`, [0.57, 0.43]),
  mapping,
  reasons: [reason],
  rules_version: 2,
  found_at: '2026-11-20T10:00:00.000Z',
  checked_at: '2026-11-20T10:00:00.000Z',
});
const turned = match('complement', 'turned', [
  { a: 'yes', b: 'no' },
  { a: 'no', b: 'yes' },
]);
const near = match('subset', 'near', []);
const matches = { matches: [near, turned], events: [], pagination: { next_cursor: null, total: 2 }, meta: {} };

async function reader(): Promise<Reader> {
  const made = await service.signedIn();
  await made.list(LISTED);
  await made.answer('markets/id/KXONE', { ...LISTED, markets: [{ ...MARKET, event_id: 'RAIN' }] });
  await made.answer('matches\\?', matches);
  return made;
}

test('a market shows prices elsewhere in its own terms, and no number of a question that is only near it', async () => {
  const { page } = await reader();
  await page.goto('/market/kalshi:KXONE');
  const panel = page.locator('section.matches');
  const [first, second] = [panel.locator('.match-list > li').nth(0), panel.locator('.match-list > li').nth(1)];
  await first.waitFor();
  expect(await first.innerText()).toContain('The opposite question');
  const prices = await first.locator('tbody .number').allInnerTexts();
  // Yes here is No there: 0.43, not the 0.57 of their Yes.
  expect(prices.filter((text) => /\d/.test(text))).toEqual([
    expect.stringContaining('40'),
    expect.stringContaining('43'),
  ]);
  expect(await second.innerText()).toContain('If this is Yes, so is that');
  expect(await second.locator('table').count()).toBe(0);
  await first.locator('summary').click();
  expect(await first.locator('dd').allInnerTexts()).toEqual([
    expect.stringContaining('in May'),
    expect.stringContaining('by May 31, 2027'),
  ]);
}, 60_000);

test('what both sides cost is asked of the platforms once somebody wants it', async () => {
  const { page, answer } = await reader();
  let asked = 0;
  page.on('request', (request) => (asked += request.url().includes('matches/gaps') ? 1 : 0));
  await answer('matches/gaps', {
    matches: [
      {
        match_id: 'turned',
        relation: 'complement',
        a: { id: own.id, platform: 'kalshi', outcome: 'yes' },
        b: { id: turned.b.id, platform: 'polymarket', outcome: 'yes' },
        as_of: '2026-11-20T10:00:00.000Z',
        size: 100,
        is_whole: true,
        fees_usd: 1.5,
        locked_usd: 98.5,
        locked_until: null,
        edge_usd: 1.5,
        edge: 0.015,
        unknown_because: null,
      },
    ],
    meta: {},
  });
  await page.goto('/market/kalshi:KXONE');
  const button = page.getByRole('button', { name: 'What both sides cost' });
  await button.waitFor();
  expect(asked).toBe(0);
  await button.click();
  await page.locator('section.matches').getByText('98.5').first().waitFor();
  expect(asked).toBe(1);
}, 60_000);

test('a user confirms a pair from the side of the page, refuses it, and takes that back', async () => {
  const { page } = await reader();
  const sent: string[] = [];
  const verdict = { by: 'user', note: null, given_at: '2026-11-21T10:00:00.000Z', is_on_older_texts: false };
  await page.route(/matches\/near\/verdict/, async (route) => {
    const body = route.request().postData() ?? '';
    sent.push(`${route.request().method()} ${body}`);
    const decision = body.includes('refuse') ? 'refuse' : 'confirm';
    const relation = decision === 'refuse' ? 'unknown' : 'superset';
    const given = { ...near, relation, verdict: { ...verdict, decision } };
    await route.fulfill({ json: { match: body === '' ? near : given, meta: {} } });
  });
  await page.goto('/market/kalshi:KXONE');
  const pair = page.locator('section.matches .match-list > li').nth(1);
  await pair.locator('summary').click();
  await pair.getByRole('combobox').selectOption('superset');
  await pair.getByRole('textbox').fill('by hand');
  await pair.getByRole('button', { name: 'Confirm' }).click();
  await pair.getByText('You confirmed this pair').waitFor();
  expect(await pair.innerText()).toContain('by the rules: if this is yes, so is that');
  expect(await pair.innerText()).toContain('If that is Yes, so is this');
  await pair.getByRole('button', { name: 'Refuse' }).click();
  await pair.getByText('You refused this pair').waitFor();
  await pair.getByRole('button', { name: 'Take back' }).click();
  await pair.getByText('You refused this pair').waitFor({ state: 'detached' });
  expect(sent.map((text) => text.slice(0, 70))).toEqual([
    'POST {"decision":"confirm","relation":"superset","note":"by hand"}',
    expect.stringMatching(/^POST {"decision":"refuse"/),
    'DELETE ',
  ]);
}, 60_000);

const eventSide = (platform: string, id: string, only: string[]) => ({
  platform,
  event_id: id,
  event_name: `${id} there`,
  without_partner: only.map((title) => ({ id: `${platform}:${title}`, title, outcome_name: null, status: 'open' })),
  without_partner_total: only.length,
});

test('an event shows the event elsewhere that asks the same, and what only one of both asks', async () => {
  const { page, answer } = await reader();
  const event = {
    id: 'kalshi:RAIN',
    platform: 'kalshi',
    event_id: 'RAIN',
    title: 'Rain',
    status: 'open',
    category: 'Climate',
    markets_count: 1,
    open_markets: 1,
    mutually_exclusive: null,
    volume_24h_usd: null,
    volume_total_usd: null,
    liquidity_usd: null,
    usd_markets: { volume_24h: 0, volume_7d: 0, volume_total: 0, liquidity: 0 },
    source_url: '',
    image_url: '',
  };
  await answer('events/RAIN', { event, markets: [{ ...MARKET, event_id: 'RAIN' }], meta: {} });
  const pair = { match_id: 'turned', relation: 'complement', verdict_by: 'rules', a: own.id, b: turned.b.id };
  const events = [
    {
      is_whole: false,
      a: eventSide('kalshi', 'RAIN', ['Snow']),
      b: eventSide('polymarket', 'wet', []),
      pairs: [pair, pair],
    },
  ];
  await answer('matches\\?', { ...matches, events });
  await page.goto('/event/kalshi%3ARAIN');
  const shown = page.locator('section.matches .matched-events > li').first();
  await shown.getByText('2 markets are the same questions').waitFor();
  expect(await shown.getByRole('link', { name: 'wet there' }).getAttribute('href')).toBe('/event/polymarket%3Awet');
  await shown.getByText('Only here: 1').click();
  expect(await shown.getByRole('link', { name: 'Snow' }).getAttribute('href')).toBe('/market/kalshi%3ASnow');
  expect(await shown.getByText('Only there').count()).toBe(0);
}, 60_000);
