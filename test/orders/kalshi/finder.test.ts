import { describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd, priceText } from '../../../src/core/decimal.ts';
import type { KalshiQuery } from '../../../src/platforms/kalshi/client.ts';
import { createFinder } from '../../../src/platforms/kalshi/orders/finder.ts';
import type { OrderAccess, OrderRecord } from '../../../src/platforms/order-contract.ts';
import { readContext } from '../../fixtures/canned-http.ts';
import { orderTerms } from '../../fixtures/order-terms.ts';

const NOW = Date.parse('2026-11-02T03:04:05Z');

/** An executed "buy no" of 10 at up to 0.61, as the platform lists it. */
const row = (over: object = {}) => ({
  order_id: 'o-1',
  user_id: 'u-1',
  client_order_id: 'c-1',
  ticker: 'KXOTTERCUP-1',
  outcome_side: 'no',
  book_side: 'ask',
  side: 'no',
  action: 'buy',
  type: 'limit',
  status: 'executed',
  yes_price_dollars: '0.3900',
  no_price_dollars: '0.6100',
  initial_count_fp: '10.00',
  fill_count_fp: '10.00',
  remaining_count_fp: '0.00',
  taker_fill_cost_dollars: '6.000000',
  maker_fill_cost_dollars: '0.000000',
  taker_fees_dollars: '0.168000',
  maker_fees_dollars: '0.000000',
  created_time: '2026-11-02T03:00:01.25Z',
  last_update_time: '2026-11-02T03:00:01.25Z',
  expiration_time: null,
  self_trade_prevention_type: 'taker_at_cross',
  exchange_index: 0,
  ...over,
});
const fill = (yes_price_dollars: string, count_fp: string) => ({
  fill_id: `f-${yes_price_dollars}`,
  order_id: 'o-1',
  outcome_side: 'no',
  count_fp,
  yes_price_dollars,
});

type Answer = (path: string, query: KalshiQuery) => unknown[][];

/** Reads of an account whose lists have these pages; what it was asked for. */
function finder(answer: Answer) {
  const asked: [string, KalshiQuery][] = [];
  const account = {
    get: async () => {
      const json = { order: answer('/portfolio/orders', {})[0]?.[0] };
      return { status: 200, headers: {}, text: '', json, receivedAt: new Date(NOW).toISOString() };
    },
    send: () => Promise.reject(new Error('not asked')),
    page: async (path: string, _key: string, query: KalshiQuery) => {
      asked.push([path, query]);
      const pages = answer(path, query);
      const at = Number(query['cursor'] || 0);
      return { rows: pages[at] ?? [], next: at + 1 < pages.length ? String(at + 1) : '' };
    },
  };
  const access = { ...readContext(), credential: {}, markets: {} } as unknown as OrderAccess<'kalshi'>;
  return {
    ...createFinder(
      () => account,
      () => NOW,
    ),
    access,
    asked,
  };
}

/** The mean prices that a list of one order and a read of it show. */
async function averages(order: object, fills: unknown[][]): Promise<(string | null)[]> {
  const { get, list, access } = finder((path) => (path === '/portfolio/fills' ? fills : [[order]]));
  const listed = (await list({ market: null, sinceMs: 0 }, access)).orders[0];
  return [listed, await get('o-1', access)].map((seen) =>
    seen?.averageFillPrice == null ? null : priceText(seen.averageFillPrice),
  );
}

test('the cost of an ask that lies nearer to its price than to the complement is its mean price, listed and read', async () => {
  expect(await averages(row(), [])).toEqual(['0.6', '0.6']);
  // Better than the limit, but on its side of 0.50.
  expect(await averages(row({ taker_fill_cost_dollars: '5.500000' }), [])).toEqual(['0.55', '0.55']);
  expect(
    await averages(
      row({ no_price_dollars: '0.5000', yes_price_dollars: '0.5000', taker_fill_cost_dollars: '5.00' }),
      [],
    ),
  ).toEqual(['0.5', '0.5']);
});

test('the mean price of an ask whose cost may be in YES prices is that of its fills, of every page', async () => {
  const unsure = row({ taker_fill_cost_dollars: '4.200000' });
  expect(await averages(unsure, [[fill('0.4000', '4.00')], [], [fill('0.4333', '6.00')]])).toEqual([
    '0.58002',
    '0.58002',
  ]);
});

test.each(['-4.400000', '10.000001'])('a cost of %s for ten contracts is none: the fills decide', async (cost) => {
  const fills = [[fill('0.4400', '10.00')]];
  const odd = { taker_fill_cost_dollars: cost };
  expect(await averages(row(odd), fills)).toEqual(['0.56', '0.56']);
  expect(await averages(row({ ...odd, outcome_side: 'yes' }), fills)).toEqual(['0.44', '0.44']);
  expect(await averages(row(odd), [])).toEqual([null, null]);
});

test('the mean price of an ask that was amended to a limit below it is that of its fills', async () => {
  // 0.60 was paid; 0.40 would be the complement.
  const amended = row({ no_price_dollars: '0.5000', yes_price_dollars: '0.5000', taker_fill_cost_dollars: '6.000000' });
  expect(await averages(amended, [[fill('0.4000', '10.00')]])).toEqual(['0.6', '0.6']);
  expect(await averages(amended, [[fill('0.6000', '10.00')]])).toEqual(['0.4', '0.4']);
  expect(await averages(amended, [])).toEqual([null, null]);
});

test('the fills of an ask decide where its limit admits the cost in either outcome, once they are listed', async () => {
  const low = row({ yes_price_dollars: '0.0100', no_price_dollars: '0.9900' });
  const read = async (fills: unknown[][]) => (await averages(low, fills))[1];
  expect(await read([[fill('0.6000', '10.00')]])).toBe('0.4');
  expect(await read([[fill('0.4000', '10.00')]])).toBe('0.6');
  expect(await read([])).toBe('0.6');
});

test('a list marks an average that may be in prices of the other outcome, and no other', async () => {
  const rows = [
    row({ yes_price_dollars: '0.0100', no_price_dollars: '0.9900' }),
    row({ order_id: 'o-2', outcome_side: 'yes' }),
  ];
  const { list, access } = finder((path) => (path === '/portfolio/fills' ? [] : [rows]));
  const { orders } = await list({ market: null, sinceMs: 0 }, access);
  expect(orders.map((order) => order.isAverageUnsure)).toEqual([true, undefined]);
});

test('a part of the fills makes no mean price', async () => {
  const unsure = row({ taker_fill_cost_dollars: '4.200000' });
  expect(await averages(unsure, [[fill('0.4000', '4.00')]])).toEqual([null, null]);
  expect(await averages(unsure, [[fill('0.4000', '4.00'), { ...fill('0.4333', '6.00'), count_fp: 'many' }]])).toEqual([
    null,
    null,
  ]);
});

test('a list reads the fills of a few orders only', async () => {
  const many = Array.from({ length: 20 }, (_, i) => row({ order_id: `o-${i}`, taker_fill_cost_dollars: '4.200000' }));
  const { list, access, asked } = finder((path) =>
    path === '/portfolio/fills' ? [[fill('0.4200', '10.00')]] : [many],
  );
  const { orders } = await list({ market: null, sinceMs: 0 }, access);
  expect(orders).toHaveLength(20);
  expect(orders[0]?.averageFillPrice).toBe(parsePrice('0.58'));
  expect(asked.filter(([path]) => path === '/portfolio/fills')).toHaveLength(5);
});

const SENT_MS = Date.parse('2026-11-02T03:00:00Z');
/** An order whose answer was lost. */
const lost = (over: Partial<OrderRecord> = {}): OrderRecord => ({
  orderId: null,
  clientOrderId: 'c-1',
  marketRef: 'KXOTTERCUP-1',
  marketId: 'KXOTTERCUP-1',
  terms: orderTerms({ outcomeIndex: 1, timeInForce: 'ioc', price: '0.61' }),
  wire: {},
  sentAtMs: SENT_MS,
  ...over,
});
const others = row({ order_id: 'o-2', client_order_id: 'c-2' });
const endless = Array.from({ length: 50 }, () => [others]);

test('an order whose answer was lost is found among those of its time, however many came later', async () => {
  const sent = [[others, row({ fill_count_fp: '0.00' })]];
  const { find, access, asked } = finder((_, query) => (query['max_ts'] === undefined ? endless : sent));
  expect(await find([lost()], access)).toMatchObject([{ orderId: 'o-1' }]);
  expect(asked).toMatchObject([
    ['/portfolio/orders', { ticker: 'KXOTTERCUP-1', min_ts: SENT_MS / 1000 - 60, max_ts: SENT_MS / 1000 + 180 }],
  ]);
});

test('an order is absent only if a whole list of readable rows lacks it', async () => {
  const absent = finder(() => [[others], [others]]);
  expect(await absent.find([lost()], absent.access)).toEqual([null]);
  // Orders without an end: it may be on a page that was not read.
  const many = finder((_, query) => (query['max_ts'] === undefined ? endless : []));
  await expect(many.find([lost()], many.access)).rejects.toMatchObject({ kind: 'bad_answer' });
  const unreadable = finder(() => [[row({ status: 7 })]]);
  await expect(unreadable.find([lost()], unreadable.access)).rejects.toMatchObject({ kind: 'bad_answer' });
  const unreadableOther = finder(() => [[{ ...others, status: 7 }]]);
  expect(await unreadableOther.find([lost()], unreadableOther.access)).toEqual([null]);
});

test.each([
  // What was filled of 10, as the platform's row says it ended, and when it would have expired.
  ['executed', '10.00', null, 'filled'],
  ['executed', '7.00', null, 'cancelled'],
  ['executed', '9.99', null, 'cancelled'],
  ['canceled', '10.00', null, 'filled'],
  ['canceled', '9.995', null, 'filled'],
  ['canceled', '9.99', null, 'cancelled'],
  ['canceled', '0.00', null, 'cancelled'],
  ['canceled', '3.00', '2026-11-02T03:00:01Z', 'expired'],
  ['canceled', '10.00', '2026-11-02T03:00:01Z', 'filled'],
  ['resting', '3.00', '2026-11-02T03:04:00Z', 'expired'],
  ['resting', '10.00', null, 'filled'],
  ['resting', '9.995', null, 'filled'],
  ['resting', '9.99', null, 'pending'],
  ['resting', '10.00', '2026-11-02T03:04:00Z', 'filled'],
  ['pending', '0.00', null, 'pending'],
])('a row that is %s with %s of 10 filled, expiring %s, is %s', async (status, filled, expiration_time, wanted) => {
  const { get, list, access } = finder(() => [[row({ status, fill_count_fp: filled, expiration_time })]]);
  const [listed] = (await list({ market: null, sinceMs: 0 }, access)).orders;
  for (const order of [listed, await get('o-1', access)]) {
    expect(order).toMatchObject({ status: wanted, filledSize: parseSize(filled) });
  }
});

test.each([
  // When it would have expired, when it was last changed, and how it ended. It is 03:04:05 now.
  ['2026-11-02T03:03:00Z', undefined, 'expired'],
  ['2026-11-02T03:03:00Z', 7, 'expired'],
  ['2026-11-02T03:03:00Z', '2026-11-02T03:02:59.99Z', 'cancelled'],
  ['2026-11-02T03:03:00Z', '2026-11-02T03:03:00.5Z', 'expired'],
  ['2026-11-02T03:05:00Z', undefined, 'cancelled'],
  [null, undefined, 'cancelled'],
])('a cancelled order that expires at %s and was changed at %j is %s', async (expiration_time, changed, wanted) => {
  const over = { expiration_time, last_update_time: changed, fill_count_fp: '0.00' };
  const { get, access } = finder(() => [[row({ status: 'canceled', ...over })]]);
  expect(await get('o-1', access)).toMatchObject({ status: wanted });
});

test.each([
  [{ outcome_side: null, book_side: 'ask' }, 'no', []],
  [{ outcome_side: undefined, book_side: 'bid' }, 'yes', []],
  [{ outcome_side: 7, book_side: 'bid' }, 'yes', ['outcome_side']],
  [{ outcome_side: 'yes', book_side: 'left' }, 'yes', ['book_side']],
  [{ outcome_side: 'no', book_side: undefined }, 'no', []],
])('an order with the sides %j is in %s', async (sides, outcome, odd) => {
  const { list, access } = finder((path) => (path === '/portfolio/fills' ? [] : [[row(sides)]]));
  const badRows = (access as unknown as ReturnType<typeof readContext>).badRows;
  expect((await list({ market: null, sinceMs: 0 }, access)).orders).toMatchObject([{ outcome }]);
  expect([...new Set(badRows.map(({ field }) => field))]).toEqual(odd);
});

test('an order without a side is not read', async () => {
  const { list, access } = finder(() => [[row({ status: 'resting', outcome_side: null, book_side: null })]]);
  expect(await list({ market: null, sinceMs: 0 }, access)).toEqual({ orders: [], complete: false });
});

test('an order whose cost, fees or times are unreadable is listed without them, so that it can be cancelled', async () => {
  const odd = { taker_fees_dollars: 'some', maker_fill_cost_dollars: {}, last_update_time: 7, created_time: [] };
  const works = row({ status: 'resting', fill_count_fp: '4.00', remaining_count_fp: '6.00', ...odd });
  const { list, access } = finder((path) => (path === '/portfolio/orders' ? [[works]] : []));
  const { orders, complete } = await list({ market: null, sinceMs: 0 }, access);
  expect(orders).toMatchObject([
    { orderId: 'o-1', status: 'partially_filled', filledSize: parseSize('4'), averageFillPrice: null, takerFee: null },
  ]);
  expect(complete).toBe(true);
});

test('a list that has an unreadable order at work is not complete', async () => {
  const { list, access } = finder(() => [[row({ status: 'resting', remaining_count_fp: 'many' })]]);
  expect(await list({ market: null, sinceMs: 0 }, access)).toEqual({ orders: [], complete: false });
});

const recordOf = (side: 'buy' | 'sell', outcomeIndex: number, price: string): OrderRecord => {
  const { terms, ...rest } = lost({ orderId: 'o-1' });
  return { ...rest, terms: { ...terms, side, outcomeIndex, price: parsePrice(price) } };
};

describe('what an order brought', () => {
  /** Ten filled for 6.00 in NO, that is 4.00 in YES; 0.168 of fees. */
  test.each([
    ['buy', 1, { receivedSize: parseSize('10'), receivedUsd: null, averageFillPrice: parsePrice('0.6') }],
    ['sell', 0, { receivedSize: null, receivedUsd: parseUsd('3.832'), averageFillPrice: parsePrice('0.4') }],
  ] as const)('is contracts for a purchase and dollars after fees for a sale: %s %i', async (side, outcome, wanted) => {
    const { find, access } = finder(() => [[row()]]);
    const [order] = await find([recordOf(side, outcome, outcome === 1 ? '0.61' : '0.39')], access);
    expect(order).toMatchObject({ side, outcomeIndex: outcome, outcome: outcome === 1 ? 'no' : 'yes', ...wanted });
  });

  test('is exact to the millionth, whatever the mean price is', async () => {
    const many = row({
      initial_count_fp: '300000.03',
      fill_count_fp: '300000.03',
      taker_fill_cost_dollars: '150000.015001',
      taker_fees_dollars: '0.000001',
    });
    const { find, access } = finder(() => [[many]]);
    const [order] = await find([recordOf('sell', 0, '0.39')], access);
    expect(order?.receivedUsd).toBe(parseUsd('150000.014998'));
  });

  test('is nothing while nothing is filled, and null while the fills are not known', async () => {
    const unfilled = {
      status: 'resting',
      fill_count_fp: '0.00',
      taker_fill_cost_dollars: '0',
      taker_fees_dollars: '0',
    };
    const none = finder(() => [[row(unfilled)]]);
    expect(await none.find([recordOf('sell', 0, '0.39')], none.access)).toMatchObject([{ receivedUsd: 0n }]);
    const unsure = finder((path) => (path === '/portfolio/fills' ? [] : [[row({ taker_fill_cost_dollars: '4.20' })]]));
    expect(await unsure.find([recordOf('sell', 0, '0.39')], unsure.access)).toMatchObject([{ receivedUsd: null }]);
  });

  test('of an order that is read by itself is what its purchase brought; listed, it may be a sale', async () => {
    const { get, list, access } = finder(() => [[row()]]);
    expect(await get('o-1', access)).toMatchObject({ side: 'buy', receivedSize: parseSize('10'), receivedUsd: null });
    const { orders } = await list({ market: null, sinceMs: 0 }, access);
    expect(orders).toMatchObject([{ side: 'buy', receivedSize: null, receivedUsd: null }]);
  });
});
