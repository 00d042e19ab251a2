import { describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import type { Placement } from '../../../src/platforms/order-contract.ts';
import { POLYMARKET_CHECKS } from '../../../src/platforms/polymarket/orders/advice.ts';
import { signedHeaders } from '../../../src/platforms/polymarket/api-keys.ts';
import { EXCHANGES } from '../../../src/platforms/polymarket/orders/exchanges.ts';
import { signOrder, type WireOrder } from '../../../src/platforms/polymarket/orders/signing.ts';
import { RECEIVED_AT, refuse } from '../../fixtures/canned-http.ts';
import {
  ADDRESS,
  API_KEY,
  CREDENTIAL,
  FUNDER,
  KEY,
  MARKET,
  NOW,
  SECRET,
  cannedOrders,
  intent,
  marketWith,
  orderAccess,
  placedRow,
  terms,
  type Wanted,
} from '../../fixtures/polymarket/orders.ts';
import { hex, token } from '../../fixtures/polymarket/rows.ts';

const ZERO = `0x${'0'.repeat(64)}`;
const SEED = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
/** 0x01020304050607, the first 52 bits of 01 02 … 07. */
const SALT = 0x0102030405060;
const EXPIRES = NOW + 3_600_000;

interface Body {
  order: WireOrder & { signature: string };
  owner: string;
  orderType: string;
}

/** What left for POST /order, and the headers it left with. */
async function sent(wanted: Wanted, setup: { reply?: unknown; market?: typeof MARKET; credential?: object } = {}) {
  const { adapter, http } = cannedOrders({ '/order': setup.reply ?? placedRow() });
  const order = intent(terms(wanted), { seed: SEED, ...(setup.market ? { market: setup.market } : {}) });
  adapter.check(order.market, order.terms);
  const prepared = await adapter.prepare(order, orderAccess({ ...CREDENTIAL, ...setup.credential }));
  // Only the balance of a wallet that is new here is read before the order is sent.
  expect(http.asked).toEqual([
    expect.stringMatching(/^\/balance-allowance\/update\?asset_type=(COLLATERAL|CONDITIONAL&)/),
  ]);
  const placement = await prepared.place();
  const request = http.requests.find(({ url }) => url.endsWith('/order'));
  const { headers } = request ?? {};
  return {
    prepared,
    placement,
    request,
    headers: typeof headers === 'function' ? headers() : {},
    body: JSON.parse(request?.body ?? '{}') as Body,
  };
}

describe('an order of the caller on the wire', () => {
  const walk = { size: '10', cost: '4.301201' };
  type Line = [
    side: 'buy' | 'sell',
    outcome: 0 | 1,
    type: 'limit' | 'market',
    timeInForce: 'gtc' | 'gtd' | 'ioc' | 'fok',
    orderType: string,
    makerAmount: string,
    takerAmount: string,
  ];
  const lines = ([0, 1] as const).flatMap((outcome): Line[] => [
    ['buy', outcome, 'limit', 'gtc', 'GTC', '4500000', '10000000'],
    ['buy', outcome, 'limit', 'gtd', 'GTD', '4500000', '10000000'],
    ['buy', outcome, 'limit', 'ioc', 'FAK', '4500000', '10000000'],
    ['buy', outcome, 'limit', 'fok', 'FOK', '4500000', '10000000'],
    // 4.301201 pUSD of book, rounded up to cents, at the bound: 4.31 / 0.45 = 9.5777…
    ['buy', outcome, 'market', 'ioc', 'FAK', '4310000', '9577700'],
    ['buy', outcome, 'market', 'fok', 'FOK', '4310000', '9577700'],
    ['sell', outcome, 'limit', 'gtc', 'GTC', '10000000', '4500000'],
    ['sell', outcome, 'limit', 'gtd', 'GTD', '10000000', '4500000'],
    ['sell', outcome, 'limit', 'ioc', 'FAK', '10000000', '4500000'],
    ['sell', outcome, 'limit', 'fok', 'FOK', '10000000', '4500000'],
    ['sell', outcome, 'market', 'ioc', 'FAK', '10000000', '4500000'],
    ['sell', outcome, 'market', 'fok', 'FOK', '10000000', '4500000'],
  ]);

  test.each(lines)('%s outcome %i %s %s', async (side, outcome, type, timeInForce, orderType, maker, taker) => {
    const expirationMs = timeInForce === 'gtd' ? EXPIRES : null;
    const wanted = { side, outcomeIndex: outcome, type, timeInForce, expirationMs };
    const { body, prepared } = await sent({ ...wanted, ...(type === 'market' ? { walk } : {}) });
    const { signature, ...order } = body.order;
    expect({ ...body, order }).toEqual({
      deferExec: false,
      postOnly: false,
      order: {
        salt: SALT,
        maker: ADDRESS,
        signer: ADDRESS,
        tokenId: token(outcome === 0 ? 11 : 12),
        makerAmount: maker,
        takerAmount: taker,
        side: side === 'buy' ? 'BUY' : 'SELL',
        signatureType: 0,
        timestamp: String(NOW),
        // An order ends a minute before the expiration it is sent with.
        expiration: timeInForce === 'gtd' ? String(Math.floor(EXPIRES / 1000) + 60) : '0',
        metadata: ZERO,
        builder: ZERO,
      },
      owner: API_KEY,
      orderType,
    });
    expect({ orderId: prepared.orderId, signature }).toEqual(await signOrder(order, EXCHANGES.standard.domain, KEY));
    expect(prepared.wire).toEqual({ deferExec: false, postOnly: false, order, orderType });
  });

  test('has the bytes, the key order and the HMAC of Polymarket’s own client, and is sent once', async () => {
    const { request, headers, body } = await sent({ timeInForce: 'gtd', expirationMs: EXPIRES });
    expect(request?.body).toBe(
      `{"deferExec":false,"postOnly":false,"order":{"salt":${SALT},"maker":"${ADDRESS}","signer":"${ADDRESS}",` +
        `"tokenId":"${token(11)}","makerAmount":"4500000","takerAmount":"10000000","side":"BUY","signatureType":0,` +
        `"timestamp":"${NOW}","expiration":"${Math.floor(EXPIRES / 1000) + 60}","metadata":"${ZERO}","builder":"${ZERO}",` +
        `"signature":"${body.order.signature}"},"owner":"${API_KEY}","orderType":"GTD"}`,
    );
    const key = { key: API_KEY, secret: SECRET, passphrase: 'open sesame' };
    const call = {
      timestamp: String(Math.floor(NOW / 1000)),
      method: 'POST',
      path: '/order',
      body: request?.body ?? '',
    };
    expect(headers).toEqual({ ...signedHeaders(key, ADDRESS, call), 'content-type': 'application/json' });
    expect(request).toMatchObject({ method: 'POST', retry: false, group: 'polymarket:clob/order' });
    expect(request).not.toHaveProperty('signal');
  });

  test('is signed for the contract that its market trades on', async () => {
    const { prepared, body } = await sent({}, { market: marketWith({ neg_risk: true }) });
    const { signature, ...order } = body.order;
    expect({ orderId: prepared.orderId, signature }).toEqual(
      await signOrder(order, EXCHANGES.negativeRisk.domain, KEY),
    );
  });

  test.each([1, 2, 3] as const)(
    'names the wallet that pays and the one that signs (signature type %i)',
    async (type) => {
      const { body } = await sent({}, { credential: { signature_type: type, funder: FUNDER } });
      expect(body.order).toMatchObject({ maker: FUNDER, signer: type === 3 ? FUNDER : ADDRESS, signatureType: type });
    },
  );

  test('is the same order for the same idempotency key, and another one for another', async () => {
    const { adapter, access } = cannedOrders();
    const id = async (seed: Uint8Array, claimedAtMs: number) =>
      (await adapter.prepare(intent(terms(), { seed, claimedAtMs }), access)).orderId;
    const other = Uint8Array.from(SEED, (byte) => byte ^ 1);
    expect(await id(SEED, NOW)).toBe(await id(SEED, NOW));
    expect(new Set([await id(SEED, NOW), await id(other, NOW), await id(SEED, NOW + 1)]).size).toBe(3);
  });

  test('has a salt that a JSON number holds, whatever the seed', async () => {
    const { adapter, access } = cannedOrders();
    const { wire } = await adapter.prepare(intent(terms(), { seed: new Uint8Array(32).fill(255) }), access);
    expect((wire as unknown as Body).order.salt).toBe(2 ** 52 - 1);
  });
});

const metadata = async (wanted: Wanted) => (await sent(wanted)).prepared.metadata;

describe('a purchase that fills at once', () => {
  test('spends what its size costs in the book, in whole cents: a part of one is rounded up, and reported', async () => {
    const { body, prepared } = await sent(
      { size: '7', price: '0.457', timeInForce: 'fok' },
      { market: marketWith({ tick_size: 0.001 }) },
    );
    // 7 × 0.457 = 3.199; 3.20 / 0.457 = 7.002188…, cut to the five decimals of this tick.
    expect(body.order).toMatchObject({ makerAmount: '3200000', takerAmount: '7002180' });
    expect(prepared.metadata).toEqual({ collateral: 3.2, least_shares: 7.00218 });
  });

  test.each(['limit', 'market'] as const)(
    'of a book that holds less than its size pays for that part (%s)',
    async (type) => {
      const { body } = await sent({ type, timeInForce: 'ioc', walk: { size: '4', cost: '1.6' } });
      expect(body.order).toMatchObject({ makerAmount: '1600000', takerAmount: '3555500' });
    },
  );

  test('takes any price up to its limit with ioc; with fok none above the last level that it needs', async () => {
    const walk = { size: '10', cost: '3.6', worst: '0.4' };
    const ioc = await sent({ price: '0.9', timeInForce: 'ioc', walk });
    expect(ioc.body.order).toMatchObject({ makerAmount: '3600000', takerAmount: '4000000' });
    const fok = await sent({ price: '0.9', timeInForce: 'fok', walk });
    expect(fok.body.order).toMatchObject({ makerAmount: '3600000', takerAmount: '9000000' });
  });

  test('for an amount spends the amount, whatever number of shares it buys', async () => {
    const wanted = { type: 'market', timeInForce: 'ioc', amount: '5', size: '11.9', price: '0.5' } as const;
    const { body } = await sent({ ...wanted, walk: { size: '11.9', cost: '4.998' } });
    expect(body.order).toMatchObject({ makerAmount: '5000000', takerAmount: '10000000' });
  });

  test('of a book with a finer step than the stored market rounds by that step', async () => {
    const wanted = { type: 'market', timeInForce: 'ioc', price: '0.961', walk: { size: '10', cost: '9.6' } } as const;
    // 9.6 / 0.961 = 9.989594…: five decimals with a step of 0.001, not the four of 0.01.
    expect((await sent(wanted)).body.order).toMatchObject({ makerAmount: '9600000', takerAmount: '9989590' });
  });

  test('shows what it spends; a resting one what it holds; a sale nothing', async () => {
    expect(await metadata({ type: 'market', timeInForce: 'ioc', walk: { size: '10', cost: '4.2' } })).toEqual({
      collateral: 4.2,
      least_shares: 9.3333,
    });
    expect(await metadata({ price: '0.33' })).toEqual({ collateral: 3.3 });
    expect(await metadata({ side: 'sell' })).toEqual({});
  });
});

/** The refusal of `check`, which must be a 422. */
function refused(wanted: Wanted, market = MARKET): { message: string; resolution: string; errorText: string } {
  const { adapter } = cannedOrders();
  try {
    adapter.check(market, terms(wanted));
  } catch (error) {
    expect(error).toMatchObject({ name: 'ApiError', status: 422 });
    return error as never;
  }
  throw new Error('was not refused');
}

describe('an order Polymarket would refuse is refused before it is signed', () => {
  test.each([
    ['0.1', 0.1, '0.45', '0.4 or 0.5'],
    ['0.01', 0.01, '0.455', '0.45 or 0.46'],
    ['0.005', 0.005, '0.4525', '0.45 or 0.455'],
    ['0.0025', 0.0025, '0.451', '0.45 or 0.4525'],
    ['0.001', 0.001, '0.4505', '0.45 or 0.451'],
    ['0.0001', 0.0001, '0.45005', '0.45 or 0.4501'],
  ])('a price between two steps of %s, with the prices around it', (_, tick, price, nearest) => {
    const error = refused({ price, size: '100' }, marketWith({ tick_size: tick }));
    expect(error.resolution).toBe(`Use a price of the market's grid: ${nearest}.`);
    expect(error.errorText).toContain(price);
  });

  test('but not the bound of a market order, which a newer book has put on its own grid', () => {
    const { adapter } = cannedOrders();
    const bound = terms({ type: 'market', timeInForce: 'ioc', price: '0.971', walk: { size: '10', cost: '9.7' } });
    expect(() => adapter.check(MARKET, bound)).not.toThrow();
  });

  test.each([
    ['1.005', '1 or 1.01'],
    ['0.004', '0.01'],
  ])('a size of %s, with the sizes around it', (size, nearest) => {
    for (const type of ['limit', 'market'] as const) {
      expect(refused({ size, type, timeInForce: 'ioc' }).resolution).toBe(`Use at most two decimals: ${nearest}.`);
    }
  });

  test('an order that rests and is smaller than the market’s minimum, whereas one that fills at once may be', () => {
    for (const timeInForce of ['gtc', 'gtd'] as const) {
      expect(refused({ size: '4.99', timeInForce })).toMatchObject({
        resolution: 'Use time_in_force ioc or fok, or a size that may rest: 5 or more.',
      });
    }
    const { adapter } = cannedOrders();
    expect(() => adapter.check(MARKET, terms({ size: '4.99', timeInForce: 'ioc' }))).not.toThrow();
    expect(() => adapter.check(MARKET, terms({ size: '5' }))).not.toThrow();
  });

  test.each([
    ['ioc', '1', '0.41', '2.44'],
    ['fok', '2.41', '0.41', '2.44'],
    ['ioc', '99', '0.01', '100'],
    ['fok', '1', '0.99', '1.02'],
    ['ioc', '0.01', '0.333', '3.01'],
  ] as const)('a purchase at once (%s) of %s at %s, with a size that is enough', (timeInForce, size, price, least) => {
    const market = marketWith({ tick_size: 0.001 });
    for (const type of ['limit', 'market'] as const) {
      const { resolution } = refused({ size, price, type, timeInForce }, market);
      expect(resolution).toBe(`A purchase that fills at once spends at least 1 pUSD: use a size of ${least} or more.`);
    }
    const { adapter } = cannedOrders();
    expect(() => adapter.check(market, terms({ size: least, price, timeInForce }))).not.toThrow();
    expect(() => adapter.check(market, terms({ size, price, timeInForce, side: 'sell' }))).not.toThrow();
  });

  test('a purchase at several prices, with the size that the last of them makes enough', () => {
    const { resolution } = refused({
      size: '5',
      price: '0.2',
      timeInForce: 'ioc',
      walk: { size: '5', cost: '0.7', worst: '0.2' },
    });
    expect(resolution).toBe('A purchase that fills at once spends at least 1 pUSD: use a size of 6.5 or more.');
  });

  test('a purchase of which the book offers too little for a dollar, whatever its size', () => {
    const walk = { size: '2', cost: '0.6' };
    for (const timeInForce of ['ioc', 'fok'] as const) {
      expect(refused({ size: '10', price: '0.3', timeInForce, walk })).toMatchObject({
        message: POLYMARKET_CHECKS.notOffered.message,
        errorText: expect.stringContaining('size: 2 of 10 is offered at 0.3 or less'),
      });
    }
  });

  test('a purchase that rests, of less than a dollar, if the book offers it at once', () => {
    const crossing = { size: '5', price: '0.1', walk: { size: '5', cost: '0.4' } };
    const { adapter } = cannedOrders();
    for (const timeInForce of ['gtc', 'gtd'] as const) {
      const { resolution } = refused({ ...crossing, timeInForce });
      expect(resolution).toBe('A purchase that fills at once spends at least 1 pUSD: use a size of 10 or more.');
      expect(adapter.needsBook(terms({ ...crossing, timeInForce }))).toBe(true);
    }
    for (const other of [{ postOnly: true }, { size: '10' }, { walk: undefined }, { side: 'sell' }] as const) {
      expect(() => adapter.check(MARKET, terms({ ...crossing, ...other }))).not.toThrow();
    }
    expect(adapter.needsBook(terms({ ...crossing, postOnly: true }))).toBe(false);
    expect(adapter.needsBook(terms({ ...crossing, size: '10' }))).toBe(false);
  });

  test.each([
    ['ioc', '2.42', '0.41'],
    ['fok', '2.43', '0.41'],
    ['ioc', '1.99', '0.5'],
  ] as const)(
    'but not a purchase at once (%s) of %s at %s, whose cost is a dollar in whole cents',
    async (timeInForce, size, price) => {
      for (const type of ['limit', 'market'] as const) {
        const { prepared } = await sent({ size, price, type, timeInForce });
        expect(prepared.wire).toMatchObject({ order: { makerAmount: '1000000' } });
      }
    },
  );

  test('an amount of less than a dollar or of parts of a cent, with the amounts that work', () => {
    const wanted = { type: 'market', timeInForce: 'ioc', size: '2', walk: { size: '2', cost: '0.9' } } as const;
    expect(refused({ ...wanted, amount: '0.99' }).resolution).toContain('an amount of 1 or more');
    expect(refused({ ...wanted, amount: '5.005' }).resolution).toBe('Use at most two decimals: 5 or 5.01.');
  });

  test('a purchase at once for which the book holds nothing, or with fok too little', () => {
    for (const timeInForce of ['ioc', 'fok'] as const) {
      expect(refused({ timeInForce, walk: { size: '0', cost: '0' } }).message).toContain('does not offer');
    }
    expect(refused({ timeInForce: 'fok', walk: { size: '9.99', cost: '4' } }).errorText).toContain('9.99 of 10');
  });

  test('a market without tokens', () => {
    const bare = { ...MARKET, outcomes: MARKET.outcomes.map((one) => ({ ...one, tokenId: '' })) };
    expect(refused({}, bare).message).toContain('no order book');
  });

  test('prices are those of the book just read, else of the stored market', () => {
    const { adapter } = cannedOrders();
    expect(adapter.grid(MARKET, 0, null).atMost(parsePrice('0.977'))).toBe(parsePrice('0.97'));
    expect(adapter.grid(MARKET, 1, parsePrice('0.001')).atMost(parsePrice('0.9779'))).toBe(parsePrice('0.977'));
  });
});

const outcomeOf = async (wanted: Wanted, reply: object): Promise<Placement> =>
  (await sent(wanted, { reply: placedRow(reply) })).placement;

type Kind = 'refused' | 'not_found' | 'unavailable' | 'unauthorized';
const text = (status: number, error: string, kind: Kind = 'refused') => ({
  refuse: { kind, status, body: { error }, detail: error },
});

describe('what the reply to a placement says is what is reported', () => {
  const accepted: [label: string, wanted: Wanted, reply: object, order: object][] = [
    ['live', {}, { status: 'live' }, { status: 'open', filledSize: 0n, remainingSize: parseSize('10'), takerFee: 0n }],
    ['unmatched', {}, { status: 'unmatched' }, { status: 'open' }],
    ['live, and to be filled at once', { timeInForce: 'ioc' }, { status: 'live' }, { status: 'pending' }],
    [
      'live, with a part matched',
      {},
      { status: 'live', makingAmount: '1.8', takingAmount: '4' },
      { status: 'partially_filled', filledSize: parseSize('4'), remainingSize: parseSize('6') },
    ],
    ['delayed', { timeInForce: 'fok' }, { status: 'delayed' }, { status: 'pending', remainingSize: parseSize('10') }],
    ['a status nobody knows', {}, { status: 'paused' }, { status: 'pending' }],
    [
      'matched in full',
      { price: '0.67' },
      { status: 'matched', makingAmount: '6.7', takingAmount: '10', tradeIDs: ['t-1'] },
      {
        status: 'filled',
        filledSize: parseSize('10'),
        remainingSize: 0n,
        averageFillPrice: parsePrice('0.67'),
        makerFee: 0n,
        // 10 × 0.05 × 0.67 × 0.33, five decimals
        takerFee: parseUsd('0.11055'),
        // The fee is charged on top, in pUSD.
        receivedSize: parseSize('10'),
        receivedUsd: null,
        metadata: { trade_ids: ['t-1'] },
      },
    ],
    [
      'matched in full, with amounts in base units',
      {},
      { status: 'matched', makingAmount: '4500000', takingAmount: '10000000', tradeIDs: ['t-1'] },
      { status: 'filled', filledSize: parseSize('10'), averageFillPrice: parsePrice('0.45') },
    ],
    [
      'matched in a small part, with amounts in base units',
      { size: '1200' },
      { status: 'live', makingAmount: '22500', takingAmount: '50000', tradeIDs: ['t-1'] },
      { status: 'partially_filled', filledSize: parseSize('0.05'), averageFillPrice: parsePrice('0.45') },
    ],
    [
      'a sale in part, with amounts in base units',
      { side: 'sell', timeInForce: 'ioc' },
      { status: 'matched', makingAmount: '4000000', takingAmount: '1880000', tradeIDs: ['t-1'] },
      { status: 'cancelled', filledSize: parseSize('4'), averageFillPrice: parsePrice('0.47') },
    ],
    [
      'dollars spent for more shares, with amounts in base units',
      { timeInForce: 'ioc' },
      { status: 'matched', makingAmount: '4500000', takingAmount: '12500000', tradeIDs: ['t-1'] },
      { status: 'filled', filledSize: parseSize('12.5'), averageFillPrice: parsePrice('0.36') },
    ],
    [
      'matched in part, the rest at rest',
      {},
      { status: 'matched', makingAmount: '1.76', takingAmount: '4', tradeIDs: ['t-1'] },
      {
        status: 'partially_filled',
        filledSize: parseSize('4'),
        remainingSize: parseSize('6'),
        averageFillPrice: parsePrice('0.44'),
      },
    ],
    [
      'matched in part, the rest killed',
      { side: 'sell', timeInForce: 'ioc' },
      { status: 'matched', makingAmount: '4', takingAmount: '1.88', tradeIDs: ['t-1'] },
      { status: 'cancelled', filledSize: parseSize('4'), remainingSize: 0n, averageFillPrice: parsePrice('0.47') },
    ],
    [
      'all of the dollars spent, for fewer shares than there were a moment before',
      { type: 'market', timeInForce: 'fok', walk: { size: '10', cost: '4.31' } },
      { status: 'matched', makingAmount: '4.309999', takingAmount: '9.8', tradeIDs: ['t-1'] },
      { status: 'cancelled', filledSize: parseSize('9.8'), remainingSize: 0n },
    ],
    [
      'matched all but dust',
      { size: '100' },
      { status: 'matched', makingAmount: '43.998994', takingAmount: '99.997714', tradeIDs: ['t-1'] },
      { status: 'filled', filledSize: parseSize('99.997714'), remainingSize: 0n },
    ],
    [
      'all of the amount spent that was to be spent',
      { type: 'market', timeInForce: 'ioc', amount: '4.31', walk: { size: '10', cost: '4.31' } },
      { status: 'matched', makingAmount: '4.309999', takingAmount: '9.8', tradeIDs: ['t-1'] },
      { status: 'filled', filledSize: parseSize('9.8'), remainingSize: 0n },
    ],
    [
      'all of the dollars spent at a better price, for more shares',
      { timeInForce: 'ioc' },
      { status: 'matched', makingAmount: '4.5', takingAmount: '12.5', tradeIDs: ['t-1'] },
      { status: 'filled', filledSize: parseSize('12.5'), remainingSize: 0n, averageFillPrice: parsePrice('0.36') },
    ],
    [
      'several trades, whose fees are rounded one by one',
      {},
      { status: 'matched', makingAmount: '4.4', takingAmount: '10', tradeIDs: ['t-1', 't-2'] },
      { status: 'filled', takerFee: null, averageFillPrice: parsePrice('0.44') },
    ],
    [
      'matched, amounts to follow',
      {},
      { status: 'matched', tradeIDs: ['t-1'] },
      { status: 'pending', filledSize: 0n, takerFee: null, receivedSize: null },
    ],
    [
      'a sale, of which the fee is taken from the proceeds',
      { side: 'sell' },
      { status: 'matched', makingAmount: '10', takingAmount: '4.5', tradeIDs: ['t-1'] },
      // 10 × 0.05 × 0.45 × 0.55
      { status: 'filled', takerFee: parseUsd('0.12375'), receivedSize: null, receivedUsd: parseUsd('4.37625') },
    ],
    [
      'a sale in several trades',
      { side: 'sell' },
      { status: 'matched', makingAmount: '10', takingAmount: '4.5', tradeIDs: ['t-1', 't-2'] },
      { status: 'filled', takerFee: null, receivedUsd: null },
    ],
  ];
  test.each(accepted)('%s', async (_, wanted, reply, order) => {
    const placement = await outcomeOf(wanted, reply);
    expect(placement).toMatchObject({ result: 'accepted', httpStatus: 200, order: { orderId: hex(1), ...order } });
  });

  test('an accepted order is shown in full', async () => {
    const { prepared, placement } = await sent({ outcomeIndex: 1 });
    expect(prepared.orderId).toMatch(/^0x[0-9a-f]{64}$/);
    expect(placement).toEqual({
      result: 'accepted',
      httpStatus: 200,
      detail: 'live',
      order: {
        orderId: hex(1),
        clientOrderId: expect.stringMatching(/^order-/),
        marketRef: MARKET.ref,
        marketId: '700123',
        outcome: 'no',
        outcomeIndex: 1,
        side: 'buy',
        type: 'limit',
        timeInForce: 'gtc',
        price: parsePrice('0.45'),
        size: parseSize('10'),
        status: 'open',
        filledSize: 0n,
        remainingSize: parseSize('10'),
        averageFillPrice: null,
        receivedSize: 0n,
        receivedUsd: null,
        makerFee: 0n,
        takerFee: 0n,
        createdAt: new Date(NOW).toISOString(),
        updatedAt: RECEIVED_AT,
        expiration: null,
        metadata: {},
      },
    });
  });

  test.each([
    ['an error beside success', { success: true, errorMsg: 'not enough balance / allowance', orderID: '', status: '' }],
    ['no success', { success: false, errorMsg: 'not enough balance / allowance' }],
  ])('200 with %s is a refusal', async (_, reply) => {
    expect(await outcomeOf({}, reply)).toMatchObject({ result: 'rejected', httpStatus: 200, refusal: { status: 422 } });
  });

  test.each([
    ["order couldn't be fully filled. FOK orders are fully filled or killed.", 'fok'],
    ['no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.', 'ioc'],
  ] as const)('400 "%s" is an order that is over', async (error, timeInForce) => {
    const { placement, prepared } = await sent({ timeInForce }, { reply: text(400, error) });
    expect(placement).toMatchObject({
      result: 'accepted',
      httpStatus: 400,
      order: { orderId: prepared.orderId, status: 'cancelled', filledSize: 0n, remainingSize: 0n, takerFee: 0n },
    });
  });

  test.each([
    ['not enough balance / allowance', 'Fund the wallet'],
    ['invalid expiration', '130 seconds'],
    ['invalid signature', 'must belong together'],
    ['the order owner has to be the owner of the API KEY', 'must belong together'],
    ['the order signer address has to be the address of the API KEY', 'An older Safe needs signature_type 2'],
    ['maker address not allowed, please use the deposit wallet flow', 'signature_type 3'],
    [`'${ADDRESS}' address banned`, 'contact Polymarket'],
    [`'${ADDRESS}' address in closed only mode`, 'contact Polymarket'],
    ['the market is not yet ready to process new orders', 'does not trade now'],
    ['something new', 'according to error_text'],
  ])('400 "%s" is a refusal that says what helps', async (error, resolution) => {
    expect((await sent({}, { reply: text(400, error) })).placement).toMatchObject({
      result: 'rejected',
      httpStatus: 400,
      detail: error,
      refusal: { status: 422, resolution: expect.stringContaining(resolution), errorText: error },
    });
  });

  test('404 of a book that is closed, and 401, are refusals too', async () => {
    const closed = text(404, 'No orderbook exists for the requested token id', 'not_found');
    expect((await sent({}, { reply: closed })).placement).toMatchObject({
      result: 'rejected',
      refusal: { status: 422 },
    });
    const denied = text(401, 'Unauthorized/Invalid api key', 'unauthorized');
    expect((await sent({}, { reply: denied })).placement).toMatchObject({
      result: 'rejected',
      refusal: { message: 'Polymarket rejected the credential', resolution: expect.stringContaining('Renew') },
    });
  });

  test.each([
    ['a duplicate, which may be this very order', text(400, `order ${hex(1)} is invalid. Duplicated.`)],
    ['a failure inside', text(500, 'could not insert order', 'unavailable')],
    ['a failure inside that is answered 400', text(400, 'could not insert order: context canceled')],
    ['an execution that failed inside', text(400, 'could not run the execution')],
    ['a delay that failed inside', text(400, 'error delaying the order')],
    ['a match that waits inside', text(400, 'order match delayed due to market conditions')],
    ['a call that was cut off inside', text(400, 'context canceled')],
    ['a failure inside that is answered 404', text(404, 'could not insert order: not found', 'not_found')],
    ['an engine that restarts', refuse('maintenance', 425, { error: 'restarting' })],
    ['a gateway’s page', refuse('geo_blocked', 403)],
    ['no answer', refuse('timeout', 0)],
    ['a lost connection', refuse('unavailable', 0)],
    ['an answer of another shape', { ok: true }],
    ['an answer without an order id', placedRow({ orderID: '', status: '' })],
    ['an answer without success or a reason', placedRow({ success: false })],
  ])('%s leaves the order unknown', async (_, reply) => {
    expect((await sent({}, { reply })).placement).toMatchObject({ result: 'unknown' });
  });

  test.each([
    ['post-only mode', 30, refuse('maintenance', 503, { error: 'post-only mode', code: 'post_only_mode' })],
    ['cancel-only mode', 30, refuse('maintenance', 503, { error: 'Trading is currently cancel-only.' })],
    // The server's region, not the caller's order.
    ['a region', 60, refuse('geo_blocked', 403, { error: 'Trading restricted in your region' })],
    ['too many requests', 5, refuse('rate_limited', 429, { error: 'Too Many Requests' })],
  ])('%s is a refusal to be tried again %i seconds later, where no wait is named', async (_, retryAfter, reply) => {
    expect((await sent({}, { reply })).placement).toMatchObject({
      result: 'rejected',
      refusal: { status: 503, retryAfter },
    });
  });
});
