import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCredentials } from '../../../src/accounts/credentials.ts';
import { PLATFORMS, type Platform } from '../../../src/core/model.ts';
import { type EventStream, openEventStream } from '../../helpers/event-stream.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';
import { orderRig } from '../../helpers/order-rig.ts';
import type { Customer } from '../../helpers/trading.ts';

vi.setConfig({ testTimeout: 40_000 });

const clock = flowingClock();
const { sleep } = clock;
const rig = orderRig(47, clock);

const logged = (text: string): number => rig.trading.service.logged().split(text).length - 1;

describe.each(PLATFORMS)('%s', (platform) => {
  const venue = () => rig.at(platform);
  const member = () => rig.member(platform);
  /** Even, so that half of an order is a size too. */
  let numbers = 20;
  const streams: EventStream[] = [];
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.cut();
    await socketsAre(0);
  });

  const socketsAre = (count: number): Promise<void> =>
    expect.poll(() => venue().sockets.clients().length, { timeout: 15_000, interval: 20 }).toBe(count);
  /** A stream of the customer's orders; `opens`: sockets that are open from then on. */
  async function streamOf({ key }: Customer, opens = 1) {
    const stream = await openEventStream(`${rig.origin}/v1/api/stream?channels=orders`, { 'x-api-key': key });
    streams.push(stream);
    await stream.until('state', 1);
    await socketsAre(opens);
    return stream;
  }
  async function rest(customer: Customer) {
    const { status, body } = await customer.post('/orders', venue().order((numbers += 2), 'rests'));
    expect(status).toBe(201);
    return body.order;
  }

  test('a fill at the platform is at its owner within a second, at nobody else, and GET orders agrees', async () => {
    const [ann, bob] = [await member(), await member()];
    const order = await rest(ann);
    const [own, other] = [await streamOf(ann), await streamOf(bob, 2)];
    const before = clock.elapsed();
    await venue().sell(order.size / 2);
    const [part] = await own.until('order', 1, 5);
    expect(clock.elapsed() - before).toBeLessThan(1000);
    const half = { order_id: order.order_id, status: 'partially_filled', filled_size: order.size / 2, cause: 'fill' };
    expect(part?.data).toMatchObject(half);
    await venue().sell(order.size / 2);
    const [, whole] = await own.until('order', 2, 5);
    expect(whole?.data).toMatchObject({ status: 'filled', filled_size: order.size, cause: 'fill' });
    const { body } = await ann.get(`/orders/${order.order_id}?platform=${platform}`);
    expect(whole?.data).toMatchObject({ ...body.order });
    expect(other.frames.filter(({ event }) => event === 'order')).toEqual([]);
    const { unsettle } = venue();
    if (!unsettle) return;
    unsettle();
    const [, , undone] = await own.until('order', 3, 5);
    expect(undone?.data).toMatchObject({ filled_size: order.size / 2, previous_status: 'filled' });
  });

  test('an order that fills while it is sent is one event, or two that end with what GET orders says', async () => {
    const ann = await member();
    const stream = await streamOf(ann);
    const { body } = await ann.post('/orders', venue().order((numbers += 2), 'fills'));
    await stream.until('order', 1, 5);
    await sleep(1000);
    const last = stream.frames.findLast(({ event }) => event === 'order')?.data;
    expect(last).toMatchObject({ order_id: body.order.order_id, status: 'filled' });
    expect((await ann.get(`/orders/${body.order.order_id}?platform=${platform}`)).body.order).toMatchObject({
      status: 'filled',
      filled_size: last?.['filled_size'],
    });
  });

  test('a fill while the socket is cut is there after the reconnect', async () => {
    const ann = await member();
    const order = await rest(ann);
    const stream = await streamOf(ann);
    const { sockets } = venue();
    sockets.refuse = 503;
    onTestFinished(() => void (sockets.refuse = null));
    sockets.cut();
    await venue().sell(order.size);
    sockets.refuse = null;
    const [filled] = await stream.until('order', 1, 10);
    expect(filled?.data).toMatchObject({ order_id: order.order_id, status: 'filled', cause: 'fill' });
  });

  test('a fill whose read fails is stored by a later read', async () => {
    const ann = await member();
    const order = await rest(ann);
    const stream = await streamOf(ann);
    const { sim } = venue();
    const failures = logged('Failed to read orders of a private socket');
    // Rechecks of other orders may take some of them.
    sim.inject({ match: READS[platform], times: 3, kind: 'status', status: 400, body: '{}' });
    onTestFinished(() => sim.clearFaults());
    await venue().sell(order.size);
    const [filled] = await stream.until('order', 1, 30);
    expect(logged('Failed to read orders of a private socket')).toBeGreaterThan(failures);
    expect(filled?.data).toMatchObject({ order_id: order.order_id, status: 'filled', cause: 'fill' });
  });

  test('bad, foreign and repeated frames change nothing and break nothing', async () => {
    const ann = await member();
    const order = await rest(ann);
    const stream = await streamOf(ann);
    const { sockets } = venue();
    for (const text of [...HOSTILE, ...HOSTILE_THERE[platform]]) sockets.inject(text);
    sockets.duplicates = true;
    onTestFinished(() => void (sockets.duplicates = false));
    await sleep(500);
    expect(stream.frames.filter(({ event }) => event === 'order')).toEqual([]);
    await venue().sell(order.size);
    const [filled] = await stream.until('order', 1, 5);
    expect(filled?.data).toMatchObject({ order_id: order.order_id, status: 'filled' });
  });

  test('sockets close after the last stream, and a removed credential closes its own', async () => {
    const ann = await member();
    const second = await ann.credential(platform, venue().member().fields as never);
    const [one, two] = [await streamOf(ann, 2), await streamOf(ann, 2)];
    one.cut();
    const { db } = rig.trading.service.postgres;
    await createCredentials(db, rig.trading.service.config.credentialKeys).remove(ann.userId, second);
    await socketsAre(1);
    two.cut();
    await socketsAre(0);
  });

  test('a credential that the platform refuses is reported once and not tried again at once', async () => {
    const ann = await member();
    const wrong = { ...venue().member().fields, ...wrongPart(platform, venue().member().fields) };
    await ann.credential(platform, wrong as never);
    const refusals = logged('refused the private socket');
    await streamOf(ann);
    await expect.poll(() => logged('refused the private socket'), { timeout: 20_000 }).toBe(refusals + 1);
    const { accepted } = venue().sockets;
    await sleep(4000);
    expect([logged('refused the private socket'), venue().sockets.accepted]).toEqual([refusals + 1, accepted]);
    await socketsAre(1);
  });
});

/** Reads of orders by the service. */
const READS: Record<Platform, RegExp> = {
  kalshi: /^GET .*\/portfolio\/orders\//,
  polymarket: /^GET \/clob\/data\/order\//,
  limitless: /^POST \/orders\/status\/batch/,
};

/** A secret that is not its own, as each platform's credential has it. */
function wrongPart(platform: Platform, other: object): object {
  const { private_key, secret } = other as { private_key: string; secret?: string };
  const keys = { api_key: 'nobody', api_secret: 'bm9ib2R5IGtub3dzIGl0', api_passphrase: 'nobody' };
  return { kalshi: { private_key }, polymarket: keys, limitless: { secret } }[platform];
}

const HOSTILE = ['no JSON', '{', '{}', '[]', '7', 'null', ''];
const HOSTILE_THERE: Record<Platform, readonly string[]> = {
  kalshi: [
    '{"type":"fill","sid":2}',
    '{"type":"fill","sid":2,"msg":{"order_id":7,"client_order_id":{}}}',
    '{"type":"user_order","sid":1,"msg":{"order_id":"","status":"executed"}}',
    '{"type":"user_order","sid":1,"msg":{"order_id":"not-ours","status":"executed","fill_count_fp":"9.00"}}',
    '{"type":"market_position","sid":3,"msg":{}}',
    '{"type":"error","msg":{"code":99,"msg":"who knows"}}',
  ],
  polymarket: [
    '[7,null,{"event_type":"order"}]',
    '{"event_type":"order","id":"0x78xx","size_matched":"","created_at":"","type":"CANCELLATION"}',
    `{"event_type":"order","id":"0x${'ab'.repeat(32)}","status":"MATCHED","size_matched":"12"}`,
    '{"event_type":"trade","status":"MATCHED","taker_order_id":7,"maker_orders":[null,7,{"order_id":{}}]}',
    `{"event_type":"trade","status":"FAILED","maker_orders":null,"taker_order_id":"0x${'cd'.repeat(32)}"}`,
    '{"event_type":"combo"}',
  ],
  limitless: [
    '42/markets,["orderEvent"]',
    '42/markets,["orderEvent",{"source":"OME","type":"EXECUTION","status":"FILLED"}]',
    '42/markets,["orderEvent",{"source":"OME","orderId":7,"clientOrderId":null}]',
    '42/markets,["orderEvent",{"source":"SETTLEMENT","type":"MINED","orderId":"not-ours","amountContracts":"9"}]',
    '42/markets,["tx",{"status":"CONFIRMED"}]',
    '42/other,["orderEvent",{"orderId":"x"}]',
    '43/markets,7[]',
  ],
};
