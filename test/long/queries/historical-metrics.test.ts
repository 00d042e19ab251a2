import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HISTORY_CHANNEL } from '../../../src/markets/trade-history.ts';
import type { MarketRecord, TradeRecord } from '../../../src/core/model.ts';
import { CANDLE_COLUMNS, candleRow, microsecondText } from '../../../src/stores/clickhouse/insert-rows.ts';
import { type MarketStore, market, quotes, startMarketStore, trade, usd } from '../../helpers/market-store.ts';
import { rescale, sum, toNumber } from '../../oracle/exact.ts';
import { createRng } from '../../simulators/lib/index.ts';

interface Item {
  timestamp: number;
  price: Record<'open' | 'high' | 'low' | 'close', number | null>;
  volume: number | null;
  open_interest: number | null;
  trade_count: number | null;
  notional_value: number | null;
  liquidity: Record<'best_bid' | 'best_ask' | 'spread' | 'midpoint', number | null>;
}
interface History {
  market_id: string;
  interval: string;
  data: Item[];
  data_availability: Record<string, boolean>;
  meta: {
    time_range: { start: number; end: number };
    total_candles: number;
    notional_method: string;
    complete: boolean;
  };
}
interface Quoted {
  atMs: number;
  bid: bigint | null;
  ask: bigint | null;
  openInterest: bigint | null;
}

const STEPS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '4h': 14_400, '1d': 86_400 } as const;
type Interval = keyof typeof STEPS;
const INTERVALS = Object.keys(STEPS) as Interval[];
const DAY = 86_400_000;
const HOUR = 3_600_000;
/** A past with a clock change in the eastern United States and one in Europe. */
const FALL = Date.parse('2025-10-25T20:17:05Z');
const NOTHING = { open: null, high: null, low: null, close: null };
const UNQUOTED = { best_bid: null, best_ask: null, spread: null, midpoint: null };

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const sec = (ms: number): number => Math.floor(ms / 1000);
const history = (of: MarketRecord, query: string): Promise<History> =>
  store.get(`metrics/historical?platform=${of.info.platform}&market_id=${of.info.platformId}&${query}`);

/** Price in terms of the first outcome. */
const firstPrice = (row: TradeRecord): bigint => (row.outcomeIndex === 0 ? row.price : 10n ** 10n - row.price);
const price = (value: bigint | undefined): number | null => (value === undefined ? null : toNumber(value, 10));

/** What the trades and quotes of one bucket come to; every trade of it is stored. */
function bucket(timestamp: number, rows: TradeRecord[], quoted: Quoted[]): Item {
  const ordered = rows.toSorted((a, b) => a.executedAtUs - b.executedAtUs || (a.tradeId < b.tradeId ? -1 : 1));
  const prices = ordered.filter((row) => !row.isBlockTrade).map(firstPrice);
  const rising = prices.toSorted((a, b) => (a < b ? -1 : 1));
  const top = quoted.findLast((one) => one.bid !== null || one.ask !== null);
  const [bid, ask] = [top?.bid ?? undefined, top?.ask ?? undefined];
  const interest = quoted.flatMap((one) => one.openInterest ?? []).at(-1);
  const both = bid !== undefined && ask !== undefined;
  return {
    timestamp,
    price: { open: price(prices[0]), high: price(rising.at(-1)), low: price(rising[0]), close: price(prices.at(-1)) },
    volume: toNumber(sum(rows.map((row) => row.size)), 6),
    open_interest: interest === undefined ? null : toNumber(interest, 6),
    trade_count: rows.length,
    notional_value: toNumber(sum(rows.map((row) => rescale(row.price * row.size, 16, 6))), 6),
    liquidity: {
      best_bid: price(bid),
      best_ask: price(ask),
      spread: both ? price(ask - bid) : null,
      midpoint: both ? toNumber((bid + ask) * 5n, 11) : null,
    },
  };
}

/** Every bucket of [startTs, endTs) of which something is known. */
function expected(rows: TradeRecord[], quoted: Quoted[], interval: Interval, startTs: number, endTs: number): Item[] {
  const step = STEPS[interval];
  const at = (ms: number): number => Math.floor(ms / 1000 / step) * step;
  const reported = quoted.filter(({ bid, ask, openInterest }) => bid !== null || ask !== null || openInterest !== null);
  const starts = new Set([...rows.map((row) => at(row.executedAtUs / 1000)), ...reported.map((one) => at(one.atMs))]);
  return [...starts]
    .filter((start) => start >= startTs && start < endTs)
    .toSorted((a, b) => a - b)
    .map((start) =>
      bucket(
        start,
        rows.filter((row) => at(row.executedAtUs / 1000) === start),
        reported.filter((one) => at(one.atMs) === start),
      ),
    );
}

const rng = createRng(9);

/** Busy minutes and empty hours; trades that share their microsecond; blocks on Kalshi. */
function someTrades(of: MarketRecord, count: number, fromMs: number, spanMs: number): TradeRecord[] {
  const bursts = Array.from({ length: 25 }, () => fromMs + rng.int(0, spanMs));
  return Array.from({ length: count }, (_, i) => {
    const atMs = i % 9 === 0 ? rng.pick(bursts) : Math.min(fromMs + spanMs, rng.pick(bursts) + rng.int(0, 400_000) / 3);
    return trade({
      of,
      atMs,
      price: `0.${rng.int(100, 999)}`,
      size: `${rng.int(0, 90)}.${String(rng.int(1, 999_999)).padStart(6, '0')}`,
      outcome: rng.chance(0.4) ? 'no' : 'yes',
      side: rng.chance(0.5) ? 'buy' : 'sell',
      isBlockTrade: of.info.platform === 'kalshi' && rng.chance(0.1),
    });
  });
}

/** Lists a market at some instants, as sweeps would have seen it. */
async function sweep(
  of: Parameters<typeof market>[0],
  rows: readonly (readonly [number, string | null, string | null, string | null])[],
) {
  const seen: Quoted[] = [];
  // On Polymarket no listing has it: what was read last stands. Elsewhere a listing without it leaves it unknown.
  let known: bigint | null = null;
  for (const [atMs, bid, ask, interest] of rows) {
    const [first] = quotes('0.5', bid, ask);
    const openInterest = interest === null ? null : usd(interest);
    await store.list(
      market({
        ...of,
        fetchedAt: new Date(atMs).toISOString(),
        state: { quotes: quotes('0.5', bid, ask), openInterest },
      }),
    );
    known = openInterest ?? (of.platform === 'polymarket' ? known : null);
    seen.push({ atMs, bid: first!.bid, ask: first!.ask, openInterest: known });
  }
  return seen;
}

describe.each(['kalshi', 'polymarket', 'limitless'] as const)('history of a %s market', (platform) => {
  const of = { platform, ref: `${platform.toUpperCase()}-LIFE`, createdAt: new Date(FALL - DAY).toISOString() };
  const record = market(of);
  const [startTs, endTs] = [sec(FALL - DAY), sec(FALL + 9 * DAY)];
  let rows: TradeRecord[];
  let seen: Quoted[];

  beforeAll(async () => {
    seen = await sweep(of, [
      [FALL + 1000, '0.4', '0.43', '10'],
      [FALL + 61_000, '0.41', '0.44', null],
      // Sellers alone, below the bid of a second ago.
      [FALL + 62_000, null, '0.38', '12.5'],
      [FALL + 5 * HOUR, '0.1', null, null],
      [FALL + 3 * DAY, null, null, null],
      [FALL + 6 * DAY, '0.333', '0.336', '99.000001'],
    ]);
    await store.cover(platform, 0, Date.now());
    rows = someTrades(record, 260, FALL, 8 * DAY);
    // The newer half first, as a backfill brings them.
    await store.trade(...rows.slice(100));
    await store.trade(...rows.slice(0, 130));
  });

  test.each(INTERVALS)('at %s is what its trades and quotes come to, over both clock changes', async (interval) => {
    const answer = await history(record, `start_ts=${startTs}&end_ts=${endTs}&interval=${interval}&limit=5000`);
    const truth = expected(rows, seen, interval, startTs, endTs);
    expect(answer.data).toEqual(truth);
    expect(truth.length).toBeGreaterThan(5);
    expect(answer.data.every(({ timestamp }) => timestamp % STEPS[interval] === 0)).toBe(true);
    expect(answer.meta).toMatchObject({
      total_candles: truth.length,
      notional_method: 'trades',
      complete: true,
      time_range: { start: startTs, end: endTs },
    });
    expect(Object.values(answer.data_availability)).toEqual([true, true, true, true, true, true]);
  });

  test('takes in late trades and is unmoved by trades that come again', async () => {
    const late = someTrades(record, 20, FALL, 8 * DAY);
    rows.push(...late);
    await store.trade(...late, ...rows);
    for (const interval of ['1m', '4h'] as const) {
      const answer = await history(record, `start_ts=${startTs}&end_ts=${endTs}&interval=${interval}&limit=5000`);
      expect(answer.data).toEqual(expected(rows, seen, interval, startTs, endTs));
    }
  });

  test('keeps to the range, whose end it leaves out, and to the limit, from the oldest on', async () => {
    const whole = expected(rows, seen, '15m', startTs, endTs);
    const [from, to] = [whole[3]!.timestamp, whole[9]!.timestamp];
    const part = await history(record, `start=${from}&end=${to}&interval=15m`);
    expect(part.data).toEqual(whole.slice(3, 9));
    const offGrid = await history(record, `start=${from + 1}&end=${to + 1}&interval=15m`);
    expect(offGrid.data).toEqual(whole.slice(4, 10));
    const cut = await history(record, `start=${startTs}&end=${endTs}&interval=15m&limit=7`);
    expect(cut.data).toEqual(whole.slice(0, 7));
    const next = await history(record, `start=${cut.data[6]!.timestamp + 1}&end=${endTs}&interval=15m&limit=5000`);
    expect([...cut.data, ...next.data]).toEqual(whole);
  });
});

test('the last 24 hours are the default, up to now', async () => {
  const record = market({
    platform: 'limitless',
    ref: 'of-today',
    createdAt: new Date(Date.now() - 9 * DAY).toISOString(),
  });
  await store.list(record);
  await store.cover('limitless', 0, Date.now() + HOUR);
  const hours = [2, 20, 23.5, 25, 30];
  const rows = hours.map((h) => trade({ of: record, atMs: Date.now() - h * HOUR, price: '0.5', size: '1' }));
  await store.trade(...rows);
  const before = sec(Date.now());
  const answer = await history(record, '');
  const { start, end } = answer.meta.time_range;
  expect([end - start, end - before < 20, end > before]).toEqual([86_401, true, true]);
  expect(answer.interval).toBe('1h');
  expect(answer.data).toEqual(expected(rows, [], '1h', start, end));
  const upTo = await history(record, `end_ts=${sec(Date.now() - 24 * HOUR)}&interval=1m`);
  expect(upTo.data.map((item) => item.trade_count)).toEqual([1, 1]);
  const begun = await history(record, 'end_ts=5&interval=1m');
  expect([begun.data, begun.meta.time_range]).toEqual([[], { start: 0, end: 5 }]);
  const tomorrow = await history(record, `end_ts=${sec(Date.now() + DAY)}`);
  expect(tomorrow.data).toEqual(answer.data);
  const future = await history(record, `start_ts=${end + 100}&end_ts=${end + 5000}`);
  expect([future.data, future.meta.total_candles]).toEqual([[], 0]);
});

test(
  'a range of minutes since 1970 is answered at once: years without a bar are passed over',
  { timeout: 20_000 },
  async () => {
    const of = { platform: 'kalshi', ref: 'KXRARE-1', createdAt: '2015-01-01T00:00:00Z' } as const;
    const quoted = '2019-05-04T03:02:01Z';
    await store.list(market({ ...of, fetchedAt: quoted, state: { quotes: quotes('0.5', '0.4', '0.6') } }));
    await store.cover('kalshi', 0, Date.now());
    const rows = ['2015-06-07T08:09:10Z', '2024-02-03T04:05:06Z'].map((at) =>
      trade({ of: market(of), atMs: Date.parse(at), price: '0.5', size: '1' }),
    );
    await store.trade(...rows);
    const { data } = await history(market(of), 'start_ts=0&interval=1m&limit=3');
    expect(data.map((item) => [new Date(item.timestamp * 1000).toISOString(), item.trade_count])).toEqual([
      ['2015-06-07T08:09:00.000Z', 1],
      ['2019-05-04T03:02:00.000Z', 0],
      ['2024-02-03T04:05:00.000Z', 1],
    ]);
  },
);

test.each([
  ['start_ts=1700000000&end_ts=1700000000', 'start_ts: a time before end_ts'],
  [
    'start_ts=4000000000',
    'start_ts: a time before end_ts (default: now), received 4000000000 (2096-10-02T07:06:40.000Z)',
  ],
  ['interval=2h', 'interval: one of 1m, 5m, 15m, 1h, 4h, 1d'],
  ['limit=5001', 'limit: an integer from 1 to 5000'],
])('%s is refused with the rule', async (query, rule) => {
  const { key } = await store.app.newKey();
  const url = `/v1/api/metrics/historical?platform=limitless&market_id=of-today&${query}`;
  const reply = await store.app.app.inject({ url, headers: { 'x-api-key': key } });
  expect(reply.statusCode).toBe(400);
  expect(reply.json().error.error_text).toContain(rule);
});

test('an interval is taken in minutes as well as by its word', async () => {
  const record = market({ platform: 'kalshi', ref: 'KXMINUTES-1', createdAt: new Date(FALL).toISOString() });
  await store.list(record);
  for (const [minutes, word] of [
    [1, '1m'],
    [60, '1h'],
    [1440, '1d'],
  ])
    expect(await history(record, `interval=${minutes}`)).toMatchObject({ interval: word, meta: { interval: word } });
});

test('a market without trades has no buckets and says that it has no series', async () => {
  const record = market({ platform: 'polymarket', ref: '0xnothing', createdAt: new Date(FALL).toISOString() });
  await store.list(record);
  const answer = await history(record, `start_ts=${sec(FALL)}&end_ts=${sec(FALL + DAY)}`);
  expect(answer.data).toEqual([]);
  expect(answer.data_availability).toEqual({
    price: false,
    volume: false,
    open_interest: false,
    liquidity: false,
    trade_count: false,
    notional_value: false,
  });
});

const columnsOf = ({ data }: History) => data.map((item) => [item.trade_count, item.volume, item.notional_value]);
const flat = (value: bigint) => ({ open: value, high: value, low: value, close: value });
const P = (cents: number): bigint => BigInt(cents) * 10n ** 8n;

describe('where trades are not all stored', () => {
  const born = new Date(FALL - 30 * DAY).toISOString();

  test('buckets in a gap of a day claim neither count nor volume nor to be complete, those beside it do', async () => {
    const record = market({ platform: 'polymarket', ref: '0xgap', createdAt: born });
    await store.list(record);
    const rows = [-10, 1, 5, 20, 40].map((h) => trade({ of: record, atMs: FALL + h * HOUR, price: '0.25', size: '4' }));
    await store.trade(...rows);
    const gap = {
      platform: 'polymarket',
      gap_from: microsecondText(FALL * 1000),
      gap_to: microsecondText((FALL + DAY) * 1000),
    };
    await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 0 }]);
    await store.copiers.polymarket.gapsMoved();
    const query = `start_ts=${sec(FALL - 11 * HOUR)}&end_ts=${sec(FALL + 2 * DAY)}`;
    const holed = await history(record, query);
    const hole = [null, null, null];
    expect(columnsOf(holed)).toEqual([[1, 4, 1], hole, hole, hole, [1, 4, 1]]);
    expect(holed.data[1]!.price.close).toBe(0.25);
    expect(holed.meta.complete).toBe(false);
    const beside = `start_ts=${sec(FALL - 11 * HOUR)}&end_ts=${sec(FALL)}`;
    expect((await history(record, beside)).meta.complete).toBe(true);
    await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...gap, filled: 1 }]);
    await store.copiers.polymarket.gapsMoved();
    const filled = await history(record, query);
    expect(columnsOf(filled)).toEqual(rows.map(() => [1, 4, 1]));
    expect(filled.meta.complete).toBe(true);
  });

  test('the bucket in which a feed fell behind claims nothing, one that it is about to finish does', async () => {
    const now = Math.floor(Date.now() / DAY) * DAY;
    const record = market({ platform: 'polymarket', ref: '0xbehind', createdAt: born });
    await store.list(record);
    await store.trade(
      ...[26, 23.4, 23.6].map((h) => trade({ of: record, atMs: now - h * HOUR, price: '0.25', size: '4' })),
    );
    const query = `start_ts=${sec(now - 30 * HOUR)}&end_ts=${sec(now)}`;
    await store.cover('polymarket', 0, now - 23.5 * HOUR);
    const behind = await history(record, query);
    expect(columnsOf(behind)).toEqual([
      [1, 4, 1],
      [null, null, null],
    ]);
    expect(behind.meta.complete).toBe(false);
    const stored = `start_ts=${sec(now - 30 * HOUR)}&end_ts=${sec(now - 23.5 * HOUR)}`;
    expect((await history(record, stored)).meta.complete).toBe(true);
    expect(columnsOf(await history(record, `${query}&interval=1d`))).toEqual([[null, null, null]]);
    // It stopped in a minute that is over for eight.
    const minute = Math.floor(Date.now() / 60_000 - 9) * 60_000;
    await store.trade(trade({ of: record, atMs: minute + 1000, price: '0.25', size: '4' }));
    await store.cover('polymarket', 0, minute + 30_000);
    const stopped = await history(record, `start_ts=${sec(minute)}&end_ts=${sec(minute + 60_000)}&interval=1m`);
    expect([columnsOf(stopped), stopped.meta.complete]).toEqual([[[null, null, null]], false]);
    // As far as a feed of five minutes' overlap is read that has no trade since.
    await store.cover('polymarket', 0, Date.now() - 300_000);
    const caughtUp = await history(record, query);
    expect(columnsOf(caughtUp)).toEqual([
      [1, 4, 1],
      [2, 8, 2],
    ]);
    expect(caughtUp.meta.complete).toBe(true);
  });

  test('the bars of the platform give prices and volume, and one method the notional of all buckets', async () => {
    const of = { platform: 'kalshi', ref: 'KXBARS-1', createdAt: born } as const;
    const record = market(of);
    await store.list(record);
    await store.cover('kalshi', FALL + 5 * HOUR, Date.now());
    const hour = Math.floor(FALL / HOUR) * HOUR;
    const bar = (n: number, volume: string, mean: bigint | null, prices = flat(P(40))) => ({
      platform: 'kalshi' as const,
      ref: of.ref,
      intervalMin: 60 as const,
      startTs: sec(hour + n * HOUR),
      price: prices,
      previousClose: P(40),
      bid: flat(P(39)),
      ask: NOTHING,
      volume: usd(volume),
      openInterest: usd('7'),
      mean,
      source: 'trades' as const,
    });
    const rising = { open: P(40), high: P(60), low: P(30), close: P(55) };
    const bars = [bar(0, '0', null), bar(1, '10.01', P(45), rising), bar(2, '3', P(50)), bar(8, '2', P(25))];
    await store.clickhouse.insert(CANDLE_COLUMNS, bars.map(candleRow));
    await store.trade(trade({ of: record, atMs: hour + 8.5 * HOUR, price: '0.3', size: '2', outcome: 'no' }));
    const span = (from: number, to: number) => `start_ts=${sec(hour + from * HOUR)}&end_ts=${sec(hour + to * HOUR)}`;
    const liquidity = { ...UNQUOTED, best_bid: 0.39 };
    const partly = await history(record, span(0, 12));
    expect(partly.meta.notional_method).toBe('platform_mean');
    expect(partly.data.map(({ volume, trade_count, notional_value }) => [volume, trade_count, notional_value])).toEqual(
      [
        [0, null, 0],
        [10.01, null, 4.5045],
        [3, null, 1.5],
        [2, 1, 0.5],
      ],
    );
    expect(partly.data[0]).toMatchObject({ price: { open: 0.4, high: 0.4, low: 0.4, close: 0.4 }, liquidity });
    expect(partly.data[1]).toMatchObject({ price: { open: 0.4, high: 0.6, low: 0.3, close: 0.55 }, open_interest: 7 });
    const merged = await history(record, `${span(-24, 24)}&interval=1d`);
    expect(merged.data).toMatchObject([{ volume: 13.01, notional_value: 6.0045, trade_count: null }, { volume: 2 }]);
    const covered = await history(record, span(6, 12));
    expect(covered.meta.notional_method).toBe('trades');
    expect(covered.data).toMatchObject([{ volume: 2, trade_count: 1, notional_value: 0.6 }]);
  });

  test('a bar without trades stands at the last stored trade, also behind a bucket of quotes alone', async () => {
    const minute = Math.floor((Date.now() - 2 * HOUR) / 60_000) * 60_000;
    const of = { platform: 'kalshi', ref: 'KXSTANDS-1', createdAt: born } as const;
    const record = market({
      ...of,
      fetchedAt: new Date(minute + 1000).toISOString(),
      state: { quotes: quotes('0.4', '0.39', '0.41') },
    });
    await store.list(record);
    await store.cover('kalshi', FALL, Date.now());
    await store.trade(
      trade({ of: record, atMs: minute - 600_000, price: '0.4', size: '1' }),
      trade({ of: record, atMs: minute - 300_000, price: '0.9', size: '1', isBlockTrade: true }),
    );
    // The platform counts blocks in its closes.
    const bar = {
      ...of,
      intervalMin: 1 as const,
      startTs: sec(minute + 60_000),
      price: NOTHING,
      previousClose: P(90),
      bid: flat(P(39)),
      ask: NOTHING,
      volume: 0n,
      openInterest: null,
      mean: null,
      source: 'trades' as const,
    };
    await store.clickhouse.insert(CANDLE_COLUMNS, [candleRow(bar)]);
    const { data } = await history(record, `start_ts=${sec(minute)}&end_ts=${sec(minute + 180_000)}&interval=1m`);
    expect(data).toMatchObject([
      { timestamp: sec(minute), price: NOTHING },
      { timestamp: sec(minute + 60_000), price: { open: 0.4, high: 0.4, low: 0.4, close: 0.4 } },
    ]);
  });

  test('a day of which only the last bars were read is computed from its trades', async () => {
    const record = market({ platform: 'kalshi', ref: 'KXDAY-1', createdAt: born });
    await store.list(record);
    await store.cover('kalshi', 0, Date.now());
    const day = Math.floor(FALL / DAY) * DAY;
    const hours = Array.from({ length: 24 }, (_, hour) => ({ atMs: day + hour * HOUR, price: P(hour + 10) }));
    await store.trade(
      ...hours.map(({ atMs }, hour) => trade({ of: record, atMs: atMs + 1000, price: `0.${hour + 10}`, size: '10' })),
    );
    const bars = hours.slice(22).map(({ atMs, price: own }) => ({
      platform: 'kalshi' as const,
      ref: 'KXDAY-1',
      intervalMin: 60 as const,
      startTs: sec(atMs),
      price: flat(own),
      previousClose: null,
      bid: flat(own),
      ask: NOTHING,
      volume: usd('10'),
      openInterest: null,
      mean: own,
      source: 'trades' as const,
    }));
    await store.clickhouse.insert(CANDLE_COLUMNS, bars.map(candleRow));
    const { data } = await history(record, `start_ts=${sec(day)}&end_ts=${sec(day + DAY)}&interval=1d`);
    expect(data).toMatchObject([{ price: { open: 0.1, high: 0.33, low: 0.1 }, volume: 240, trade_count: 24 }]);
  });

  test('they are fetched first, within a bounded wait, and answered whole on the next call', async () => {
    const record = market({ platform: 'limitless', ref: 'asked-for', tradingStartAt: new Date(FALL).toISOString() });
    await store.list(record);
    await store.cover('limitless', Date.now() - HOUR, Date.now());
    const query = `start_ts=${sec(FALL - DAY)}&end_ts=${sec(FALL + DAY)}`;
    const asked: unknown[] = [];
    let slow = true;
    await store.app.shared.subscribe(HISTORY_CHANNEL, async (message) => {
      asked.push(JSON.parse(message));
      if (slow) return;
      await store.trade(trade({ of: record, atMs: FALL + 1000, price: '0.5', size: '8' }));
      await store.cover('limitless', FALL, Date.now(), 'asked-for');
    });
    const early = await history(record, query);
    expect([early.meta.complete, early.data]).toEqual([false, []]);
    slow = false;
    const late = await history(record, query);
    expect(late.meta.complete).toBe(true);
    expect(late.data).toMatchObject([{ volume: 8, trade_count: 1, notional_value: 4 }]);
    const wanted = { platform: 'limitless', ref: 'asked-for', sinceUs: FALL * 1000, user: expect.any(String) };
    expect(asked).toEqual(asked.map(() => wanted));
  });
});

test('a bucket of block trades alone has a volume and no price', async () => {
  const record = market({ platform: 'kalshi', ref: 'KXBLOCK-1', createdAt: new Date(FALL).toISOString() });
  await store.list(record);
  await store.cover('kalshi', 0, Date.now());
  await store.trade(
    trade({ of: record, atMs: FALL + HOUR, price: '0.5', size: '100', isBlockTrade: true }),
    trade({ of: record, atMs: FALL + 5 * HOUR, price: '0.7', size: '1' }),
    trade({ of: record, atMs: FALL + 5 * HOUR + 1, price: '0.1', size: '50', isBlockTrade: true }),
  );
  for (const interval of ['1h', '5m']) {
    const { data } = await history(record, `start_ts=${sec(FALL)}&end_ts=${sec(FALL + DAY)}&interval=${interval}`);
    expect(data).toMatchObject([
      { price: NOTHING, volume: 100, trade_count: 1 },
      { price: { open: 0.7, high: 0.7, low: 0.7, close: 0.7 }, volume: 51, trade_count: 2 },
    ]);
  }
});
