import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseUsd, usdText } from '../../src/core/decimal.ts';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';
import { orders } from '../../src/orders/tables.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';
import { changeLimits } from '../../src/orders/spending-limits.ts';
import { orderRig } from '../helpers/order-rig.ts';
import type { Answer, Customer } from '../helpers/trading.ts';

const SIZE = 100;
const POLL = { timeout: 10_000, interval: 50 };

const rig = orderRig(11);
const { at } = rig;

const MARKET = { type: 'market', price: undefined, time_in_force: 'ioc' };
const DUMPED = { ...MARKET, side: 'sell', max_slippage: 0.98 };
const TAKEN = { ...MARKET, side: 'buy', max_slippage: 0.2 };
/** More than any of the books offers. */
const RICH = { ...MARKET, side: 'buy', size: undefined, amount: 60_000_000 };
/**
 * What 100 shares cost at worst, by platform: where a market order may go follows from the book and the grid. On Polymarket a market
 * purchase goes out as what the size costs in the book.
 */
const CASES: [string, object, Record<Platform, string>][] = [
  ['a limit purchase', { side: 'buy', price: 0.02 }, { kalshi: '2', polymarket: '2', limitless: '2' }],
  ['a market purchase', TAKEN, { kalshi: '65', polymarket: '41', limitless: '70' }],
  ['a limit sale at a low price', { side: 'sell', price: 0.02 }, { kalshi: '98', polymarket: '98', limitless: '98' }],
  ['a limit sale at a high price', { side: 'sell', price: 0.9 }, { kalshi: '90', polymarket: '90', limitless: '90' }],
  ['a market sale at any price', DUMPED, { kalshi: '99', polymarket: '99', limitless: '99.9' }],
  ['an amount above what the book offers', RICH, { kalshi: '45000', polymarket: '60000000', limitless: '7500' }],
];

describe.each(PLATFORMS)('max_order_notional on %s holds', (platform) => {
  let ann: Customer;
  beforeAll(async () => {
    const bob = await rig.member(platform);
    // Somebody who buys, so that there is something to sell into.
    expect((await bob.post('/orders', at(platform).order(1, 'rests'))).status).toBe(201);
    ann = await rig.member(platform);
  });

  test.each(CASES)('for %s: what it can cost passes, a millionth less does not', async (_, change, costs) => {
    const cost = costs[platform];
    const body = { ...at(platform).order(1, 'rests'), size: SIZE, ...change };
    const allow = (maxOrder: bigint) => changeLimits(rig.trading.service.postgres.db, ann.userId, { maxOrder });
    const before = rig.placements(platform);
    await allow(parseUsd(cost) - 1n);
    const refused = await ann.post('/orders', body);
    expect(refused.status).toBe(422);
    expect(refused.body.error.error_text).toBe(
      `the order can cost ${cost} USD; at most ${usdText(parseUsd(cost) - 1n)} USD are allowed`,
    );
    expect(rig.placements(platform)).toBe(before);
    await allow(parseUsd(cost));
    expect((await ann.post('/orders', { ...body, dry_run: true })).status).toBe(200);
  });
});

test('max_order_notional holds for the whole cents that a purchase on Polymarket spends', async () => {
  const ann = await rig.member('polymarket');
  const body = { ...at('polymarket').order(1, 'misses'), price: 0.41, size: 5.01, dry_run: true };
  const allow = (usd: string) => changeLimits(rig.trading.service.postgres.db, ann.userId, { maxOrder: parseUsd(usd) });
  await allow('2.059999');
  const refused = await ann.post('/orders', body);
  expect([refused.status, refused.body.error?.error_text]).toEqual([
    422,
    'the order can cost 2.06 USD; at most 2.059999 USD are allowed',
  ]);
  await allow('2.06');
  const { order, meta } = (await ann.post('/orders', body)).body;
  expect({ order, meta }).toMatchObject({
    order: { metadata: { collateral: 2.06 } },
    meta: { worst_case: { usd: 2.06 } },
  });
});

test('max_day_notional counts no order that its platform rejected when its match failed to settle', async () => {
  const ann = await rig.member('limitless');
  const { db } = rig.trading.service.postgres;
  const body = { ...at('limitless').order(1, 'fills'), size: 1 };
  const first = await ann.post('/orders', body);
  expect(first).toMatchObject({ status: 201, body: { order: { status: 'filled' } } });
  const { order_id: id } = first.body.order;
  await changeLimits(db, ann.userId, { maxDay: parseUsd('0.6') });
  expect((await ann.post('/orders', body)).status).toBe(422);
  const { world } = at('limitless').sim;
  const held = world.desk.orders.get(id);
  if (!held) throw new Error('no such order');
  world.desk.fail(held);
  expect((await ann.get(`/orders/${id}?platform=limitless`)).body.order.status).toBe('rejected');
  expect((await ann.post('/orders', body)).status).toBe(201);
});

test('max_day_notional counts a rejected order that is partly filled', async () => {
  const ann = await rig.member('polymarket');
  const { db } = rig.trading.service.postgres;
  const body = at('polymarket').order(1, 'fills');
  const first = await ann.post('/orders', body);
  expect(first).toMatchObject({ status: 201, body: { order: { status: 'filled' } } });
  const rejected = { status: 'rejected', filledSize: '0.01' } as const;
  const isFirst = eq(orders.orderId, first.body.order.order_id);
  const [held] = await db.update(orders).set(rejected).where(isFirst).returning({ notional: orders.notional });
  // One order of these a day, not two.
  await changeLimits(db, ann.userId, { maxDay: parseUsd((1.5 * Number(held?.notional)).toFixed(2)) });
  expect((await ann.post('/orders', body)).status).toBe(422);
});

test("the user's kill switch stops an order that has read the limits and waits for its claim", async () => {
  const ann = await rig.member('kalshi');
  const { db } = rig.trading.service.postgres;
  await changeLimits(db, ann.userId, { maxDay: parseUsd('1000') });
  let placing: Promise<Answer> | undefined;
  await db.transaction(async (tx) => {
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`orders ${ann.userId}`}, 0))`);
    placing = ann.post('/orders', at('kalshi').order(1, 'rests'));
    const waiting = sql`SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await expect.poll(async () => rowsOf(await db.execute(waiting)), POLL).toEqual([{ n: 1 }]);
    await changeLimits(db, ann.userId, { tradingEnabled: false });
  });
  expect((await placing)?.status).toBe(422);
  expect(await db.select().from(orders).where(eq(orders.userId, ann.userId))).toEqual([]);
});
