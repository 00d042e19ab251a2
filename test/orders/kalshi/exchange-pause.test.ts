import { afterEach, expect, test } from 'vitest';
import { changeDefaultClients } from '../../../src/accounts/default-clients.ts';
import { flowingClock, passes } from '../../helpers/flowing-clock.ts';
import { kalshiRig } from '../../helpers/kalshi-rig.ts';

const clock = flowingClock();
const rig = kalshiRig(11, { clock, operator: { keyType: 'rsa' } });

const pause = () => rig.sim.world.setExchange({ exchangeActive: false });
const resume = () => rig.sim.world.setExchange({ exchangeActive: true });
afterEach(resume);

test('during an exchange pause DELETE and cancel-all say that an order still works, and cancel it afterwards', async () => {
  const ann = await rig.joins();
  const path = `/orders/${(await ann.post('/orders', rig.asked())).body.order.order_id}?platform=kalshi`;
  const { order_id: other } = (await ann.post('/orders', rig.asked({ price: 0.02 }))).body.order;
  pause();
  const refused = await ann.delete(path);
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBeDefined();
  const all = await ann.post('/orders/cancel-all', { platform: 'kalshi' });
  expect(all).toMatchObject({ status: 200, body: { cancelled: [] } });
  expect(all.body.not_cancelled).toHaveLength(2);
  expect(rig.held()).toMatchObject([{ status: 'resting' }, { status: 'resting' }]);
  resume();
  // Failed calls stop further ones for a while.
  await clock.sleep(60_000);
  expect((await ann.delete(path)).status).toBe(200);
  expect((await ann.post('/orders/cancel-all', { platform: 'kalshi' })).body.cancelled).toEqual([other]);
});

test('the kill switch cancels after an exchange pause what it could not cancel during it', async () => {
  const ann = await rig.trading.customer({ mayUseDefaultClients: true });
  expect((await ann.post('/orders', rig.asked())).status).toBe(201);
  const states = () => rig.held(rig.operator).map(({ status }) => status);
  pause();
  const { db } = rig.trading.service.postgres;
  await changeDefaultClients(db, { tradingEnabled: false });
  try {
    await clock.sleep(20_000);
    expect(states()).toEqual(['resting']);
    resume();
    await passes(clock, () => expect(states()).toEqual(['canceled']), 120_000);
  } finally {
    await changeDefaultClients(db, { tradingEnabled: true });
  }
});
