import { beforeEach, describe, expect, test } from 'vitest';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';
import { orderRig } from '../helpers/order-rig.ts';
import type { Answer, Customer } from '../helpers/trading.ts';

const rig = orderRig(13);
const { at, placements } = rig;
let ann: Customer;
beforeEach(async () => {
  for (const { sim } of rig.venues) sim.clearFaults();
  ann = await rig.trading.customer();
});

async function joins(platform: Platform) {
  const member = at(platform).member();
  return { ...member, id: await ann.credential(platform, member.fields as never, true) };
}
const body = (platform: Platform, change: object = {}): object => ({ ...at(platform).order(1, 'rests'), ...change });
const place = (platform: Platform, change: object = {}): Promise<Answer> => ann.post('/orders', body(platform, change));
/** Price at which everything is sold, and the step of sizes. */
const ASK: Record<Platform, [price: number, step: number]> = {
  kalshi: [0.45, 0.01],
  polymarket: [0.41, 0.01],
  limitless: [0.5, 0.001],
};
const MARKET = { type: 'market', price: undefined, time_in_force: 'ioc' };

describe.each(PLATFORMS)('at %s', (platform) => {
  test.each([10, 7.77])('an amount of %d USD buys what the book offers for it, in a dry run too', async (amount) => {
    const { held } = await joins(platform);
    const [price, step] = ASK[platform];
    const size = Math.floor((amount + 1e-9) / price / step) * step;
    const change = { ...MARKET, size: undefined, amount };
    const dry = await place(platform, { ...change, dry_run: true });
    expect(dry).toMatchObject({
      status: 200,
      body: { order: { filled_size: 0, received_size: 0, received_usd: null } },
    });
    expect(dry.body.order.size).toBeCloseTo(size, 6);
    const { status, body: answer } = await place(platform, change);
    expect(status).toBe(201);
    expect(answer.order).toMatchObject({ status: 'filled', received_usd: null });
    expect(answer.order.size).toBeCloseTo(size, 6);
    // The most that it can spend, and what it spent: never more than the amount, and all of it but for less than one step.
    expect(dry.body.order.metadata?.['collateral']).toBeLessThanOrEqual(amount);
    expect(answer.order.metadata?.['collateral']).toBeLessThanOrEqual(amount);
    const spent = Number(answer.order.filled_size) * Number(answer.order.average_fill_price);
    expect(spent).toBeLessThanOrEqual(amount + 1e-6);
    expect(spent).toBeGreaterThan(amount - step);
    expect(held()).toHaveLength(1);
  });

  test('a fok of an amount that the book cannot fill is refused and not sent', async () => {
    await joins(platform);
    const before = placements(platform);
    const change = { ...MARKET, time_in_force: 'fok', size: undefined, amount: 100_000_000 };
    expect((await place(platform, change)).status).toBe(422);
    expect(placements(platform)).toBe(before);
  });
});

describe.each(['kalshi', 'limitless'] as const)('reduce_only at %s', (platform) => {
  const filled = { ...MARKET, size: 10 };
  const sale = { side: 'sell', price: 0.9, reduce_only: true };

  test('sells at most what the account holds, and is not sent beyond it', async () => {
    const { held } = await joins(platform);
    const before = placements(platform);
    const nothing = await place(platform, { ...sale, size: 1 });
    expect(nothing.status).toBe(422);
    expect(nothing.body.error.message).toBe('The order would do more than reduce the position');
    expect(placements(platform)).toBe(before);
    const { order } = (await place(platform, filled)).body;
    expect(order.status).toBe('filled');
    expect((await place(platform, { ...sale, size: 11 })).status).toBe(422);
    expect((await place(platform, { ...sale, size: 5 })).status).toBe(201);
    expect(held().filter(({ status }) => status === 'open')).toMatchObject([{ size: 5 }]);
  });

  test('counts what already rests, also of an order whose result is unknown', async () => {
    const { held } = await joins(platform);
    await place(platform, filled);
    expect((await place(platform, { ...sale, size: 6 })).status).toBe(201);
    const more = await place(platform, { ...sale, size: 5 });
    expect([more.status, more.body.error?.message]).toEqual([422, 'The order would do more than reduce the position']);
    at(platform).sim.inject({ match: at(platform).places, times: 1, kind: 'reset' });
    expect((await place(platform, { ...sale, size: 3 })).status).toBe(202);
    expect((await place(platform, { ...sale, size: 2 })).status).toBe(422);
    expect((await place(platform, { ...sale, size: 0.5 })).status).toBe(201);
    expect(held().filter(({ status }) => status === 'open')).toMatchObject([{ size: 6 }, { size: 0.5 }]);
  });

  test('buys only where that reduces the other outcome', async () => {
    await joins(platform);
    await place(platform, filled);
    const buys = await place(platform, { outcome: 'no', side: 'buy', price: 0.1, size: 5, reduce_only: true });
    expect(buys.status).toBe(platform === 'kalshi' ? 201 : 422);
    const more = await place(platform, { side: 'buy', price: 0.1, size: 5, reduce_only: true });
    expect(more.status).toBe(422);
  });
});

describe('an unknown result says why', () => {
  const page = '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>';
  test.each<[string, object, RegExp]>([
    ['a web page', { kind: 'status', status: 403, body: page }, /HTTP 403: Attention Required! \| Cloudflare/],
    ['an empty 500', { kind: 'status', status: 500, body: '' }, /HTTP 500/],
    ['a broken connection', { kind: 'reset' }, /no answer of Kalshi/],
  ])('%s', async (_, spoil, expected) => {
    await joins('kalshi');
    at('kalshi').sim.inject({ match: at('kalshi').places, times: 1, kind: 'reset', ...spoil });
    const { status, body: answer } = await place('kalshi');
    expect(status).toBe(202);
    expect(answer.order).toMatchObject({ status: 'unknown', filled_size: null, received_size: null });
    expect(answer.order.unknown_reason).toMatch(expected);
    const read = await ann.get(`/orders/${answer.order.order_id}?platform=kalshi`);
    expect(read.body.order.unknown_reason).toMatch(expected);
  });

  test('and nothing once it is known', async () => {
    await joins('kalshi');
    expect((await place('kalshi')).body.order).toMatchObject({ status: 'open', unknown_reason: null });
  });
});

const batch = (orders: unknown): Promise<Answer> => ann.post('/orders/batch', { orders } as object);
const results = async (orders: unknown): Promise<Record<string, unknown>[]> => {
  const { status, body: answer } = await batch(orders);
  expect(status).toBe(200);
  return (answer as unknown as { results: Record<string, unknown>[] }).results;
};

describe('several orders in one request', () => {
  test('each have their own result, in order; a faulty one does not stop the others', async () => {
    const members = await Promise.all(PLATFORMS.map(async (platform) => [platform, await joins(platform)] as const));
    const found = await results([
      body('kalshi', { idempotency_key: 'a' }),
      body('kalshi', { price: 2 }),
      body('polymarket'),
      'not an order',
      body('limitless'),
      body('kalshi', { market_id: 'NOPE-26-X' }),
      body('kalshi', { idempotency_key: 'b', size: 2 }),
      body('kalshi', { dry_run: true }),
    ]);
    expect(found.map(({ status }) => status)).toEqual([201, 400, 201, 400, 201, 404, 201, 200]);
    expect(found[1]).toMatchObject({ error: { status: 400, error_text: expect.stringContaining('price: a price') } });
    expect(found[0]).toMatchObject({ order: { status: 'open', size: 1.01 }, idempotent_replay: false });
    const open = members.map(([platform, { held }]) => [platform, held().length]);
    expect(open).toEqual([
      ['kalshi', 2],
      ['polymarket', 1],
      ['limitless', 1],
    ]);
  });

  test('are placed once each, whatever is repeated: in the request, and by a second one', async () => {
    const { held } = await joins('kalshi');
    const one = body('kalshi', { idempotency_key: 'same' });
    const other = body('kalshi', { idempotency_key: 'same', size: 7 });
    const first = await results([one, one, other]);
    expect(first.map(({ status }) => status).toSorted()).toEqual([200, 201, 409]);
    const again = await results([one]);
    expect(again).toMatchObject([{ status: 200, idempotent_replay: true }]);
    expect(held()).toHaveLength(1);
  });

  test('are 1 to 20', async () => {
    await joins('kalshi');
    const many = Array.from({ length: 21 }, () => body('kalshi'));
    expect([(await batch([])).status, (await batch(many)).status, (await batch({})).status]).toEqual([400, 400, 400]);
    const found = await results(Array.from({ length: 20 }, (_, i) => body('kalshi', { size: i + 1 })));
    expect(found.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
  });
});

const balances = async (query: string) => {
  const { status, body: answer } = await ann.get(`/balances?${query}`);
  return { status, ...(answer as unknown as { balances: Record<string, unknown>[]; allowances: unknown[] }) };
};
const reads = (): number =>
  [...at('kalshi').sim.requests].reduce((sum, [call, n]) => sum + (/balance/.test(call) ? n : 0), 0);

describe('balances', () => {
  test('are read at most once in five seconds, also by calls at the same time', async () => {
    const { id } = await joins('kalshi');
    const before = reads();
    const answers = await Promise.all(Array.from({ length: 8 }, () => balances(`platform=kalshi&credential_id=${id}`)));
    expect(new Set(answers.map((one) => JSON.stringify(one.balances))).size).toBe(1);
    await balances('platform=kalshi');
    expect(reads()).toBe(before + 1);
    expect(answers[0]?.status).toBe(200);
    expect(answers[0]?.balances[0]).toMatchObject({ asset: 'USD' });
  });

  test('name the outcomes of a market that is asked for', async () => {
    await joins('kalshi');
    await place('kalshi', { ...MARKET, size: 10 });
    const held = await balances(`platform=kalshi&outcome_of=${at('kalshi').marketId}`);
    expect(held.balances).toContainEqual(expect.objectContaining({ asset: 'yes', total: 10 }));
  });

  test('of nobody are 404 and 422', async () => {
    const bob = await rig.trading.customer();
    const { id } = await joins('kalshi');
    expect((await bob.get(`/balances?platform=kalshi&credential_id=${id}`)).status).toBe(404);
    expect((await bob.get('/balances?platform=kalshi')).status).toBe(422);
  });
});
