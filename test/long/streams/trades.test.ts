import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TradeEvent } from '../../../src/schemas/stream-events.ts';
import { type EventStream, openEventStream, type StreamFrame } from '../../helpers/event-stream.ts';
import { kalshiTrades } from '../../oracle/kalshi.ts';
import { limitlessTrades } from '../../oracle/limitless.ts';
import { eventually, type Pipeline, type ServedTrade, startPipeline } from '../../oracle/pipeline.ts';
import { polymarketTrades } from '../../oracle/polymarket.ts';
import { startKalshi } from '../../simulators/kalshi.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';

const WORLD = { seed: 21, markets: 20, tradesPerMarket: 20, historyDays: 1 };

let simulators: [
  Awaited<ReturnType<typeof startKalshi>>,
  Awaited<ReturnType<typeof startPolymarket>>,
  Awaited<ReturnType<typeof startLimitless>>,
];
let pipeline: Pipeline;
let url = '';
let key = '';
/** Trades executed from here on are events. */
let openedMs = 0;
/** Limitless shows the trades of one market at a time: of those that were listed while somebody looked. */
let slugs: ReadonlySet<string> = new Set();

beforeAll(async () => {
  simulators = await Promise.all([
    startKalshi(WORLD),
    startPolymarket(WORLD),
    startLimitless({ ...WORLD, markets: 1 }),
  ]);
  // Budgets are another test's subject.
  simulators[2].enforceLimits = false;
  pipeline = await startPipeline(simulators, ['kalshi', 'polymarket', 'limitless'], { backfillDays: 2 });
  ({ key } = await pipeline.app.newKey('pro'));
  url = `${pipeline.origin}stream`;
  const opened = async () => {
    const rows = await pipeline.clickhouse.sql<{ ms: string }>(
      `SELECT toUnixTimestamp64Milli(opened_at) AS ms FROM log_epochs WHERE feed = 'trades' AND epoch = 1`,
    );
    openedMs = Math.max(...rows.map(({ ms }) => Number(ms)));
    return rows.length === 3 ? [] : ['not every log is open'];
  };
  expect(await eventually(opened)).toEqual([]);
  const listed = async () => {
    const { rows } = await pipeline.markets('provider=limitless', 100);
    slugs = new Set(rows.map(({ slug }) => slug));
    return rows.length > 0 ? [] : ['nothing is listed'];
  };
  expect(await eventually(listed)).toEqual([]);
}, 300_000);

afterAll(async () => {
  await pipeline.close();
  for (const simulator of simulators) await simulator.close();
});

const open = (
  query: string,
  headers: Record<string, string> = {},
  onFrame?: (frame: StreamFrame) => void,
): Promise<EventStream> => openEventStream(`${url}?${query}`, { 'x-api-key': key, ...headers }, onFrame);

type Truth = Pick<ServedTrade, 'trade_id' | 'metadata'> & { platform: string };
const truth = (): Truth[] => {
  const [kalshi, polymarket, limitless] = simulators;
  return [
    ...kalshi.world.markets.flatMap(({ ticker }) => kalshiTrades(kalshi.world, ticker)),
    ...polymarket.world.markets.flatMap((market) => polymarketTrades(polymarket.world, market)),
    ...[...limitless.world.markets.values()].flatMap((market) =>
      market.kind === 'clob' && slugs.has(market.slug) ? limitlessTrades(limitless.world, market) : [],
    ),
  ].filter(({ metadata }) => Date.parse(String(metadata['executed_at'])) >= openedMs);
};

const tradeOnce = (count: number): void => {
  for (const simulator of simulators) simulator.trade(count);
};

test(
  'a subscriber gets every trade of every platform once, in order within its market and of its clocks, through thirty disconnects',
  { timeout: 400_000 },
  async () => {
    const seen: StreamFrame[] = [];
    let cursor = await (async () => {
      const first = await open('channels=trades');
      const [state] = await first.until('state', 1);
      first.cut();
      return String(state?.data['cursor']);
    })();
    let rounds = 0;
    const missing = async (): Promise<string[]> => {
      const ids = new Set(seen.map(({ data }) => `${data['platform']} ${data['trade_id']}`));
      return truth().flatMap(({ platform, trade_id: id }) =>
        ids.has(`${platform} ${id}`) ? [] : [`${platform} ${id}`],
      );
    };
    // Seconds of Polymarket and Limitless begin before the log was opened.
    await sleep(1500);
    openedMs = Math.max(openedMs, Date.now() - 1000);
    for (; rounds < 30; rounds += 1) {
      if (rounds < 25) tradeOnce(3);
      const stream = await open('channels=trades', { 'last-event-id': cursor }, (frame) => {
        if (frame.event !== 'trade' || frame.id === null) return;
        seen.push(frame);
        cursor = frame.id;
      });
      await sleep(Math.random() * 120);
      stream.cut();
      await stream.ended;
    }
    const last = await open(
      'channels=trades',
      { 'last-event-id': cursor },
      (frame) => frame.event === 'trade' && seen.push(frame),
    );
    expect(await eventually(missing, 120)).toEqual([]);
    last.cut();
    const ids = seen.map(({ data }) => `${data['platform']} ${data['trade_id']}`);
    expect(new Set(ids).size).toBe(ids.length);
    const newest = new Map<string, string>();
    for (const { data } of seen) {
      const market = `${data['platform']} ${data['market_id']}`;
      const at = String(data['exchange_at']);
      expect(at >= (newest.get(market) ?? '')).toBe(true);
      newest.set(market, at);
    }
    const served = new Map(truth().map((trade) => [`${trade.platform} ${trade.trade_id}`, trade]));
    expect(served.size).toBeGreaterThan(100);
    for (const { data } of seen) {
      const trade = served.get(`${data['platform']} ${data['trade_id']}`);
      expect(TradeEvent.strict().safeParse(data).error).toBeUndefined();
      if (trade) expect(data).toMatchObject(trade);
      const times = ['exchange_at', 'received_at', 'sent_at'].map((name) => Date.parse(String(data[name])));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
  },
);
