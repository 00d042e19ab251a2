import { expect, test } from 'vitest';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import type { KalshiQuery } from '../../../src/platforms/kalshi/client.ts';
import { createOwnKalshi } from '../../../src/platforms/kalshi/own-account.ts';
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

/** The member's own account, whose lists are these pages; what it was asked for. */
function own(pages: Record<string, unknown[][]>) {
  const asked: [string, KalshiQuery][] = [];
  const context = readContext();
  const account = {
    get: () => Promise.reject(new Error('not asked')),
    send: () => Promise.reject(new Error('not asked')),
    page: async (path: string, key: string, query: KalshiQuery) => {
      asked.push([path, query]);
      const at = Number(query['cursor'] || 0);
      const list = pages[key] ?? [];
      return { rows: list[at] ?? [], cursor: at + 1 < list.length ? String(at + 1) : '' };
    },
  };
  return { social: createOwnKalshi(account, context, () => NOW), asked, context };
}

test('fills are purchases of the outcome they name, over all pages, newest first', async () => {
  const { social, context } = own({
    fills: [
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

const row = (ticker: string, position_fp: string) => ({ ticker, position_fp });

test('positions are net: above 0 in Yes, below in No, flat ones are left out', async () => {
  const { social, asked, context } = own({
    market_positions: [[row('KXA', '3.00'), row('KXB', '-1.25')], [row('KXC', '0.00')]],
  });
  const held = await social.positions('me', context);
  expect(held).toMatchObject({ user: 'me', isAll: true, readAt: new Date(NOW).toISOString() });
  expect(held.positions.map(({ tokenId, label, size }) => [tokenId, label, size])).toEqual([
    ['KXA:yes', 'Yes', parseSize('3')],
    ['KXB:no', 'No', parseSize('1.25')],
  ]);
  expect(asked).toMatchObject([
    ['/portfolio/positions', { count_filter: 'position' }],
    ['/portfolio/positions', { count_filter: 'position', cursor: '1' }],
  ]);
});
