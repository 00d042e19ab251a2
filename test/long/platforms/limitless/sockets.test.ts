import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clockBehind, passes } from '../../../helpers/flowing-clock.ts';
import { openEventStream } from '../../../helpers/event-stream.ts';
import { type BookedMarket, socketChanges, wrongLiveBook } from '../../../helpers/live-book.ts';
import { notLive, startLive, wrongOnce } from '../../../helpers/live-pipeline.ts';
import { socketCounts } from '../../../helpers/socket-counts.ts';
import { limitlessBook, limitlessTrades } from '../../../oracle/limitless.ts';
import { eventually, type Pipeline } from '../../../oracle/pipeline.ts';
import { startLimitless } from '../../../simulators/limitless.ts';
import type { ClobMarket, Outcome } from '../../../simulators/limitless/model.ts';
import { clobs } from '../../../simulators/limitless/rig.ts';

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 150_000 });

/** What the server says and does: after their sum it counts as silent. */
const STREAM = { pingIntervalMs: 1000, pingTimeoutMs: 3000 };
/** Trades are shown so much after they were made. */
const MINED_MS = 1500;
const counts = socketCounts();
let sim: Awaited<ReturnType<typeof startLimitless>>;
let service: Pipeline;
const clock = clockBehind();

beforeAll(async () => {
  sim = await startLimitless({
    seed: 31,
    tradesPerMarket: 10,
    historyDays: 1,
    stream: STREAM,
    clock,
  });
  sim.enforceLimits = false;
  sim.world.minedDelayMs = MINED_MS;
  // What is not read because of a socket is read this often.
  const env = { TRADES_SECONDS: '30', SWEEP_SECONDS: '30' };
  service = await startLive(sim, 'limitless', { clock, env, observer: counts });
  expect(await eventually(() => notLive(service, 'limitless'), 60, clock)).toEqual([]);
});
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

const trading = (): ClobMarket[] =>
  clobs(sim.world).filter(({ status, series, popularity }) => status === 'FUNDED' && !series && popularity > 0);

/** One share bought for Yes at the best price, whatever that is: the best ask shrinks. */
const buy = (market: ClobMarket, outcome: Outcome = 0): unknown =>
  sim.world.tradeOn(market.slug, { outcome, side: 'BUY', limitTick: null, want: { shares: 1_000_000n } });

/** Trades of a market that are not stored once, and rows that no trade stands for. */
async function wrongTrades(markets: readonly ClobMarket[]): Promise<string[]> {
  const made = markets.flatMap((market) => limitlessTrades(sim.world, market)).map(({ trade_id: id }) => id);
  const rows = await service.clickhouse.sql<{ id: string; n: string }>(
    "SELECT trade_id AS id, toString(count()) AS n FROM trades WHERE market_key IN (SELECT sipHash64('limitless', arrayJoin({refs:Array(String)}))) GROUP BY id",
    { refs: markets.map(({ slug }) => slug) },
  );
  return wrongOnce(rows, made);
}

test('a trade is stored within seconds of its book, once, though volumes are listed twice a minute', async () => {
  const markets = trading().slice(0, 2);
  expect(await eventually(() => wrongTrades(markets), 60, clock)).toEqual([]);
  for (const market of markets) buy(market);
  await clock.sleep(MINED_MS);
  expect(await eventually(() => wrongTrades(markets), 15, clock)).toEqual([]);
});

test('no trade is lost or doubled through disconnects, freezes, duplicates, split and bad frames', async () => {
  const before = { ...counts.total };
  Object.assign(sim.sockets, { duplicates: true, split: true });
  const event = '42/markets,["orderbookUpdate",';
  for (const text of ['x', '', '0{}', '9', '45-', '42/markets,7', `${event}]`, `${event}{"marketSlug":7}]`]) {
    sim.sockets.inject(text);
  }
  sim.trade(20);
  await clock.sleep(500);
  sim.sockets.cut();
  sim.trade(20);
  await clock.sleep(1000);
  // A frozen connection stays open: nothing but the missing ping shows it.
  const { accepted } = sim.sockets;
  sim.sockets.frozen = true;
  sim.trade(20);
  await passes(clock, () => expect(sim.sockets.accepted).toBeGreaterThan(accepted + 1), 20_000, 50);
  Object.assign(sim.sockets, { frozen: false, duplicates: false, split: false });
  expect(await eventually(() => notLive(service, 'limitless'), 60, clock)).toEqual([]);
  // What the sockets did not show, the volumes of the next listing do.
  await clock.sleep(MINED_MS);
  expect(await eventually(() => wrongTrades(trading()), 100, clock)).toEqual([]);
  expect(counts.total.badFrames).toBeGreaterThan(before.badFrames + 5);
  expect(counts.total.reconnects).toBeGreaterThan(before.reconnects + 1);
});

test('quotes of a stream are those of the books, with the price of a stored trade, sizes and the time of the exchange', async () => {
  const { key } = await service.app.newKey('pro');
  const stream = await openEventStream(`${service.origin}stream?channels=quotes`, { 'x-api-key': key });
  const [market] = trading();
  const newest = (): Record<string, unknown> | undefined =>
    stream.frames.findLast(({ event, data }) => event === 'quote' && data['market_id'] === market!.slug)?.data;
  await passes(
    clock,
    async () => {
      buy(market!);
      await clock.sleep(300);
      expect(newest()).toMatchObject({ prices: pricesOf(market!), exchange_at: expect.any(String) });
    },
    90_000,
    200,
  );
  stream.cut();
});

test('a quote has the price of a trade within seconds of its storing', async () => {
  const { key } = await service.app.newKey('pro');
  const stream = await openEventStream(`${service.origin}stream?channels=quotes`, { 'x-api-key': key });
  const market = trading()[2]!;
  const shownPrice = (): number | undefined => {
    const quote = stream.frames.findLast(({ event, data }) => event === 'quote' && data['market_id'] === market.slug);
    return (quote?.data as { prices: { yes: { price: number } } } | undefined)?.prices.yes.price;
  };
  const storedPrice = async (): Promise<number> => {
    const [row] = await service.clickhouse.sql<{ price: string }>(
      "SELECT toString(prices[1]) AS price FROM market_state FINAL WHERE market_key = sipHash64('limitless', {ref:String})",
      { ref: market.slug },
    );
    return Number(row?.price);
  };
  /** What a quote shows after a change of the book without a trade. */
  const nextPrice = async (): Promise<number | undefined> => {
    sim.world.floor.quote(market);
    await clock.sleep(100);
    return shownPrice();
  };
  await passes(clock, async () => expect(await nextPrice()).toBeDefined(), 20_000, 50);
  for (let n = 0; n < 3; n += 1) {
    const before = await storedPrice();
    market.fairTick += market.fairTick > 500 ? -60 : 60;
    sim.world.floor.quote(market);
    buy(market);
    await passes(clock, async () => expect(await storedPrice()).not.toBe(before), 20_000, 100);
    const after = await storedPrice();
    await passes(clock, async () => expect(await nextPrice()).toBe(after), 5000, 50);
  }
  stream.cut();
});

function pricesOf(market: ClobMarket) {
  const { yes, no } = limitlessBook(market, sim.world.clock.now());
  const traded = (outcome: string): number[] =>
    limitlessTrades(sim.world, market).map((one) => (one.outcome === outcome ? one.price : 1 - one.price));
  const side = ({ bids: [bid], asks: [ask] }: typeof yes, outcome: string) => ({
    price: expect.toSatisfy((price: number) => traded(outcome).some((one) => Math.abs(one - price) < 1e-9)),
    bid: bid?.price ?? null,
    ask: ask?.price ?? null,
    bid_size: bid?.size ?? null,
    ask_size: ask?.size ?? null,
  });
  return { yes: side(yes, 'yes'), no: side(no, 'no') };
}

test('a book is recorded as the socket brings it, and again after a cut', async () => {
  const { key } = await service.app.newKey('pro');
  const market = trading()[1]!;
  const booked: BookedMarket = { platform: 'limitless', ref: market.slug, id: market.slug };
  // A book that somebody streams is recorded.
  const url = `${service.origin}stream?channels=books&market_ids=limitless:${market.slug}`;
  const stream = await openEventStream(url, { 'x-api-key': key });
  const trade = (): unknown => buy(market, market.trades.length % 2 === 0 ? 0 : 1);
  const wrong = () => wrongLiveBook(service, booked, trade, () => limitlessBook(market, sim.world.clock.now()));
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
});

test('a market that is listed or resolves is stored at once, though the catalog is swept twice a minute', async () => {
  const market = sim.world.createMarket({ title: 'Will a socket announce this market?' });
  const statusOf = async (): Promise<string> => {
    const rows = await service.clickhouse.sql<{ status: string }>(
      'SELECT status FROM v_markets WHERE ref = {ref:String}',
      { ref: market.slug },
    );
    return rows[0]?.status ?? 'unknown';
  };
  await passes(clock, async () => expect(await statusOf()).toBe('open'), 20_000, 250);
  sim.world.resolve(market.slug, 0);
  await passes(clock, async () => expect(await statusOf()).toBe('settled'), 20_000, 250);
});

test('a market has the time of resolution that its socket stated, though REST shows the result later', async () => {
  const market = sim.world.createMarket({ title: 'Will a socket state the resolution of this market?' });
  const stored = async () => {
    const rows = await service.clickhouse.sql<{ status: string; at: string | null }>(
      'SELECT status, toString(toUnixTimestamp64Milli(resolved_at)) AS at FROM v_markets WHERE ref = {ref:String}',
      { ref: market.slug },
    );
    return rows[0];
  };
  await passes(clock, async () => expect(await stored()).toMatchObject({ status: 'open' }), 20_000, 250);
  sim.world.announce(market.slug, 0);
  const statedMs = clock.now();
  await clock.sleep(30_000);
  sim.world.resolve(market.slug, 0);
  await passes(clock, async () => expect(await stored()).toMatchObject({ status: 'settled' }), 60_000, 250);
  expect(Math.abs(Number((await stored())?.at) - statedMs)).toBeLessThan(10_000);
});

/** Readings of trades so far. */
const readings = (): number =>
  [...sim.requests].reduce((sum, [path, times]) => sum + (path.endsWith('/events') ? times : 0), 0);

test('orders that are cancelled all the time, in every market, start few readings', async () => {
  expect(await eventually(() => wrongTrades(trading()), 60, clock)).toEqual([]);
  const before = { messages: counts.total.messages, readings: readings() };
  for (let passed = 0; passed < 10_000; passed += 100) {
    for (const market of trading()) sim.world.floor.quote(market);
    await clock.sleep(100);
  }
  expect(counts.total.messages - before.messages).toBeGreaterThan(500);
  // One in two seconds, and what polls still read of trades before.
  expect(readings() - before.readings).toBeLessThan(20);
});

test('where the socket is refused, trades and health come by polling', async () => {
  sim.sockets.refuse = 403;
  sim.sockets.cut();
  await passes(clock, async () => expect((await service.health('limitless')).feed).toBe('polling'), 30_000, 250);
  const market = trading()[2]!;
  buy(market);
  await clock.sleep(MINED_MS);
  expect(await eventually(() => wrongTrades([market]), 100, clock)).toEqual([]);
  sim.sockets.refuse = null;
});
