import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../../src/core/time.ts';
import { STREAM_EVENTS } from '../../../src/schemas/stream-events.ts';
import { startTestApp } from '../../helpers/app.ts';
import { openEventStream } from '../../helpers/event-stream.ts';
import { startStreamRig, type StreamRig } from '../../helpers/stream-rig.ts';

let rig: StreamRig;
let key = '';
beforeAll(async () => {
  rig = await startStreamRig();
  ({ key } = await rig.app.newKey('pro'));
  await rig.takeOver('kalshi');
});
afterAll(() => rig.close());

let named = 0;
const ids = (count: number): string[] => Array.from({ length: count }, () => `t${(named += 1)}`);
const open = (query: string, headers: Record<string, string> = {}) =>
  openEventStream(`${rig.origin}/v1/api/stream?${query}`, { 'x-api-key': key, ...headers });
const idsOf = (frames: { data: Record<string, unknown> }[]): unknown[] => frames.map(({ data }) => data['trade_id']);

interface Message {
  op?: string;
  id?: unknown;
  sid?: number;
  event?: string;
  cursor?: string;
  data: { trade_id?: string; cursor?: string };
  error: { status: number; error_text: string };
}

/** A WebSocket whose messages are collected; `headers` as a client that is no browser sends them. */
async function openSocket(headers: Record<string, string> = { 'x-api-key': key }) {
  const socket = new WebSocket(`${rig.origin.replace('http', 'ws')}/v1/api/ws`, { headers });
  onTestFinished(() => socket.terminate());
  const messages: Message[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const until = async (test: (message: Message) => boolean, count = 1) => {
    await expect.poll(() => messages.filter(test).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
    return messages.filter(test);
  };
  return { socket, messages, closed, until, send: (message: object) => socket.send(JSON.stringify(message)) };
}

test('a cursor resumes behind a takeover, from memory and from the log, and under the same filters only', async () => {
  const [first, second] = [ids(3), ids(3)];
  const stream = await open('channels=trades&platform=kalshi');
  await stream.until('state', 1);
  await rig.log('kalshi', first);
  const frames = await stream.until('trade', 3);
  expect(idsOf(frames)).toEqual(first);
  stream.cut();
  await rig.takeOver('kalshi');
  await rig.log('kalshi', second);
  const cursor = String(frames[1]?.id);
  for (const ask of [
    () => open('channels=trades&platform=kalshi', { 'last-event-id': cursor }),
    () => open(`channels=trades&platform=kalshi&since=${cursor}`),
  ]) {
    const again = await ask();
    expect(idsOf(await again.until('trade', 4))).toEqual([first[2], ...second]);
    again.cut();
  }
  for (const query of [
    'channels=trades',
    'channels=whales&platform=kalshi',
    'channels=trades&platform=kalshi&min_size=1',
  ]) {
    const refused = await open(query, { 'last-event-id': cursor });
    expect([query, refused.status]).toEqual([query, 400]);
    expect(JSON.parse(refused.text).error.resolution).toMatch(/since \d{4}-\d\d-\d\dT/);
  }
});

/** Of a stream that has just begun. */
const cursorOf = async (query: string): Promise<string> => {
  const stream = await open(query);
  const [state] = await stream.until('state', 1);
  stream.cut();
  return String(state?.data['cursor']);
};

test('a cursor of all platforms is refused where other platforms are served; one of a named platform resumes', async () => {
  const fewer = await startTestApp({
    clickhouse: rig.clickhouse,
    postgres: rig.app.postgres,
    env: { PLATFORMS: 'kalshi,limitless' },
  });
  onTestFinished(() => fewer.close());
  const origin = await fewer.app.listen({ host: '127.0.0.1', port: 0 });
  const [all, named] = [await cursorOf('channels=trades'), await cursorOf('channels=trades&platform=kalshi')];
  const missed = ids(2);
  await rig.log('kalshi', missed);
  const ask = (query: string, cursor: string) =>
    openEventStream(`${origin}/v1/api/stream?${query}`, { 'x-api-key': key, 'last-event-id': cursor });
  const refused = await ask('channels=trades', all);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('with the same filters')]);
  const resumed = await ask('channels=trades&platform=kalshi', named);
  expect(idsOf(await resumed.until('trade', 2))).toEqual(missed);
  resumed.cut();
});

test('a time resumes from there; one before the log, and a damaged cursor, are refused with the oldest time', async () => {
  const before = new Date().toISOString();
  await sleep(20);
  const some = ids(2);
  await rig.log('kalshi', some);
  const stream = await open(`channels=trades&platform=kalshi&since=${before}`);
  expect(idsOf(await stream.until('trade', 2))).toEqual(some);
  stream.cut();
  for (const since of ['2020-01-01T00:00:00Z', 'AQAAAA', '%00', 'x'.repeat(900)]) {
    const refused = await open(`channels=trades&platform=kalshi&since=${since}`);
    expect([since, refused.status]).toEqual([since, 400]);
    expect(JSON.parse(refused.text).error.resolution).toContain('T');
  }
});

test('parameters that cannot be are refused by name', async () => {
  for (const [query, field] of [
    ['', 'channels'],
    ['channels=', 'channels'],
    ['channels=trades,nothing', 'channels'],
    ['channels=trades&platform=nowhere', 'platform'],
    ['channels=trades&market_ids=KX1', 'market_ids'],
    [`channels=trades&market_ids=${Array.from({ length: 501 }, (_, n) => `kalshi:K${n}`).join(',')}`, 'market_ids'],
    ['channels=trades&platform=kalshi&market_ids=limitless:x', 'market_ids'],
    ['channels=trades&min_size=-1', 'min_size'],
    ['channels=trades&chanels=trades', 'chanels'],
  ]) {
    const refused = await open(String(query));
    expect([query, refused.status]).toEqual([query, 400]);
    expect(JSON.parse(refused.text).error.error_text).toContain(field);
  }
  expect((await open('channels=trades&market_ids=kalshi:KXNONE')).status).toBe(404);
  expect((await openEventStream(`${rig.origin}/v1/api/stream?channels=trades`, {})).status).toBe(401);
});

test('the page of streams, to which /docs leads, shows every field of every event', async () => {
  const { tags } = (await (await fetch(`${rig.origin}/v1/api/openapi.json`)).json()) as {
    tags: { name: string; externalDocs?: { url: string } }[];
  };
  const path = tags.find(({ name }) => name === 'Streams')?.externalDocs?.url;
  const page = await (await fetch(`${rig.origin}${path}`)).text();
  for (const [name, schema] of Object.entries(STREAM_EVENTS)) {
    const [, section = ''] = page.split(`<section id="${name}">`);
    for (const field of Object.keys(schema.shape)) {
      expect(section.split('</section>', 1)[0], name).toContain(`<code>${field}</code>`);
    }
  }
});

test('the page of streams shows what a checksum is made of, and the answers to WebSocket messages', async () => {
  const page = await (await fetch(`${rig.origin}/docs/streams`)).text();
  expect(page).toContain('0.41:20,0.4:3|0.43:7.5');
  expect(page).toContain('id="answer-subscribed"');
});

test('the description of streams is AsyncAPI 3.0 of every event, and each of its references leads somewhere', async () => {
  const reply = await fetch(`${rig.origin}/v1/api/asyncapi.json`);
  const document = (await reply.json()) as { asyncapi: string; components: { messages: Record<string, unknown> } };
  expect(document.asyncapi).toBe('3.0.0');
  expect(Object.keys(document.components.messages)).toEqual(
    expect.arrayContaining(['trade', 'market', 'quote', 'state', 'subscribed', 'pong', 'error']),
  );
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path.split('/'));
  for (const path of refs) {
    expect(path.reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], document)).toBeDefined();
  }
});

test('a revoked key ends its streams within a second, and no other', async () => {
  const { key: revoked, keyId, userId } = await rig.app.newKey();
  const stream = await openEventStream(`${rig.origin}/v1/api/stream?channels=trades`, { 'x-api-key': revoked });
  const other = await open('channels=trades');
  const socket = await openSocket({ 'x-api-key': revoked });
  await stream.until('state', 1);
  await rig.app.app.apiKeys.revoke(userId, keyId);
  const at = Date.now();
  await stream.ended;
  expect(await socket.closed).toBe(1008);
  expect(Date.now() - at).toBeLessThan(1000);
  expect(stream.frames.at(-1)?.event).toBe('state');
  await rig.log('kalshi', ids(1));
  expect(await other.until('trade', 1)).toHaveLength(1);
  other.cut();
});

test('a free user has five streams at once, and one more when one is closed', async () => {
  const { key: free } = await rig.app.newKey();
  const ask = () => openEventStream(`${rig.origin}/v1/api/stream?channels=trades`, { 'x-api-key': free });
  const streams = await Promise.all(Array.from({ length: 5 }, ask));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect((await ask()).status).toBe(429);
  streams[0]?.cut();
  await expect.poll(async () => (await ask()).status).toBe(200);
  for (const stream of streams) stream.cut();
});

test('eventsource, as it is published, resumes by itself after a cut', async () => {
  const got: string[] = [];
  const requests: (string | undefined)[] = [];
  const source = new EventSource(`${rig.origin}/v1/api/stream?channels=trades&platform=kalshi`, {
    fetch: (url, init) => {
      const headers: Record<string, string> = { ...(init?.headers as Record<string, string>), 'x-api-key': key };
      requests.push(headers['Last-Event-ID']);
      return fetch(url, { ...init, headers });
    },
  });
  onTestFinished(() => source.close());
  source.addEventListener('trade', ({ data }) => got.push(JSON.parse(data).trade_id));
  await new Promise((resolve) => source.addEventListener('state', resolve, { once: true }));
  const [first, second] = [ids(2), ids(2)];
  await rig.log('kalshi', first);
  await expect.poll(() => got).toEqual(first);
  rig.app.app.server.closeAllConnections();
  await rig.log('kalshi', second);
  await expect.poll(() => got, { timeout: 20_000 }).toEqual([...first, ...second]);
  expect(requests.length).toBeGreaterThan(1);
});

test('a WebSocket takes its key as the first message, answers each message, and sends what was subscribed', async () => {
  const { socket, messages, until, send, closed } = await openSocket({});
  send({ op: 'subscribe', id: 'early', channel: 'trades' });
  send({ op: 'auth', id: 1, key });
  await until(({ op }) => op === 'authenticated');
  send({ op: 'ping', id: 'p' });
  send({ op: 'subscribe', id: 'a1', channel: 'trades', platform: 'kalshi' });
  send({ op: 'subscribe', id: 'a2', channel: 'trades', platform: 'nowhere', volume: 1 });
  socket.send('{');
  const errors = await until(({ op }) => op === 'error', 3);
  expect(errors.map(({ id, error }) => [id, error.status])).toEqual([
    ['early', 401],
    ['a2', 400],
    [undefined, 400],
  ]);
  expect(errors[1]?.error.error_text).toMatch(/platform.*volume|volume.*platform/s);
  const [subscribed] = await until(({ op }) => op === 'subscribed');
  expect(subscribed).toEqual({ op: 'subscribed', id: 'a1', sid: 1 });
  await until(({ op, id }) => op === 'pong' && id === 'p');
  const first = ids(2);
  await rig.log('kalshi', first);
  const events = await until(({ event }) => event === 'trade', 2);
  expect(events.map(({ sid, data }) => [sid, data.trade_id])).toEqual(first.map((id) => [1, id]));
  send({ op: 'subscribe', id: 'a4', channel: 'trades', platform: 'kalshi', since: events[0]?.cursor });
  const again = await until(({ event, sid }) => event === 'trade' && sid === 2);
  expect(again[0]?.data.trade_id).toBe(first[1]);
  send({ op: 'unsubscribe', id: 'a5', sid: 1 });
  await until(({ op, sid }) => op === 'unsubscribed' && sid === 1);
  await rig.log('kalshi', ids(1));
  await until(({ event, sid }) => event === 'trade' && sid === 2, 2);
  expect((await until(({ event, sid }) => event === 'trade' && sid === 1)).length).toBe(2);
  for (let n = 0; n < 100; n += 1) send({ op: 'ping', id: 'many' });
  await until(({ op, id }) => op === 'pong' && id === 'many', 100);
  for (let n = 0; n < 3000; n += 1) send({ op: 'ping', id: 'flood' });
  expect(await closed).toBe(1008);
  expect(messages.find(({ op, id }) => op === 'error' && id === 'flood')?.error.status).toBe(429);
});

test('a WebSocket client may name 500 markets of the longest ids, give a time as a number, and leave fields null', async () => {
  const { until, send } = await openSocket();
  const market_ids = Array.from({ length: 500 }, (_, n) => `limitless:${String(n).padStart(512, 'x')}`);
  send({ op: 'subscribe', id: 'long', channel: 'trades', market_ids });
  expect((await until(({ id }) => id === 'long'))[0]?.error.status).toBe(404);
  const since = Date.now();
  send({ op: 'subscribe', id: 'ms', channel: 'trades', platform: 'kalshi', since, min_size: null, market_ids: null });
  send({ op: 'subscribe', id: 's', channel: 'quotes', since: Math.floor(since / 1000) });
  expect((await until(({ id }) => id === 'ms'))[0]?.op).toBe('subscribed');
  expect((await until(({ id }) => id === 's'))[0]?.op).toBe('subscribed');
});

test('a stream may be limited to trades of some takers, whatever the case of their addresses', async () => {
  const [mine, other] = ['0x52908400098527886E0F7030069857D2E4169EE7', `0x${'12'.repeat(20)}`];
  const stream = await open(`channels=trades&platform=limitless&addresses=${mine.toLowerCase()},0x${'3'.repeat(40)}`);
  const { until, send } = await openSocket();
  send({ op: 'subscribe', channel: 'trades', platform: ['limitless'], addresses: [mine] });
  await until(({ op }) => op === 'subscribed');
  await stream.until('state', 1);
  const [theirs, wanted, none] = [ids(1), ids(2), ids(1)];
  await rig.log('limitless', theirs, 0, 'R', other);
  await rig.log('limitless', wanted, 0, 'R', mine);
  await rig.log('limitless', none);
  expect(idsOf(await stream.until('trade', 2))).toEqual(wanted);
  const framed = await until(({ event }) => event === 'trade', 2);
  expect(framed.map(({ data }) => data.trade_id)).toEqual(wanted);
  await sleep(300);
  expect(idsOf(stream.frames.filter(({ event }) => event === 'trade'))).toEqual(wanted);
  stream.cut();
  const refused = await open('channels=trades&addresses=0x12,somebody');
  expect([refused.status, JSON.parse(refused.text).error.error_text]).toEqual([
    400,
    expect.stringContaining('addresses: 1 to 100 addresses of 0x and 40 hex digits, comma-separated'),
  ]);
});

test('a floor that is given holds for trades beside whales; theirs of 1,000 for whales alone', async () => {
  await rig.log('limitless', ids(1));
  const taken: readonly (readonly [query: string, isTaken: boolean])[] = [
    ['channels=trades,whales', true],
    ['channels=trades,whales&min_size=10', true],
    ['channels=whales&min_size=10', true],
    ['channels=whales&min_notional=5', true],
    ['channels=whales', false],
    ['channels=whales&min_notional=6', false],
    ['channels=whales&min_notional=5&min_size=1000', false],
    ['channels=trades,whales&min_size=11', false],
    ['channels=trades&min_notional=6', false],
    ['channels=trades&event_id=E', true],
    ['channels=trades&event_id=other', false],
  ];
  const streams = await Promise.all(taken.map(([query]) => open(`${query}&platform=limitless`)));
  for (const stream of streams) await stream.until('state', 1);
  await rig.log('limitless', ids(1));
  for (const [n, [, isTaken]] of taken.entries()) if (isTaken) await streams[n]?.until('trade', 1);
  await sleep(500);
  const seen = streams.map(({ frames }) => frames.some(({ event }) => event === 'trade'));
  for (const stream of streams) stream.cut();
  expect(taken.map(([query], n) => [query, seen[n]])).toEqual(taken);
});

test('an event is named as in REST: with or without its platform, in any spelling that the platform allows', async () => {
  await rig.takeOver('limitless');
  const since = Date.now();
  const [onKalshi, onLimitless] = [ids(1), ids(1)];
  await rig.log('kalshi', onKalshi);
  await rig.log('limitless', onLimitless);
  const both = [...onKalshi, ...onLimitless].toSorted();
  const expectations: readonly (readonly [query: string, expected: string[]])[] = [
    ['event_id=kalshi:E', onKalshi],
    ['event_id=kalshi:e', onKalshi],
    ['event_id=platform_a:e', onKalshi],
    ['event_id=e&platform=kalshi', onKalshi],
    ['event_id=e', onKalshi],
    ['event_id=E', both],
    ['event_id=kalshi:E&platform=kalshi,limitless', onKalshi],
    ['event_id=limitless:E&provider=limitless,kalshi', onLimitless],
    ['event_id=limitless:e', []],
  ];
  const streams = await Promise.all(expectations.map(([query]) => open(`channels=trades&since=${since}&${query}`)));
  for (const [n, [, expected]] of expectations.entries()) await streams[n]?.until('trade', expected.length);
  await sleep(500);
  const found = streams.map(({ frames }) => idsOf(frames.filter(({ event }) => event === 'trade')).toSorted());
  for (const stream of streams) stream.cut();
  expect(expectations.map(([query], n) => [query, found[n]])).toEqual(expectations);
  const cursor = await cursorOf('channels=trades&platform=kalshi&event_id=E');
  const resumed = await open('channels=trades&event_id=kalshi:e', { 'last-event-id': cursor });
  expect(resumed.status).toBe(200);
  resumed.cut();
  const refused = await open('channels=trades&platform=limitless,polymarket&event_id=kalshi:E');
  const issue = 'event_id: an id of platform limitless or polymarket, received "kalshi:E"';
  expect([refused.status, JSON.parse(refused.text).error.error_text]).toEqual([400, issue]);
  const { send, until } = await openSocket();
  send({ op: 'subscribe', id: 'event', channel: 'trades', event_id: 'kalshi:e', since });
  expect((await until(({ event }) => event === 'trade'))[0]?.data.trade_id).toBe(onKalshi[0]);
  send({ op: 'subscribe', id: 'foreign', channel: 'trades', platform: 'limitless', event_id: 'kalshi:E' });
  const [foreign] = await until(({ id }) => id === 'foreign');
  expect([foreign?.error.status, foreign?.error.error_text]).toEqual([400, expect.stringContaining('event_id')]);
});

test('a WebSocket without a key is closed after five seconds; one with a wrong key is refused', async () => {
  const { closed } = await openSocket({});
  expect(await closed).toBe(1008);
  await expect(openSocket({ 'x-api-key': 'pk_wrong' })).rejects.toThrow('401');
  const plain = await fetch(`${rig.origin}/v1/api/ws`, { headers: { 'x-api-key': key } });
  expect(plain.status).toBe(426);
});

test('an offer of another protocol is answered as if it had not been made', async () => {
  const status = await new Promise((resolve, reject) => {
    const call = request(`${rig.origin}/v1/api/health`, {
      headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA' },
    });
    call.on('response', (answer) => resolve(answer.statusCode)).on('error', reject);
    call.end();
  });
  expect(status).toBe(200);
});

test('a reader that never reads is closed with its cursor, and holds no more than its queue; another gets everything meanwhile', async () => {
  const mute = await openSocket();
  mute.send({ op: 'subscribe', channel: 'trades', platform: 'kalshi' });
  await mute.until(({ op }) => op === 'subscribed');
  mute.socket.pause();
  const silentStream = await fetch(`${rig.origin}/v1/api/stream?channels=trades&platform=kalshi`, {
    headers: { 'x-api-key': key },
  });
  const reading = await open('channels=trades&platform=kalshi');
  await reading.until('state', 1);
  const all = ids(2000);
  for (let from = 0; from < all.length; from += 200) await rig.log('kalshi', all.slice(from, from + 200), 20_000);
  expect(await reading.until('trade', all.length, 60)).toHaveLength(all.length);
  reading.cut();
  await sleep(7000);
  mute.socket.resume();
  expect(await mute.closed).toBe(4008);
  const last = mute.messages.findLast(({ event }) => event === 'trade');
  const state = mute.messages.findLast(({ event }) => event === 'state');
  expect(state?.data.cursor).toBe(last?.cursor);
  const text = await silentStream.text().catch((error: Error) => String(error));
  expect(text.length).toBeLessThan(40_000_000);
  const missed = all.slice(all.indexOf(String(last?.data.trade_id)) + 1);
  expect(missed.length).toBeGreaterThan(0);
  const again = await openSocket();
  again.send({ op: 'subscribe', channel: 'trades', platform: 'kalshi', since: state?.data.cursor });
  const rest = await again.until(({ event }) => event === 'trade', missed.length);
  expect(rest.map(({ data }) => data.trade_id)).toEqual(missed);
});

test('subscriptions of a reader that is behind share one wait, and get everything once it reads', async () => {
  const SUBSCRIPTIONS = 20;
  const behind = await openSocket();
  for (let n = 0; n < SUBSCRIPTIONS; n += 1) behind.send({ op: 'subscribe', channel: 'trades', platform: 'kalshi' });
  await behind.until(({ op }) => op === 'subscribed', SUBSCRIPTIONS);
  behind.socket.pause();
  const all = ids(90);
  for (let from = 0; from < all.length; from += 30) await rig.log('kalshi', all.slice(from, from + 30), 20_000);
  await sleep(1000);
  const waits = [vi.spyOn(systemClock, 'sleep'), vi.spyOn(systemClock, 'timeout')];
  await sleep(1000);
  const short = waits.flatMap(({ mock }) => mock.calls.filter(([ms]) => ms <= 100));
  for (const wait of waits) wait.mockRestore();
  expect(short.length).toBeGreaterThan(0);
  expect(short.length).toBeLessThan(SUBSCRIPTIONS);
  behind.socket.resume();
  await behind.until(({ event }) => event === 'trade', SUBSCRIPTIONS * all.length);
  const got = behind.messages.filter(({ event }) => event === 'trade');
  const oneEach = Array.from({ length: SUBSCRIPTIONS }, (_, n) => n + 1).flatMap((sid) => all.map((id) => [sid, id]));
  expect(got.map(({ sid, data }) => [sid, data.trade_id]).toSorted()).toEqual(oneEach.toSorted());
  behind.socket.close();
});
