import { expect, test } from 'vitest';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';
import { PLAIN } from '../../simulators/kalshi/desk.ts';

const rig = kalshiRig(8);

/** A purchase of 10 contracts that rests. */
const TERMS = { ...PLAIN, side: 'bid', price: 100, count: 1000, timeInForce: 'good_till_canceled' } as const;

test('an order placed elsewhere is shown with the terms to which it was amended there', async () => {
  const [ann, elsewhere] = [await rig.joins(), await rig.joins()];
  const { order_id: id } = (await elsewhere.post('/orders', rig.asked())).body.order;
  const listed = async () => (await ann.get('/orders?platform=kalshi')).body.orders;
  expect(await listed()).toMatchObject([{ order_id: id, price: 0.01, size: 10, time_in_force: 'gtc' }]);

  const held = rig.sim.world.desk.accounts.flatMap(({ orders }) => orders.get(id) ?? [])[0];
  if (!held) throw new Error('no such order');
  const expirationMs = Math.floor(Date.now() / 1000 + 3600) * 1000;
  rig.sim.world.desk.amend(held, { price: 200, count: 2500, expirationMs });
  const amended = { price: 0.02, size: 25, remaining_size: 25, status: 'open', time_in_force: 'gtd' };
  const shown = { order_id: id, ...amended, expiration: new Date(expirationMs).toISOString() };
  expect((await ann.get(`/orders/${id}?platform=kalshi`)).body.order).toMatchObject(shown);
  expect(await listed()).toMatchObject([shown]);
});

test.each(['read', 'listed'])(
  'an order that was made smaller elsewhere and filled has left a part (%s)',
  async (way) => {
    const ann = await rig.joins();
    const { order_id: id } = (await ann.post('/orders', rig.asked())).body.order;
    const own = rig.sim.world.desk.accounts.flatMap(({ orders }) => orders.get(id) ?? [])[0];
    if (!own) throw new Error('no such order');
    rig.sim.world.desk.amend(own, { price: 9900, count: 500 });
    expect(rig.held()).toMatchObject([{ status: 'executed', fillCount: '5.00' }]);
    const read = async () =>
      way === 'read'
        ? (await ann.get(`/orders/${id}?platform=kalshi`)).body.order
        : (await ann.get('/orders?platform=kalshi')).body.orders[0];
    expect(await read()).toMatchObject({ status: 'cancelled', size: 10, filled_size: 5, remaining_size: 0 });
  },
);

test.each(['by its id', 'with all others'])(
  'an order placed elsewhere in a subaccount is cancelled %s',
  async (way) => {
    const ann = await rig.joins();
    const account = rig.sim.world.desk.accounts.at(-1)!;
    const inSubaccount = { ...TERMS, ticker: rig.ticker, subaccount: 3 };
    const { orderId: id } = rig.sim.world.desk.place(account, inSubaccount);
    expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject([
      { order_id: id, status: 'open', metadata: { subaccount: 3 } },
    ]);
    const { status } =
      way === 'by its id'
        ? await ann.delete(`/orders/${id}?platform=kalshi`)
        : await ann.post('/orders/cancel-all', { platform: 'kalshi' });
    expect([status, rig.held().map((order) => order.status)]).toEqual([200, ['canceled']]);
  },
);

test('a key that is locked to a subaccount places and cancels there', async () => {
  const locked = rig.sim.world.addAccount({ lockedTo: 3 });
  const ann = await rig.joins(locked);
  const { order_id: id } = (await ann.post('/orders', rig.asked())).body.order;
  expect((await ann.get(`/orders/${id}?platform=kalshi`)).body.order).toMatchObject({ metadata: { subaccount: 3 } });
  expect((await ann.delete(`/orders/${id}?platform=kalshi`)).status).toBe(200);
  expect(rig.held(locked).map(({ status }) => status)).toEqual(['canceled']);
});

test('an order at the settlement floor of its market is not sent, one above it is taken', async () => {
  const { spec } = rig.sim.world.exchange.marketByTicker.get(rig.ticker)!;
  Object.assign(spec.fixed, { settlement_bounds_type: 'floor', settlement_floor_dollars: '0.2000' });
  const ann = await rig.joins();
  const placed = async (change: object) => (await ann.post('/orders', rig.asked(change))).status;
  const [atFloor, aboveFloor] = [{ price: 0.2 }, { price: 0.21 }];
  expect([await placed(atFloor), await placed(aboveFloor)]).toEqual([422, 201]);
  const no = { outcome: 'no', side: 'sell' };
  expect([await placed({ ...no, price: 0.8 }), await placed({ ...no, price: 0.79 })]).toEqual([422, 201]);
  expect(rig.held().map(({ yesPrice }) => yesPrice)).toEqual(['0.2100', '0.2100']);
});

test('an order that its market ended is no longer open, though the platform refused the cancel', async () => {
  const ann = await rig.joins();
  const { order_id: id } = (await ann.post('/orders', rig.asked())).body.order;
  rig.sim.world.close(rig.ticker);
  const { status, body } = await ann.delete(`/orders/${id}?platform=kalshi`);
  expect([status, body.error?.error_text]).toEqual([409, `order ${id} is cancelled: 0 of 10 filled`]);
});
