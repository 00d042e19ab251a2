import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { isSound, verifyRollups } from '../../../src/stores/clickhouse/verify-rollups.ts';
import { MERGED_INTERVALS, mergedBars, minutesOf, withoutQuotes } from '../../oracle/bars.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { faultRounds, spoil } from '../../oracle/faults.ts';
import { kalshiBook, kalshiHistory, kalshiMarket, kalshiTrades } from '../../oracle/kalshi.ts';
import {
  eventually,
  largePage,
  ofEach,
  type Pipeline,
  type ServedMarket,
  type ServedPoint,
  startPipeline,
} from '../../oracle/pipeline.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import type { SimMarket } from '../../simulators/kalshi/market.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('ingestion runs every second beside the requests');

// Checks end as soon as they find everything right; a busy machine gets there later.
vi.setConfig({ testTimeout: 240_000 });

const clock = new StoppableClock();
let sim: Simulator<KalshiWorld>;
let world: KalshiWorld;
let service: Pipeline;

beforeAll(async () => {
  sim = await startKalshi({ seed: 21, clock, markets: 66, tradesPerMarket: 60, historyDays: 20 });
  sim.enforceLimits = false;
  ({ world } = sim);
  service = await startPipeline([sim], ['kalshi']);
});
afterEach(() => sim.clearFaults());
afterAll(async () => {
  await service?.close();
  await sim?.close();
});

const isCombo = (market: SimMarket): boolean => world.exchange.eventOf(market).spec.combo;
/** Combos are left out of listings; they come when they are asked for. */
const listed = (): SimMarket[] => {
  // Lets what is due by the world's clock happen.
  world.market(world.exchange.markets[0]!.ticker);
  return world.exchange.markets.filter((market) => !market.vanished && !isCombo(market));
};
const oneOf = (wanted: (market: SimMarket) => boolean): SimMarket => {
  const found = listed().find(wanted);
  if (!found) throw new Error('the cast lacks such a market');
  return found;
};

/** A served record against the truth of the moment its row was read. */
function wrongFields(market: SimMarket, row: ServedMarket | undefined): Difference[] {
  if (!row) return differences(market.ticker, row, {});
  const syncedMs = Date.parse(row.last_synced_at);
  const truth = kalshiMarket(world, market, { syncedMs, worldMs: clock.at(syncedMs) });
  // Nobody reads a market again that does not trade: what its trades would show by now stays unknown.
  if (market.status !== 'active' && row.volume_7d === null) truth.volume_7d = null;
  // Images are read of what trades, and of what somebody asks for.
  if (market.status !== 'active' && row.image_url === '') truth.image_url = '';
  return differences(market.ticker, row, { ...truth, last_synced_at: row.last_synced_at });
}

/** Every market as it is served against the truth. */
async function wrongMarkets(): Promise<Difference[]> {
  const { rows } = await service.markets('provider=kalshi&sort=created', largePage());
  const served = new Map(rows.map((row) => [row.platform_id, row]));
  const truth = listed();
  const wrong = truth.flatMap((market) => wrongFields(market, served.get(market.ticker)));
  const plain = rows.filter((row) => row.metadata['mve_collection_ticker'] === undefined);
  const extra = plain.filter((row) => !truth.some(({ ticker }) => ticker === row.platform_id));
  return [...wrong, ...extra.map((row) => ({ id: row.id, field: '', served: row.status, expected: 'nothing' }))];
}

const wrongTrades = (markets: readonly SimMarket[]): Promise<Difference[]> =>
  ofEach(markets, async ({ ticker, prints }) => {
    const { rows, pages } = await service.trades(`provider=kalshi&market_id=${ticker}`, 500 + largePage());
    const truth = { rows: kalshiTrades(world, ticker), total: prints.length };
    return differences(ticker, { rows, total: pages[0]?.total }, truth);
  });

/** Trades of the store against those of the world, by id. */
async function strayTrades(): Promise<string[]> {
  const rows = await service.clickhouse.sql<{ id: string }>('SELECT trade_id AS id FROM trades');
  const stored = rows.map(({ id }) => id);
  const truth = new Set(world.trades.map(({ tradeId }) => tradeId));
  const missing = [...truth].filter((id) => !stored.includes(id));
  return [
    ...missing.map((id) => `missing ${id}`),
    ...stored.filter((id, at) => !truth.has(id) || stored.indexOf(id) !== at),
  ];
}

/** Trading on the machine's time for a while; then the world stands still to be compared. */
async function live(trades: number): Promise<void> {
  clock.run();
  for (let left = trades; left > 0; left -= 20) {
    sim.trade(Math.min(20, left));
    await sleep(100);
  }
  clock.stop();
}

test('after the first sync every market of every status and both tiers is served as it truly is', async () => {
  expect(await eventually(wrongMarkets)).toEqual([]);
  const statuses = new Set(listed().map(({ status }) => status));
  expect([...statuses].toSorted()).toEqual(
    ['active', 'closed', 'determined', 'disputed', 'finalized', 'inactive', 'initialized'].toSorted(),
  );
  expect(listed().some((market) => world.exchange.isArchived(market))).toBe(true);
});

test('after the backfill every trade is served exactly once, across the cutoff', async () => {
  expect(await eventually(strayTrades)).toEqual([]);
  expect(await wrongTrades(listed())).toEqual([]);
});

/** The world has one such market: who tries again looks for the same. */
let forgotten: string | undefined;

test('a provisional market that Kalshi forgets is forgotten here', async () => {
  if (forgotten === undefined) {
    const { ticker } = oneOf(({ spec, status }) => spec.provisional && status === 'active');
    await service.get(`markets/id/${ticker}?provider=kalshi`);
    world.close(ticker);
    forgotten = ticker;
  }
  expect(await eventually(wrongMarkets)).toEqual([]);
  await service.get(`markets/id/${forgotten}?provider=kalshi&include_raw=true`, 404);
});

test.each(['volume_24h', 'liquidity', 'created'])(
  'small pages by %s repeat no market and miss none while trading goes on',
  async (sort) => {
    clock.run();
    const before = await service.markets('provider=kalshi', largePage());
    const { rows, pages } = await service.markets(`provider=kalshi&sort=${sort}`, 12, async () => {
      sim.trade(10);
      await sleep(200);
    });
    clock.stop();
    const ids = rows.map((row) => row.platform_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.rows.filter((row) => !ids.includes(row.platform_id))).toEqual([]);
    expect(pages.map(({ total }) => total)).toEqual(pages.map(() => ids.length));
    expect(pages.map((page) => page.has_more)).toEqual([...pages.slice(1).map(() => true), false]);
  },
);

test('small pages of trades repeat none and miss none while trading goes on', async () => {
  clock.run();
  const query = `provider=kalshi&market_id=${oneOf(({ status }) => status === 'active').ticker}`;
  const before = await service.trades(query, 500 + largePage());
  const { rows, pages } = await service.trades(query, 9, () => sim.trade(20));
  clock.stop();
  const ids = rows.map((row) => row.trade_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(before.rows.filter((trade) => !ids.includes(trade.trade_id))).toEqual([]);
  expect(pages.length).toBeGreaterThan(5);
});

test('after live trading every market and trade is served as it truly is', async () => {
  await live(200);
  expect(await eventually(wrongMarkets)).toEqual([]);
  expect(await eventually(strayTrades)).toEqual([]);
  expect(await wrongTrades(listed().filter(({ status }) => status === 'active'))).toEqual([]);
});

type Truth = ReturnType<typeof kalshiMarket>;
const count = async (query: string) =>
  (await service.markets(`provider=kalshi&${query}`, largePage())).rows.map((row) => row.platform_id).toSorted();
const truth = (wanted: (row: Truth) => boolean) =>
  listed()
    .map((market) => kalshiMarket(world, market, { syncedMs: Date.now(), worldMs: clock.now() }))
    .filter(wanted)
    .map((row) => row.platform_id)
    .toSorted();
const says = (row: Truth, word: RegExp) => word.test(`${row.title} ${row.description}`);

test('filters and words find exactly the markets they name', async () => {
  for (const status of ['unopened', 'open', 'paused', 'closed', 'settled']) {
    expect(await count(`status=${status}`)).toEqual(truth((row) => row.status === status));
  }
  const event = oneOf(({ status }) => status === 'active').spec.eventTicker;
  expect(await count(`event_id=${event}`)).toEqual(truth((row) => row.event_id === event));
  expect(await count('category=climate-and-weather')).toEqual(truth((row) => row.category === 'Climate and Weather'));
  expect(await count('query=lakemont')).toEqual(truth((row) => says(row, /\blakemont\b/i)));
  expect(await count(`query=${encodeURIComponent('Ada Reyes')}&status=open`)).toEqual(
    truth((row) => row.status === 'open' && says(row, /\bada\b/i) && says(row, /\breyes\b/i)),
  );
  expect(await count('query=nowherefound')).toEqual([]);
});

test('a market that does not trade has its image as soon as somebody asks for it, and keeps it', async () => {
  const { ticker, spec } = oneOf(({ status }) => status === 'finalized');
  const image_url = `https://images.example.com/${spec.eventTicker}.webp`;
  const one = await service.get<{ markets: ServedMarket[] }>(`markets/id/${ticker}?provider=kalshi&include_raw=true`);
  expect(one.markets[0]).toMatchObject({ image_url });
  const listed = await service.markets(`provider=kalshi&event_id=${spec.eventTicker}`, largePage());
  expect(listed.rows.map((row) => row.image_url)).toEqual(listed.rows.map(() => image_url));
  const asked = [...sim.requests].filter(([request]) => request.includes(`/events/${spec.eventTicker}/metadata`));
  expect(asked.map(([, times]) => times)).toEqual([1]);
});

test('the raw answer holds the platform objects as they were received', async () => {
  const { ticker } = oneOf(({ status }) => status === 'active');
  const { market } = (await (await fetch(`${sim.env['KALSHI_API_URL']}/markets/${ticker}`)).json()) as {
    market: object;
  };
  const { markets } = await service.get<{ markets: ServedMarket[] }>(
    `markets/id/${ticker}?provider=kalshi&include_raw=true`,
  );
  const raw = markets[0]?.raw_data as { market: object; event: { title: string }; series: { ticker: string } };
  expect(raw.market).toEqual(market);
  expect([raw.event.title, raw.series.ticker]).toEqual([markets[0]?.event_name, markets[0]?.series_id]);
});

test('a list is the same in JSON, CSV and NDJSON, and is not sent again to who has it', async () => {
  const path = `markets?provider=kalshi&status=open&limit=${largePage()}`;
  const first = await service.fetch(path);
  const { markets } = (await first.json()) as { markets: ServedMarket[] };
  const etag = first.headers.get('etag') ?? '';
  const again = await service.fetch(path, { 'if-none-match': etag });
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  expect((await service.fetch(path, { 'if-none-match': '"other"' })).status).toBe(200);
  const lines = await (await service.fetch(path, { accept: 'application/x-ndjson' })).text();
  expect(
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(markets);
  const csv = await service.fetch(path, { accept: 'text/csv' });
  const [header = '', ...rows] = (await csv.text()).trimEnd().split('\r\n');
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(header.split(',')).toEqual(Object.keys(markets[0] ?? {}));
  expect(rows.map((row) => row.split(',', 1)[0])).toEqual(markets.map(({ id }) => id));
  // Each of the three is known by an ETag of its own.
  const csvTag = csv.headers.get('etag') ?? '';
  expect(csvTag).not.toBe(etag);
  expect([csv.headers.get('vary'), first.headers.get('vary')]).toEqual(
    Array(2).fill(expect.stringMatching(/^accept\b(?!-)/)),
  );
  const statuses = ['text/csv', 'application/x-ndjson', 'application/json'].map(
    async (accept) => (await service.fetch(path, { accept, 'if-none-match': csvTag })).status,
  );
  expect(await Promise.all(statuses)).toEqual([304, 200, 200]);
});

test('every print of Kalshi is its taker: takerOnly changes nothing', async () => {
  const { ticker } = oneOf(({ status }) => status === 'active');
  const of = (takerOnly: boolean) =>
    service.get<{ trades: object[] }>(`markets/trades?provider=kalshi&market_id=${ticker}&takerOnly=${takerOnly}`);
  const { trades } = await of(false);
  expect(trades.length).toBeGreaterThan(0);
  expect((await of(true)).trades).toEqual(trades);
});

test('order books of both outcomes are the live book; markets that do not trade have empty ones', async () => {
  const open = listed()
    .filter(({ status }) => status === 'active')
    .slice(0, 12);
  for (const market of [
    ...open,
    oneOf(({ status }) => status === 'closed'),
    oneOf(({ status }) => status === 'finalized'),
  ]) {
    const askedMs = Date.now();
    const { data } = await service.get<{ data: Record<string, unknown> }>(
      `markets/id/${market.ticker}/orderbook?provider=kalshi`,
    );
    const { timestamp, ...book } = data;
    expect(Date.parse(String(timestamp))).toBeGreaterThan(askedMs - 2000);
    expect(Date.parse(String(timestamp))).toBeLessThanOrEqual(Date.now());
    expect(book).toEqual({ market_id: market.ticker, platform: 'kalshi', ...kalshiBook(world, market.ticker) });
  }
});

test('a day is returned whole, wherever in it the range ends', async () => {
  const today = Math.floor(clock.now() / 1000 / 86_400) * 86_400;
  const markets = listed().filter(({ status, prints }) => status === 'active' && prints.length > 0);
  let compared = 0;
  for (let day = today - 86_400; day > today - 7 * 86_400 && compared < 6; day -= 86_400) {
    const { ticker } = markets.shift()!;
    const truth = kalshiHistory(world, ticker, 1440, day, day + 86_400);
    const { data } = await service.get<{ data: ServedPoint[] }>(
      `markets/price-history?provider=kalshi&market_ids=${ticker}&start_ts=${day}&end_ts=${day + 43_200}&interval=1440`,
    );
    expect(data).toEqual(truth);
    compared += truth.length;
  }
  expect(compared).toBeGreaterThan(3);
});

test.each([1, 60, 1440] as const)(
  'price history of %i minutes is that of the platform, bucket by bucket',
  async (interval) => {
    const nowTs = Math.floor(clock.now() / 1000);
    const wanted = [
      oneOf(({ status, prints }) => status === 'active' && prints.length > 0),
      oneOf((market) => world.exchange.isArchived(market) && market.prints.length > 0),
      oneOf(({ status, prints }) => status === 'finalized' && prints.length > 0),
    ];
    for (const { ticker, closeMs } of wanted) {
      const endTs = Math.min(nowTs + 1, Math.ceil(closeMs / 1000 / 86_400) * 86_400);
      const startTs = Math.floor(endTs / 86_400) * 86_400 - (interval === 1 ? 1 : 12) * 86_400;
      const { data, meta } = await service.get<{ data: ServedPoint[]; meta: { complete: boolean } }>(
        `markets/price-history?provider=kalshi&market_ids=${ticker}&start_ts=${startTs}&end_ts=${endTs}&interval=${interval}&limit=5000`,
      );
      expect(meta.complete).toBe(true);
      expect(data.length).toBeGreaterThan(0);
      // The world stands still, the service's clock does not: the last bar may have been read growing or finished.
      const [growing, finished] = [endTs, Infinity].map((growsAtTs) =>
        kalshiHistory(world, ticker, interval, startTs, endTs, growsAtTs),
      );
      expect(data.slice(0, -1)).toEqual(growing!.slice(0, -1));
      expect([growing!.at(-1), finished!.at(-1)]).toContainEqual(data.at(-1));
    }
  },
);

test.each(MERGED_INTERVALS)(
  'bars of %s have the prices of those minutes alone in which something traded',
  async (interval) => {
    const stepMin = minutesOf(interval);
    const markets = listed().filter(({ prints }) => prints.length > 0);
    const [days, wanted] = stepMin < 60 ? [1, 8] : [12, 12];
    let [quiet, compared] = [0, 0];
    for (const { ticker, closeMs } of markets.slice(0, wanted)) {
      const endTs = Math.floor(Math.min(clock.now(), closeMs) / 86_400_000) * 86_400;
      const span = { fromTs: endTs - days * 86_400, toTs: endTs };
      const truth = withoutQuotes(kalshiHistory(world, ticker, stepMin, span.fromTs, span.toTs));
      const served = await mergedBars(service, { platform: 'kalshi', id: ticker }, interval, span);
      expect(served).toEqual(truth);
      compared += truth.length;
      quiet += truth.filter(({ price }) => price.close === null).length;
    }
    expect(compared - quiet).toBeGreaterThan(10);
    expect(quiet).toBeGreaterThan(10);
  },
);

test('npm run verify finds the bars that were read and the trades of the same minutes to agree', async () => {
  const { results } = await verifyRollups(service.clickhouse);
  expect(results.filter((one) => !isSound(one))).toEqual([]);
  const bars = results.filter(({ rollup }) => rollup.startsWith('bars of '));
  expect(bars.map(({ rollup, compared }) => [rollup, compared > 10])).toEqual(
    ['1m', '5m', '15m', '1h', '4h', '1d'].map((interval) => [`bars of ${interval}`, true]),
  );
});

test('a market that no listing shows is fetched when it is asked for, with its trades', async () => {
  const combo = world.exchange.markets.find((market) => isCombo(market) && market.status === 'active')!;
  await service.get(`markets/id/${combo.ticker.toLowerCase()}?provider=kalshi`);
  const { markets } = await service.get<{ markets: ServedMarket[] }>(
    `markets/id/kalshi:${combo.ticker}?provider=kalshi`,
  );
  expect(wrongFields(combo, markets[0])).toEqual([]);
  expect((await service.trades(`provider=kalshi&market_id=${combo.ticker}`, 900)).rows).toEqual(
    kalshiTrades(world, combo.ticker),
  );
  const unknown = await service.get<{ error: { status: number } }>('markets/id/KXNOSUCH-1?provider=kalshi', 404);
  expect(unknown.error.status).toBe(404);
  const { spec } = oneOf(({ status }) => status === 'active');
  const event = await service.get<{ error: { resolution: string } }>(
    `markets/id/${spec.eventTicker}?provider=kalshi`,
    404,
  );
  expect(event.error.resolution).toContain(spec.ticker);
});

test('what the exchange does to a market shows: pauses, closes, results, payouts, new listings', async () => {
  clock.run();
  const active = listed().filter(({ status }) => status === 'active');
  const [paused, closed, reopened, yes, no, split, contested] = active.map(({ ticker }) => ticker) as [
    string,
    ...string[],
  ];
  world.pause(paused);
  world.close(closed!);
  world.close(reopened!);
  world.reopen(reopened!, Date.now() + 86_400_000);
  world.settle(yes!, 'yes');
  world.settle(no!, 'no');
  world.settle(split!, 'scalar', '0.3700');
  world.close(contested!);
  world.contest(contested!, 'disputed');
  world.createMarket('weather');
  world.moveCutoff(Date.now() - 4 * 86_400_000);
  clock.stop();
  expect(await eventually(wrongMarkets)).toEqual([]);
  const { markets } = await service.get<{ markets: ServedMarket[] }>(`markets/id/${split}?provider=kalshi`);
  expect(markets[0]?.current_prices).toEqual({
    yes: { price: 0.37, bid: null, ask: null },
    no: { price: 0.63, bid: null, ask: null },
  });
});

test('after each kind of failure everything is served as it truly is', async () => {
  const endpoints = [/\/markets\?.*status=open/, /\/markets\?.*min_updated_ts/, /\/markets\/trades/, /\/series\?/];
  for (const faults of faultRounds(endpoints, 0, 3)) {
    for (const fault of faults) sim.inject(fault);
    await live(40);
    expect(await eventually(strayTrades)).toEqual([]);
    expect(await eventually(wrongMarkets)).toEqual([]);
  }
});

test('after an outage of everything the service catches up; meanwhile it answers and says how old its data is', async () => {
  const before = Date.now();
  world.setExchange({ down: true });
  expect(await eventually(() => service.unlessIll('kalshi', /unavailable/))).toEqual([]);
  const stale = await service.get<{ meta: { data_freshness: string } }>(`markets?provider=kalshi&limit=${largePage()}`);
  expect(Date.parse(stale.meta.data_freshness)).toBeLessThan(before + 1000);
  world.setExchange({ down: false });
  await live(40);
  expect(await eventually(strayTrades)).toEqual([]);
  expect(await eventually(wrongMarkets)).toEqual([]);
  expect(await eventually(async () => ((await service.health('kalshi')).status === 'ok' ? [] : ['ill']))).toEqual([]);
  const fresh = await service.get<{ meta: { data_freshness: string } }>(`markets?provider=kalshi&limit=${largePage()}`);
  expect(Date.parse(fresh.meta.data_freshness)).toBeGreaterThan(Date.parse(stale.meta.data_freshness));
  expect(Date.parse(fresh.meta.data_freshness)).toBeLessThan(Date.now());
});

test('a block of this region is distinguished from a limit and from an outage', async () => {
  const page = { body: '<html><head><title>Forbidden in your region</title></head></html>', headers: {} };
  sim.inject({ match: /\/markets\?/, times: 99, kind: 'status', status: 403, ...page });
  expect(await eventually(() => service.unlessIll('kalshi', /geo_blocked.*Forbidden in your region/))).toEqual([]);
});

const openMarkets = (): string => `${sim.env['KALSHI_API_URL']}/markets?limit=1000&mve_filter=exclude&status=open`;

test('a malformed row costs itself only', async () => {
  clock.run();
  const broken = oneOf(({ status }) => status === 'active');
  sim.trade(60);
  clock.stop();
  await spoil(sim, openMarkets(), 3, ({ markets = [] }) => {
    for (const row of markets) if (row['ticker'] === broken.ticker) row['yes_bid_dollars'] = 'a lot';
  });
  const others = async () => (await wrongMarkets()).filter(({ id }) => id !== broken.ticker);
  expect(await eventually(others)).toEqual([]);
  expect((await service.health('kalshi')).detail ?? '').not.toMatch(/skipped/);
});

test('a field that vanishes from many rows is named by /health', async () => {
  await spoil(sim, openMarkets(), Infinity, ({ markets = [] }) => {
    for (const row of markets) delete row['volume_fp'];
  });
  expect(await eventually(() => service.unlessIll('kalshi', /market volume_fp: missing/))).toEqual([]);
  sim.clearFaults();
  expect(service.app.logged()).toMatch(/volume_fp: missing.*rows were skipped/);
  expect(await eventually(wrongMarkets)).toEqual([]);
});
