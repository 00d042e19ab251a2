import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { RawConnection } from '../fuzz/raw-connection.ts';
import { startStreamRig, type StreamRig } from '../helpers/stream-rig.ts';

const LIMITS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-request-id'];
const NONCE = 'dGhlIHNhbXBsZSBub25jZQ==';

let rig: StreamRig;
let key = '';
beforeAll(async () => {
  rig = await startStreamRig();
  ({ key } = await rig.app.newKey());
});
afterAll(() => rig.close());

test('the answer that opens a WebSocket says limit, remaining and request id', async () => {
  const socket = new WebSocket(`${rig.origin.replace('http', 'ws')}/v1/api/ws`, { headers: { 'x-api-key': key } });
  onTestFinished(() => socket.terminate());
  const headers = await new Promise<object>((resolve, reject) =>
    socket.on('upgrade', (answer) => resolve(answer.headers)).on('error', reject),
  );
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '250', 'x-ratelimit-remaining': '249' });
  expect(headers).toHaveProperty('x-request-id');
});

test.each([
  ['no key', 'sec-websocket-version: 13'],
  ['a key of another length', 'sec-websocket-version: 13\r\nsec-websocket-key: x'],
  ['another version', `sec-websocket-version: 7\r\nsec-websocket-key: ${NONCE}`],
  ['broken protocols', `sec-websocket-version: 13\r\nsec-websocket-key: ${NONCE}\r\nsec-websocket-protocol: a,,b`],
])('a handshake with %s is refused with 400 in the envelope', async (_, lines) => {
  const connection = new RawConnection(Number(new URL(rig.origin).port));
  onTestFinished(() => connection.close());
  const head = `GET /v1/api/ws HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nconnection: upgrade\r\nupgrade: websocket`;
  const { status, headers, body } = await connection.ask(`${head}\r\n${lines}\r\n\r\n`, 5000);
  expect([status, JSON.parse(body).error?.status]).toEqual([400, 400]);
  expect(Object.keys(headers)).toEqual(expect.arrayContaining(LIMITS));
});

test('the address of a stream may name 500 markets of fifty characters', async () => {
  const ids = Array.from({ length: 500 }, (_, n) => `limitless:${String(n).padStart(50, 'x')}`);
  const { key: proKey } = await rig.app.newKey('pro');
  const url = `${rig.origin}/v1/api/stream?channels=trades&market_ids=${ids.join(',')}`;
  const answer = await fetch(url, { headers: { 'x-api-key': proKey } });
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('Markets not found')]);
});

test('an id of null is answered as none', async () => {
  const socket = new WebSocket(`${rig.origin.replace('http', 'ws')}/v1/api/ws`, { headers: { 'x-api-key': key } });
  onTestFinished(() => socket.terminate());
  const messages: unknown[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  socket.send('{"op":"ping","id":null}');
  await expect.poll(() => messages).toContainEqual({ op: 'pong' });
});
