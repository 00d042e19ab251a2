import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clockBehind, passes } from '../../../helpers/flowing-clock.ts';
import { kebab } from '../../../../src/platforms/market-fields.ts';
import { openEventStream } from '../../../helpers/event-stream.ts';
import { type BookedMarket, socketChanges, wrongLiveBook } from '../../../helpers/live-book.ts';
import { notLive, startLive, wrongOnce } from '../../../helpers/live-pipeline.ts';
import { socketCounts } from '../../../helpers/socket-counts.ts';
import { eventually, type Pipeline } from '../../../oracle/pipeline.ts';
import { polymarketBook, polymarketTrades } from '../../../oracle/polymarket.ts';
import { startPolymarket } from '../../../simulators/polymarket.ts';
import { hasBook, type SimMarket } from '../../../simulators/polymarket/world/model.ts';
import { ONE, priceNumber, sizeNumber } from '../../../simulators/polymarket/world/units.ts';

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 150_000 });

const counts = socketCounts();
let sim: Awaited<ReturnType<typeof startPolymarket>>;
let service: Pipeline;
const clock = clockBehind();

beforeAll(async () => {
  sim = await startPolymarket({ seed: 31, markets: 30, tradesPerMarket: 10, historyDays: 1, clock });
  sim.enforceLimits = false;
  // While sockets bring trades, polls alone come once a minute.
  const env = { TRADES_SECONDS: '5', SWEEP_SECONDS: '60' };
  service = await startLive(sim, 'polymarket', { clock, env, observer: counts });
  sim.startTrading(3);
  expect(await eventually(() => notLive(service, 'polymarket'), 60, clock)).toEqual([]);
});
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

/** Trades of the seconds from `sinceMs` to `untilMs` that are not stored once, and rows that no trade stands for. */
async function wrongTrades(sinceMs: number, untilMs: number): Promise<string[]> {
  const [since, until] = [Math.floor(sinceMs / 1000), Math.floor(untilMs / 1000)];
  const made = sim.world.markets
    .flatMap((market) => polymarketTrades(sim.world, market))
    .filter(({ metadata }) => {
      const second = Math.floor(Date.parse(String(metadata['executed_at'])) / 1000);
      return second >= since && second <= until;
    })
    .map(({ trade_id: id }) => id);
  const rows = await service.clickhouse.sql<{ id: string; n: string }>(
    `SELECT trade_id AS id, toString(count()) AS n FROM trades
     WHERE executed_at >= fromUnixTimestamp(${since}) AND executed_at < fromUnixTimestamp(${until + 1}) GROUP BY id`,
  );
  return wrongOnce(rows, made);
}

test('a trade is stored within seconds, once, though they are read wholly once a minute', async () => {
  const sinceMs = clock.now() - 1000;
  sim.trade(20);
  const untilMs = clock.now();
  expect(await eventually(() => wrongTrades(sinceMs, untilMs), 45, clock)).toEqual([]);
});

test('no trade is lost or doubled through disconnects, freezes, duplicates, split and bad frames', async () => {
  const sinceMs = clock.now();
  const before = { ...counts.total };
  sim.sockets.duplicates = true;
  sim.sockets.split = true;
  for (const text of ['{"event_type":', 'no JSON', '{"event_type":"book","asset_id":7}', '[]', '{}', '"x"']) {
    sim.sockets.inject(text);
  }
  sim.trade(10);
  await clock.sleep(500);
  sim.sockets.cut();
  sim.trade(10);
  await clock.sleep(1000);
  const accepted = sim.sockets.accepted;
  sim.sockets.frozen = true;
  sim.trade(10);
  // A frozen socket answers PING: it is replaced for want of data.
  await passes(clock, () => expect(sim.sockets.accepted).toBeGreaterThan(accepted), 20_000, 50);
  Object.assign(sim.sockets, { frozen: false, duplicates: false, split: false });
  const untilMs = clock.now();
  expect(await eventually(() => wrongTrades(sinceMs, untilMs), 30, clock)).toEqual([]);
  expect(await eventually(() => notLive(service, 'polymarket'), 30, clock)).toEqual([]);
  expect(counts.total.badFrames).toBeGreaterThan(before.badFrames + 5);
  expect(counts.total.reconnects).toBeGreaterThan(before.reconnects + 1);
});

test('quotes of a stream are those of the books, with sizes and the time of the exchange', async () => {
  const { key } = await service.app.newKey('pro');
  const stream = await openEventStream(`${service.origin}stream?channels=quotes`, { 'x-api-key': key });
  const newest = new Map<string, Record<string, unknown>>();
  const market = sim.world.markets.find((one) => one.state === 'open' && hasBook(one) && !one.quiet);
  await passes(
    clock,
    () => {
      sim.world.makeTrade(market!);
      for (const { event, data } of stream.frames) if (event === 'quote') newest.set(String(data['market_id']), data);
      expect(newest.has(market!.id)).toBe(true);
    },
    20_000,
    300,
  );
  sim.world.makeTrade(market!);
  await passes(
    clock,
    () => {
      for (const { event, data } of stream.frames) if (event === 'quote') newest.set(String(data['market_id']), data);
      expect(newest.get(market!.id)).toMatchObject({ prices: pricesOf(market!), exchange_at: expect.any(String) });
    },
    20_000,
    20,
  );
  stream.cut();
});

function pricesOf(market: SimMarket) {
  const book = sim.world.book(market)!;
  const last = sim.world.trades(market).at(-1)!;
  const price = last.outcome === 0 ? last.price : ONE - last.price;
  const [bid, ask] = [book.levels('bid')[0], book.levels('ask')[0]];
  const side = (at: bigint, best: typeof bid, other: typeof ask, flip: boolean) => ({
    price: priceNumber(at),
    bid: best ? priceNumber(flip ? ONE - best.price : best.price) : null,
    ask: other ? priceNumber(flip ? ONE - other.price : other.price) : null,
    bid_size: best ? sizeNumber(best.size) : null,
    ask_size: other ? sizeNumber(other.size) : null,
  });
  const [first, second] = market.outcomes.map(kebab);
  return { [first!]: side(price, bid, ask, false), [second!]: side(ONE - price, ask, bid, true) };
}

test('a book is recorded as the socket brings it, and again after a cut', async () => {
  const { key } = await service.app.newKey('pro');
  const market = sim.world.markets.find((one) => one.state === 'open' && hasBook(one) && !one.quiet)!;
  const booked: BookedMarket = { platform: 'polymarket', ref: market.conditionId, id: market.id };
  // A book that somebody streams is recorded.
  const url = `${service.origin}stream?channels=books&market_ids=polymarket:${market.id}`;
  const stream = await openEventStream(url, { 'x-api-key': key });
  const trade = (): unknown => sim.world.makeTrade(market);
  const wrong = () => wrongLiveBook(service, booked, trade, () => polymarketBook(sim.world, market));
  await passes(
    clock,
    async () => {
      trade();
      expect(await socketChanges(service, booked)).toBeGreaterThan(0);
    },
    60_000,
    500,
  );
  expect(await eventually(wrong, 30, clock)).toEqual([]);
  const { accepted } = sim.sockets;
  sim.sockets.cut();
  await passes(clock, () => expect(sim.sockets.accepted).toBeGreaterThan(accepted + 1), 20_000, 50);
  expect(await eventually(wrong, 30, clock)).toEqual([]);
  stream.cut();
  const gaps = await service.clickhouse.sql("SELECT * FROM v_book_gaps WHERE reason LIKE 'socket closed%'");
  expect(gaps.length).toBeGreaterThan(0);
});

test('a market that is listed is stored at once, though the catalog is swept once a minute', async () => {
  const market = sim.world.createMarket({ question: 'Will a socket announce this market?', outcomes: ['Yes', 'No'] });
  const statusOf = async (): Promise<string> => {
    const rows = await service.clickhouse.sql<{ status: string }>(
      `SELECT status FROM v_markets WHERE ref = '${market.conditionId}'`,
    );
    return rows[0]?.status ?? 'unknown';
  };
  await passes(clock, async () => expect(await statusOf()).toBe('open'), 40_000, 250);
});
