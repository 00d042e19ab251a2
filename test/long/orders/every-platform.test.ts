import { beforeEach, describe, expect, test } from 'vitest';
import { PLATFORMS } from '../../../src/core/model.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { orderRig } from '../../helpers/order-rig.ts';
import type { Venue, VenueMember } from '../../helpers/order-venues.ts';
import type { AnsweredOrder, Customer } from '../../helpers/trading.ts';

const clock = flowingClock();
const rig = orderRig(52, clock);
const FAULT_KEY = { idempotency_key: 'one order' };

describe.each(PLATFORMS)('an order at %s', (platform) => {
  let venue: Venue;
  let member: VenueMember<typeof platform>;
  let ann: Customer;
  let price: number;

  beforeEach(async () => {
    venue = rig.at(platform);
    venue.sim.clearFaults();
    member = venue.member();
    ann = await rig.trading.customer();
    await ann.credential(platform, member.fields as never);
    price = Number(venue.order(1, 'rests')['price']);
  });

  /** An order of 10 that rests. */
  const place = (change: object = {}) => ann.post('/orders', { ...venue.order(1, 'rests'), size: 10, ...change });
  const pathOf = ({ order_id: id }: AnsweredOrder): string => `/orders/${id}?platform=${platform}`;

  test('rests, is met in part, listed, read and cancelled, and keeps what it got', async () => {
    const { status, body } = await place();
    expect([status, body.error]).toEqual([201, undefined]);
    expect(body.order).toMatchObject({ status: 'open', filled_size: 0, remaining_size: 10, average_fill_price: null });
    await venue.sell(4);
    const path = pathOf(body.order);
    const now = {
      order_id: body.order.order_id,
      status: 'partially_filled',
      filled_size: 4,
      remaining_size: 6,
      average_fill_price: price,
      fees: { maker_fee: 0, taker_fee: 0, total_fee: 0 },
    };
    expect((await ann.get(path)).body.order).toMatchObject(now);
    for (const query of ['', `&market_id=${venue.marketId}`]) {
      const { orders, pagination } = (await ann.get(`/orders?platform=${platform}${query}`)).body;
      expect(orders).toMatchObject([now]);
      expect(pagination).toEqual({ total: 1, limit: 50, has_more: false, next_cursor: null });
    }
    const last = { ...now, status: 'cancelled', remaining_size: 0 };
    expect(await ann.delete(path)).toMatchObject({ status: 200, body: { cancelled: true, order: last } });
    expect(member.held()).toMatchObject([{ status: 'cancelled', filled: 4 }]);
    const again = await ann.delete(path);
    expect(again).toMatchObject({ status: 409, body: { error: { message: 'The order is no longer open' } } });
    expect(again.body.error.error_text).toContain('is cancelled: 4 of 10');
    clock.correct(60_000);
    expect((await ann.get(path)).body.order).toMatchObject(last);
  });

  test('whose answer was lost is found, and placed once however often it is asked for', async () => {
    venue.sim.inject({ match: venue.places, times: 1, kind: 'after' });
    const before = rig.placements(platform);
    const replies = await Promise.all(Array.from({ length: 5 }, () => place(FAULT_KEY)));
    expect(rig.placements(platform) - before).toBe(1);
    const [mine] = member.held();
    expect(member.held()).toHaveLength(1);
    for (const { body } of replies) expect(body.order).toMatchObject({ order_id: mine?.orderId, status: 'open' });
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201]);
  });

  test('that never arrived is 202 and unknown, under an id by which it can be read', async () => {
    venue.sim.inject({ match: venue.places, times: 1, kind: 'reset' });
    const { status, body } = await place(FAULT_KEY);
    const { order_id: id, client_order_id: own } = body.order;
    expect([status, body.order.status]).toEqual([202, 'unknown']);
    expect(id).toMatch(/^(client:|0x[0-9a-f]{64}$)/);
    if (!id.startsWith('0x')) expect(id).toBe(`client:${own}`);
    expect((await ann.get(pathOf(body.order))).body.order).toMatchObject({ status: 'unknown' });
    expect(await place(FAULT_KEY)).toMatchObject({
      status: 200,
      body: { order: { order_id: id, status: 'unknown' }, meta: { idempotent_replay: true } },
    });
    expect(member.held()).toEqual([]);
  });

  test('is cancelled with all others of the platform', async () => {
    const ids = [await place(), await place({ outcome: 'no' })].map(({ body }) => body.order.order_id);
    const { body } = await ann.post('/orders/cancel-all', { platform });
    expect(body.not_cancelled).toEqual([]);
    expect((body.cancelled as string[]).toSorted()).toEqual(ids.toSorted());
    expect(member.held().map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });
});
