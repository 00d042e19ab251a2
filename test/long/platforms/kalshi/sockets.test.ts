import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clockBehind, passes } from '../../../helpers/flowing-clock.ts';
import { openEventStream } from '../../../helpers/event-stream.ts';
import { notLive, startLive, wrongOnce } from '../../../helpers/live-pipeline.ts';
import { socketCounts } from '../../../helpers/socket-counts.ts';
import { eventually, type Pipeline } from '../../../oracle/pipeline.ts';
import { type KalshiSimulator, startKalshi } from '../../../simulators/kalshi.ts';

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 150_000 });

const counts = socketCounts();
let sim: KalshiSimulator;
let service: Pipeline;
const clock = clockBehind();

beforeAll(async () => {
  sim = await startKalshi({ seed: 31, markets: 40, tradesPerMarket: 10, historyDays: 1, pingMs: 500, clock });
  sim.enforceLimits = false;
  // The tape shows a trade later than the socket.
  sim.world.exchange.tapeDelayMs = 700;
  const { apiKeyId, privateKeyPem } = sim.world.addAccount({ scopes: ['read'], keyType: 'rsa' });
  const env = {
    KALSHI_API_KEY_ID: apiKeyId,
    KALSHI_PRIVATE_KEY: privateKeyPem,
    // While sockets bring trades, polls alone come once a minute.
    TRADES_SECONDS: '5',
    SWEEP_SECONDS: '60',
  };
  service = await startLive(sim, 'kalshi', { clock, env, observer: counts });
  sim.startTrading(3);
  expect(await eventually(() => notLive(service, 'kalshi'), 60, clock)).toEqual([]);
});
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

/** Trades made between two times that are not stored once, and rows that no trade stands for. */
async function wrongTrades(sinceMs: number, untilMs: number): Promise<string[]> {
  const since = Math.floor(sinceMs / 1000);
  const rows = await service.clickhouse.sql<{ id: string; n: string }>(
    `SELECT trade_id AS id, toString(count()) AS n FROM trades WHERE executed_at >= fromUnixTimestamp(${since}) GROUP BY id`,
  );
  const made = sim.world.trades.filter(({ timeUs }) => timeUs >= since * 1e6);
  const due = made.filter(({ timeUs }) => timeUs <= untilMs * 1000);
  const idsOf = (trades: typeof made): string[] => trades.map(({ tradeId }) => tradeId);
  return wrongOnce(rows, idsOf(due), idsOf(made));
}

test('a trade is stored within seconds, once, though they are read wholly once a minute', async () => {
  const sinceMs = clock.now() - 1000;
  sim.trade(20);
  const untilMs = clock.now();
  expect(await eventually(() => wrongTrades(sinceMs, untilMs), 30, clock)).toEqual([]);
});

test('no trade is lost or doubled through disconnects, freezes, ended subscriptions, lost, repeated and bad frames', async () => {
  const sinceMs = clock.now();
  const before = { ...counts.total };
  sim.sockets.duplicates = true;
  sim.sockets.split = true;
  const hostile = [
    '{"type":',
    'no JSON',
    '{}',
    '[]',
    '7',
    '{"type":"trade","sid":1}',
    '{"type":"trade","sid":"x","seq":-1}',
    '{"type":"ticker","sid":1,"msg":{"market_ticker":7}}',
    '{"type":"error","msg":{"code":28,"msg":"Markets not found"}}',
    '{"type":"no_such_type","msg":{}}',
  ];
  for (const text of hostile) sim.sockets.inject(text);
  sim.trade(10);
  await clock.sleep(500);
  sim.sockets.cut();
  sim.trade(10);
  await clock.sleep(1000);
  let { accepted } = sim.sockets;
  sim.sockets.frozen = true;
  sim.trade(10);
  // A frozen socket pings on: it is replaced for want of data.
  await passes(clock, () => expect(sim.sockets.accepted).toBeGreaterThan(accepted), 20_000, 50);
  Object.assign(sim.sockets, { frozen: false, duplicates: false, split: false });
  expect(await eventually(() => notLive(service, 'kalshi'), 30, clock)).toEqual([]);
  for (const harm of [() => void (sim.stream.faults.lose = 3), () => sim.stream.end('trade', 25)]) {
    ({ accepted } = sim.sockets);
    harm();
    sim.trade(10);
    await passes(clock, () => expect(sim.sockets.accepted).toBeGreaterThan(accepted), 20_000, 50);
    expect(await eventually(() => notLive(service, 'kalshi'), 30, clock)).toEqual([]);
  }
  const untilMs = clock.now();
  expect(await eventually(() => wrongTrades(sinceMs, untilMs), 30, clock)).toEqual([]);
  expect(counts.total.badFrames).toBeGreaterThanOrEqual(before.badFrames + 2 * hostile.length);
  expect(counts.total.reconnects).toBeGreaterThan(before.reconnects + 4);
});

const number = (text: string | null): number | null => (text === null ? null : Number(text));
const complement = (price: string | null): string | null => (price === null ? null : (1 - Number(price)).toFixed(4));
/** An outcome of a quote; a side without orders has no size either. */
const side = (price: string | null, bid: string | null, ask: string | null, sizes: [string, string]) => ({
  price: number(price),
  bid: number(bid),
  ask: number(ask),
  bid_size: bid === null ? null : Number(sizes[0]),
  ask_size: ask === null ? null : Number(sizes[1]),
});

test('quotes of a stream are those of the books, with sizes and the time of the exchange', async () => {
  const { key } = await service.app.newKey('pro');
  const stream = await openEventStream(`${service.origin}stream?channels=quotes`, { 'x-api-key': key });
  const { ticker } = sim.world.markets.find(({ status, combo }) => status === 'active' && !combo)!;
  const newest = (): Record<string, unknown> | undefined =>
    stream.frames.findLast(({ event, data }) => event === 'quote' && data['market_id'] === ticker)?.data;
  let isMoved = false;
  await passes(
    clock,
    () => {
      if (!isMoved) sim.world.takeOn(ticker, { takerSide: 'yes', yesPrice: '0.9900', count: '1.00' });
      isMoved = true;
      const { lastPrice, yesBid, yesAsk, yesBidSize, yesAskSize } = sim.world.market(ticker);
      const prices = {
        yes: side(lastPrice, yesBid, yesAsk, [yesBidSize, yesAskSize]),
        no: side(complement(lastPrice), complement(yesAsk), complement(yesBid), [yesAskSize, yesBidSize]),
      };
      expect(newest()).toMatchObject({ prices, exchange_at: expect.any(String) });
    },
    20_000,
    20,
  );
  stream.cut();
});

test('a market that is listed or settled is stored at once, though the catalog is swept once a minute', async () => {
  const ticker = sim.world.createMarket('election');
  const statusOf = async (): Promise<string> => {
    const rows = await service.clickhouse.sql<{ status: string }>(
      `SELECT status FROM v_markets WHERE ref = '${ticker}'`,
    );
    return rows[0]?.status ?? 'unknown';
  };
  await passes(clock, async () => expect(await statusOf()).toBe('open'), 40_000, 250);
  sim.world.settle(ticker, 'yes');
  await passes(clock, async () => expect(await statusOf()).toBe('settled'), 40_000, 250);
});
