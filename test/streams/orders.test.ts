import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { PLATFORMS } from '../../src/core/model.ts';
import { causeOf } from '../../src/orders/announce.ts';
import { OrderEvent } from '../../src/schemas/orders.ts';
import { hashKey, keyPrefix, newApiKey } from '../../src/accounts/api-key-format.ts';
import { apiKeys } from '../../src/accounts/tables.ts';
import { openEventStream } from '../helpers/event-stream.ts';
import { orderRig } from '../helpers/order-rig.ts';
import type { Customer } from '../helpers/trading.ts';

const rig = orderRig(31);
const { at, member } = rig;

async function streamOf({ key }: Customer, query = 'channels=orders') {
  const stream = await openEventStream(`${rig.origin}/v1/api/stream?${query}`, { 'x-api-key': key });
  onTestFinished(() => stream.cut());
  await stream.until('state', 1);
  return stream;
}

test.each(PLATFORMS)('changes of an order at %s reach its owner, and nobody else', async (platform) => {
  const [ann, bob] = [await member(platform), await member(platform)];
  const [stream, others] = [await streamOf(ann), await streamOf(bob)];
  const { body: placed } = await ann.post('/orders', at(platform).order(1, 'rests'));
  const { order_id: id } = placed.order;
  const [made] = await stream.until('order', 1, 5);
  expect(made?.data).toEqual({ ...placed.order, previous_status: null, cause: 'placement' });
  expect(OrderEvent.safeParse(made?.data).success).toBe(true);
  const { body: gone } = await ann.delete(`/orders/${id}?platform=${platform}`);
  const last = () => stream.frames.findLast(({ event }) => event === 'order')?.data;
  // A read that the private socket caused may come before the cancel is answered, and know less of it.
  await expect.poll(last, { timeout: 5000 }).toMatchObject(gone.order);
  expect(stream.frames.flatMap(({ event, data }) => (event === 'order' ? data['cause'] : []))).toContain('cancel');
  expect((await ann.get(`/orders/${id}?platform=${platform}`)).body.order).toEqual(gone.order);
  await bob.post('/orders', at(platform).order(2, 'fills'));
  const [filled] = await others.until('order', 1, 5);
  expect(filled?.data).toMatchObject({ status: 'filled', previous_status: null, cause: 'placement' });
  const names = stream.frames.flatMap(({ event, data }) => (event === 'order' ? data['order_id'] : []));
  expect(new Set(names)).toEqual(new Set([id]));
});

test('a stream of orders can be limited to platforms, and may hold other channels too', async () => {
  const ann = await member('kalshi');
  const [own, other] = [
    await streamOf(ann, 'channels=orders,trades&platform=kalshi'),
    await streamOf(ann, 'channels=orders&platform=polymarket,limitless'),
  ];
  await ann.post('/orders', at('kalshi').order(3, 'rests'));
  expect(await own.until('order', 1, 5)).toHaveLength(1);
  expect(other.frames.filter(({ event }) => event === 'order')).toEqual([]);
});

test('an order that the platform refuses is an event too', async () => {
  const ann = await member('kalshi');
  const stream = await streamOf(ann);
  const refusal = { match: at('kalshi').places, times: 1, kind: 'status', status: 400 } as const;
  at('kalshi').sim.inject({ ...refusal, body: '{"error":{"code":"bad_request"}}' });
  expect((await ann.post('/orders', at('kalshi').order(4, 'rests'))).status).toBe(422);
  const [refused] = await stream.until('order', 1, 5);
  expect(refused?.data).toMatchObject({ status: 'rejected', cause: 'rejection', previous_status: null });
});

/** A key of the customer that only reads. */
async function readingKey({ userId }: Customer): Promise<string> {
  const key = newApiKey();
  const row = { userId, name: 'reads', prefix: keyPrefix(key), hash: hashKey(key), scopes: ['read' as const] };
  await rig.trading.service.postgres.db.insert(apiKeys).values(row);
  return key;
}

test('a key without the scope trade gets 403 for the channel orders', async () => {
  const ann = await rig.trading.customer();
  const key = await readingKey(ann);
  const refused = await openEventStream(`${rig.origin}/v1/api/stream?channels=trades,orders`, { 'x-api-key': key });
  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.text).error.message).toBe('The channel orders needs the scope trade');
});

async function open(key: string) {
  const socket = new WebSocket(`${rig.origin.replace('http', 'ws')}/v1/api/ws`, { headers: { 'x-api-key': key } });
  onTestFinished(() => socket.terminate());
  const messages: Record<string, unknown>[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Record<string, unknown>));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const until = async (name: 'op' | 'event', value: string) => {
    await expect.poll(() => messages.some((message) => message[name] === value), { timeout: 5000 }).toBe(true);
    return messages.find((message) => message[name] === value);
  };
  return { until, messages, send: (message: object) => socket.send(JSON.stringify(message)) };
}

test('the channel is served over a WebSocket: events carry the sid, and end with the subscription', async () => {
  const ann = await member('kalshi');
  const reads = await open(await readingKey(ann));
  reads.send({ op: 'subscribe', id: 1, channel: 'orders' });
  expect(await reads.until('op', 'error')).toMatchObject({ id: 1, error: { status: 403 } });
  const socket = await open(ann.key);
  socket.send({ op: 'subscribe', id: 2, channel: 'orders' });
  const { sid } = (await socket.until('op', 'subscribed')) as { sid: number };
  const { body } = await ann.post('/orders', at('kalshi').order(5, 'rests'));
  expect(await socket.until('event', 'order')).toEqual({
    sid,
    event: 'order',
    data: { ...body.order, previous_status: null, cause: 'placement' },
  });
  socket.send({ op: 'unsubscribe', sid });
  await socket.until('op', 'unsubscribed');
  await ann.delete(`/orders/${body.order.order_id}?platform=kalshi`);
  expect(socket.messages.filter(({ event }) => event === 'order')).toHaveLength(1);
});

test.each([
  [null, { status: 'open', filledSize: '0' }, 'placement'],
  [null, { status: 'rejected', filledSize: '0' }, 'rejection'],
  [{ status: 'unknown', filledSize: null }, { status: 'open', filledSize: '0' }, 'placement'],
  [{ status: 'unknown', filledSize: null }, { status: 'rejected', filledSize: '0' }, 'rejection'],
  [{ status: 'open', filledSize: '0' }, { status: 'partially_filled', filledSize: '2.5' }, 'fill'],
  [{ status: 'partially_filled', filledSize: '9.5' }, { status: 'filled', filledSize: '10' }, 'fill'],
  [{ status: 'open', filledSize: '0' }, { status: 'cancelled', filledSize: '1' }, 'fill'],
  [{ status: 'open', filledSize: '0' }, { status: 'cancelled', filledSize: '0' }, 'cancel'],
  [{ status: 'partially_filled', filledSize: '1' }, { status: 'expired', filledSize: '1' }, 'expiry'],
  [{ status: 'filled', filledSize: '10' }, { status: 'filled', filledSize: '10' }, 'update'],
  [{ status: 'filled', filledSize: '10' }, { status: 'pending', filledSize: '4' }, 'update'],
] as const)('from %j to %j the cause is %s', (before, row, cause) => {
  expect(causeOf(row, before)).toBe(cause);
});
