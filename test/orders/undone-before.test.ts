import { expect, test } from 'vitest';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { orderRig } from '../helpers/order-rig.ts';

const clock = flowingClock();
const rig = orderRig(15, clock, ['polymarket']);
const venue = () => rig.at('polymarket');
const TRADES = /^GET .*\/data\/trades/;

test('a report from before a match was confirmed takes no fill away after a read that changed nothing', async () => {
  const ann = await rig.member('polymarket');
  const order = { ...venue().order(1, 'rests'), idempotency_key: 'undone' };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  await venue().sell(5);
  await clock.sleep(6000);
  const read = async () => (await ann.get(`/orders/${id}?platform=polymarket`)).body.order;
  const filled = { status: 'partially_filled', filled_size: 5 };
  expect(await read()).toMatchObject(filled);
  let reads = 0;
  venue().sim.rewrite(({ method, path }, reply) => {
    if (!TRADES.test(`${method} ${path}`)) return reply;
    reads += 1;
    return reads === 1 ? { ...reply, body: reply.body.replaceAll('CONFIRMED', 'RETRYING') } : reply;
  });
  // The read that sees the match tried again is answered after a later one, which sees it confirmed.
  venue().sim.inject({ match: TRADES, times: 1, kind: 'slow', delayMs: 1000 });
  const earlier = read();
  await clock.sleep(100);
  expect(await read()).toMatchObject(filled);
  expect(await earlier).toMatchObject(filled);
  venue().sim.rewrite(null);
  // A repeat answers with what is stored.
  expect((await ann.post('/orders', order)).body.order).toMatchObject(filled);
});
