import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { registered } from '../../helpers/browser.ts';
import { openEventStream } from '../../helpers/event-stream.ts';
import { startStreamRig, type StreamRig } from '../../helpers/stream-rig.ts';

let rig: StreamRig;
beforeAll(async () => {
  rig = await startStreamRig();
  await rig.takeOver('kalshi');
});
afterAll(() => rig.close());

const urlOf = (query: string): string => `${rig.origin}/v1/api/stream?${query}`;

test('a session that is ended ends its streams', async () => {
  const person = await registered(rig.app);
  const cookie = `jwt=${person.cookies.get('jwt')}`;
  const stream = await openEventStream(urlOf('channels=trades'), { cookie });
  expect(stream.status).toBe(200);
  await stream.until('state', 1);
  expect((await person.post('/v1/api/auth/logout')).statusCode).toBeLessThan(300);
  await Promise.race([stream.ended, sleep(15_000).then(() => Promise.reject(new Error('the stream goes on')))]);
  expect(stream.frames.at(-1)?.event).toBe('state');
});

test('a thousand clients each get every event once', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => rig.app.newKey('pro')));
  const clients = keys.flatMap(({ key }) => Array.from({ length: 50 }, () => key));
  const streams = [];
  for (let from = 0; from < clients.length; from += 50) {
    const some = clients.slice(from, from + 50);
    const opened = some.map((key) => openEventStream(urlOf('channels=trades&platform=kalshi'), { 'x-api-key': key }));
    streams.push(...(await Promise.all(opened)));
  }
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  await Promise.all(streams.map((stream) => stream.until('state', 1, 60)));
  const ids = ['k1', 'k2', 'k3'];
  await rig.log('kalshi', ids);
  const got = await Promise.all(streams.map((stream) => stream.until('trade', ids.length, 60)));
  const texts = got.map((frames) => frames.map(({ data }) => String(data['trade_id'])).join());
  expect(new Set(texts)).toEqual(new Set([ids.join()]));
  for (const stream of streams) stream.cut();
});

test('a stop ends streams behind what is queued: with retry, and with 1012', async () => {
  const { key } = await rig.app.newKey();
  const headers = { 'x-api-key': key };
  const socket = new WebSocket(`${rig.origin.replace('http', 'ws')}/v1/api/ws`, { headers });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const reply = await fetch(urlOf('channels=trades&platform=kalshi'), { headers });
  const text = reply.text();
  const beside = await openEventStream(urlOf('channels=trades&platform=kalshi'), headers);
  await beside.until('state', 1);
  await rig.log('kalshi', ['last']);
  await beside.until('trade', 1);
  beside.cut();
  await rig.app.app.close();
  expect(await closed).toBe(1012);
  const body = await text;
  expect(body).toContain('"trade_id":"last"');
  expect(body).toMatch(/event: state\ndata: .*\n\nretry: 1000\n\n$/);
});
