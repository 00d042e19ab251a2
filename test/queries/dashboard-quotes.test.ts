import { afterAll, beforeAll, expect, test } from 'vitest';
import { marketKey } from '../../src/core/market-key.ts';
import { expand, readDashboards } from '../helpers/dashboards.ts';
import { market, type MarketStore, quotes, startMarketStore } from '../helpers/market-store.ts';

const HOUR = 3_600_000;
const START = Math.floor(Date.now() / HOUR) * HOUR - 3 * HOUR;
let store: MarketStore;

beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

/** Rows of a panel of the market dashboard, in points of an hour. */
async function rowsOf(title: string, ref: string): Promise<object[]> {
  const panel = readDashboards()
    .get('market')
    ?.panels.find((one) => one.title === title);
  const values = { market: [marketKey({ platform: 'kalshi', ref })] };
  const view = { from: new Date(START), to: new Date(START + 2 * HOUR), intervalSeconds: 3600, values };
  return store.clickhouse.sql(expand(panel?.targets[0]?.rawSql ?? '', view));
}

test('a point of the chart of quotes has the bid and the ask of one moment, none where a side was empty then', async () => {
  const ref = 'KXQUOTED-1';
  const quoted = (atMs: number, bid: string | null, ask: string) =>
    market({
      platform: 'kalshi',
      ref,
      fetchedAt: new Date(START + atMs).toISOString(),
      state: { quotes: quotes('0.5', bid, ask) },
    });
  await store.list(quoted(60_000, '0.48', '0.52'));
  await store.list(quoted(120_000, null, '0.3'));
  await store.list(quoted(HOUR, '0.2', '0.4'));
  expect(await rowsOf('Price, bid and ask', ref)).toMatchObject([
    { price: 0.5, bid: null, ask: 0.3 },
    { price: 0.5, bid: 0.2, ask: 0.4 },
  ]);
});

test('a point of the chart of depth has the depth of its last minute, none without a middle', async () => {
  const ref = 'KXDEPTH-1';
  const minute = (atMs: number, size: string | null) => ({
    platform: 'kalshi',
    ref,
    minute: new Date(START + atMs).toISOString(),
    middle: size === null ? null : '0.5',
    bid_1c: size,
    ask_1c: size,
    bid_5c: size,
    ask_5c: size,
    version: new Date(START + atMs).toISOString(),
  });
  await store.clickhouse.insert('book_depth (platform, ref, minute, middle, bid_1c, ask_1c, bid_5c, ask_5c, version)', [
    minute(60_000, '7'),
    minute(120_000, null),
    minute(HOUR, '9'),
  ]);
  expect(await rowsOf('Depth of the recorded book', ref)).toMatchObject([
    { 'bid, 1 cent': null, 'ask, 5 cents': null },
    { 'bid, 1 cent': 9, 'ask, 5 cents': 9 },
  ]);
});
