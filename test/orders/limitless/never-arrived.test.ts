import { afterEach, beforeAll, expect, test } from 'vitest';
import { PlatformError } from '../../../src/core/errors.ts';
import type { PlatformHttp, PlatformRequest } from '../../../src/platforms/http/request.ts';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import { limitless } from '../../../src/platforms/limitless/manifest.ts';
import { createLimitlessOrders } from '../../../src/platforms/limitless/orders/adapter.ts';
import { readContext, SETTINGS } from '../../fixtures/canned-http.ts';
import { intent, KEY, orderAccess, terms } from '../../fixtures/limitless/orders.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import type { Answer, Customer } from '../../helpers/trading.ts';
import { tradingRig } from '../../helpers/trading-rig.ts';
import type { ClobMarket } from '../../simulators/limitless/model.ts';
import { closeRigs } from '../../simulators/limitless/rig.ts';
import { quiet } from '../../simulators/limitless/trading-rig.ts';
import { startLimitless } from '../../simulators/limitless.ts';

const PRIVATE_KEY = `0x${'5'.repeat(64)}` as const;
const PLACE = /^POST .*\/orders$/;
const READ = /^POST .*\/orders\/status/;

const clock = flowingClock();
const rig = tradingRig(() => startLimitless({ seed: 3, markets: 12, tradesPerMarket: 5, clock }), { clock });
let market: ClobMarket;
let ann: Customer;
let address: string;

beforeAll(async () => {
  market = rig.sim.world.createMarket({ title: 'A quiet market', halfSpread: 500, popularity: 0 });
  ann = await rig.trading.customer();
  const profile = rig.sim.world.addProfile({ privateKey: PRIVATE_KEY });
  address = profile.address;
  const { tokenId, secret } = profile;
  await ann.credential('limitless', { token_id: tokenId, secret, private_key: PRIVATE_KEY });
});
afterEach(async () => {
  rig.sim.clearFaults();
  await closeRigs();
});

/** Places an order whose connection breaks before the platform has read it. */
async function lost(change: object = {}) {
  rig.sim.inject({ match: PLACE, times: 1, kind: 'reset' });
  const asked = { platform: 'limitless', market_id: market.slug, side: 'buy', outcome: 'yes', type: 'limit' };
  const answer = await ann.post('/orders', { ...asked, price: 0.4, size: 10, ...change });
  expect([answer.status, answer.body.order.status]).toEqual([202, 'unknown']);
  const { order } = answer.body;
  return { order, resolvesMs: Date.parse(order.resolves_at!), read: () => readOrder(order.client_order_id) };
}
const readOrder = (clientId: string): Promise<Answer> => ann.get(`/orders/client:${clientId}?platform=limitless`);
const moveTo = (ms: number): void => clock.correct(Math.max(0, ms - clock.now()));

test('an order that never reached the platform is rejected at the time that its answer says', async () => {
  const { order, resolvesMs, read } = await lost();
  expect(resolvesMs - Date.parse(order.created_at)).toBeLessThan(45_000);
  moveTo(resolvesMs - 3000);
  expect((await read()).body.order).toMatchObject({ status: 'unknown', resolves_at: order.resolves_at });
  moveTo(resolvesMs);
  expect((await read()).body.order).toMatchObject({
    status: 'rejected',
    filled_size: 0,
    remaining_size: 0,
    fees: { total_fee: 0 },
    resolves_at: null,
  });
  expect(rig.sim.world.ordersOf(address)).toEqual([]);
});

test('it is rejected by then without a request for it, and a repeat of its key reports that', async () => {
  const { order, resolvesMs } = await lost({ idempotency_key: 'lost' });
  // The looks before that time leave it open, and the next one is due at it.
  moveTo(resolvesMs - 3000);
  await clock.sleep(1500);
  moveTo(resolvesMs);
  const before = rig.sim.requests.get('POST /orders/status/batch') ?? 0;
  while ((rig.sim.requests.get('POST /orders/status/batch') ?? 0) === before) await clock.sleep(50);
  await clock.sleep(300);
  // The repeat itself reads nothing.
  rig.sim.inject({ match: READ, times: 1000, kind: 'status', status: 400, body: '{"message":"no"}' });
  const asked = { platform: 'limitless', market_id: market.slug, side: 'buy', outcome: 'yes', type: 'limit' };
  const again = await ann.post('/orders', { ...asked, price: 0.4, size: 10, idempotency_key: 'lost' });
  expect(again).toMatchObject({
    status: 200,
    body: { order: { client_order_id: order.client_order_id, status: 'rejected' }, meta: { idempotent_replay: true } },
  });
  rig.sim.clearFaults();
});

test('it stays unknown while the platform does not answer, and is settled by the first read after', async () => {
  const { resolvesMs, read } = await lost();
  rig.sim.inject({ match: READ, times: 1000, kind: 'status', status: 400, body: '{"message":"no"}' });
  moveTo(resolvesMs + 1000);
  expect((await read()).body.order).toMatchObject({ status: 'unknown' });
  rig.sim.clearFaults();
  expect((await read()).body.order).toMatchObject({ status: 'rejected' });
});

test('an order that arrived is found at once, whatever the time', async () => {
  rig.sim.inject({ match: PLACE, times: 1, kind: 'after' });
  rig.sim.inject({ match: READ, times: 1000, kind: 'status', status: 400, body: '{"message":"no"}' });
  const asked = { platform: 'limitless', market_id: market.slug, side: 'buy', outcome: 'yes', type: 'limit' };
  const { body } = await ann.post('/orders', { ...asked, price: 0.4, size: 10 });
  expect(body.order.status).toBe('unknown');
  rig.sim.clearFaults();
  expect((await readOrder(body.order.client_order_id)).body.order).toMatchObject({ status: 'open', resolves_at: null });
});

test.each([
  ['refused from the time that is said on', 0, 0],
  ['still taken seven seconds before', 7000, 1],
])('where the platform’s clock is as late as it allows, an order that was held up is %s', async (_, earlyMs, taken) => {
  const on = await quiet();
  const settings = { ...SETTINGS, ...on.sim.env };
  const real = await unmeteredHttp();
  let held: PlatformRequest | undefined;
  const http: PlatformHttp = {
    ...real,
    async send(request) {
      if (!request.url.endsWith('/orders')) return real.send(request);
      const { headers } = request;
      held = { ...request, headers: typeof headers === 'function' ? await headers() : headers! };
      throw new PlatformError('limitless', 'unavailable', { detail: 'held up' });
    },
  };
  // 30 s is the most by which the time of a signed call may differ.
  const LATE_MS = 29_000;
  const deps = { http, settings, now: () => on.clock.now() + LATE_MS };
  const adapter = createLimitlessOrders(deps);
  const { tokenId, secret } = on.world.members.withAddress(on.ann.address)!;
  const access = orderAccess({ token_id: tokenId, secret, private_key: KEY });
  const { info, state } = (await createLimitlessData(deps).market(on.market.slug, readContext()))!;
  const keys = { ...info, status: state.status };
  const prepared = await adapter.prepare(intent(terms({}), { market: keys, claimedAtMs: deps.now() }), access);
  expect(await prepared.place()).toMatchObject({ result: 'unknown' });
  on.clock.set(limitless.cannotArriveAtMs!(prepared.wire)! - LATE_MS - earlyMs);
  const status = await real.send(held!).then(
    (reply) => reply.status,
    (error: PlatformError) => error.status,
  );
  expect([status, on.world.ordersOf(on.ann.address).length]).toEqual([taken === 1 ? 201 : 425, taken]);
  await real.close();
});
