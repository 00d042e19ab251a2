import { expect, test } from 'vitest';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import { type KalshiQuery, pageIn } from '../../../src/platforms/kalshi/client.ts';
import { createOwnKalshi } from '../../../src/platforms/kalshi/own-account.ts';
import { toPosition } from '../../../src/queries/portfolio.ts';
import type { TradePosition, UserTradePage } from '../../../src/platforms/user-contract.ts';
import { readContext } from '../../fixtures/canned-http.ts';

const NOW = Date.parse('2026-11-02T03:04:05Z');
const fill = (over: object = {}) => ({
  trade_id: 't-1',
  fill_id: 't-1',
  ticker: 'KXOTTERCUP-1',
  order_id: 'o-1',
  outcome_side: 'no',
  book_side: 'ask',
  count_fp: '2.50',
  yes_price_dollars: '0.8100',
  no_price_dollars: '0.1900',
  is_taker: true,
  fee_cost: '0.027000',
  created_time: '2026-10-06T06:38:11.43625Z',
  ...over,
});

const CUTOFF = { market_settled_ts: '2026-09-03T00:00:00Z', trades_created_ts: '2026-09-03T00:00:00Z' };

/** The member's own account, whose lists are these pages by path; what it was asked for. */
function own(pages: Record<string, unknown[][]>) {
  const asked: [string, KalshiQuery][] = [];
  const context = readContext();
  const account = {
    get: async (path: string) => {
      if (path !== '/historical/cutoff') throw new Error(`not expected: ${path}`);
      return { status: 200, headers: {}, text: '', json: CUTOFF, receivedAt: new Date(NOW).toISOString() };
    },
    send: () => Promise.reject(new Error('not asked')),
    page: async (path: string, _key: string, query: KalshiQuery) => {
      asked.push([path, query]);
      const at = Number(query['cursor'] || 0);
      const list = pages[path] ?? [];
      return { rows: list[at] ?? [], next: at + 1 < list.length ? String(at + 1) : '' };
    },
  };
  return { social: createOwnKalshi(account, context, () => NOW), asked, context };
}

test('fills are purchases of the outcome they name, over all pages, newest first', async () => {
  const { social, context } = own({
    '/portfolio/fills': [
      [fill()],
      [fill({ trade_id: 't-0', outcome_side: 'yes', is_taker: false }), fill({ trade_id: 't-bad', count_fp: 'many' })],
    ],
  });
  const page = await social.userTrades('me', { limit: 10, position: null }, context);
  expect(page).toMatchObject({ user: 'me', visibility: 'public', total: 2, next: null });
  expect(page.trades).toMatchObject([
    {
      tradeId: 't-1',
      side: 'buy',
      outcome: { id: 'no' },
      price: parsePrice('0.19'),
      size: parseSize('2.5'),
      executedAtUs: Date.parse('2026-10-06T06:38:11.436Z') * 1000 + 250,
      metadata: { maker_nickname: '', maker_action: '', is_taker: true, order_id: 'o-1', fee: 0.027 },
    },
    { tradeId: 't-0', outcome: { id: 'yes' }, price: parsePrice('0.81'), metadata: { is_taker: false } },
  ]);
  expect(context.badRows).toHaveLength(1);
});

test.each([
  ['a price in cents', { yes_price_dollars: '81' }],
  ['a price below 0', { no_price_dollars: '-0.1900' }],
  ['a size of 0', { count_fp: '0.00' }],
])('a fill with %s is left out, and the list is not whole', async (_, odd) => {
  const { social, context } = own({ '/portfolio/fills': [[fill(), fill({ trade_id: 't-bad', ...odd })]] });
  const { trades, isTotal } = await social.userTrades('me', { limit: 10, position: null }, context);
  expect([trades.map(({ tradeId }) => tradeId), isTotal]).toEqual([['t-1'], false]);
  expect(context.badRows).toMatchObject([{ id: 't-bad' }]);
});

test.each([
  [{ outcome_side: null, book_side: 'bid' }, 'yes', '0.81'],
  [{ outcome_side: undefined, book_side: 'ask' }, 'no', '0.19'],
  [{ outcome_side: 'left', book_side: 'bid' }, 'yes', '0.81'],
])('a fill with the sides %j is in %s', async (sides, id, price) => {
  const { social, context } = own({
    '/portfolio/fills': [[fill(sides), fill({ outcome_side: null, book_side: null })]],
  });
  const { trades } = await social.userTrades('me', { limit: 10, position: null }, context);
  expect(trades).toMatchObject([{ outcome: { id }, price: parsePrice(price) }]);
});

test('an odd field of a fill costs that field alone', async () => {
  const odd = fill({ order_id: {}, is_taker: 'x', fee_cost: 'much' });
  const { social, context } = own({ '/portfolio/fills': [[odd]] });
  const { trades, isTotal } = await social.userTrades('me', { limit: 10, position: null }, context);
  expect(trades.map(({ metadata }) => metadata)).toEqual([{ maker_nickname: '', maker_action: '', order_id: '' }]);
  expect(isTotal).toBe(true);
  expect(context.badRows.map(({ field }) => field)).toEqual(['order_id', 'is_taker', 'fee_cost']);
});

const of = (id: string, day: string) => fill({ trade_id: id, created_time: `2026-${day}T06:38:11.43625Z` });

test('trades go on in the archive where the live list ends, each once, over all of our pages', async () => {
  const { social, asked, context } = own({
    '/portfolio/fills': [[of('t-5', '10-06')], [of('t-4', '09-03')]],
    '/historical/fills': [[of('t-4', '09-03'), of('t-3', '09-01')], [], [of('t-2', '08-01'), of('t-1', '07-01')]],
  });
  const ids: string[] = [];
  let position: TradePosition | null = null;
  let page: UserTradePage;
  do {
    page = await social.userTrades('me', { limit: 2, position }, context);
    ids.push(...page.trades.map(({ tradeId }) => tradeId));
    position = page.next;
    // Exact only once the archive has ended too.
    expect(page.isTotal).toBe(ids.includes('t-3') && page.total === 5);
  } while (position !== null);
  expect(ids).toEqual(['t-5', 't-4', 't-3', 't-2', 't-1']);
  expect(page.total).toBe(5);
  const archived = asked.filter(([path]) => path === '/historical/fills').map(([, query]) => query['max_ts']);
  expect(new Set(archived)).toEqual(new Set([Date.UTC(2026, 8, 3) / 1000]));
});

const row = (ticker: string, position_fp: string) => ({ ticker, position_fp });

test.each(['market_positions', 'fills', 'trades'])('a list of %s that is null has no rows', (key) => {
  const page = (json: unknown) =>
    pageIn({ status: 200, headers: {}, text: '', json, receivedAt: new Date(NOW).toISOString() }, '/list', key);
  expect(page({ [key]: null, cursor: 'more' })).toMatchObject({ rows: [], next: 'more' });
  expect(page({ [key]: [1] })).toMatchObject({ rows: [1], next: '' });
  expect(() => page({ cursor: '' })).toThrow(expect.objectContaining({ kind: 'bad_answer' }));
});

test('positions are net: above 0 in Yes, below in No, flat ones are left out', async () => {
  const { social, asked, context } = own({
    '/portfolio/positions': [[row('KXA', '3.00'), row('KXB', '-1.25')], [row('KXC', '0.00')]],
  });
  const held = await social.positions('me', context);
  expect(held).toMatchObject({ user: 'me', isAll: true, readAt: new Date(NOW).toISOString() });
  expect(held.positions.map(({ tokenId, label, size }) => [tokenId, label, size])).toEqual([
    ['KXA:yes', 'Yes', parseSize('3')],
    ['KXB:no', 'No', parseSize('1.25')],
  ]);
  expect(asked.filter(([path]) => path === '/portfolio/positions')).toMatchObject([
    ['/portfolio/positions', { count_filter: 'position' }],
    ['/portfolio/positions', { count_filter: 'position', cursor: '1' }],
  ]);
});

test('positions are not all of them once a fill is of another subaccount', async () => {
  for (const [subaccount, isAll] of [
    [undefined, true],
    [0, true],
    [7, false],
  ] as const) {
    const { social, context } = own({
      '/portfolio/positions': [[row('KXA', '3.00')]],
      '/portfolio/fills': [[fill(), fill({ trade_id: 't-0', subaccount_number: subaccount })]],
    });
    const held = await social.positions('me', context);
    expect([held.isAll, held.positions.length]).toEqual([isAll, 1]);
  }
});

test('the profit of a position is its value less what was paid, to the last digit', async () => {
  const exposed = { ...row('KXA', '3.00'), market_exposure_dollars: '1.000001' };
  const { social, context } = own({ '/portfolio/positions': [[exposed]] });
  const [position] = (await social.positions('me', context)).positions;
  const market = {
    ref: 'KXA',
    platform_id: 'KXA',
    title: '',
    outcome_ids: ['yes', 'no'],
    outcome_names: ['Yes', 'No'],
    token_ids: [],
    status: 'open',
    prices: ['0.5', '0.5'],
  };
  expect(toPosition('kalshi', position!, market)).toMatchObject({ value_usd: 1.5, pnl_usd: 0.499999 });
  const large = { ...row('KXA', '3000000.00'), market_exposure_dollars: '1000000.000001' };
  const [whole] = (await own({ '/portfolio/positions': [[large]] }).social.positions('me', context)).positions;
  expect(toPosition('kalshi', whole!, market)).toMatchObject({ value_usd: 1_500_000, pnl_usd: 499_999.999999 });
});
