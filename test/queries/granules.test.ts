import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { parseSize, parseUsd } from '../../src/core/decimal.ts';
import { PLATFORMS } from '../../src/core/model.ts';
import { whalePage } from '../../src/queries/whale-trades.ts';
import { market, type MarketStore, startMarketStore, trade } from '../helpers/market-store.ts';
import type { QueryParams } from '../../src/stores/clickhouse/client.ts';

const EVENTS = 30_000;
let store: MarketStore;

beforeAll(async () => {
  store = await startMarketStore();
  const one = market({ ref: 'KXGRAN', platform: 'kalshi' });
  await store.list(one);
  await store.trade(trade({ of: one, atMs: Date.now() - 3_600_000, price: '0.5', size: '1' }));
  await store.clickhouse.command(
    `INSERT INTO events (platform, event_id, slug, version)
     SELECT 'polymarket', toString(number), 'slug-' || toString(number), now64(3) FROM numbers(${EVENTS})`,
  );
  await store.clickhouse.command(
    `INSERT INTO trades (platform, ref, executed_at, trade_order, id_form, id_text, tx_text, outcome, outcome_index, series, side, price, size, quote_usd, trader_text, is_block)
     SELECT 'polymarket', toString(number % 3000), now64(6) - 7200, number, 'text', toString(number), '', 'yes', 0, 0, 'buy', 0.5, 1, NULL, '', false
     FROM numbers(100000)`,
  );
});
afterAll(() => store?.close());

/** The granules that a query of sql/queries reads of each table, in the order of its plan. */
async function granules(name: string, params: QueryParams): Promise<[table: string, read: number][]> {
  return granulesOf(await readFile(new URL(`../../sql/queries/${name}.sql`, import.meta.url), 'utf8'), params);
}

async function granulesOf(text: string, params: QueryParams = {}): Promise<[table: string, read: number][]> {
  const plan = await store.clickhouse.sql<{ explain: string }>(`EXPLAIN indexes = 1 ${text}`, params);
  const whole = plan.map(({ explain }) => explain).join('\n');
  return [...whole.matchAll(/ReadFromMergeTree \(\w+\.(\w+)\)[^(]*?Parts: \d+ \| Granules: (\d+)/g)].map(
    ([, table = '', read]) => [table, Number(read)],
  );
}

test('an event is found by its id in one granule, and by its other name where no id is it', async () => {
  expect(await granules('event_key', { platform: 'polymarket', id: '123' })).toEqual([['events', 1]]);
  const named = await granules('event_key', { platform: 'polymarket', id: 'slug-77' });
  expect(named.map(([, read]) => read)).toEqual([1, expect.any(Number)]);
});

test('prices at an instant are read of the markets that are asked for', async () => {
  const [row] = await store.clickhouse.sql<{ key: string }>("SELECT toString(sipHash64('kalshi', 'KXGRAN')) AS key");
  const at = new Date().toISOString().slice(0, 19).replace('T', ' ');
  const read = await granules('prices_at', { platform: 'kalshi', keys: [BigInt(row!.key)], at });
  expect(read.map(([table]) => table)).toContain('trades');
  for (const [table, count] of read) expect([table, count <= 2]).toEqual([table, true]);
});

test('a window of a busy market reads its bars of that time alone, beside many markets with few bars', async () => {
  // A granule has 1,024 bars: ten have the busy market, of 300 each begins with another market.
  await store.clickhouse.command(
    `INSERT INTO candles_1m (market_key, series, t, o, h, l, c, v, q, n)
     SELECT if(number < 10240, 1, 2 + intDiv(number - 10240, 1024)), 0, toDateTime('2026-11-01 00:00:00', 'UTC') + 60 * (number % 10240),
       (toUInt64(number), toDecimal64(0.5, 10)), 0.5, 0.5, (toUInt64(number), toDecimal64(0.5, 10)), 1, 0.5, 1
     FROM numbers(${310 * 1024})`,
  );
  const bars = `SELECT * FROM v_candles WHERE market_key = 1 AND interval = '5m' AND time >= '2026-11-08 00:00:00'`;
  const [read] = await granulesOf(bars);
  expect(read).toEqual(['candles_1m', 1]);
});

test('trades of a wallet are found by an index', async () => {
  const params = { address: `0x${'ab'.repeat(20)}`, platforms: ['polymarket'] };
  const readOf = async (): Promise<number> => Object.fromEntries(await granules('wallet', params))['trades'] ?? 0;
  const read = await readOf();
  await store.clickhouse.command('ALTER TABLE trades DROP INDEX trader_index SETTINGS mutations_sync = 1');
  expect(read).toBeLessThan((await readOf()) / 4);
});

test('markets that traded lately are found without the totals and bars of the others', async () => {
  await store.clickhouse.command(
    `INSERT INTO platform_candles (platform, market_key, interval_min, t, source)
     SELECT 'kalshi', intDiv(number, 1024), 1, now() - number % 1024, 'trades' FROM numbers(${200 * 1024})`,
  );
  const rows = await store.clickhouse.query('traded_lately', z.object({ ref: z.string() }), {
    platform: 'kalshi',
    limit: 10,
  });
  expect(rows).toEqual([{ ref: 'KXGRAN' }]);
  const read = Object.fromEntries(await granules('traded_lately', { platform: 'kalshi', limit: 10 }));
  expect(read['platform_candles']).toBeLessThanOrEqual(4);
  expect(read['market_totals']).toBeLessThanOrEqual(2);
});

test('trades of a notional are read from the same size on, because a price is at most 1', async () => {
  const sizes: unknown[] = [];
  const query = async (_name: string, _row: unknown, { min_size: size }: QueryParams) => {
    sizes.push(size);
    return [];
  };
  const stores = {
    clickhouse: { query },
    postgres: store.app.postgres,
    traderNames: { of: async () => () => undefined },
  } as unknown as Parameters<typeof whalePage>[0];
  const filter = { market: null, addresses: [], startMs: undefined, endMs: undefined, sort: 'size' } as const;
  for (const [minSize, minNotional] of [
    ['7', '0'],
    ['7', '500.5'],
    ['900', '500.5'],
  ] as const) {
    const floors = { minSize: parseSize(minSize), minNotional: parseUsd(minNotional) };
    await whalePage(stores, { ...filter, ...floors, platforms: PLATFORMS }, null, 10);
  }
  expect([...new Set(sizes)]).toEqual(['7', '500.5', '900']);
});
