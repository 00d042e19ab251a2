import { afterAll, beforeAll, expect, test } from 'vitest';
import { EACH_MARKET } from '../../src/markets/trade-history.ts';
import { TradeCopier } from '../../src/present/trades/copier.ts';
import { applyRetention, keptFrom } from '../../src/stores/clickhouse/retention.ts';
import { silent } from '../helpers/silent-log.ts';
import { market, type MarketStore, startMarketStore, trade } from '../helpers/market-store.ts';
import { clockAt } from '../helpers/virtual-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Twenty minutes past an hour. */
const NOW = Math.floor(Date.now() / HOUR) * HOUR - HOUR + 20 * 60_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const SPAN_FROM = NOW - 390 * DAY;
const WALLET = `0x${'5e'.repeat(20)}`;

interface Listed {
  trades: { size: number }[];
  pagination: { total: number; next_cursor: string | null };
  meta: { complete_from: string | null; older_trades: string };
}

let store: MarketStore;
/** The time from which raw trades are kept. */
let kept: string;
const list = (path: string) => store.get<Listed>(path);
const wallet = async (query: string) => (await store.get<{ wallet: object }>(`wallets/${WALLET}${query}`)).wallet;
const sizes = ({ trades }: Listed): number[] => trades.map(({ size }) => size);

beforeAll(async () => {
  store = await startMarketStore({ clock: clockAt(() => NOW) });
  const born = { createdAt: iso(NOW - 380 * DAY), tradingStartAt: iso(NOW - 380 * DAY) };
  const old = market({ platform: 'kalshi', ref: 'KXOLD-1', ...born });
  const walked = market({ platform: 'polymarket', ref: `0x${'ab'.repeat(32)}`, platformId: '7', ...born });
  await store.list(old, walked);
  for (const platform of ['kalshi', 'polymarket'] as const) await store.cover(platform, SPAN_FROM, NOW);
  await store.cover('limitless', SPAN_FROM, NOW, '', EACH_MARKET);
  const trader = { address: WALLET, name: '', pseudonym: '', profileImage: '' };
  await store.trade(
    // In the hour in which the window of a year begins: before it and in it.
    trade({ of: old, atMs: NOW - 365 * DAY - 600_000, price: '0.5', size: '1000' }),
    trade({ of: old, atMs: NOW - 365 * DAY + 600_000, price: '0.5', size: '600' }),
    trade({ of: old, atMs: NOW - DAY, price: '0.5', size: '300' }),
    trade({ of: old, atMs: NOW - HOUR, price: '0.5', size: '10' }),
    trade({ of: walked, atMs: NOW - 100 * DAY, price: '0.5', size: '20', trader }),
    trade({ of: walked, atMs: NOW - DAY, price: '0.5', size: '30', trader }),
  );
  const rules = {
    RETENTION_SNAPSHOTS_DAYS: 0,
    RETENTION_STREAM_DAYS: 30,
    RETENTION_BOOKS_DAYS: 30,
    COLD_AFTER_DAYS: 0,
  };
  await applyRetention(store.clickhouse, { ...rules, RETENTION_TRADES_DAYS: 40 }, silent);
  await store.clickhouse.command('OPTIMIZE TABLE trades FINAL');
  kept = (await keptFrom(store.clickhouse, 'trades')).toISOString();
  const { postgres, deps } = store.app;
  for (const platform of ['kalshi', 'polymarket'] as const)
    await new TradeCopier(
      { clickhouse: store.clickhouse, postgres, log: deps.log, clock: deps.clock },
      platform,
    ).catchUp(0);
});
afterAll(() => store?.close());

test('the trades of a market are complete from the time from which they are kept, its bars from before', async () => {
  const listed = await list('markets/trades?provider=kalshi&market_id=KXOLD-1');
  expect(sizes(listed)).toEqual([10, 300]);
  expect(listed.meta).toMatchObject({ complete_from: kept, older_trades: 'unknown' });
  const bars = await list(
    `markets/price-history?provider=kalshi&market_ids=KXOLD-1&interval=1440&start_ts=${NOW / 1000 - 390 * 86_400}&end_ts=${NOW / 1000}`,
  );
  expect(bars.meta).toMatchObject({ complete_from: iso(NOW - 380 * DAY), older_trades: 'none' });
});

test('large trades of all markets are kept, those of one market and smaller ones like all others', async () => {
  const large = await list('trades/whales?platform=kalshi&min_size=250');
  expect([sizes(large), large.pagination.total]).toEqual([[300, 600, 1000], 3]);
  expect(large.meta.complete_from).toBe(iso(SPAN_FROM));
  const own = await list('trades/whales?platform=kalshi&market_id=KXOLD-1&min_size=250');
  expect(own).toMatchObject({ pagination: { total: 1 }, meta: { complete_from: kept, older_trades: 'unknown' } });
  const bySize = 'trades/whales?platform=kalshi&min_size=1&sort=size&limit=1';
  const shown: number[] = [];
  const totals: number[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Listed = await list(`${bySize}${cursor && `&cursor=${cursor}`}`);
    shown.push(...sizes(page));
    totals.push(page.pagination.total);
    expect(page.meta).toMatchObject({ complete_from: kept });
    cursor = page.pagination.next_cursor;
  }
  expect([shown, totals]).toEqual([
    [300, 10],
    [2, 2],
  ]);
});

test('a wallet is complete from the time from which trades are kept, and never where each market has its own feed', async () => {
  expect(await wallet('?platform=polymarket')).toMatchObject({ trades: 1, volume_usd: 15, complete_from: kept });
  expect(await wallet('?platform=limitless')).toMatchObject({ complete_from: null });
  expect(await wallet('')).toMatchObject({ trades: 1, complete_from: null });
});

test('the volume of a year counts trades of its first hour that were dropped', async () => {
  const { metrics } = await store.get<{ metrics: { volume: { volume_1y: number } } }>(
    'metrics/snapshot?platform=kalshi&market_id=KXOLD-1',
  );
  expect(metrics.volume.volume_1y).toBe(910);
});
