import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MarketRecord } from '../../../src/core/model.ts';
import { type MarketStore, market, quotes, startMarketStore, trade, usd } from '../../helpers/market-store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();
const PLATFORMS = ['kalshi', 'polymarket', 'limitless'] as const;
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

interface Answers {
  whales: { trades: { trader: { address: string } }[]; pagination: { total: number } };
  trending: { trending: Record<string, unknown>[]; meta: { total_markets_analyzed: number } };
  categories: { categories: Record<string, unknown>[] };
  history: { data: Record<string, unknown>[]; data_availability: Record<string, boolean> };
  snapshot: { status: string; metrics: Record<string, unknown> };
}

let store: MarketStore;

/** What every endpoint says of one market. */
async function everyAnswer({ info: { platform, platformId: id } }: MarketRecord): Promise<Answers> {
  await store.refresh();
  const of = `platform=${platform}&market_id=${id}`;
  return {
    whales: await store.get(`trades/whales?${of}&min_size=0`),
    trending: await store.get(`analytics/trending?platform=${platform}&limit=100`),
    categories: await store.get(`analytics/categories?platform=${platform}`),
    history: await store.get(`metrics/historical?${of}&interval=1h&start_ts=${NOW - 6 * DAY}`),
    snapshot: await store.get(`metrics/snapshot?${of}`),
  };
}

describe('in a store of one market', () => {
  beforeAll(async () => {
    store = await startMarketStore();
  });
  afterAll(() => store?.close());
  const only = market({ platform: 'polymarket', ref: '0xonly', createdAt: ago(5 * DAY), state: { volumeTotal: 0n } });

  test('nothing is found of another', async () => {
    const { key } = await store.app.newKey();
    for (const platform of PLATFORMS) {
      for (const url of ['metrics/historical', 'metrics/snapshot', 'trades/whales']) {
        const reply = await store.app.app.inject({
          url: `/v1/api/${url}?platform=${platform}&market_id=0xnobody`,
          headers: { 'x-api-key': key },
        });
        expect([url, reply.statusCode, reply.json().error?.status]).toEqual([url, 404, 404]);
      }
    }
  });

  test('without trades, what is known is zero and what is not is null', async () => {
    await store.list(only);
    await store.cover('polymarket', NOW - 60 * DAY, Date.now());
    const { whales, trending, categories, history, snapshot } = await everyAnswer(only);
    expect(whales).toMatchObject({ trades: [], pagination: { total: 0 } });
    expect(trending.meta.total_markets_analyzed).toBe(1);
    expect(trending.trending).toMatchObject([
      {
        market_id: '0xonly',
        current_price: { yes: null, no: null },
        change: { volume_24h: 0, volume_change_percent: null, price_change_24h: null, price_change_percent: null },
        metrics: { total_volume: 0, open_interest: null },
      },
    ]);
    expect(categories.categories).toMatchObject([
      { slug: 'sports', active_markets: 1, total_markets: 1, volume_24h: 0, total_volume: 0, avg_spread: null },
    ]);
    expect(history.data).toEqual([]);
    expect(Object.values(history.data_availability)).toEqual(Object.values(history.data_availability).map(() => false));
    expect(snapshot.metrics).toMatchObject({
      volume: { total: 0, volume_24h: 0, volume_7d: 0, volume_30d: 0, volume_1y: 0 },
      notional_value: 0,
      // Counted among stored trades, of which there are none.
      unique_traders: null,
      competitive_score: null,
    });
  });

  test('that was traded once, every endpoint shows that trade', async () => {
    const trader = { address: `0x${'1'.repeat(40)}`, name: 'one', pseudonym: '', profileImage: '' };
    await store.trade(trade({ of: only, atMs: NOW - 2 * HOUR, price: '0.3', size: '7.5', trader }));
    await store.cover('polymarket', NOW - 60 * DAY, Date.now());
    await store.list({
      ...only,
      state: { ...only.state, volumeTotal: usd('2.25'), quotes: quotes('0.3', '0.29', '0.31') },
      fetchedAt: new Date().toISOString(),
    });
    const { whales, trending, categories, history, snapshot } = await everyAnswer(only);
    expect(whales.trades).toMatchObject([{ size: 7.5, price: 0.3, notional_value: 2.25, trader: { name: 'one' } }]);
    // Nothing was sold the day before: there is no percentage, not an infinite one.
    expect(trending.trending).toMatchObject([{ change: { volume_24h: 2.25, volume_change_percent: null } }]);
    expect(categories.categories).toMatchObject([{ volume_24h: 2.25, volume_7d: 2.25, avg_spread: 0.02 }]);
    expect(history.data.filter((item) => item['trade_count'] === 1)).toMatchObject([
      { price: { open: 0.3, high: 0.3, low: 0.3, close: 0.3 }, volume: 7.5, notional_value: 2.25 },
    ]);
    expect(snapshot.metrics).toMatchObject({
      volume: { total: 2.25, volume_24h: 2.25, volume_1y: 2.25 },
      notional_value: 2.25,
      unique_traders: 1,
    });
  });
});

describe('in a store of every platform', () => {
  beforeAll(async () => {
    store = await startMarketStore();
  });
  afterAll(() => store?.close());

  test('traders are named where the platform names them, and not invented elsewhere', async () => {
    const trader = { address: `0x${'2'.repeat(40)}`, name: 'two', pseudonym: '', profileImage: '' };
    const of = PLATFORMS.map((platform) =>
      market({ platform, ref: `${platform.toUpperCase()}-USERS`, createdAt: ago(3 * DAY) }),
    );
    await store.list(...of);
    for (const record of of) {
      const { platform } = record.info;
      const who = platform === 'kalshi' ? null : trader;
      await store.trade(trade({ of: record, atMs: NOW - HOUR, price: '0.5', size: '2000', trader: who }));
      await store.cover(platform, NOW - 60 * DAY, Date.now());
    }
    await store.list(...of.map((record) => ({ ...record, fetchedAt: new Date().toISOString() })));
    const reported = await Promise.all(of.map(everyAnswer));
    expect(reported.map(({ snapshot }) => snapshot.metrics['unique_traders'])).toEqual([null, 1, 1]);
    expect(reported.map(({ whales }) => whales.trades[0]?.trader.address)).toEqual([
      '',
      trader.address,
      trader.address,
    ]);
  });

  test.each(PLATFORMS)(
    'a %s market that settled inside a window keeps its life and trends no more',
    async (platform) => {
      const settled = market({
        platform,
        ref: `${platform.toUpperCase()}-SETTLED`,
        createdAt: ago(4 * DAY),
        tradingStartAt: ago(4 * DAY),
        tradingEndAt: ago(10 * HOUR),
        state: {
          status: 'settled',
          resolvedAt: ago(9 * HOUR),
          volumeTotal: usd('600'),
          quotes: quotes('1'),
        },
      });
      await store.list(settled);
      await store.trade(
        trade({ of: settled, atMs: NOW - 3 * DAY, price: '0.5', size: '800' }),
        trade({ of: settled, atMs: NOW - 11 * HOUR, price: '0.8', size: '250' }),
      );
      await store.cover(platform, NOW - 60 * DAY, Date.now());
      const { whales, trending, history, snapshot } = await everyAnswer(settled);
      expect(whales.pagination.total).toBe(2);
      expect(trending.trending.filter((row) => row['market_id'] === settled.info.platformId)).toEqual([]);
      const traded = history.data.filter((item) => item['trade_count'] !== 0);
      expect(traded.map((item) => [item['volume'], item['notional_value']])).toEqual([
        [800, 400],
        [250, 200],
      ]);
      const day = platform === 'kalshi' ? 250 : 200;
      const week = platform === 'kalshi' ? 1050 : 600;
      expect(snapshot).toMatchObject({
        status: 'settled',
        metrics: {
          volume: { total: 600, volume_24h: day, volume_7d: week, volume_30d: week },
          notional_value: 600,
          spread: { best_bid: null, best_ask: null, spread: null, adjusted_midpoint: null },
        },
      });
    },
  );
});
