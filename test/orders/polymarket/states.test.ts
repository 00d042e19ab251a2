import { describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import type { OrderRecord, PlatformOrder } from '../../../src/platforms/order-contract.ts';
import { polymarketFees, takerFee } from '../../../src/platforms/polymarket/fees.ts';
import { refuse } from '../../fixtures/canned-http.ts';
import {
  MARKET,
  NOW,
  cannedOrders,
  makerRow,
  orderAccess,
  orderRow,
  page,
  terms,
  tradeRow,
  type Wanted,
} from '../../fixtures/polymarket/orders.ts';
import { hex, token } from '../../fixtures/polymarket/rows.ts';

const SENT = NOW - 120_000;
const seconds = (ms: number): string => String(Math.floor(ms / 1000));

const record = (wanted: Wanted = {}, rest: Partial<OrderRecord> = {}): OrderRecord => ({
  orderId: hex(1),
  clientOrderId: 'mine-1',
  marketRef: MARKET.ref,
  marketId: MARKET.platformId,
  terms: terms(wanted),
  wire: { order: { makerAmount: '4500000', takerAmount: '10000000' } },
  sentAtMs: SENT,
  ...rest,
});

interface Reported {
  /** What GET /data/order/{id} answers; left out: 404. */
  row?: unknown;
  trades?: unknown[];
}

test.each([
  ['Order not found', false],
  ['order 0xab not found', false],
  ['not found', false],
  ['dial tcp: lookup ledger: host not found', true],
  ['could not read order: context not found', true],
  ['could not read order, row not found', true],
])('a 404 that says "%s" is of a failure: %s', async (words, isFailure) => {
  const { adapter, access } = cannedOrders({
    [`/data/order/${hex(1)}`]: {
      refuse: { kind: 'not_found', status: 404, body: { error: words }, detail: words },
    },
    '/data/trades': page([]),
  });
  const found = adapter.get(hex(1), access);
  if (isFailure) await expect(found).rejects.toMatchObject({ kind: 'unavailable', status: 404 });
  else expect(await found).toBeNull();
});

test("a 404 without JSON is a gateway's: it does not show that the order is gone", async () => {
  const { adapter, access } = cannedOrders({
    [`/data/order/${hex(1)}`]: refuse('not_found', 404),
    '/data/trades': page([]),
  });
  const failure = { kind: 'unavailable', status: 404 };
  await expect(adapter.find([record({})], access)).rejects.toMatchObject(failure);
  await expect(adapter.get(hex(1), access)).rejects.toMatchObject(failure);
});

/** The order as found, when the platform says this of it. */
async function found(wanted: Wanted, { row, trades = [] }: Reported): Promise<PlatformOrder | null> {
  const { adapter, access } = cannedOrders({
    [`/data/order/${hex(1)}`]: row,
    '/data/trades': page(trades),
  });
  const [order = null] = await adapter.find([record(wanted)], access);
  expect(access.badRows).toEqual([]);
  return order;
}

const fills = (...sizes: string[]) =>
  sizes.map((size, at) => tradeRow({ id: `t-${at}`, size, maker_orders: [makerRow({ matched_amount: size })] }));

const failedPart = (status: string) => [
  tradeRow({ status, size: '4', maker_orders: [makerRow({ matched_amount: '4' })] }),
];

describe('the state of a Polymarket order', () => {
  const part = [tradeRow({ size: '4', maker_orders: [makerRow({ matched_amount: '4' })] })];
  const gtd = { timeInForce: 'gtd', expirationMs: NOW - 6000 } as const;
  type Row = [label: string, wanted: Wanted, reported: Reported, status: string, filled: string, remaining: string];
  const states: Row[] = [
    ['live', {}, { row: orderRow() }, 'open', '0', '10'],
    ['live without the prefix', {}, { row: orderRow({ status: 'live' }) }, 'open', '0', '10'],
    ['live, matched in part', {}, { row: orderRow({ size_matched: '4' }), trades: part }, 'partially_filled', '4', '6'],
    ['live, the trade to be listed yet', {}, { row: orderRow({ size_matched: '4' }) }, 'partially_filled', '4', '6'],
    [
      'delayed',
      { timeInForce: 'fok' },
      { row: orderRow({ status: 'DELAYED', order_type: 'FOK' }) },
      'pending',
      '0',
      '10',
    ],
    [
      'matched',
      {},
      { row: orderRow({ status: 'ORDER_STATUS_MATCHED', size_matched: '10' }), trades: [tradeRow()] },
      'filled',
      '10',
      '0',
    ],
    [
      'matched, the trade to be listed yet',
      {},
      { row: orderRow({ status: 'MATCHED', size_matched: '10' }) },
      'filled',
      '10',
      '0',
    ],
    [
      'cancelled after a part',
      {},
      { row: orderRow({ status: 'ORDER_STATUS_CANCELED', size_matched: '4' }), trades: part },
      'cancelled',
      '4',
      '0',
    ],
    [
      'cancelled as its market resolved',
      {},
      { row: orderRow({ status: 'ORDER_STATUS_CANCELED_MARKET_RESOLVED' }) },
      'cancelled',
      '0',
      '0',
    ],
    ['cancelled by its date', gtd, { row: orderRow({ status: 'CANCELED', order_type: 'GTD' }) }, 'expired', '0', '0'],
    [
      'cancelled, with a reason',
      {},
      { row: orderRow({ status: "CANCELED_order couldn't be fully filled.\nIt was killed." }) },
      'cancelled',
      '0',
      '0',
    ],
    ['invalid', {}, { row: orderRow({ status: 'ORDER_STATUS_INVALID' }) }, 'rejected', '0', '0'],
    [
      'taken off the book by the platform after a part',
      {},
      { row: orderRow({ status: 'INVALID', size_matched: '4' }), trades: part },
      'cancelled',
      '4',
      '0',
    ],
    [
      'invalid, of a kind that never rests',
      { timeInForce: 'fok' },
      { row: orderRow({ status: 'ORDER_STATUS_INVALID', order_type: 'FOK' }) },
      'rejected',
      '0',
      '0',
    ],
    [
      'invalid after a part, of a kind that never rests',
      { side: 'sell', timeInForce: 'ioc' },
      { row: orderRow({ status: 'INVALID_no balance', order_type: 'FAK' }), trades: part },
      'cancelled',
      '4',
      '0',
    ],
    ...['INVALID', 'CANCELED', 'MATCHED'].map((status): Row => [
      `${status}, its match to be listed yet, of a purchase by its cost`,
      { timeInForce: 'ioc' },
      { row: orderRow({ status, order_type: 'FAK', size_matched: '4' }) },
      'pending',
      '0',
      '10',
    ]),
    ['unmatched', {}, { row: orderRow({ status: 'UNMATCHED' }) }, 'open', '0', '10'],
    [
      'unmatched long ago, of a kind that never rests',
      { timeInForce: 'fok' },
      { row: orderRow({ status: 'UNMATCHED_insufficient liquidity', order_type: 'FOK' }) },
      'cancelled',
      '0',
      '0',
    ],
    ['of a status nobody knows', {}, { row: orderRow({ status: 'ORDER_STATUS_ODD' }) }, 'unknown', '0', '10'],
    ['gone, with trades of its size', {}, { row: null, trades: [tradeRow()] }, 'filled', '10', '0'],
    ['gone with 404, with trades of its size', {}, { trades: [tradeRow()] }, 'filled', '10', '0'],
    [
      'gone, its settlement tried again',
      {},
      { row: null, trades: [tradeRow({ status: 'TRADE_STATUS_RETRYING' })] },
      'pending',
      '0',
      '10',
    ],
    ['gone, its settlement failed', {}, { row: null, trades: [tradeRow({ status: 'FAILED' })] }, 'cancelled', '0', '0'],
    [
      'matched, its settlement failed',
      {},
      { row: orderRow({ status: 'MATCHED', size_matched: '10' }), trades: [tradeRow({ status: 'FAILED' })] },
      'cancelled',
      '0',
      '0',
    ],
    [
      'live, the settlement of a part failed',
      {},
      { row: orderRow({ size_matched: '4' }), trades: failedPart('FAILED') },
      'open',
      '0',
      '6',
    ],
    [
      'live, the settlement of a part tried again',
      {},
      { row: orderRow({ size_matched: '4' }), trades: failedPart('RETRYING') },
      'open',
      '0',
      '6',
    ],
    [
      'killed remainder of a sale',
      { side: 'sell', timeInForce: 'ioc' },
      { row: null, trades: part },
      'cancelled',
      '4',
      '0',
    ],
    [
      'dollars spent, for fewer shares',
      { timeInForce: 'fok' },
      {
        row: null,
        trades: [tradeRow({ size: '9.8', maker_orders: [makerRow({ matched_amount: '9.8', price: '0.4591' })] })],
      },
      'cancelled',
      '9.8',
      '0',
    ],
    [
      'dollars spent, for more shares',
      { timeInForce: 'ioc' },
      {
        row: null,
        trades: [tradeRow({ size: '12.5', maker_orders: [makerRow({ matched_amount: '12.5', price: '0.36' })] })],
      },
      'filled',
      '12.5',
      '0',
    ],
    [
      'matched, with a part left',
      {},
      { row: orderRow({ status: 'MATCHED', size_matched: '7' }) },
      'cancelled',
      '7',
      '0',
    ],
    [
      'matched, with a part left, after its date',
      gtd,
      { row: orderRow({ status: 'MATCHED', size_matched: '7', order_type: 'GTD' }) },
      'expired',
      '7',
      '0',
    ],
    [
      'matched, with the smallest size left',
      { size: '100' },
      { row: orderRow({ status: 'MATCHED', size_matched: '99.99', original_size: '100' }) },
      'cancelled',
      '99.99',
      '0',
    ],
    [
      'matched, with less than the smallest size left',
      { size: '100' },
      { row: orderRow({ status: 'MATCHED', size_matched: '99.990001', original_size: '100' }) },
      'filled',
      '99.990001',
      '0',
    ],
    [
      'gone, with dust left',
      { size: '100' },
      { row: null, trades: fills('59.997714', '40') },
      'filled',
      '99.997714',
      '0',
    ],
    [
      'live, with dust left',
      { side: 'sell', size: '100' },
      { row: orderRow({ size_matched: '99.999', original_size: '100' }) },
      'filled',
      '99.999',
      '0',
    ],
    [
      'cancelled, with dust left',
      { size: '100' },
      { row: orderRow({ status: 'CANCELED', size_matched: '99.995', original_size: '100' }) },
      'filled',
      '99.995',
      '0',
    ],
    [
      'matched, the amount to follow',
      {},
      { row: orderRow({ status: 'MATCHED', size_matched: '' }) },
      'pending',
      '0',
      '10',
    ],
    ['gone after its date, matched in part', gtd, { row: null, trades: part }, 'expired', '4', '0'],
    ['dollars spent in part', { timeInForce: 'ioc' }, { row: null, trades: part }, 'cancelled', '4', '0'],
  ];
  test.each(states)('%s', async (_, wanted, reported, status, filled, remaining) => {
    const order = await found(wanted, reported);
    expect(order).toMatchObject({
      orderId: hex(1),
      clientOrderId: 'mine-1',
      status,
      filledSize: parseSize(filled),
      remainingSize: parseSize(remaining),
    });
  });

  test('neither listed nor ever matched, it is not known', async () => {
    expect(await found({}, { row: null })).toBeNull();
    expect(await found({}, { row: '' })).toBeNull();
    expect(await found({}, {})).toBeNull();
    const others = tradeRow({ taker_order_id: hex(2) });
    expect(await found({}, { row: null, trades: [others] })).toBeNull();
  });

  test('amounts in base units are distinguished from human ones by the size that was asked for', async () => {
    const row = orderRow({ original_size: '10000000', size_matched: '4000000' });
    expect(await found({}, { row })).toMatchObject({ filledSize: parseSize('4'), remainingSize: parseSize('6') });
  });
});

const taken = (makers: object[], rest: object = {}) =>
  found({}, { row: null, trades: [tradeRow({ maker_orders: makers.map(makerRow), ...rest })] });

const filledBy = (id: string, size: string, price: string, status = 'CONFIRMED') =>
  tradeRow({ id, size, status, maker_orders: [makerRow({ matched_amount: size, price })] });

const gone = (trades: unknown[]) =>
  cannedOrders({ [`/data/order/${hex(1)}`]: null, '/data/trades': () => page(trades) });

describe('an order that has left the book', () => {
  const part = tradeRow({ size: '4', maker_orders: [makerRow({ matched_amount: '4' })] });
  test('is pending until its last fill has had time to be listed, then cancelled', async () => {
    for (const [trades, filled] of [
      [[part], '4'],
      [[], '0'],
    ] as const) {
      const { adapter, access, advance } = gone([...trades]);
      const look = async () => (await adapter.find([record({}, { placed: true })], access))[0];
      expect(await look()).toMatchObject({ status: 'pending', filledSize: parseSize(filled) });
      advance(4999);
      expect(await look()).toMatchObject({ status: 'pending' });
      advance(1);
      expect(await look()).toMatchObject({ status: 'cancelled', filledSize: parseSize(filled), remainingSize: 0n });
    }
  });

  test('whose last fill is listed late was filled', async () => {
    const trades = [part];
    const { adapter, access, advance } = gone(trades);
    const look = async () => (await adapter.find([record({}, { placed: true })], access))[0];
    expect(await look()).toMatchObject({ status: 'pending' });
    trades.push(tradeRow({ ...part, id: 'late', size: '6', maker_orders: [makerRow({ matched_amount: '6' })] }));
    advance(5000);
    expect(await look()).toMatchObject({ status: 'filled', filledSize: parseSize('10') });
  });

  test('for a moment only, and leaves it again later, gets its time again', async () => {
    let row: unknown = null;
    const { adapter, access, advance } = cannedOrders({
      [`/data/order/${hex(1)}`]: () => row,
      '/data/trades': page([]),
    });
    const look = async () => (await adapter.find([record({}, { placed: true })], access))[0]?.status;
    const seen = [await look()];
    row = orderRow();
    seen.push(await look());
    row = null;
    advance(60_000);
    seen.push(await look());
    expect(seen).toEqual(['pending', 'open', 'pending']);
  });

  test('just after it was placed may only be listed late', async () => {
    const { adapter, access, advance } = gone([]);
    const fresh = record({}, { placed: true, sentAtMs: NOW });
    const look = async () => (await adapter.find([fresh], access))[0]?.status;
    const seen = [await look()];
    advance(9000);
    seen.push(await look());
    advance(1000);
    seen.push(await look());
    expect(seen).toEqual(['pending', 'pending', 'cancelled']);
  });

  test('that fills at once is over ten seconds after it was sent', async () => {
    const { adapter, access, advance } = gone([part]);
    const sent = record({ side: 'sell', timeInForce: 'ioc' }, { sentAtMs: NOW - 9999 });
    const look = async () => (await adapter.find([sent], access))[0]?.status;
    const seen = [await look()];
    advance(1);
    expect([...seen, await look()]).toEqual(['pending', 'cancelled']);
  });

  test('by its date has expired', async () => {
    const { adapter, access, advance } = gone([]);
    const dated = record({ timeInForce: 'gtd', expirationMs: NOW + 1000 }, { placed: true });
    advance(2000);
    expect((await adapter.find([dated], access))[0]).toMatchObject({ status: 'pending' });
    advance(4000);
    expect((await adapter.find([dated], access))[0]).toMatchObject({ status: 'expired' });
  });

  test('is not known when the platform never reported it, however long ago it was sent', async () => {
    const { adapter, access, advance } = gone([]);
    advance(3_600_000);
    expect(await adapter.find([record({}, { placed: false })], access)).toEqual([null]);
  });
});

describe('fills', () => {
  test('the price of a purchase comes from what each maker gave, complements included', async () => {
    const order = await taken(
      [
        { matched_amount: '4', price: '0.44' },
        // Somebody bought NO at 0.57: both tokens were minted, and YES cost 0.43.
        { matched_amount: '6', price: '0.57', asset_id: token(12), side: 'BUY', outcome: 'No' },
      ],
      { price: '0.45' },
    );
    expect(order?.averageFillPrice).toBe(parsePrice('0.434'));
    // 10 × 0.05 × 0.434 × 0.566 = 0.122822, five decimals
    expect(order).toMatchObject({ makerFee: 0n, takerFee: parseUsd('0.12282') });
  });

  test('and from the trade itself where makers are missing', async () => {
    expect((await taken([{ matched_amount: '4' }], { price: '0.42' }))?.averageFillPrice).toBe(parsePrice('0.42'));
  });

  test('an order that others took pays no fee and counts its own part, at its own price', async () => {
    const trade = tradeRow({
      taker_order_id: hex(2),
      asset_id: token(12),
      size: '50',
      price: '0.55',
      trader_side: 'MAKER',
      maker_orders: [
        makerRow({ order_id: hex(1).toUpperCase().replace('0X', '0x'), matched_amount: '10', price: '0.45' }),
        makerRow({ matched_amount: '40', price: '0.44' }),
      ],
    });
    expect(await found({}, { row: null, trades: [trade] })).toMatchObject({
      status: 'filled',
      filledSize: parseSize('10'),
      averageFillPrice: parsePrice('0.45'),
      makerFee: 0n,
      takerFee: 0n,
    });
  });

  test('several trades add up, each with its own fee; failed ones count for nothing', async () => {
    const trades = [filledBy('a', '3', '0.4'), filledBy('b', '7', '0.43'), filledBy('c', '5', '0.44', 'FAILED')];
    const order = await found({}, { row: null, trades });
    expect(order).toMatchObject({ status: 'filled', averageFillPrice: parsePrice('0.421') });
    // 3 × 0.05 × 0.24 = 0.036, and 7 × 0.05 × 0.2451 = 0.085785, rounded half to even at five decimals
    expect(order?.takerFee).toBe(parseUsd('0.036') + parseUsd('0.08578'));
    expect(order).toMatchObject({ metadata: { trade_ids: ['a', 'b'] }, undoneTrades: ['c'] });
    expect(order?.updatedAt).toBe(new Date(Math.floor(NOW / 1000) * 1000 - 60_000).toISOString());
  });

  test.each<[string, Record<string, unknown>, string | null]>([
    ['the documented example', { enabled: true, rate: 0.05, exponent: 1 }, '0.31053'],
    ['an exponent of 2', { enabled: true, rate: 0.25, exponent: 2 }, '0.3433'],
    ['no fees', { enabled: false }, '0'],
    ['a rate of nothing', { enabled: true, rate: 0 }, '0'],
    ['an unknown rate', { enabled: true }, null],
    ['an exponent that is no whole number', { enabled: true, rate: 0.05, exponent: 1.5 }, null],
  ])('the fee of 28.09 at 0.67 with %s', (_, fee, usd) => {
    const charged = takerFee({ fee }, parsePrice('0.67'), parseSize('28.09'));
    expect(charged).toBe(usd === null ? null : parseUsd(usd));
  });

  test.each(['0', '1'])('a fill at %s costs no fee, whatever its size', (price) => {
    for (const exponent of [1, 2]) {
      const fee = { enabled: true, rate: 0.05, exponent };
      expect(takerFee({ fee }, parsePrice(price), parseSize('1000'))).toBe(0n);
      expect(takerFee({ fee: { ...fee, rate: undefined } }, parsePrice(price), parseSize('1000'))).toBeNull();
    }
  });

  test('the smallest fee is 0.00001, and of a market that is not known it is not known', () => {
    const [price, size] = [parsePrice('0.01'), parseSize('0.01')];
    expect(takerFee(MARKET.metadata, price, size)).toBe(parseUsd('0.00001'));
    expect(takerFee({}, price, size)).toBeNull();
  });

  test.each<Record<string, unknown>>([
    { enabled: true, rate: 0.05, exponent: 1 },
    { enabled: true, rate: 0.25, exponent: 2 },
    { enabled: true, rate: 0.0001, exponent: 3 },
    { enabled: true, rate: 0 },
    { enabled: true, rate: 0.05 },
    { enabled: true },
    { enabled: false, rate: 0.05, exponent: 1 },
    { enabled: 'yes', rate: 0.05, exponent: 1 },
    { enabled: true, rate: 0.05, exponent: 1.5 },
    { enabled: true, rate: -0.05, exponent: 1 },
    {},
  ])('the fee quoted for a share is the fee booked for it: %o', (fee) => {
    for (const price of ['0.001', '0.41', '0.67', '0.9999'].map(parsePrice)) {
      const booked = takerFee({ fee }, price, parseSize('1'));
      const quoted = polymarketFees({ fee }, { price, buyAt: price, nowMs: 0 });
      expect(quoted.perContract).toBe(booked === null ? null : booked * 10_000n);
      if (booked === 0n) expect(quoted.rate).toBe(0n);
    }
  });

  test('a sum that the platform reports and its trades do not is shown without a price', async () => {
    const trades = [tradeRow({ size: '4', maker_orders: [makerRow({ matched_amount: '4' })] })];
    const order = await found({}, { row: orderRow({ status: 'MATCHED', size_matched: '10' }), trades });
    expect(order).toMatchObject({ filledSize: parseSize('10'), averageFillPrice: null, takerFee: null });
  });
});

const reportedOf = (row: unknown, trade: object) =>
  cannedOrders({ [`/data/order/${hex(1)}`]: row, '/data/trades': page([tradeRow(trade), tradeRow()]) });

describe('finding orders', () => {
  test('asks for each by its id, and once for the trades of each market since the oldest', async () => {
    const { adapter, access, http } = cannedOrders({
      [`/data/order/${hex(1)}`]: orderRow(),
      '/data/trades': page([tradeRow({ taker_order_id: hex(2) })]),
    });
    const records = [record(), record({}, { orderId: hex(2), sentAtMs: SENT + 5000 }), record({}, { orderId: hex(3) })];
    const orders = await adapter.find(records, access);
    expect(orders.map((order) => order?.status ?? null)).toEqual(['open', 'filled', null]);
    expect(http.asked).toEqual([
      `/data/order/${hex(1)}`,
      `/data/order/${hex(2)}`,
      `/data/order/${hex(3)}`,
      `/data/trades?market=${MARKET.ref}&after=${seconds(SENT - 60_000)}&next_cursor=MA==`,
    ]);
  });

  test('reads every page of the trades', async () => {
    const cursors: string[] = [];
    const trades = (query: URLSearchParams) => {
      cursors.push(query.get('next_cursor') ?? '');
      return cursors.length === 1 ? page([tradeRow({ taker_order_id: hex(2) })], 'MTAw') : page([tradeRow()]);
    };
    const { adapter, access } = cannedOrders({ [`/data/order/${hex(1)}`]: null, '/data/trades': trades });
    expect((await adapter.find([record()], access))[0]).toMatchObject({ status: 'filled' });
    expect(cursors).toEqual(['MA==', 'MTAw']);
  });

  test('counts a trade once, though two pages or two lists hold it', async () => {
    const part = tradeRow({ size: '4', maker_orders: [makerRow({ matched_amount: '4' })] });
    const pages = (query: URLSearchParams) => page([part], query.get('next_cursor') === 'MA==' ? 'MTAw' : 'LTE=');
    const shifted = cannedOrders({ [`/data/order/${hex(1)}`]: null, '/data/trades': pages });
    expect((await shifted.adapter.find([record()], shifted.access))[0]?.filledSize).toBe(parseSize('4'));
    // The list of a Protocol V2 market has no filter, so it holds the trades of the other one too.
    const ofV2 = record({}, { orderId: hex(2), marketRef: `0x01${'0'.repeat(30)}${'a'.repeat(30)}00` });
    const both = cannedOrders({
      [`/data/order/${hex(1)}`]: null,
      [`/data/order/${hex(2)}`]: null,
      '/data/trades': page([part]),
    });
    expect((await both.adapter.find([record(), ofV2], both.access))[0]?.filledSize).toBe(parseSize('4'));
    expect(both.http.asked.filter((path) => path.startsWith('/data/trades'))).toHaveLength(2);
  });

  test('does not guess when there are more trades than it may read', async () => {
    let n = 0;
    const endless = () => page([], String((n += 1)));
    const { adapter, access } = cannedOrders({ [`/data/order/${hex(1)}`]: null, '/data/trades': endless });
    await expect(adapter.find([record()], access)).rejects.toMatchObject({ kind: 'bad_answer' });
    const listed = cannedOrders({
      [`/data/order/${hex(1)}`]: orderRow({ size_matched: '4' }),
      '/data/trades': endless,
    });
    expect((await listed.adapter.find([record()], listed.access))[0]).toMatchObject({
      status: 'partially_filled',
      filledSize: parseSize('4'),
      averageFillPrice: null,
    });
  });

  test('a trade of another shape is skipped, unless it concerns an order that nothing else reports', async () => {
    const odd = { id: 'odd', size: 'many' };
    const others = reportedOf(null, { ...odd, taker_order_id: hex(2) });
    expect((await others.adapter.find([record()], others.access))[0]).toMatchObject({ status: 'filled' });
    expect(others.access.badRows).toMatchObject([{ kind: 'trade', id: 'odd' }]);
    const own = reportedOf(null, odd);
    await expect(own.adapter.find([record()], own.access)).rejects.toMatchObject({ kind: 'bad_answer' });
    const listed = reportedOf(orderRow({ status: 'MATCHED', size_matched: '10' }), odd);
    expect((await listed.adapter.find([record()], listed.access))[0]).toMatchObject({ status: 'filled' });
  });

  test('an order of another shape is an error', async () => {
    const { adapter, access } = cannedOrders({ [`/data/order/${hex(1)}`]: orderRow({ price: 'high' }) });
    await expect(adapter.find([record()], access)).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  test('says when the credential is refused', async () => {
    const { adapter, access } = cannedOrders({ [`/data/order/${hex(1)}`]: refuse('unauthorized', 401) });
    await expect(adapter.find([record()], access)).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});

describe('orders of the account that the service did not place', () => {
  test('are recognized by their rows', async () => {
    const row = orderRow({
      asset_id: token(12),
      side: 'SELL',
      order_type: 'GTD',
      expiration: seconds(NOW + 3_660_000),
      created_at: 1795219200,
    });
    const { adapter, access } = cannedOrders({ [`/data/order/${hex(1)}`]: row });
    expect(await adapter.get(hex(1).toUpperCase().replace('0X', '0x'), access)).toEqual({
      orderId: hex(1),
      clientOrderId: '',
      marketRef: MARKET.ref,
      marketId: MARKET.platformId,
      outcome: 'no',
      outcomeIndex: 1,
      side: 'sell',
      type: 'limit',
      timeInForce: 'gtd',
      price: parsePrice('0.45'),
      size: parseSize('10'),
      status: 'open',
      filledSize: 0n,
      remainingSize: parseSize('10'),
      averageFillPrice: null,
      receivedSize: null,
      receivedUsd: 0n,
      makerFee: 0n,
      takerFee: 0n,
      createdAt: '2026-11-21T00:00:00.000Z',
      updatedAt: '2026-11-21T00:00:00.000Z',
      expiration: new Date(Math.floor(NOW / 1000) * 1000 + 3_600_000).toISOString(),
      metadata: {},
    });
  });

  test('a purchase that fills at once is sized by the dollars it may spend', async () => {
    const row = orderRow({ order_type: 'FOK', original_size: '4.5', status: 'DELAYED' });
    const { adapter, access } = cannedOrders({ [`/data/order/${hex(1)}`]: row, '/data/trades': page([]) });
    expect(await adapter.get(hex(1), access)).toMatchObject({
      type: 'market',
      timeInForce: 'fok',
      size: parseSize('10'),
      status: 'pending',
    });
  });

  test.each(['not-an-id', '0x12', `${hex(1)}/../../auth/api-keys`])(
    '%s is no order, and nobody is asked',
    async (id) => {
      const { adapter, access, http } = cannedOrders();
      expect(await adapter.get(id, access)).toBeNull();
      expect(http.asked).toEqual([]);
    },
  );

  test('a list is complete only when every page and every row was read', async () => {
    const pages = {
      '/data/orders': page([orderRow(), orderRow({ id: hex(2), size_matched: '4' })]),
      '/data/trades': page([]),
    };
    const whole = cannedOrders(pages);
    const listing = await whole.adapter.list({ market: MARKET, sinceMs: 0 }, whole.access);
    expect(listing).toMatchObject({ complete: true, orders: [{ status: 'open' }, { status: 'partially_filled' }] });
    expect(whole.http.asked[0]).toBe(`/data/orders?market=${MARKET.ref}&next_cursor=MA==`);

    const odd = cannedOrders({ '/data/orders': page([orderRow(), orderRow({ id: hex(3), side: 'HOLD' })]) });
    expect(await odd.adapter.list({ market: null, sinceMs: 0 }, odd.access)).toMatchObject({
      complete: false,
      orders: [{}],
    });
    expect(odd.access.badRows).toMatchObject([{ kind: 'order', id: hex(3) }]);

    const foreign = cannedOrders({
      '/data/orders': page([orderRow({ asset_id: token(99) }), orderRow({ id: hex(4), market: hex(5) })]),
    });
    const access = orderAccess();
    expect(await foreign.adapter.list({ market: null, sinceMs: 0 }, access)).toEqual({ complete: false, orders: [] });
    expect(access.badRows).toHaveLength(2);

    let n = 0;
    const endless = cannedOrders({ '/data/orders': () => page([], String((n += 1))) });
    expect(await endless.adapter.list({ market: null, sinceMs: 0 }, endless.access)).toMatchObject({ complete: false });
  });
});

const target = (id: number) => ({ orderId: hex(id), marketRef: MARKET.ref });
const cancelled = (canceled: string[], not_canceled: object = {}) => ({ canceled, not_canceled });

describe('cancelling', () => {
  test('one order is asked for by itself, several together, and only what is confirmed is cancelled', async () => {
    const gone = 'Order not found or already canceled';
    const { adapter, access, http } = cannedOrders({
      '/order': cancelled([hex(1)]),
      '/orders': cancelled([hex(1)], { [hex(2)]: gone, [hex(3)]: 'engine busy' }),
    });
    expect(await adapter.cancel([target(1)], access)).toEqual([{ result: 'cancelled', httpStatus: 200, detail: '' }]);
    expect(await adapter.cancel([1, 2, 3, 4].map(target), access)).toEqual([
      { result: 'cancelled', httpStatus: 200, detail: '' },
      { result: 'not_open', httpStatus: 200, detail: gone },
      { result: 'refused', httpStatus: 200, detail: 'engine busy' },
      { result: 'unconfirmed', httpStatus: 200, detail: '' },
    ]);
    expect(http.requests.map(({ method, body, retry, cost }) => [method, body, retry, cost])).toEqual([
      ['DELETE', JSON.stringify({ orderID: hex(1) }), false, 1],
      ['DELETE', JSON.stringify([1, 2, 3, 4].map((id) => hex(id))), false, 4],
    ]);
  });

  test('many orders go in calls that the signer’s own limit allows', async () => {
    const { adapter, access, http } = cannedOrders({ '/orders': cancelled([]), '/order': cancelled([hex(81)]) });
    const results = await adapter.cancel(
      Array.from({ length: 81 }, (_, n) => target(n + 1)),
      access,
    );
    expect(results).toHaveLength(81);
    expect(results[80]).toMatchObject({ result: 'cancelled' });
    expect(http.requests.map(({ cost }) => cost)).toEqual([40, 40, 1]);
  });

  test.each([
    ['no answer', refuse('timeout', 0)],
    ['a restart', refuse('maintenance', 425, {})],
    ['trading disabled', refuse('maintenance', 503, { error: 'Trading is currently disabled.' })],
    ['an answer of another shape', { canceled: 'all' }],
  ])('%s confirms nothing', async (_, answer) => {
    const { adapter, access } = cannedOrders({ '/order': answer });
    expect(await adapter.cancel([target(1)], access)).toMatchObject([{ result: 'unconfirmed' }]);
  });

  test('a refused credential is said', async () => {
    const { adapter, access } = cannedOrders({ '/order': refuse('unauthorized', 401, {}) });
    await expect(adapter.cancel([target(1)], access)).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});
