import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { PresentMarkets } from '../../../src/markets/present-markets.ts';
import { MARKET } from '../../helpers/market-of-streams.ts';
import { openEventStream } from '../../helpers/event-stream.ts';
import { startStreamRig, type StreamRig } from '../../helpers/stream-rig.ts';

let rig: StreamRig;
beforeAll(async () => {
  rig = await startStreamRig();
  await rig.takeOver('kalshi');
});
afterAll(() => rig.close());
afterEach(() => vi.restoreAllMocks());

const WAIT_MS = 300;
const LEAVES_MS = 100;

/** Statements take a while from now on. Returns their names as they are asked. */
function slowStore(): string[] {
  const asked: string[] = [];
  const { query } = rig.clickhouse;
  vi.spyOn(rig.clickhouse, 'query').mockImplementation(async (name, ...rest) => {
    asked.push(name);
    await sleep(WAIT_MS);
    return query(name, ...rest);
  });
  return asked;
}
const openSocket = async (headers: Record<string, string>): Promise<WebSocket> => {
  const socket = new WebSocket(`${rig.origin.replace('http', 'ws')}/v1/api/ws`, { headers });
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  return socket;
};
const statusOf = async (key: string): Promise<number> => {
  const stream = await openEventStream(`${rig.origin}/v1/api/stream?channels=quotes`, { 'x-api-key': key });
  stream.cut();
  return stream.status;
};

test('a client that leaves while its stream is prepared takes no place', async () => {
  const { key } = await rig.app.newKey();
  expect(await statusOf(key)).toBe(200);
  const asked = slowStore();
  const since = new Date().toISOString();
  for (let n = 0; n < 6; n += 1) {
    const client = connect(Number(new URL(rig.origin).port), '127.0.0.1');
    client.write(`GET /v1/api/stream?channels=trades&since=${since} HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\n\r\n`);
    await sleep(LEAVES_MS);
    client.destroy();
  }
  expect(asked.length).toBeGreaterThan(0);
  await sleep(12 * WAIT_MS);
  expect(await statusOf(key)).toBe(200);
});

test('a WebSocket client that leaves while its key is looked up takes no place', async () => {
  const { key } = await rig.app.newKey();
  const { apiKeys } = rig.app.app;
  const find = apiKeys.find.bind(apiKeys);
  vi.spyOn(apiKeys, 'find').mockImplementation(async (...given) => {
    await sleep(WAIT_MS);
    return find(...given);
  });
  for (let n = 0; n < 6; n += 1) {
    const socket = await openSocket({});
    socket.send(JSON.stringify({ op: 'auth', key }));
    await sleep(LEAVES_MS);
    socket.terminate();
  }
  await sleep(2 * WAIT_MS);
  vi.restoreAllMocks();
  expect(await statusOf(key)).toBe(200);
});

test('a WebSocket client that leaves while its subscription is prepared leaves nothing behind that reads', async () => {
  const { key } = await rig.app.newKey();
  const socket = await openSocket({ 'x-api-key': key });
  const asked = slowStore();
  const lookUp = vi.spyOn(PresentMarkets.prototype, 'storedByAnyIds').mockImplementation(async (_, [id = '']) => {
    await sleep(WAIT_MS);
    return new Map([[id, { ...MARKET, ref: id, volumeTotal: null, resolvedAt: null, syncedAt: '', storedTrades: 0 }]]);
  });
  socket.send(JSON.stringify({ op: 'subscribe', channel: 'quotes', market_ids: 'kalshi:KXLEFT' }));
  await expect.poll(() => lookUp.mock.calls.length).toBe(1);
  socket.terminate();
  await sleep(2500);
  asked.length = 0;
  await sleep(2000);
  expect(asked).toEqual([]);
});
