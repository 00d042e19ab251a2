import { describe, expect, test, vi } from 'vitest';
import { parsePrice } from '../../../src/core/decimal.ts';
import { PlatformError } from '../../../src/core/errors.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import type { OrderAccess, OrderIntent } from '../../../src/platforms/order-contract.ts';
import { placeOrder } from '../../../src/platforms/kalshi/orders/placing.ts';
import { PlacementGroup } from '../../../src/orders/placing/placement-group.ts';
import { Shards } from '../../../src/platforms/kalshi/orders/shards.ts';
import { checkKalshiOrder, kalshiGrid, toKalshiOrder } from '../../../src/platforms/kalshi/orders/request.ts';
import type { KalshiAccount } from '../../../src/platforms/kalshi/signed-client.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { readContext } from '../../fixtures/canned-http.ts';
import { orderTerms } from '../../fixtures/order-terms.ts';
import { storedMarket } from '../../fixtures/stored-market.ts';

const stored = (metadata: StoredMarket['metadata']): StoredMarket =>
  storedMarket({ platform: 'kalshi', ref: 'KXOTTERCUP-1', metadata });

const CENTS = { price_ranges: [{ start: 0, end: 1, step: 0.01 }] };

test('a market whose steps are unknown takes any price that Kalshi may have', () => {
  const grid = kalshiGrid(stored({ tick_size: 0.01 }), 0);
  expect(['0.005', '0.9999', '0.00005'].map((price) => grid.has(parsePrice(price)))).toEqual([true, true, false]);
});

describe('a market with a settlement floor', () => {
  const market = stored({ ...CENTS, settlement_floor: 0.3 });
  const refusal = (price: string, outcomeIndex: number): string => {
    try {
      checkKalshiOrder(market, orderTerms({ price, outcomeIndex }));
      return '';
    } catch (error) {
      return String(error instanceof Error ? JSON.stringify({ ...error, message: error.message }) : error);
    }
  };

  test.each([
    ['0.31', 0],
    ['0.99', 0],
    ['0.69', 1],
    ['0.01', 1],
  ])('takes an order at %s of outcome %d', (price, outcome) => {
    expect(refusal(price, outcome)).toBe('');
  });

  test.each([
    ['0.3', 0, '0.31'],
    ['0.05', 0, '0.31'],
    ['0.7', 1, '0.69'],
    ['0.95', 1, '0.69'],
  ])('refuses one at %s of outcome %d and names the nearest price', (price, outcome, nearest) => {
    expect(refusal(price, outcome)).toContain(nearest);
  });

  test('has no other grid while its floor is 0', () => {
    const grid = kalshiGrid(stored({ ...CENTS, settlement_floor: 0 }), 0);
    expect(grid.has(parsePrice('0.01'))).toBe(true);
  });
});

const refused = (detail: string, status = 400) =>
  new PlatformError('kalshi', 'refused', { status, detail, body: { error: { code: 'invalid_parameters' } } });
const reply = (json: unknown) => ({
  status: 200,
  headers: {},
  text: '',
  json,
  receivedAt: '2026-11-25T00:00:00.000Z',
});

const placed = {
  order_id: 'o-1',
  client_order_id: 'c-1',
  fill_count: '0.00',
  remaining_count: '10.00',
  ts_ms: 1_790_000_000_000,
};

/** Places orders for a market stored on shard 0, one after another; `shard` is what Kalshi says of it now. */
async function place(orders: number, shard: unknown, answer: (body: { exchange_index: number }) => unknown) {
  const sent: number[] = [];
  const member: KalshiAccount = {
    get: async (path) => {
      expect(path).toBe('/markets/KXOTTERCUP-1');
      if (shard instanceof Error) throw shard;
      return reply({ market: { ticker: 'KXOTTERCUP-1', exchange_index: shard } });
    },
    page: () => Promise.reject(new Error('not asked')),
    send: async (_method, _path, body) => {
      const order = JSON.parse(body ?? '') as { exchange_index: number };
      sent.push(order.exchange_index);
      const json = answer(order);
      if (json instanceof Error) throw json;
      return reply(json);
    },
  };
  const shards = new Shards();
  const market = stored({ exchange_index: 0 });
  const access = { ...readContext(), credential: {}, markets: {} } as unknown as OrderAccess<'kalshi'>;
  const results: string[] = [];
  for (let n = 0; n < orders; n += 1) {
    const seed = new Uint8Array(32);
    const intent: OrderIntent = {
      market,
      terms: orderTerms({ price: '0.4' }),
      clientOrderId: 'c-1',
      seed,
      claimedAtMs: 0,
    };
    const wire = toKalshiOrder(intent, shards.of(market));
    const tools = { finder: {} as never, shards };
    results.push((await placeOrder({ intent, wire }, member, access, tools)).result);
  }
  return { results, sent, shards };
}

/** As `place`, but all in one call, of which `answer` is the answer to each. */
async function placeTogether(orders: number, shard: number, answer: unknown) {
  const member: KalshiAccount = {
    get: async () => reply({ market: { exchange_index: shard } }),
    page: () => Promise.reject(new Error('not asked')),
    send: async () => {
      if (answer instanceof Error) throw answer;
      return reply({ orders: Array.from({ length: orders }, () => answer) });
    },
  };
  const shards = new Shards();
  const market = stored({ exchange_index: 0 });
  const group = new PlacementGroup(orders, virtualClock());
  const credential = { api_key_id: 'k', private_key: 'none' };
  const placed = Array.from({ length: orders }, (_, n) => {
    const access = { ...readContext(), credential, markets: {}, group: group.member() };
    const seed = new Uint8Array(32);
    const intent: OrderIntent = {
      market,
      terms: orderTerms({ price: '0.4' }),
      clientOrderId: `c-${n}`,
      seed,
      claimedAtMs: 0,
    };
    const tools = { finder: {} as never, shards };
    const signed = { intent, wire: toKalshiOrder(intent, shards.of(market)) };
    return placeOrder(signed, member, access as unknown as OrderAccess<'kalshi'>, tools);
  });
  return { results: (await Promise.all(placed)).map(({ result }) => result), shardNow: () => shards.of(market) };
}

describe('an order for a market that moved to another exchange shard', () => {
  test.each([
    ['each', { error: { code: 'invalid_parameters', message: 'exchange_index' } }],
    ['the call', refused('invalid parameters: exchange_index')],
  ])('shows its shard to the next one in a batch too, of which %s is refused', async (_, answer) => {
    const { results, shardNow } = await placeTogether(2, 2, answer);
    expect(results).toEqual(['rejected', 'rejected']);
    await vi.waitFor(() => expect(shardNow()).toBe(2));
  });

  test('is refused and sent once; the next one goes to the shard on which the market is now', async () => {
    const { results, sent, shards } = await place(2, 2, (body) =>
      body.exchange_index === 2 ? placed : refused('invalid parameters: exchange_index'),
    );
    expect([results, sent]).toEqual([
      ['rejected', 'accepted'],
      [0, 2],
    ]);
    expect(shards.of(stored({ exchange_index: 3 }))).toBe(3);
  });

  test.each([
    ['the market has not moved', 0, 'wrong shard'],
    ['its shard is not said', null, 'wrong shard'],
    ['its shard cannot be read', { a: 1 }, 'wrong shard'],
    ['the market cannot be read', refused('busy', 503), 'wrong shard'],
    ['the refusal is about something else', 3, 'invalid price'],
  ])('changes nothing if %s', async (_, shard, words) => {
    const { results, sent } = await place(2, shard, () => refused(words));
    expect([results, sent]).toEqual([
      ['rejected', 'rejected'],
      [0, 0],
    ]);
  });
});

test.each([9e15, 1_790_000_000_000_000])(
  'an order placed at the time %i, which is none, is accepted',
  async (ts_ms) => {
    expect((await place(1, 0, () => ({ ...placed, ts_ms }))).results).toEqual(['accepted']);
  },
);
