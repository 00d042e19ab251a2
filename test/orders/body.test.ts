import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/core/errors.ts';
import { inputReader } from '../../src/http/read-input.ts';
import { contradictionsOf, orderFields, orderRequest } from '../../src/orders/placing/request.ts';

const read = inputReader({ body: orderFields }, (body, failing) => contradictionsOf(body, failing, 0));
const LIMIT = { platform: 'kalshi', market_id: 'A', side: 'buy', outcome: 'yes', type: 'limit', price: 0.4, size: 10 };
const MARKET = { ...LIMIT, type: 'market', price: undefined };
/** What the body is refused for; '' if it is accepted. */
function fault(change: object, base: object = LIMIT): string {
  try {
    read({ body: { ...base, ...change } });
    return '';
  } catch (error) {
    if (error instanceof ApiError) return error.errorText;
    throw error;
  }
}

describe('an order has a size or, as a market purchase, an amount', () => {
  test.each<[object, string]>([
    [{}, ''],
    [{ size: undefined, amount: 5 }, ''],
    [{ size: undefined, amount: '5.25', price: 0.6, max_slippage: 0.1 }, ''],
    [{ size: undefined, amount: 5, time_in_force: 'fok' }, ''],
    [{ size: undefined }, 'size: a size above 0'],
    [{ amount: 5 }, 'amount: either size or amount, received 5'],
    [{ size: undefined, amount: 5, side: 'sell' }, 'amount: only with a market purchase'],
    [{ size: undefined, amount: 5, type: 'limit', price: 0.4 }, 'amount: only with a market purchase'],
    [{ size: undefined, amount: 0 }, 'amount: USD above 0'],
    [{ size: undefined, amount: -1 }, 'amount: USD above 0'],
    [{ size: undefined, amount: '1.0000001' }, 'amount: USD above 0'],
  ])('%j: %s', (change, expected) => {
    const text = fault(change, MARKET);
    expect(text === '' ? '' : text.slice(0, expected.length)).toBe(expected);
    expect(text.split('; ')).toHaveLength(1);
  });
});

test.each(['.', '.e5', '+.e1', 'e5', '1e', '1.2.3', '0x1', '', ' ', '1e999', '9'.repeat(41), null, [], {}, true])(
  'a number of the body that is none is refused: %j',
  (value) => {
    for (const field of ['size', 'price', 'max_slippage']) {
      const base = field === 'max_slippage' ? MARKET : LIMIT;
      expect(fault({ [field]: value }, base)).toContain(`${field}: `);
    }
    expect(fault({ size: undefined, amount: value }, MARKET)).toContain('amount: ');
  },
);

test.each(['0.40', '.4', '4e-1', ' 0.4 ', '+0.4', 0.4])('%j is a price of 0.4', (price) => {
  expect(read({ body: { ...LIMIT, price } }).body.price).toBe(read({ body: LIMIT }).body.price);
});

describe('post_only is for orders that can rest', () => {
  const gtd = { time_in_force: 'gtd', expiration: '2100-01-01T00:00:00Z' };
  test.each<[object, string]>([
    [{ post_only: true }, ''],
    [{ post_only: true, ...gtd }, ''],
    [{ post_only: false, time_in_force: 'ioc' }, ''],
    [{ post_only: true, time_in_force: 'ioc' }, 'post_only: false with ioc'],
    [{ post_only: true, time_in_force: 'fok' }, 'post_only: false with fok'],
    [{ post_only: true, type: 'market', price: undefined }, 'post_only: false with ioc'],
    [{ post_only: 'maybe' }, 'post_only: true or false'],
    [{ self_trade_prevention: 'cancel_some' }, 'self_trade_prevention: one of cancel_taker, cancel_maker, cancel_both'],
    [{ self_trade_prevention: 'cancel_maker' }, ''],
    [{ reduce_only: 'yes' }, 'reduce_only: true or false'],
  ])('%j: %s', (change, expected) => {
    const text = fault(change);
    expect(text === '' ? '' : text.slice(0, expected.length)).toBe(expected);
  });
});

test.each<[object, string[]]>([
  [{ time_in_force: 'ioc', post_only: true, expiration: 'soon' }, ['expiration', 'post_only']],
  [{ type: 'market', price: undefined, time_in_force: 'gtc', expiration: 'soon' }, ['expiration', 'time_in_force']],
  [{ type: 'stop', time_in_force: 'fok', post_only: true }, ['type', 'post_only']],
  [{ type: 'stop', post_only: true }, ['type']],
])('%j: every failing field is named, and none that depends on one', (change, fields) => {
  expect(
    fault(change)
      .split('; ')
      .map((text) => text.split(':')[0])
      .toSorted(),
  ).toEqual(fields.toSorted());
});

const hash = (change: object): string =>
  orderRequest('u', read({ body: { ...LIMIT, idempotency_key: 'k', ...change } }).body, '', undefined).hash;

test('a body with its flags absent or false is the same request; each choice makes another', () => {
  const plain = hash({});
  expect(hash({ post_only: false, reduce_only: 'false' })).toBe(plain);
  const others = [{ post_only: true }, { reduce_only: true }, { self_trade_prevention: 'cancel_both' }].map(hash);
  expect(new Set([plain, ...others]).size).toBe(4);
});
