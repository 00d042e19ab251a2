import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { MarketMatcher } from '../../../ingest/matches/matcher.ts';
import { type MarketRecord, type Platform, PLATFORMS } from '../../../src/core/model.ts';
import { systemClock } from '../../../src/core/time.ts';
import { MatchEvent } from '../../../src/schemas/stream-events.ts';
import { type EventStream, openEventStream } from '../../helpers/event-stream.ts';
import { LEASE, market, type MarketStore, startMarketStore } from '../../helpers/market-store.ts';

interface Message {
  op?: string;
  event?: string;
  cursor?: string;
  data?: unknown;
}
/** What one client got over all its connections. */
interface Client {
  got: { cursor: string; data: unknown }[];
  leave(): void;
}

let store: MarketStore;
let matcher: MarketMatcher;
let origin = '';
let key = '';
let at = Date.now();

beforeAll(async () => {
  store = await startMarketStore();
  await store.app.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = store.app.app.server.address() as AddressInfo;
  origin = `127.0.0.1:${port}/v1/api`;
  ({ key } = await store.app.newKey('pro'));
  const { clickhouse, present, app } = store;
  const publish = app.shared.publish.bind(app.shared);
  matcher = new MarketMatcher({ clickhouse, present, shared: { publish }, clock: systemClock, log: app.deps.log });
  // Opens the logs.
  await match();
}, 120_000);
afterAll(() => store.close());

async function match(...records: MarketRecord[]): Promise<void> {
  at += 1000;
  for (const record of records) record.fetchedAt = new Date(at).toISOString();
  await store.list(...records);
  for (const platform of PLATFORMS) matcher.marketsStored(platform);
  const run = { signal: new AbortController().signal, lease: LEASE };
  for (const platform of PLATFORMS.toReversed()) await matcher.run(platform, run);
}

/** Each test asks about a day of its own, so that its markets have no other partners. */
let day = 1;
const bitcoin = (platform: Platform, level: string): MarketRecord =>
  market({
    platform,
    ref: `${platform} ${day}`,
    title: `Bitcoin above ${level} on April ${day}, 5PM ET?`,
    resolutionCriteria: `This market resolves to Yes if the Binance BTC/USDT close at 5PM ET on April ${day}, 2027 is above ${level}.`,
    resolutionDate: new Date(Date.UTC(2027, 3, day, 21)).toISOString(),
    category: 'Crypto',
  });

/** An open GET stream; a client that comes back sends the last id it got. */
async function overSse(before: Client['got'] = []): Promise<Client> {
  const last = before.at(-1)?.cursor;
  const got = [...before];
  const headers = { 'x-api-key': key, ...(last === undefined ? {} : { 'last-event-id': last }) };
  const stream: EventStream = await openEventStream(
    `http://${origin}/stream?channels=matches`,
    headers,
    ({ event, id, data }) => void (event === 'match' && got.push({ cursor: id ?? '', data })),
  );
  expect(stream.status).toBe(200);
  await stream.until('state', 1);
  return { got, leave: stream.cut };
}

async function overSocket(before: Client['got'] = []): Promise<Client> {
  const got = [...before];
  const socket = new WebSocket(`ws://${origin}/ws`, { headers: { 'x-api-key': key } });
  const subscribed = new Promise<void>((resolve, reject) => {
    socket.on('error', reject).on('message', (text: Buffer) => {
      const { op, event, cursor = '', data } = JSON.parse(text.toString()) as Message;
      if (op === 'subscribed') resolve();
      if (op === 'error') reject(new Error(text.toString()));
      if (event === 'match') got.push({ cursor, data });
    });
  });
  await new Promise((resolve) => socket.on('open', resolve));
  const since = before.at(-1)?.cursor;
  socket.send(
    JSON.stringify({ op: 'subscribe', id: 1, channel: 'matches', ...(since === undefined ? {} : { since }) }),
  );
  await subscribed;
  return { got, leave: () => socket.terminate() };
}

const typesOf = ({ got }: Client): string[] =>
  got.map(({ data }) => MatchEvent.parse(data)).map(({ type, relation }) => `${type} ${relation}`);

/** The events of a client once there are so many, and whatever else comes within a second. */
async function events(client: Client, count: number): Promise<string[]> {
  for (const end = Date.now() + 20_000; client.got.length < count && Date.now() < end;) await sleep(20);
  await sleep(1000);
  return typesOf(client);
}

test.each([
  ['server-sent events', overSse],
  ['a WebSocket', overSocket],
] as const)(
  'over %s a client gets each match event once, also those of the time it was away',
  async (_name, open) => {
    day += 1;
    await match(bitcoin('kalshi', '100,000'));
    const first = await open();
    await match(bitcoin('polymarket', '100,000'));
    expect(await events(first, 1)).toEqual(['found identical']);
    first.leave();
    await match(bitcoin('polymarket', '90,000'));
    const second = await open(first.got);
    expect(await events(second, 2)).toEqual(['found identical', 'changed subset']);
    await match(
      market({ platform: 'polymarket', ref: `polymarket ${day}`, title: 'Something else', category: 'Crypto' }),
    );
    expect(await events(second, 3)).toEqual(['found identical', 'changed subset', 'withdrawn null']);
    second.leave();
  },
  90_000,
);
