import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Stop } from '../../../../src/core/time.ts';
import { clockBehind, passes } from '../../../helpers/flowing-clock.ts';
import { openEventStream } from '../../../helpers/event-stream.ts';
import { socketCounts } from '../../../helpers/socket-counts.ts';
import type { ServedBook } from '../../../oracle/book.ts';
import { kalshiBook } from '../../../oracle/kalshi.ts';
import { eventually, type Pipeline, startPipeline } from '../../../oracle/pipeline.ts';
import { type KalshiSimulator, startKalshi } from '../../../simulators/kalshi.ts';

vi.setConfig({ testTimeout: 120_000 });

const RECORDED = 15;
let refs: string[] = [];
/** A market whose book nobody wants at first. */
let late = '';
const counts = socketCounts();
let sim: KalshiSimulator;
let service: Pipeline;
const clock = clockBehind();
let stopCrowd: Stop = () => {};

beforeAll(async () => {
  sim = await startKalshi({ seed: 33, markets: 40, tradesPerMarket: 10, historyDays: 1, pingMs: 500, clock });
  sim.enforceLimits = false;
  const { apiKeyId, privateKeyPem } = sim.world.addAccount({ scopes: ['read'] });
  const open = sim.world.markets.filter(
    ({ status, combo, closeMs }) => status === 'active' && !combo && closeMs > clock.now() + 3_600_000,
  );
  refs = open.slice(0, RECORDED).map(({ ticker }) => ticker);
  late = open[RECORDED]?.ticker ?? '';
  const env = {
    KALSHI_API_KEY_ID: apiKeyId,
    KALSHI_PRIVATE_KEY: privateKeyPem,
    SWEEP_SECONDS: '2',
    BOOKS_RECORD: '0',
    BOOKS_MARKETS: refs.map((ref) => `kalshi:${ref}`).join(','),
  };
  // No book comes but over the socket.
  sim.inject({ match: /orderbook/, times: Infinity, kind: 'status', status: 500 });
  service = await startPipeline([sim], ['kalshi'], {
    backfillDays: 1,
    clock,
    live: { pace: 0.5, env, observer: counts },
  });
  startCrowd();
});
afterAll(async () => {
  stopCrowd();
  await service?.close();
  await sim?.close();
});

function startCrowd(): void {
  stopCrowd = clock.every(200, () => void sim.trade(3));
}

/** Markets whose stored book of an instant at which nothing moves is not the world's. */
async function wrongBooks(): Promise<string[]> {
  stopCrowd();
  await clock.sleep(700);
  const at = clock.now();
  const wrong: string[] = [];
  for (const ref of refs) {
    const reply = await service.fetch(`markets/id/kalshi:${ref}/orderbook?provider=kalshi&at=${at - 100}`);
    const text = await reply.text();
    const { data } = JSON.parse(text) as { data?: ServedBook };
    const truth = kalshiBook(sim.world, ref);
    const isRight = data && JSON.stringify(sidesOf(data)) === JSON.stringify(sidesOf(truth));
    if (!isRight) wrong.push(`${ref}: ${text.slice(0, 300)} is not ${JSON.stringify(sidesOf(truth))}`);
  }
  startCrowd();
  return wrong;
}

const sidesOf = ({ yes }: ServedBook) => ({ bids: yes.bids, asks: yes.asks });

const gaps = async (reason: string): Promise<number> => {
  const [row] = await service.clickhouse.sql<{ n: string }>(
    `SELECT count() AS n FROM v_book_gaps WHERE reason LIKE '%${reason}%'`,
  );
  return Number(row?.n);
};

test('recorded books are those of the world, though only changes come', async () => {
  expect(await eventually(wrongBooks, 60, clock)).toEqual([]);
});

test('a book that a client begins to stream is followed over the socket within seconds', async () => {
  const { key } = await service.app.newKey('pro');
  const url = `${service.origin}stream?channels=books&market_ids=kalshi:${late}`;
  const stream = await openEventStream(url, { 'x-api-key': key });
  // The markets to follow are chosen once a minute where nobody wants others.
  const [book] = await stream.until('book', 1, 25);
  expect(book?.data).toMatchObject({ market_id: late });
  stream.cut();
});

test('books in which nothing moves stay known: their subscription answers', async () => {
  stopCrowd();
  // Longer than a connection without data lives at this pace.
  await clock.sleep(13_000);
  startCrowd();
  expect(await gaps('no data')).toBe(0);
  expect(await eventually(wrongBooks, 30, clock)).toEqual([]);
});

test('books whose frames were lost are asked for again on the same connection, and the stretch is a gap', async () => {
  const { accepted } = sim.sockets;
  sim.stream.faults.lose = 4;
  sim.trade(40);
  await passes(clock, async () => expect(await gaps('frames were lost')).toBeGreaterThan(0), 20_000, 50);
  expect(await eventually(wrongBooks, 30, clock)).toEqual([]);
  // Trades have no other way than a new connection and a reading.
  expect(sim.sockets.accepted - accepted).toBeLessThanOrEqual(1);
});

test('a subscription that the platform ends, or that is silent while pings go on, is replaced', async () => {
  const before = counts.total.reconnects;
  sim.stream.end('orderbook_delta', 25);
  await passes(clock, async () => expect(await gaps('Subscription buffer overflow')).toBeGreaterThan(0), 20_000, 50);
  expect(await eventually(wrongBooks, 30, clock)).toEqual([]);
  sim.sockets.frozen = true;
  await passes(clock, async () => expect(await gaps('no data')).toBeGreaterThan(0), 40_000, 50);
  sim.sockets.frozen = false;
  expect(await eventually(wrongBooks, 60, clock)).toEqual([]);
  expect(counts.total.reconnects).toBeGreaterThan(before + 1);
});
