import { expect, test } from 'vitest';
import { orderRig } from '../helpers/order-rig.ts';
import { flowingClock, passes } from '../helpers/flowing-clock.ts';

const clock = flowingClock();
const rig = orderRig(12, clock, ['kalshi']);
const venue = () => rig.at('kalshi');

/** A row of an order as reads show it before they show its fills. */
const unfilled = (row: Record<string, unknown>) => ({
  ...row,
  status: 'resting',
  fill_count_fp: '0.00',
  remaining_count_fp: row['initial_count_fp'],
  taker_fill_cost_dollars: '0.000000',
  taker_fees_dollars: '0.000000',
});

/** From now on lists show no fills. */
function hideFills(): void {
  const isRead = /^\/.*\/portfolio\/orders$/;
  venue().sim.rewrite(({ method, path }, reply) => {
    if (method !== 'GET' || !isRead.test(path)) return reply;
    const body = JSON.parse(reply.body) as { orders: Record<string, unknown>[] };
    return { ...reply, body: JSON.stringify({ ...body, orders: body.orders.map(unfilled) }) };
  });
}
const slow = (match: RegExp, delayMs: number): void => venue().sim.inject({ match, times: 1, kind: 'slow', delayMs });

test('the answer to a placement counts, though a listing has read the order before its fills showed', async () => {
  const ann = await rig.member('kalshi');
  hideFills();
  slow(venue().places, 1500);
  const placing = ann.post('/orders', venue().order(1, 'fills'));
  const listed = async () => (await ann.get('/orders?platform=kalshi')).body.orders;
  const isOpen = async () => expect(await listed()).toMatchObject([{ status: 'open', filled_size: 0 }]);
  await passes(clock, isOpen, 1200);
  venue().sim.rewrite(null);

  const { status, body } = await placing;
  expect({ status, order: body.order }).toMatchObject({ status: 201, order: { status: 'filled', filled_size: 1.01 } });
  expect(body.order.fees.total_fee).toBeGreaterThan(0);
});

test('the answer to a placement counts, though a look-up that began before it ends after it', async () => {
  const ann = await rig.trading.customer();
  const member = venue().member();
  await ann.credential('kalshi', member.fields);
  hideFills();
  slow(venue().places, 1000);
  // The listing looks the order up, because it does not know its id yet.
  slow(/^GET .*\/portfolio\/orders\?.*ticker=/, 3000);
  const placing = ann.post('/orders', venue().order(2, 'fills'));
  await passes(clock, () => expect(member.held()).toHaveLength(1));
  const listing = ann.get('/orders?platform=kalshi');
  expect((await placing).body.order).toMatchObject({ status: 'filled', filled_size: 1.02 });
  const filled = [{ status: 'filled', filled_size: 1.02 }];
  expect((await listing).body.orders).toMatchObject(filled);
  expect((await ann.get('/orders?platform=kalshi')).body.orders).toMatchObject(filled);
  venue().sim.rewrite(null);
});
