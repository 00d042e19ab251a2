import { beforeEach, expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { orderRig } from '../helpers/order-rig.ts';

const clock = flowingClock();
const rig = orderRig(41, clock);
const { at } = rig;
const LISTS = /^GET .*(\/portfolio\/orders|\/data\/orders|\/portfolio\/positions)(\?|$)/;
const STATES = /^(GET|POST) .*(\/portfolio\/orders|\/data\/orders?|\/orders\/status)/;
const FAILS = { times: 100_000, kind: 'status', status: 500, body: '' } as const;

beforeEach(() => {
  for (const { sim } of rig.venues) sim.clearFaults();
});

test.each(PLATFORMS)(
  'an order that was placed elsewhere at %s is cancelled while lists of orders fail',
  async (platform) => {
    const { sim, member, order } = at(platform);
    const { fields, held } = member();
    const [ann, elsewhere] = [await rig.trading.customer(), await rig.trading.customer()];
    await ann.credential(platform, fields as never);
    await elsewhere.credential(platform, fields as never);
    const { order_id: id } = (await elsewhere.post('/orders', order(1, 'rests'))).body.order;
    sim.inject({ match: LISTS, ...FAILS });
    const list = async () => (await ann.get(`/orders?platform=${platform}`)).body.error.error_text;
    await expect.poll(list, { timeout: 20_000, interval: 0 }).toContain('failed too often');
    const cancelled = await ann.delete(`/orders/${id}?platform=${platform}`);
    expect(cancelled).toMatchObject({ status: 200, body: { order: { order_id: id, status: 'cancelled' } } });
    expect(held()).toMatchObject([{ status: 'cancelled' }]);
    // The next test begins with reads that are answered.
    await clock.sleep(10_000);
  },
);

test.each(['by its id', 'with all others'])(
  'an order whose answer was lost is cancelled %s, though it cannot be read',
  async (way) => {
    const { sim, places, member, order } = at('polymarket');
    const { fields, held } = member();
    const ann = await rig.trading.customer();
    await ann.credential('polymarket', fields);
    sim.inject({ match: places, times: 1, kind: 'after' });
    sim.inject({ match: STATES, ...FAILS, status: 400, body: '{"error":"no"}' });
    const { body } = await ann.post('/orders', order(2, 'rests'));
    expect(body.order).toMatchObject({ status: 'unknown' });
    const { order_id: id } = body.order;
    if (way === 'by its id') {
      const gone = await ann.delete(`/orders/${id}?platform=polymarket`);
      expect(gone).toMatchObject({ status: 200, body: { order: { order_id: id, status: 'cancelled' } } });
    } else {
      const all = await ann.post('/orders/cancel-all', { platform: 'polymarket' });
      expect(all.body).toMatchObject({ cancelled: [id], not_cancelled: [] });
    }
    expect(held()).toMatchObject([{ status: 'cancelled' }]);
    sim.clearFaults();
    await clock.sleep(150_000);
    const read = await ann.get(`/orders/${id}?platform=polymarket`);
    expect(read.body.order).toMatchObject({ status: 'cancelled', filled_size: 0 });
  },
);

test('an order that has not arrived stays unknown when its cancel finds nothing', async () => {
  const { sim, places, order } = at('polymarket');
  const ann = await rig.member('polymarket');
  sim.inject({ match: places, times: 1, kind: 'reset' });
  const { order_id: id } = (await ann.post('/orders', order(3, 'rests'))).body.order;
  const refused = await ann.delete(`/orders/${id}?platform=polymarket`);
  expect(refused).toMatchObject({
    status: 503,
    body: { error: { message: 'The result of the order is not known yet' } },
  });
  expect((await ann.get(`/orders/${id}?platform=polymarket`)).body.order.status).toBe('unknown');
  const all = await ann.post('/orders/cancel-all', { platform: 'polymarket' });
  expect(all.body).toMatchObject({ cancelled: [], not_cancelled: [{ order_id: id }] });
});
