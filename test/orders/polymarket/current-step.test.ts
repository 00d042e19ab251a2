import { describe, expect, test } from 'vitest';
import { parsePrice } from '../../../src/core/decimal.ts';
import type { OrderClient } from '../../../src/orders/clients.ts';
import type { OrderContext } from '../../../src/orders/context.ts';
import { orderRequest, type OrderBody } from '../../../src/orders/placing/request.ts';
import { checkTerms } from '../../../src/orders/placing/terms.ts';
import { readContext } from '../../fixtures/canned-http.ts';
import { intent } from '../../fixtures/polymarket/orders.ts';
import { polymarketMember } from '../../helpers/polymarket-member.ts';
import { quietPolymarket } from '../../helpers/quiet-polymarket.ts';
import { shares } from '../../simulators/polymarket/world/units.ts';

const quiet = quietPolymarket();

/** A member at a market that was stored with one price step and has another one now; 1000 shares are offered at `ask`. */
async function moved(stored: string, now: string, ask: string) {
  const market = quiet.rig.flat({ tick: parsePrice(stored) });
  const book = quiet.world.book(market);
  const [wallet] = quiet.world.wallets;
  book?.remove(({ at }) => at === 'ask');
  book?.rest({ wallet: wallet!, at: 'ask', price: parsePrice(ask), left: shares('1000'), own: null });
  const { adapter, data, access, keys } = polymarketMember(quiet.sim, { http: quiet.http }, () => market);
  const known = await keys(market);
  market.tick = parsePrice(now);
  const context = {
    now: () => quiet.world.now(),
    book: async () => {
      const read = await data.orderBook(known, readContext());
      return read && { side: read.yes, tickSize: read.tickSize };
    },
  } as unknown as OrderContext;
  return async (asked: Partial<OrderBody>) => {
    const flags = { post_only: false, reduce_only: false, dry_run: false };
    const body = { platform: 'polymarket', market_id: market.id, side: 'buy', outcome: 'yes', type: 'market' } as const;
    const request = orderRequest('ann', { ...body, ...flags, ...asked }, '', undefined);
    const terms = await checkTerms(context, request, known, adapter as unknown as OrderClient);
    const prepared = await adapter.prepare(intent(terms, { market: known, claimedAtMs: quiet.world.now() }), access);
    return prepared.place();
  };
}

test('an order that rests by the step of the listing is taken after the step became finer, and older ones stay', async () => {
  const market = quiet.rig.flat({ tick: parsePrice('0.01') });
  const our = polymarketMember(quiet.sim, { http: quiet.http }, () => market);
  const listed = await our.keys(market);
  const before = await our.place({ price: '0.35' });
  quiet.world.setTick(market, parsePrice('0.001'));
  const after = await our.place({ price: '0.36' }, { market: listed });
  expect(after.placement).toMatchObject({ result: 'accepted', order: { status: 'open' } });
  const records = [before, after].map(({ record }) => Object.assign(record, { placed: true }));
  expect(await our.adapter.find(records, our.access)).toMatchObject([{ status: 'open' }, { status: 'open' }]);
  expect((await our.keys(market)).metadata['tick_size']).toBe(0.001);
});

test('a purchase that rests, of less than a dollar, is sent unless the book offers it at once', async () => {
  const place = await moved('0.01', '0.01', '0.08');
  const small = { type: 'limit', size: shares('5'), time_in_force: 'gtc' } as const;
  await expect(place({ ...small, price: parsePrice('0.1') })).rejects.toMatchObject({ status: 422 });
  expect(await place({ ...small, price: parsePrice('0.07') })).toMatchObject({ result: 'accepted' });
  expect(await place({ ...small, price: parsePrice('0.1'), size: shares('10') })).toMatchObject({ result: 'accepted' });
});

describe('a purchase that fills at once, of a market whose price step has changed since it was stored', () => {
  test.each([
    ['0.001', '0.01', '0.43'],
    ['0.0001', '0.01', '0.43'],
    ['0.1', '0.0001', '0.7'],
    ['0.01', '0.0001', '0.43'],
  ])('is signed by the step of the current book (%s, now %s)', async (stored, now, ask) => {
    const place = await moved(stored, now, ask);
    const price = parsePrice(ask);
    for (const asked of [
      { amount: 1_000_000n },
      { type: 'limit', price, size: shares('7.77'), time_in_force: 'ioc' },
    ] as const) {
      expect(await place(asked)).toMatchObject({
        result: 'accepted',
        order: { status: 'filled', price },
      });
    }
  });

  test('is refused before it is sent if its price is not on that step, with the prices that are', async () => {
    const place = await moved('0.001', '0.01', '0.43');
    const price = parsePrice('0.435');
    await expect(place({ type: 'limit', price, size: shares('7.77'), time_in_force: 'ioc' })).rejects.toMatchObject({
      status: 422,
      resolution: expect.stringContaining('0.43 or 0.44'),
    });
  });
});
