import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { MOST_STREAMED, wantBooks } from '../../../src/books/wanted.ts';
import { type Platform, PLATFORMS } from '../../../src/core/model.ts';
import { type BookWorld, startBookWorld } from '../../helpers/book-worlds.ts';
import { ClientBook } from '../../helpers/client-book.ts';
import { clockBehind } from '../../helpers/flowing-clock.ts';
import { openEventStream } from '../../helpers/event-stream.ts';
import type { ServedBook } from '../../oracle/book.ts';
import { eventually, type Pipeline, startPipeline } from '../../oracle/pipeline.ts';

const clock = clockBehind();
let worlds: BookWorld[] = [];
let pipeline: Pipeline;
let key = '';
/** The most traded market of each platform: its id, and its reference. */
const markets = new Map<Platform, { id: string; ref: string }>();

beforeAll(async () => {
  const options = { seed: 31, markets: 20, tradesPerMarket: 5, historyDays: 1, clock };
  worlds = await Promise.all(PLATFORMS.map((platform) => startBookWorld(platform, options)));
  pipeline = await startPipeline(
    worlds.map(({ sim }) => sim),
    PLATFORMS,
    { backfillDays: 1, clock },
  );
  ({ key } = await pipeline.app.newKey('pro'));
  const listed = async (): Promise<string[]> => {
    const rows = await pipeline.clickhouse.sql<{ platform: Platform; id: string; ref: string }>(
      `SELECT platform, id, ref FROM v_markets WHERE status = 'open' AND bid IS NOT NULL ORDER BY volume_24h DESC LIMIT 1 BY platform`,
    );
    for (const { platform, id, ref } of rows) markets.set(platform, { id, ref });
    return rows.length === PLATFORMS.length ? [] : ['not every platform is listed'];
  };
  expect(await eventually(listed, 60, clock)).toEqual([]);
}, 200_000);

afterAll(async () => {
  await pipeline?.close();
  for (const { sim } of worlds) await sim.close();
});

const bookOf = (platform: Platform): ServedBook['yes'] => {
  const world = worlds.find((one) => one.platform === platform);
  return (world as BookWorld).book(markets.get(platform)?.ref ?? '').yes;
};

test(
  "a client's book is the platform's, on all platforms, without a step in its sequence",
  { timeout: 120_000 },
  async () => {
    const books = new Map(PLATFORMS.map((platform) => [platform, new ClientBook()]));
    const ids = Array.from(markets.values(), ({ id }) => id).join();
    const stream = await openEventStream(
      `${pipeline.origin}stream?channels=books&market_ids=${encodeURIComponent(ids)}`,
      { 'x-api-key': key },
      ({ event, data }) => {
        if (event === 'book' || event === 'book_change') books.get(data['platform'] as Platform)?.take(event, data);
      },
    );
    expect([stream.status, stream.text]).toEqual([200, '']);
    for (let round = 0; round < 4; round += 1) {
      const wrong = async (): Promise<string[]> =>
        PLATFORMS.flatMap((platform) => {
          const { bids, asks } = bookOf(platform);
          const book = books.get(platform);
          const same = JSON.stringify([book?.levels('bid'), book?.levels('ask')]) === JSON.stringify([bids, asks]);
          return same ? [] : [`${platform}: ${book?.text()}`];
        });
      expect(await eventually(wrong, 30, clock)).toEqual([]);
      for (const { sim } of worlds) sim.trade(30);
    }
    expect([...books.values()].flatMap(({ faults }) => faults)).toEqual([]);
    stream.cut();
  },
);

test('a WebSocket client may have the best levels alone', { timeout: 60_000 }, async () => {
  const [{ id } = { id: '' }] = markets.values();
  const book = new ClientBook();
  const socket = new WebSocket(`${pipeline.origin.replace('http', 'ws')}ws`, { headers: { 'x-api-key': key } });
  socket.on('message', (text: Buffer) => {
    const { event, data } = JSON.parse(String(text)) as { event?: string; data: Record<string, unknown> };
    if (event === 'book' || event === 'book_change') book.take(event, data);
  });
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ op: 'subscribe', channel: 'books', market_ids: [id], depth: 2 }));
  for (let round = 0; round < 3; round += 1) {
    const wrong = async (): Promise<string[]> => {
      const { bids, asks } = bookOf(PLATFORMS.find((one) => id.startsWith(one)) as Platform);
      const best = JSON.stringify([bids.slice(0, 2), asks.slice(0, 2)]);
      return JSON.stringify([book.levels('bid'), book.levels('ask')]) === best ? [] : [`${book.text()}, not ${best}`];
    };
    expect(await eventually(wrong, 20, clock)).toEqual([]);
    for (const { sim } of worlds) sim.trade(30);
    await clock.sleep(50);
  }
  expect(book.faults).toEqual([]);
  socket.close();
});

test('books of no market, or of more than fifty, are refused', async () => {
  const none = await pipeline.fetch('stream?channels=books');
  expect([none.status, await none.text()]).toEqual([400, expect.stringContaining('market_ids')]);
  const many = await pipeline.fetch(
    `stream?channels=books&market_ids=${Array.from({ length: 51 }, (_, n) => `kalshi:K${n}`).join()}`,
  );
  expect([many.status, await many.text()]).toEqual([400, expect.stringContaining('1 to 50 ids')]);
});

test('a subscription to more books of a platform than are kept is refused', async () => {
  const names = Array.from({ length: MOST_STREAMED }, (_, n): [Platform, string] => ['kalshi', `K${n}`]);
  await wantBooks(pipeline.app.shared, names);
  const { id } = markets.get('kalshi') ?? { id: '' };
  const refused = await pipeline.fetch(`stream?channels=books&market_ids=${encodeURIComponent(id)}`);
  expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('books of kalshi')]);
});
