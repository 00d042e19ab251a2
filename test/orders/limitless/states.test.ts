import { describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import type { OrderRecord, PlatformOrder } from '../../../src/platforms/order-contract.ts';
import {
  MARKET,
  NOW,
  SLUG,
  cannedOrders,
  intent,
  stateRow,
  terms,
  totals,
  userOrderRow,
  type Wanted,
} from '../../fixtures/limitless/orders.ts';
import { NO_TOKEN } from '../../fixtures/limitless/rows.ts';

const ID = 'c4b1a83a-219f-48db-a9be-1ddadf0bc14c';
const LIST = `/markets/${SLUG}/user-orders`;
const found = (state: object) => ({ results: [{ index: 0, status: 'found', orderId: ID, data: state }] });

/** The order as the reply to its placement shows it. */
async function placed(wanted: Wanted, order: object, execution: object): Promise<PlatformOrder> {
  const { adapter, access } = cannedOrders({ '/orders': stateRow(order, execution) });
  const placement = await (await adapter.prepare(intent(terms(wanted)), access)).place();
  if (placement.result !== 'accepted') throw new Error(`result ${placement.result}`);
  return placement.order;
}

/** The order as a later look-up shows it, with its row in the market's list. */
async function read(order: object, execution: object, row: object | null): Promise<PlatformOrder | null> {
  const { adapter, access } = cannedOrders({
    '/orders/status/batch': found(stateRow(order, execution)),
    [LIST]: row ? [userOrderRow(row)] : [],
  });
  return adapter.get(ID, access);
}

const UNSETTLED = { settlementStatus: 'FAILED', totalsRaw: totals('4000000', '2240000', { contracts: '40000' }) };

test.each([
  ['LIVE', '6000000', 'open', '0', '6'],
  ['LIVE', '5000000', 'partially_filled', '1', '5'],
  ['CANCELED', '0', 'rejected', '0', '0'],
  ['CANCELED', '5000000', 'cancelled', '1', '0'],
])(
  'an order of 10 whose match of 4 failed to settle goes on with the rest: %s with %s left is %s',
  async (status, remainingSize, ...expected) => {
    const got = await read({}, UNSETTLED, { status, originalSize: '10000000', remainingSize });
    const [wanted, filled = '', left = ''] = expected;
    expect(got).toMatchObject({
      status: wanted,
      filledSize: parseSize(filled),
      receivedSize: parseSize(filled),
      remainingSize: parseSize(left),
      takerFee: 0n,
      settlement: 'failed',
    });
  },
);

test('an order whose match failed to settle is pending while its place in the book is not known', async () => {
  expect(await placed({}, {}, UNSETTLED)).toMatchObject({ status: 'pending', filledSize: 0n });
});

test('an order whose match failed to settle is rejected once a whole list of its market lacks it', async () => {
  expect(await read({}, UNSETTLED, null)).toMatchObject({ status: 'rejected', filledSize: 0n, remainingSize: 0n });
});

test.each([
  [{}, { settlementStatus: 'CANCELED', totalsRaw: { ...totals('4000000', '2240000'), usdFee: 'some' } }],
  [{ price: 'high' }, { settlementStatus: 'MATCHED', totalsRaw: totals() }],
])('an order whose price or totals are unreadable is not read as one without fills: %j', async (order, execution) => {
  const row = { status: 'CANCELED', originalSize: '10000000', remainingSize: '0' };
  await expect(read(order, execution, row)).rejects.toMatchObject({ kind: 'bad_answer' });
});

test('an order with an unreadable fact is found without it', async () => {
  const execution = { settlementStatus: 'MINED', effectiveFeeBps: 'some', totalsRaw: totals('10000000', '5600000') };
  const got = await read({ orderType: 'FAK' }, execution, null);
  expect(got).toMatchObject({ status: 'filled', metadata: { settlement_status: 'MINED' } });
});

describe('the reply to a placement', () => {
  const FAK = { orderType: 'FAK' };
  const some = totals('4000000', '2240000');
  const all = totals('10000000', '5600000');

  test.each([
    ['gtc', {}, 'UNMATCHED', totals(), 'open', '0', '10'],
    ['gtc', {}, 'MATCHED', some, 'partially_filled', '4', '6'],
    ['gtc', {}, 'MATCHED', all, 'filled', '10', '0'],
    ['gtc', {}, 'CANCELED', totals(), 'cancelled', '0', '0'],
    ['gtc', {}, 'DELAYED', totals(), 'pending', '0', '10'],
    ['gtc', {}, 'RETRYING', all, 'pending', '10', '0'],
    ['gtc', {}, 'FAILED', all, 'rejected', '0', '0'],
    ['ioc', FAK, 'CONFIRMED', all, 'filled', '10', '0'],
    ['ioc', FAK, 'MINED', some, 'cancelled', '4', '0'],
    ['ioc', FAK, 'UNMATCHED', totals(), 'cancelled', '0', '0'],
    ['ioc', FAK, 'MATCHED', null, 'pending', '0', '10'],
    ['gtc', {}, 'MATCHED', null, 'pending', '0', '10'],
    ['ioc', FAK, 'A_WORD_TO_COME', all, 'filled', '10', '0'],
    ['ioc', FAK, 'MINED', totals('9999001', '5599440'), 'filled', '9.999001', '0'],
    ['ioc', FAK, 'MINED', totals('9999000', '5599440'), 'cancelled', '9.999', '0'],
    ['gtc', {}, 'MATCHED', totals('9999500', '5599720'), 'filled', '9.9995', '0'],
  ] as const)(
    '%s %o that is %s is read as what it is',
    async (tif, order, settlementStatus, totalsRaw, ...expected) => {
      const got = await placed({ timeInForce: tif }, order, { settlementStatus, totalsRaw });
      const [status, filled = '', remaining = ''] = expected.map(String);
      expect(got).toMatchObject({
        orderId: ID,
        status,
        filledSize: parseSize(filled),
        remainingSize: parseSize(remaining),
        size: parseSize('10'),
        timeInForce: tif,
        metadata: { settlement_status: settlementStatus },
      });
    },
  );

  test('shows gross contracts as filled, what is left of them after the fee, and the fee in dollars', async () => {
    const order = { orderType: 'FAK', makerAmount: '9999360', takerAmount: '10752000', price: 0.93 };
    const got = await placed({ price: '0.93', size: '10.752', timeInForce: 'ioc' }, order, {
      settlementStatus: 'MINED',
      effectiveFeeBps: 59,
      txHash: '0xab',
      totalsRaw: totals('10752000', '9999360', { contracts: '63436' }),
    });
    expect(got).toMatchObject({
      filledSize: parseSize('10.752'),
      averageFillPrice: parsePrice('0.93'),
      makerFee: 0n,
      takerFee: parseUsd('0.058995'),
      receivedSize: parseSize('10.688564'),
      receivedUsd: null,
      metadata: { settlement_status: 'MINED', effective_fee_bps: 59, transaction_hash: '0xab' },
      createdAt: '2026-11-21T09:02:00.446Z',
      expiration: null,
      marketRef: SLUG,
      marketId: SLUG,
    });
  });

  test('shows a seller’s fee, taken in USDC, and the outcome by its token', async () => {
    const order = { orderType: 'FAK', side: 1, tokenId: NO_TOKEN, makerAmount: '50000000', takerAmount: '20000000' };
    const got = await placed({ side: 'sell', outcomeIndex: 1, price: '0.4', size: '50', timeInForce: 'ioc' }, order, {
      settlementStatus: 'MINED',
      effectiveFeeBps: 144,
      totalsRaw: totals('50000000', '20500000', { usd: '295200' }),
    });
    expect(got).toMatchObject({
      side: 'sell',
      outcome: 'no',
      outcomeIndex: 1,
      status: 'filled',
      averageFillPrice: parsePrice('0.41'),
      takerFee: parseUsd('0.2952'),
      price: parsePrice('0.4'),
      receivedSize: null,
      receivedUsd: parseUsd('20.2048'),
    });
  });
});

/** A fill-or-kill order for 10 shares, found by its id. */
async function wholeOrder(side: 'buy' | 'sell', settlementStatus: string, totalsRaw: object | null) {
  const order = { orderType: 'FOK', price: null, takerAmount: '1', side: side === 'buy' ? 0 : 1 };
  const { adapter, access } = cannedOrders({
    '/orders/status/batch': found(stateRow({ ...order, makerAmount: '10000000' }, { settlementStatus, totalsRaw })),
  });
  const asked = { ...record(1, ID), terms: terms({ side, type: 'market', timeInForce: 'fok' }) };
  const [byId] = await adapter.find([asked], access);
  return byId;
}

describe('a fill-or-kill order, which an earlier release sent', () => {
  test.each([
    ['buy', 'MINED', totals('10000001', '5600000'), 'filled', '10.000001'],
    ['buy', 'MINED', totals('9999999', '5600000'), 'filled', '9.999999'],
    ['buy', 'MINED', totals('9998999', '5600000'), 'cancelled', '9.998999'],
    ['buy', 'CONFIRMED', totals('6666666', '6000000'), 'cancelled', '6.666666'],
    ['sell', 'MINED', totals('10000000', '1000000'), 'filled', '10'],
    ['buy', 'UNMATCHED', totals(), 'cancelled', '0'],
    ['buy', 'CONFIRMED', null, 'pending', '0'],
    ['sell', 'DELAYED', totals(), 'pending', '0'],
  ] as const)('to %s that is %s %o is %s: filled only with all of its size', async (...row) => {
    const [side, settled, sums, status, filled] = row;
    expect(await wholeOrder(side, settled, sums)).toMatchObject({ status, filledSize: parseSize(filled) });
  });
});

describe('what an order brought', () => {
  test.each([
    ['nothing yet', {}, { settlementStatus: 'UNMATCHED' }, 0n],
    ['a match without totals', {}, { settlementStatus: 'MATCHED', totalsRaw: null }, null],
    ['a settlement that failed', {}, { settlementStatus: 'FAILED', totalsRaw: totals('10000000', '5600000') }, 0n],
    [
      'all of it, less the fee',
      { orderType: 'FAK' },
      { settlementStatus: 'MINED', totalsRaw: totals('10000000', '5600000', { contracts: '213000' }) },
      parseSize('9.787'),
    ],
  ])('is %s', async (_, order, execution, wanted) => {
    expect(await read(order, execution, null)).toMatchObject({ receivedSize: wanted, receivedUsd: null });
  });

  test.each([
    ['nothing yet', { settlementStatus: 'UNMATCHED' }, 0n],
    ['a match without totals', { settlementStatus: 'MATCHED', totalsRaw: null }, null],
    [
      'all of it, less the fee',
      { settlementStatus: 'MINED', totalsRaw: totals('10000000', '5600000', { usd: '80640' }) },
      parseUsd('5.51936'),
    ],
  ])('of a sale is %s', async (_, execution, wanted) => {
    const order = { orderType: 'FAK', side: 1, makerAmount: '10000000', takerAmount: '5600000' };
    expect(await read(order, execution, null)).toMatchObject({ receivedSize: null, receivedUsd: wanted });
  });

  test('is not known where only the list shows the fills', async () => {
    const row = { status: 'LIVE', remainingSize: '4000000' };
    expect(await read({}, { settlementStatus: 'UNMATCHED', totalsRaw: null }, row)).toMatchObject({
      filledSize: parseSize('6'),
      receivedSize: null,
      takerFee: null,
    });
  });
});

/** The order, whose market has 200 newer orders that ended, and these lists of working and of filled ones. */
async function crowded(live: object[], matched: object[]) {
  const crowd = Array.from({ length: 200 }, (_, i) => userOrderRow({ id: `other-${i}`, status: 'CANCELED' }));
  const lists = [crowd, live, matched];
  const { adapter, access, http } = cannedOrders({
    '/orders/status/batch': found(stateRow()),
    [LIST]: () => lists.shift() ?? [],
  });
  return { order: await adapter.get(ID, access), asked: http.asked.filter((path) => path.startsWith(LIST)) };
}

describe('a resting order later on', () => {
  test.each([
    ['rests', 'LIVE', '10000000', 'open', '0', '10'],
    ['was met in part', 'LIVE', '4000000', 'partially_filled', '6', '4'],
    ['was met in whole', 'MATCHED', '0', 'filled', '10', '0'],
    ['was met but for dust', 'MATCHED', '999', 'filled', '9.999001', '0'],
    ['ended with a part of it met', 'MATCHED', '3000000', 'cancelled', '7', '0'],
    ['was cancelled with dust left', 'CANCELED', '999', 'filled', '9.999001', '0'],
    ['was cancelled', 'CANCELED', '10000000', 'cancelled', '0', '0'],
    ['was cancelled after a part', 'CANCELED', '7000000', 'cancelled', '3', '0'],
    ['was emptied by its cancel', 'CANCELED', '0', 'cancelled', '0', '0'],
  ])('%s, as its row in the market’s list says', async (_, status, remainingSize, ...expected) => {
    const [wanted, filled, remaining] = expected;
    const got = await read({}, {}, { status, remainingSize });
    expect(got).toMatchObject({
      status: wanted,
      filledSize: parseSize(filled ?? ''),
      remainingSize: parseSize(remaining ?? ''),
      averageFillPrice: filled === '0' ? null : parsePrice('0.56'),
      takerFee: 0n,
    });
  });

  test('adds what it sold or bought as a maker, at its own price and free, to what it took', async () => {
    const execution = { settlementStatus: 'MINED', totalsRaw: totals('4000000', '2000000', { contracts: '120000' }) };
    expect(await read({}, execution, { status: 'LIVE', remainingSize: '2000000' })).toMatchObject({
      status: 'partially_filled',
      filledSize: parseSize('8'),
      remainingSize: parseSize('2'),
      // (2 + 4 × 0.56) / 8
      averageFillPrice: parsePrice('0.53'),
      takerFee: parseUsd('0.06'),
      receivedSize: parseSize('7.88'),
    });
  });

  test('is not looked up in the list when its execution says all', async () => {
    const { adapter, access, http } = cannedOrders({
      '/orders/status/batch': found(
        stateRow({}, { settlementStatus: 'MINED', totalsRaw: totals('10000000', '5000000') }),
      ),
    });
    expect(await adapter.get(ID, access)).toMatchObject({ status: 'filled' });
    expect(http.asked).toEqual(['/orders/status/batch']);
  });

  test('is over when it neither works nor was filled, and is not among the newest that ended', async () => {
    const { order, asked } = await crowded([], []);
    expect(order).toMatchObject({ status: 'cancelled', filledSize: 0n });
    expect(asked.slice(1)).toEqual([`${LIST}?limit=200&statuses=LIVE`, `${LIST}?limit=200&statuses=MATCHED`]);
  });

  test('that was filled is filled, however many newer ones were cancelled', async () => {
    const { order } = await crowded([], [userOrderRow({ status: 'MATCHED', remainingSize: '0' })]);
    expect(order).toMatchObject({
      status: 'filled',
      filledSize: parseSize('10'),
      averageFillPrice: parsePrice('0.56'),
    });
  });

  test('is not given up while it may be among more filled ones than a list has', async () => {
    const filled = Array.from({ length: 200 }, (_, i) => userOrderRow({ id: `filled-${i}`, status: 'MATCHED' }));
    expect((await crowded([], filled)).order).toMatchObject({ status: 'open' });
  });

  test('is not given up for a row of the list that does not read', async () => {
    const crowd = Array.from({ length: 200 }, (_, i) => userOrderRow({ id: `other-${i}`, status: 'MATCHED' }));
    const lists = [crowd, [userOrderRow({ status: 'A_WORD_TO_COME' })]];
    const { adapter, access } = cannedOrders({
      '/orders/status/batch': found(stateRow()),
      [LIST]: () => lists.shift() ?? [],
    });
    expect(await adapter.get(ID, access)).toMatchObject({ status: 'open' });
    expect(access.badRows).toEqual([expect.objectContaining({ platform: 'limitless', kind: 'order', id: ID })]);
  });
});

const record = (salt: string | number, orderId: string | null = null): OrderRecord => ({
  orderId,
  clientOrderId: 'mine-1',
  marketRef: SLUG,
  marketId: SLUG,
  terms: terms(),
  wire: { order: { salt: Number(salt), tokenId: MARKET.outcomes[0]?.tokenId } },
  sentAtMs: NOW,
});

describe('finding what became of an order', () => {
  test('asks for the client order id and knows its order by what was signed', async () => {
    const { adapter, access, http } = cannedOrders({
      '/orders/status/batch': found(stateRow({ salt: '277966495716' }, { clientOrderId: 'mine-1' })),
      [LIST]: [userOrderRow()],
    });
    expect(await adapter.find([record(277966495716)], access)).toEqual([expect.objectContaining({ orderId: ID })]);
    expect(http.requests[0]).toMatchObject({
      method: 'POST',
      body: '{"items":[{"clientOrderId":"mine-1"}]}',
      retry: true,
    });
    // Somebody else used the same client order id before.
    expect(await adapter.find([record(5)], access)).toEqual([null]);
    expect(await adapter.find([record(5, ID)], access)).toEqual([expect.objectContaining({ orderId: ID })]);
  });

  test('asks for fifty at a time and keeps the order of the records', async () => {
    const { adapter, access, http } = cannedOrders({
      '/orders/status/batch': () => {
        const { items } = JSON.parse(http.requests.at(-1)?.body ?? '{}') as { items: { orderId: string }[] };
        const results = items.map(({ orderId: id }, index) =>
          id === 'none'
            ? { index, status: 'not_found' }
            : { index, status: 'found', data: stateRow({ id, orderType: 'FAK' }) },
        );
        return { results: results.toReversed() };
      },
    });
    const ids = Array.from({ length: 101 }, (_, i) => (i === 60 ? 'none' : `order-${i}`));
    const orders = await adapter.find(
      ids.map((id) => record(1, id)),
      access,
    );
    expect(orders.map((order) => order?.orderId ?? 'none')).toEqual(ids);
    expect(http.requests).toHaveLength(3);
  });

  test.each([
    ['nothing about it', { results: [] }],
    ['found, and nothing else', { results: [{ index: 0, status: 'found' }] }],
    ['something that does not read', found(stateRow({ takerAmount: 'many' }))],
    ['another word', { results: [{ index: 0, status: 'busy' }] }],
  ])('fails rather than deny the order when the answer says %s', async (_, answer) => {
    const { adapter, access } = cannedOrders({ '/orders/status/batch': answer });
    await expect(adapter.find([record(1)], access)).rejects.toMatchObject({ kind: 'bad_answer' });
  });
});

const holding = (slug: string, liveOrders: object[]) => ({ market: { slug }, orders: { liveOrders } });
/** A resting order in a market, whose slug is its id too. */
function resting(slug: string) {
  const { order, execution } = stateRow();
  return { order: { ...order, id: slug, market: { ...order.market, slug } }, execution };
}

describe('listing', () => {
  test('without a market is of the working orders of each market that the portfolio shows with some', async () => {
    const { adapter, access, http } = cannedOrders({
      '/portfolio/positions': {
        clob: [holding(SLUG, [{}]), holding('held', []), holding('other-1', [{}, {}])],
        group: null,
      },
      [LIST]: [userOrderRow({ id: SLUG }), userOrderRow({ id: 'done', status: 'MATCHED', remainingSize: '0' })],
      '/markets/other-1/user-orders': [userOrderRow({ id: 'other-1' })],
      '/orders/status/batch': {
        results: [SLUG, 'other-1'].map((slug, index) => ({ index, status: 'found', data: resting(slug) })),
      },
    });
    const { orders, ...rest } = await adapter.list({ market: null, sinceMs: 0 }, access);
    expect(orders.map(({ orderId, marketRef, status }) => [orderId, marketRef, status])).toEqual([
      [SLUG, SLUG, 'open'],
      ['other-1', 'other-1', 'open'],
    ]);
    expect(rest).toEqual({ complete: true, lacksFinished: true });
    const asked = JSON.parse(http.requests.at(-1)?.body ?? '{}') as object;
    expect(asked).toEqual({ items: [{ orderId: SLUG }, { orderId: 'other-1' }] });
  });

  test('without a market is incomplete where a row of the portfolio does not read', async () => {
    const { adapter, access } = cannedOrders({ '/portfolio/positions': { clob: [{ market: {} }], group: null } });
    expect(await adapter.list({ market: null, sinceMs: 0 }, access)).toMatchObject({ orders: [], complete: false });
  });

  test("without a market reads nothing of the operator's account, whose markets are those of all users", async () => {
    const { adapter, access, http } = cannedOrders();
    const guest = { ...access, guest: 'a-user' };
    expect(await adapter.list({ market: null, sinceMs: 0 }, guest)).toEqual({ orders: [], complete: false });
    expect(http.asked).toEqual([]);
  });

  test.each([false, true])(
    'shows working orders however old, finished ones since a time; a broken one: %s',
    async (broken) => {
      const rows = [
        userOrderRow({ id: 'old-live', createdAt: '2026-01-01T00:00:00.000Z' }),
        userOrderRow({ id: 'old-done', createdAt: '2026-01-01T00:00:00.000Z', status: 'MATCHED', remainingSize: '0' }),
        userOrderRow({ id: 'new-done', status: 'CANCELED', remainingSize: '2500000' }),
      ];
      if (broken) rows.push(userOrderRow({ id: 'broken' }));
      const { adapter, access, http } = cannedOrders({
        [LIST]: { orders: rows },
        '/orders/status/batch': () => {
          const { items } = JSON.parse(http.requests.at(-1)?.body ?? '{}') as { items: { orderId: string }[] };
          // The last one does not read: it costs the list no other order.
          const results = items.map(({ orderId: id }, index) => ({
            index,
            status: 'found',
            data: id === 'broken' ? {} : stateRow({ id }, { clientOrderId: `client-${id}` }),
          }));
          return { results };
        },
      });
      const { orders, complete } = await adapter.list({ market: MARKET, sinceMs: NOW - 60_000 }, access);
      expect(orders.map(({ orderId, status, clientOrderId }) => [orderId, status, clientOrderId])).toEqual([
        ['old-live', 'open', 'client-old-live'],
        ['new-done', 'cancelled', 'client-new-done'],
      ]);
      expect(complete).toBe(!broken);
      expect(http.asked[0]).toBe(
        `${LIST}?limit=200&statuses=LIVE&statuses=MATCHED&statuses=CANCELED&statuses=UNMATCHED`,
      );
    },
  );
});
