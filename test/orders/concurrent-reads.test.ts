import { expect, test } from 'vitest';
import { flowingClock } from '../helpers/flowing-clock.ts';
import { orderRig } from '../helpers/order-rig.ts';

const clock = flowingClock();
const rig = orderRig(14, clock, ['kalshi']);
const venue = () => rig.at('kalshi');

/** A row of an order as it was when `filled` contracts were filled. */
const asOf = (body: string, filled: number): string => {
  const { order } = JSON.parse(body) as { order: Record<string, string> };
  const facts = {
    status: 'resting',
    fill_count_fp: filled.toFixed(2),
    remaining_count_fp: (Number(order['initial_count_fp']) - filled).toFixed(2),
    maker_fill_cost_dollars: (filled * 0.1).toFixed(4),
    taker_fill_cost_dollars: '0.0000',
  };
  return JSON.stringify({ order: { ...order, ...facts } });
};

/** Reads an order twice after `contracts` were sold to it: the later read is answered last, as of the time when `earlier` were filled. */
async function readTwice(number: number, contracts: number, earlier: number) {
  const ann = await rig.member('kalshi');
  const order = { ...venue().order(number, 'rests'), idempotency_key: `twice ${number}` };
  const { order_id: id } = (await ann.post('/orders', order)).body.order;
  await venue().sell(contracts);
  const one = new RegExp(`^GET .*/portfolio/orders/${id}$`);
  let reads = 0;
  venue().sim.rewrite(({ method, path }, reply) => {
    if (!one.test(`${method} ${path}`)) return reply;
    reads += 1;
    return reads === 2 ? { ...reply, body: asOf(reply.body, earlier) } : reply;
  });
  const read = async (delayMs: number) => {
    venue().sim.inject({ match: one, times: 1, kind: 'slow', delayMs });
    return (await ann.get(`/orders/${id}?platform=kalshi`)).body.order;
  };
  const first = read(500);
  await clock.sleep(100);
  const second = read(1000);
  const answers = [await first, await second];
  venue().sim.rewrite(null);
  // A repeat answers with what is stored.
  return [...answers, (await ann.post('/orders', order)).body.order];
}

test.each([0, 0.5])(
  'a read that lags behind an earlier one, at %d filled, lets no ended order work again',
  async (earlier) => {
    const filled = { status: 'filled', filled_size: 1.4 + earlier, remaining_size: 0 };
    expect(await readTwice(40 + 100 * earlier, 1.4 + earlier, earlier)).toMatchObject([filled, filled, filled]);
  },
);

test('a read that lags behind an earlier one takes no fill away', async () => {
  const filled = { status: 'partially_filled', filled_size: 1, remaining_size: 0.3, average_fill_price: 0.1 };
  expect(await readTwice(30, 1, 0.5)).toMatchObject([filled, filled, filled]);
});
