import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createKalshiData } from '../../src/platforms/kalshi/data.ts';
import { SETTINGS, cannedHttp } from '../fixtures/canned-http.ts';
import { CANDLE_COLUMNS } from '../../src/stores/clickhouse/insert-rows.ts';
import { candleRow } from '../fixtures/kalshi/rows.ts';
import { type MarketStore, market, startMarketStore } from '../helpers/market-store.ts';

const DAY = 86_400;
const END = Math.floor(Date.now() / 1000 / DAY) * DAY;
const START = END - 365 * DAY;
/** A quiet market has bars only from a late day on. */
const quietUntil = (path: string): number => (path.includes('KXQUIET') ? END - DAY : START);

const http = cannedHttp((path, query) => {
  if (path === '/historical/cutoff') {
    const cutoff = new Date(START * 1000).toISOString();
    return { market_settled_ts: cutoff, trades_created_ts: cutoff };
  }
  if (!path.endsWith('/candlesticks')) return undefined;
  const step = Number(query.get('period_interval')) * 60;
  const from = Math.max(Number(query.get('start_ts')), quietUntil(path));
  const count = Math.max(0, Math.floor((Number(query.get('end_ts')) - from) / step) + 1);
  return { candlesticks: Array.from({ length: count }, (_, i) => candleRow({ end_period_ts: from + i * step })) };
});
const asked = (): URLSearchParams[] =>
  http.asked.filter((url) => url.includes('/candlesticks?')).map((url) => new URLSearchParams(url.split('?')[1]));

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore({
    platforms: { kalshi: createKalshiData({ http, settings: SETTINGS, now: Date.now }) },
  });
  const tradingStartAt = new Date(START * 1000).toISOString();
  const named = (ref: string) => market({ platform: 'kalshi', ref, seriesId: 'KXBUSY', tradingStartAt });
  await store.list(named('KXBUSY-1'), named('KXQUIET-1'));
  await store.cover('kalshi', START * 1000, Date.now());
});
afterAll(() => store?.close());
beforeEach(() => http.asked.splice(0));

interface Answer {
  data: { timestamp: number }[];
  meta: { complete: boolean };
}
const minutes = (ref: string, fromTs: number, limit: number): Promise<Answer> =>
  store.get(
    `markets/price-history?provider=kalshi&market_ids=${ref}&interval=1&start_ts=${fromTs}&end_ts=${END}&limit=${limit}`,
  );
const everyMinute = (fromTs: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => fromTs + i * 60);

test('of a year of minutes only those of the answer are read', async () => {
  const first = await minutes('KXBUSY-1', START, 500);
  expect(first.data.map(({ timestamp }) => timestamp)).toEqual(everyMinute(START, 500));
  expect(first.meta.complete).toBe(true);
  expect(asked()).toHaveLength(1);
  const next = await minutes('KXBUSY-1', START + 499 * 60 + 1, 5000);
  expect(next.data.map(({ timestamp }) => timestamp)).toEqual(everyMinute(START + 500 * 60, 5000));
  const spans = asked().map((query) => Number(query.get('end_ts')) - Number(query.get('start_ts')));
  expect(Math.max(...spans)).toBeLessThan(3 * DAY);
  expect(spans.length).toBeLessThan(5);
});

test('a year that is quiet until its last day is read part by part to its end', async () => {
  const { data, meta } = await minutes('KXQUIET-1', START, 500);
  expect(data.map(({ timestamp }) => timestamp)).toEqual(everyMinute(END - DAY - 60, 500));
  expect(meta.complete).toBe(true);
  const spans = asked().map((query) => [Number(query.get('start_ts')), Number(query.get('end_ts'))] as const);
  expect(Math.max(...spans.map(([from, to]) => to - from))).toBeLessThan(3 * DAY);
  expect(spans.slice(1).map(([from]) => from)).toEqual(spans.slice(0, -1).map(([, to]) => to + 1));
});

test('days are made of as many hours as they need', async () => {
  const path = `markets/price-history?provider=kalshi&market_ids=KXBUSY-1&interval=1440&start_ts=${START}&end_ts=${END}&limit=300`;
  const { data } = await store.get<Answer>(path);
  expect(data.map(({ timestamp }) => timestamp)).toEqual(Array.from({ length: 300 }, (_, i) => START + i * DAY));
});

test('the bar that ends with the instant at which trading begins is served', async () => {
  const { data } = await minutes('KXBUSY-1', START - 600, 2);
  expect(data.map(({ timestamp }) => timestamp)).toEqual(everyMinute(START - 60, 2));
});

test('bars that a caller waits for are stored without waiting for the rows of others', async () => {
  const insert = vi.spyOn(store.clickhouse, 'insert');
  await minutes('KXBUSY-1', START + 100 * DAY, 500);
  const options = insert.mock.calls.flatMap(([table, , given]) => (table === CANDLE_COLUMNS ? [given] : []));
  expect(options).toEqual([{ isUrgent: true }]);
});
