import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePrice } from '../../../src/core/decimal.ts';
import { firstBars } from '../../../src/queries/bars.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { CANDLE_COLUMNS, candleRow } from '../../../src/stores/clickhouse/insert-rows.ts';
import { type MarketStore, market, startMarketStore, trade, usd } from '../../helpers/market-store.ts';
import { hurriedClock } from '../../helpers/virtual-clock.ts';
import { verifyRollups } from '../../../src/stores/clickhouse/verify-rollups.ts';
import { FEED_START, type StoredSpan } from '../../../src/markets/trade-history.ts';

interface Answer {
  data: {
    timestamp: number;
    marketId: string;
    outcomeId: string;
    volume: number | null;
    price: { close: number | null };
  }[];
  meta: { total_points: number; has_more: boolean; source: string; time_range: { start: number; end: number } };
}

interface Bars {
  data: {
    timestamp: number;
    volume: number | null;
    openInterest: number | null;
    price: Record<'open' | 'high' | 'low' | 'close', number | null>;
    bidAsk: Record<'bid' | 'ask', { close: number | null }>;
  }[];
}

const START = Date.parse('2026-03-07T00:00:00Z');
const MINUTE = 60_000;
const sec = (ms: number): number => Math.floor(ms / 1000);
const ids = ['777', '778'];
const records = ids.map((platformId) =>
  market({
    platform: 'polymarket',
    ref: `0x${platformId}`,
    platformId,
    slug: `slug-of-${platformId}`,
    createdAt: new Date(START).toISOString(),
  }),
);

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
  await store.list(...records);
  await store.cover('polymarket', 0, Date.now());
  // Every minute of ten, then hours apart; the second market in every second of these.
  const minutes = [...Array.from({ length: 10 }, (_, i) => i), 100, 300, 1000, 4000];
  await store.trade(
    ...minutes.flatMap((minute, i) =>
      records
        .filter((_, which) => i % (which + 1) === 0)
        .map((of) => trade({ of, atMs: START + minute * MINUTE + 500, price: '0.4', size: '2' })),
    ),
  );
});
afterAll(() => store?.close());

const history = (query: string, fromTs = sec(START)): Promise<Answer> =>
  store.get(
    `markets/price-history?provider=polymarket&interval=1&start_ts=${fromTs}&end_ts=${sec(START) + 240_060}&${query}`,
  );
const names = ({ data }: Answer) => data.map((point) => `${point.timestamp} ${point.marketId} ${point.outcomeId}`);

test.each(['', '&outcome=all'])('going on behind the last point misses none and repeats none%s', async (outcome) => {
  const query = `market_ids=${ids.join(',')}${outcome}`;
  const whole = names(await history(`${query}&limit=5000`));
  expect(whole).toHaveLength(outcome === '' ? 21 : 42);
  for (const limit of [8, 21]) {
    const walked: string[] = [];
    let from = sec(START);
    for (let page = await history(`${query}&limit=${limit}`); page.data.length > 0;) {
      expect(page.data.length).toBeLessThanOrEqual(limit);
      walked.push(...names(page));
      from = page.data.at(-1)!.timestamp + 1;
      page = await history(`${query}&limit=${limit}`, from);
    }
    expect(walked).toEqual(whole);
  }
});

const cut = async (query: string): Promise<[number, boolean]> => {
  const { data, meta } = await history(query);
  return [data.length, meta.has_more];
};

test('says whether the limit cut the answer, which may then be shorter than the limit', async () => {
  // Both markets traded in the first minute, one alone in the second.
  expect(await cut(`market_ids=${ids.join(',')}&limit=4`)).toEqual([3, true]);
  expect(await cut(`market_ids=${ids.join(',')}&limit=20`)).toEqual([20, true]);
  expect(await cut(`market_ids=${ids.join(',')}&limit=21`)).toEqual([21, false]);
  const path = `metrics/historical?platform=polymarket&market_id=777&interval=1m&start_ts=${sec(START)}&end_ts=${sec(START) + 600}`;
  for (const limit of [9, 10]) {
    const { data, meta } = await store.get<Answer>(`${path}&limit=${limit}`);
    expect([data.length, meta.has_more]).toEqual([limit, limit === 9]);
  }
});

test('a range begins at its start to the millisecond: going on right behind a point does not repeat it', async () => {
  const behind = 1000 * (sec(START) + 60) + 1;
  expect((await history('market_ids=777&limit=1', behind)).data[0]?.timestamp).toBe(sec(START) + 120);
  const { data } = await store.get<Answer>(
    `metrics/historical?platform=polymarket&market_id=777&interval=1m&start_ts=${behind}&end_ts=${sec(START) + 600}&limit=1`,
  );
  expect(data[0]?.timestamp).toBe(sec(START) + 120);
});

test('a limit below the points of one timestamp is kept to', async () => {
  expect(names(await history(`market_ids=${ids.join(',')}&outcome=all&limit=3`))).toHaveLength(3);
});

test('a market that is named twice, by two of its ids, is answered once', async () => {
  const once = await history('market_ids=777');
  expect((await history('market_ids=777,slug-of-777,0x777')).data).toEqual(once.data);
});

test('a range that has not begun is empty, and its end is not before its start', async () => {
  const path = 'markets/price-history?provider=polymarket&market_ids=777&start_ts=4000000000&end_ts=4000003600';
  const { data, meta } = await store.get<Answer>(path);
  expect([data, meta.time_range]).toEqual([[], { start: 4_000_000_000, end: 4_000_000_000 }]);
});

const flat = { open: 4n * 10n ** 9n, high: 4n * 10n ** 9n, low: 4n * 10n ** 9n, close: 4n * 10n ** 9n };
const none = { open: null, high: null, low: null, close: null };
const sampleOf = (ref: string, atMs: number) =>
  candleRow({
    platform: 'limitless',
    ref,
    intervalMin: 1,
    startTs: sec(atMs),
    price: flat,
    previousClose: null,
    bid: none,
    ask: none,
    volume: usd('0'),
    openInterest: null,
    mean: null,
    source: 'midpoint',
  });

test('the source named is that of the points answered, not of those behind the limit', async () => {
  const of = market({ platform: 'limitless', ref: 'sampled', createdAt: new Date(START).toISOString() });
  await store.list(of);
  await store.cover('limitless', START + 10 * MINUTE, Date.now());
  await store.trade(trade({ of, atMs: START + 20 * MINUTE, price: '0.5', size: '1' }));
  await store.clickhouse.insert(CANDLE_COLUMNS, [sampleOf('sampled', START)]);
  const asked = `markets/price-history?provider=limitless&market_ids=sampled&interval=1&start_ts=${sec(START)}&end_ts=${sec(START) + 7200}`;
  expect((await store.get<Answer>(asked)).meta.source).toBe('mixed');
  expect((await store.get<Answer>(`${asked}&limit=1`)).meta.source).toBe('midpoint');
});

test('history older than the feed of a market is not waited for, and shows samples', async () => {
  const of = market({ platform: 'limitless', ref: 'older', createdAt: new Date(START).toISOString() });
  await store.list(of);
  await store.clickhouse.insert(CANDLE_COLUMNS, [sampleOf('older', START)]);
  await store.cover('limitless', START + 10 * MINUTE, Date.now(), 'older', FEED_START);
  const began = performance.now();
  const { data, meta } = await store.get<Answer & { meta: { complete: boolean } }>(
    `markets/price-history?provider=limitless&market_ids=older&interval=1&start_ts=${sec(START)}&end_ts=${sec(START) + 300}`,
  );
  expect(performance.now() - began).toBeLessThan(2000);
  expect(data.map(({ price, volume }) => [price.close, volume])).toEqual([[0.4, null]]);
  expect([meta.complete, meta.source]).toEqual([true, 'midpoint']);
});

test('some trades of a bucket do not replace samples of all of it, every trade of it does', async () => {
  const of = market({ platform: 'limitless', ref: 'partial', createdAt: new Date(START).toISOString() });
  await store.list(of);
  const times = [5, 20].map((minute) => START + minute * MINUTE);
  await store.trade(...times.map((atMs) => trade({ of, atMs, price: '0.5', size: '1' })));
  await store.clickhouse.insert(
    CANDLE_COLUMNS,
    times.map((atMs) => sampleOf('partial', atMs)),
  );
  await store.cover('limitless', START + 10 * MINUTE, Date.now());
  const asked = `markets/price-history?provider=limitless&market_ids=partial&interval=1&start_ts=${sec(START)}&end_ts=${sec(START) + 7200}`;
  const { data, meta } = await store.get<Answer>(asked);
  expect(data.map(({ price, volume }) => [price.close, volume])).toEqual([
    [0.4, null],
    [0.5, 1],
  ]);
  expect(meta.source).toBe('mixed');
});

const all = () => true;
const bars = {
  platform: 'kalshi',
  ref: 'QUIET',
  series: 0,
  stepSeconds: 60,
  span: null,
  gaps: [] as StoredSpan[],
  nowMs: START,
} as const;

test('of a market that is quoted and not traded no bucket is read, of a traded one its quotes are', async () => {
  const minutes = Array.from({ length: 100 }, (_, i) => ({
    platform: 'kalshi',
    ref: 'QUIET',
    at: new Date(START + i * MINUTE).toISOString(),
    status: 'open',
    bid: '0.4',
    ask: '0.5',
    liquidity: '1',
  }));
  await store.clickhouse.insert('market_snapshots (platform, ref, at, status, bid, ask, liquidity)', minutes);
  const of = market({ platform: 'kalshi', ref: 'QUIET' });
  await store.trade(trade({ of, atMs: START + 50 * MINUTE, price: '0.45', size: '1' }));
  const hours = { ...bars, startTs: sec(START), endTs: sec(START) + 6000 };
  const stores = { clickhouse: store.clickhouse, postgres: store.app.postgres };
  const read = await firstBars(stores, { ...hours, quotesAlone: false }, 1000, all);
  expect(read.map(({ startTs, bid, ask }) => [startTs, bid.close, ask.close])).toEqual([
    [sec(START) + 3000, '0.4', '0.5'],
  ]);
  expect(await firstBars(stores, { ...hours, quotesAlone: true }, 1000, all)).toHaveLength(100);
});

test('a year of minutes is read whole, and never all at once', async () => {
  const spans: { start: number; end: number }[] = [];
  const query = async (name: string, _row: unknown, params: { start: number; end: number }) => {
    if (name === 'bars_of_trades') spans.push(params);
    // As of a market whose every minute has a bar that is not wanted.
    return name === 'next_bar' ? [{ t: params.start }] : [];
  };
  const year = { ...bars, quotesAlone: true, startTs: 0, endTs: 365 * 86_400 };
  expect(
    await firstBars(
      { clickhouse: { query } as unknown as ClickHouse, postgres: store.app.postgres },
      year,
      500,
      () => true,
    ),
  ).toEqual([]);
  expect(spans.map(({ start }) => start)).toEqual([0, ...spans.slice(0, -1).map(({ end }) => end)]);
  expect(spans.at(-1)?.end).toBe(year.endTs);
  expect(Math.max(...spans.map(({ start, end }) => end - start))).toBeLessThanOrEqual(20_000 * 60);
});

test('bars that sample midpoints are read only where trades of a bucket may be missing', async () => {
  const asked: string[] = [];
  const query = async (name: string) => {
    asked.push(name);
    return [];
  };
  const clickhouse = { query } as unknown as ClickHouse;
  const us = (minutes: number) => (START + minutes * MINUTE) * 1000;
  const minute = { quotesAlone: false, startTs: sec(START), endTs: sec(START) + 600, nowMs: START + 20 * MINUTE };
  const isAsked = async (platform: 'kalshi' | 'limitless', toMinutes: number, gaps: StoredSpan[] = []) => {
    asked.length = 0;
    const history = { span: { fromUs: 0, toUs: us(toMinutes) }, gaps };
    await firstBars(
      { clickhouse, postgres: store.app.postgres },
      { ...bars, ...minute, platform, ...history },
      50,
      all,
    );
    return asked.includes('bars_of_platform');
  };
  expect(await isAsked('limitless', 20)).toBe(false);
  // The feed is not late, and has not reached the last bucket.
  expect(await isAsked('limitless', 8)).toBe(true);
  expect(await isAsked('limitless', 20, [{ fromUs: us(3), toUs: us(4) }])).toBe(true);
  expect(await isAsked('kalshi', 20)).toBe(true);
});

/** A bar as Kalshi makes it of all trades, blocks included: prices of each minute or hour, contracts, the price before it. */
const theirBar = (ref: string, intervalMin: 1 | 60, atMs: number, traded: string[], size: string, previous: string) => {
  const prices = traded.map(parsePrice);
  const ranked = prices.toSorted((a, b) => (a < b ? -1 : 1));
  return candleRow({
    platform: 'kalshi',
    ref,
    intervalMin,
    startTs: sec(atMs),
    price: {
      open: prices[0] ?? null,
      high: ranked.at(-1) ?? null,
      low: ranked[0] ?? null,
      close: prices.at(-1) ?? null,
    },
    previousClose: parsePrice(previous),
    bid: flat,
    ask: flat,
    volume: usd(size),
    openInterest: usd('9'),
    mean: null,
    source: 'trades',
  });
};

test.each([1, 60] as const)(
  'block trades set no price of a bar of %i minutes where all trades are stored; elsewhere the bar is the platform’s',
  async (interval) => {
    const ref = `KXBLOCKS-${interval}`;
    const of = market({ platform: 'kalshi', ref, createdAt: new Date(START).toISOString() });
    await store.list(of);
    const at = (bucket: number) => START + bucket * interval * MINUTE;
    const fill = (bucket: number, offsetMs: number, price: string, size: string, isBlockTrade = false) =>
      trade({ of, atMs: at(bucket) + offsetMs, price, size, isBlockTrade });
    await store.trade(
      fill(1, 10, '0.2', '1'),
      fill(4, 10, '0.5', '1'),
      fill(4, 20, '0.9', '100', true),
      fill(4, 30, '0.6', '2'),
      fill(6, 10, '0.8', '50', true),
      fill(8, 10, '0.7', '3'),
      fill(8, 20, '0.1', '10', true),
    );
    await store.clickhouse.insert(CANDLE_COLUMNS, [
      theirBar(ref, interval, at(1), ['0.2', '0.3'], '7', '0.15'),
      theirBar(ref, interval, at(2), [], '0', '0.3'),
      theirBar(ref, interval, at(4), ['0.5', '0.9', '0.6'], '103', '0.3'),
      theirBar(ref, interval, at(5), [], '0', '0.6'),
      theirBar(ref, interval, at(6), ['0.8'], '50', '0.6'),
      theirBar(ref, interval, at(7), [], '0', '0.8'),
      theirBar(ref, interval, at(8), ['0.7', '0.1'], '13', '0.8'),
      theirBar(ref, interval, at(9), [], '0', '0.1'),
    ]);
    await store.cover('kalshi', at(3), Date.now(), ref);
    const rows = async (from: number) => {
      const asked = `markets/price-history?provider=kalshi&market_ids=${ref}&interval=${interval}&start_ts=${sec(at(from))}&end_ts=${sec(at(12))}`;
      const { data } = await store.get<Bars>(asked);
      return data.map(({ timestamp, price: { open, high, low, close }, volume, bidAsk, openInterest }) => {
        expect([bidAsk.bid.close, openInterest]).toEqual([0.4, 9]);
        return [(timestamp * 1000 - START) / MINUTE / interval, open, high, low, close, volume];
      });
    };
    const all = [
      [1, 0.2, 0.3, 0.2, 0.3, 7],
      [2, 0.3, 0.3, 0.3, 0.3, 0],
      [4, 0.5, 0.6, 0.5, 0.6, 103],
      [5, 0.6, 0.6, 0.6, 0.6, 0],
      [6, 0.6, 0.6, 0.6, 0.6, 50],
      [7, 0.6, 0.6, 0.6, 0.6, 0],
      [8, 0.7, 0.7, 0.7, 0.7, 13],
      [9, 0.7, 0.7, 0.7, 0.7, 0],
    ];
    expect(await rows(0)).toEqual(all);
    // A range may begin after the last trade.
    for (const from of [5, 7, 9]) expect(await rows(from)).toEqual(all.filter(([bucket = 0]) => bucket >= from));
  },
);

test.each(['kalshi', 'limitless'] as const)(
  'where the feed of a %s market that has ended is empty, the bars are those of the platform',
  async (platform) => {
    const ref = `${platform === 'kalshi' ? 'KXEMPTY' : 'empty'}-1`;
    const of = market({
      platform,
      ref,
      tradingStartAt: new Date(START).toISOString(),
      tradingEndAt: new Date(START + 60 * MINUTE).toISOString(),
      state: { status: 'settled', volumeTotal: usd('500') },
    });
    await store.list(of);
    await store.cover(platform, START - MINUTE, Date.now(), ref);
    const bar = platform === 'kalshi' ? theirBar(ref, 1, START, ['0.2', '0.6'], '500', '0.2') : sampleOf(ref, START);
    await store.clickhouse.insert(CANDLE_COLUMNS, [bar]);
    const range = `start_ts=${sec(START)}&end_ts=${sec(START) + 300}`;
    const points = await store.get<Bars>(
      `markets/price-history?provider=${platform}&market_ids=${ref}&interval=1&${range}`,
    );
    const { data } = await store.get<{ data: object[] }>(
      `metrics/historical?platform=${platform}&market_id=${ref}&interval=1m&${range}`,
    );
    const [price, volume] =
      platform === 'kalshi'
        ? [{ open: 0.2, high: 0.6, low: 0.2, close: 0.6 }, 500]
        : [{ open: 0.4, high: 0.4, low: 0.4, close: 0.4 }, null];
    expect(points.data).toMatchObject([{ price, volume }]);
    expect(data).toMatchObject([{ price, volume, trade_count: null, notional_value: null }]);
    const { results } = await verifyRollups(store.clickhouse, { clock: hurriedClock });
    expect(results.filter(({ rollup, extra }) => rollup === 'bars of 1m' && extra > 0)).toEqual([]);
  },
);

test('a market of the AMM era does not say that it was never traded', async () => {
  const of = market({
    platform: 'polymarket',
    ref: 'gamma:949503',
    platformId: '949503',
    tradingStartAt: '2021-01-10T00:00:00.000Z',
    tradingEndAt: '2021-06-02T16:31:01.000Z',
    state: { status: 'settled', volumeTotal: usd('120345.67') },
  });
  await store.list(of);
  const [startTs, endTs] = [Date.UTC(2021, 0, 1) / 1000, Date.UTC(2021, 6, 1) / 1000];
  const lacking = { complete_from: null, older_trades: 'not_in_feed' };
  const trades = await store.get<object>('markets/trades?provider=polymarket&market_id=949503');
  expect(trades).toMatchObject({ trades: [], pagination: { total: 0 }, meta: lacking });
  expect(await store.get('markets/id/949503/trades?provider=polymarket')).toMatchObject({ trades: [], meta: lacking });
  expect(await store.get('trades/whales?platform=polymarket&market_id=949503')).toMatchObject({ meta: lacking });
  for (const path of [
    `markets/price-history?provider=polymarket&market_ids=949503&start_ts=${startTs}&end_ts=${endTs}`,
    `metrics/historical?platform=polymarket&market_id=949503&start_ts=${startTs}&end_ts=${endTs}`,
  ])
    expect(await store.get(path)).toMatchObject({ data: [], meta: { ...lacking, complete: false } });
});

test('an interval is taken by its word as well as in minutes', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXWORDS-1', createdAt: new Date(START).toISOString() });
  await store.list(of);
  const asked = `markets/price-history?provider=kalshi&market_ids=KXWORDS-1&start_ts=${sec(START)}&end_ts=${sec(START + 9 * MINUTE)}`;
  for (const [word, minutes] of [
    ['1m', '1'],
    ['1h', '60'],
    ['1d', '1440'],
  ])
    expect(await store.get(`${asked}&interval=${word}`)).toMatchObject({ meta: { interval: minutes } });
  await expect(store.get(`${asked}&interval=5m`)).rejects.toThrow(
    /400 .*interval: one of 1, 60, 1440 \(or 1m, 1h, 1d\), received/,
  );
});

test.each(['kalshi', 'polymarket', 'limitless'] as const)(
  'trades of one market of %s are listed with the time from which they are complete',
  async (platform) => {
    const of = market({
      platform,
      ref: platform === 'kalshi' ? 'KXLISTED-1' : `listed-${platform}`,
      tradingStartAt: new Date(START).toISOString(),
    });
    await store.list(of);
    await store.trade(trade({ of, atMs: START + MINUTE, price: '0.25', size: '4' }));
    await store.cover(platform, START - MINUTE, Date.now(), of.info.ref);
    expect(await store.get(`markets/id/${of.info.platformId}/trades?provider=${platform}&limit=1`)).toMatchObject({
      trades: [{ price: 0.25, size: 4, market_id: of.info.platformId }],
      pagination: { total: 1, next_cursor: null },
      meta: { complete_from: new Date(START).toISOString(), older_trades: 'none' },
    });
  },
);
