import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { microsecondText } from '../../../src/stores/clickhouse/insert-rows.ts';
import type { MarketRecord, TradeRecord } from '../../../src/core/model.ts';
import { EACH_MARKET } from '../../../src/markets/trade-history.ts';
import { type MarketStore, market, quotes, startMarketStore, trade, usd } from '../../helpers/market-store.ts';
import { rescale, sum, toNumber } from '../../oracle/exact.ts';

interface Item {
  market_id: string;
  platform: string;
  status: string;
  title: string;
  category: string;
  url: string;
  current_price: { yes: number | null; no: number | null };
  change: Record<string, number | null>;
  metrics: Record<string, number | null>;
}
interface Trending {
  trending: Item[];
  meta: {
    platforms: string[];
    total_markets_analyzed: number;
    as_of: string | null;
    data_completeness: Record<string, Record<string, unknown>>;
  };
}
interface Category {
  name: string;
  slug: string;
  active_markets: number;
  [field: string]: unknown;
}
interface Categories {
  categories: Category[];
  meta: { total_active_markets: number; total_volume_24h: number | null; as_of: string | null };
}

const DAY = 86_400_000;
const HOUR = 3_600_000;
const NOW = Date.now();
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

let store: MarketStore;
const world: TradeRecord[] = [];

/** What a platform counts as volume: contracts on Kalshi, USD elsewhere; in units of 10^-6. */
const worth = (row: TradeRecord): bigint =>
  row.platform === 'kalshi' ? row.size : rescale(row.price * row.size, 16, 6);

/** Sold by a market in (from, to] days before an instant, by the trades themselves. */
function sold({ info }: MarketRecord, asOf: string, fromDays: number, toDays = 0): bigint {
  const at = Date.parse(asOf) * 1000;
  const inside = world.filter(
    (row) =>
      row.ref === info.ref &&
      row.executedAtUs > at - fromDays * DAY * 1000 &&
      row.executedAtUs <= at - toDays * DAY * 1000,
  );
  return sum(inside.map(worth));
}

/** 100 × (now − then) / then, to six places. */
function percent(now: bigint, then: bigint): number | null {
  if (then === 0n) return null;
  // Twelve places more than asked for, then rounded as decimals are.
  return toNumber(rescale(((now - then) * 10n ** 20n) / then, 18, 6), 6);
}

async function tradeAll(...rows: TradeRecord[]): Promise<void> {
  world.push(...rows);
  await store.trade(...rows);
}

const trending = async (query = ''): Promise<Trending> => {
  await store.refresh();
  return store.get<Trending>(`analytics/trending?limit=100&${query}`);
};
const oldestSnapshot = async (query: string): Promise<unknown> =>
  (await trending(query)).meta.data_completeness['kalshi']?.['oldest_snapshot'];
const categories = async (query = ''): Promise<Categories> => {
  await store.refresh();
  return store.get<Categories>(`analytics/categories?${query}`);
};
const found = ({ trending: rows }: Trending, { info }: MarketRecord): Item => {
  const row = rows.find((one) => one.market_id === info.platformId && one.platform === info.platform);
  if (!row) throw new Error(`${info.ref} is not listed`);
  return row;
};

/** One store for a group of tests, which keep apart by category. */
function ownStore(): void {
  beforeAll(async () => {
    world.length = 0;
    store = await startMarketStore();
  });
  afterAll(() => store?.close());
}

/** Everything that was ever traded is stored. */
const coverAll = async (): Promise<void> => {
  for (const platform of ['kalshi', 'polymarket', 'limitless'] as const)
    await store.cover(platform, NOW - 60 * DAY, Date.now());
};

/** A trade in every second around the instants that windows begin at, each of another size. */
const aroundEdges = (of: MarketRecord): TradeRecord[] =>
  [1, 2, 7, 14].flatMap((days) =>
    Array.from({ length: 41 }, (_, i) =>
      trade({ of, atMs: NOW - days * DAY + (i - 10) * 1000, price: '0.37', size: `${days * 100 + i}.123457` }),
    ),
  );

describe('windows', () => {
  ownStore();

  test('of an empty store are none', async () => {
    expect(await trending()).toMatchObject({
      trending: [],
      meta: { total_markets_analyzed: 0, data_completeness: {}, as_of: null },
    });
    expect(await categories()).toMatchObject({
      categories: [],
      meta: { total_active_markets: 0, total_volume_24h: null, as_of: null },
    });
  });

  const markets = (['kalshi', 'polymarket', 'limitless'] as const).map((platform) =>
    market({ platform, ref: `${platform}-1`, createdAt: ago(50 * DAY), state: { volumeTotal: usd('1000000') } }),
  );

  /** Both windows of every market against its trades. */
  async function expectExact(): Promise<void> {
    for (const [window, days] of [
      ['24h', 1],
      ['7d', 7],
    ] as const) {
      const answer = await trending(`window=${window}&category=sports`);
      const asOf = answer.meta.as_of ?? '';
      for (const of of markets) {
        const { change } = found(answer, of);
        const [now, before] = [sold(of, asOf, days), sold(of, asOf, 2 * days, days)];
        expect(change['volume_change_percent']).toBe(percent(now, before));
        expect(change['volume_24h']).toBe(toNumber(sold(of, asOf, 1), 6));
      }
    }
  }

  test('are exact to the second, however the trades came', async () => {
    await store.list(...markets);
    await coverAll();
    const edges = markets.flatMap(aroundEdges);
    const spread = markets.flatMap((of) =>
      Array.from({ length: 60 }, (_, i) => trade({ of, atMs: NOW - i * 7 * HOUR, price: '0.61', size: `${i + 1}.5` })),
    );
    await tradeAll(...edges.filter((_, i) => i % 2 === 0));
    await expectExact();
    // Late trades, a backfill that reaches further back, and everything once more.
    await tradeAll(...edges.filter((_, i) => i % 2 === 1), ...spread);
    await expectExact();
    await store.trade(...world);
    await expectExact();
  });

  test('of a market that was just born have no percentage, and a market without trades has sold nothing', async () => {
    const category = 'Crypto';
    const born = market({ platform: 'kalshi', ref: 'KXBORN-1', category, createdAt: ago(2 * HOUR) });
    const idle = market({ platform: 'kalshi', ref: 'KXIDLE-1', category, createdAt: ago(40 * DAY) });
    await store.list(born, idle);
    await coverAll();
    await tradeAll(trade({ of: born, atMs: NOW - HOUR, price: '0.5', size: '10' }));
    const answer = await trending('category=crypto');
    expect(found(answer, born).change).toMatchObject({ volume_24h: 10, volume_change_percent: null });
    expect(found(answer, idle).change).toMatchObject({ volume_24h: 0, volume_change_percent: null });
    expect(answer.meta.data_completeness['kalshi']).toMatchObject({
      markets: 2,
      with_volume_change: 0,
      volumes_from: { trades: 2, snapshots: 0, unknown: 0 },
    });
  });

  test('of a pool, whose trades no feed brings, are what its platform reports', async () => {
    const of = { platform: 'limitless', category: 'Mentions', metadata: { trade_type: 'amm' } } as const;
    const silent = market({ ...of, ref: 'silent-pool' });
    const reporting = market({ ...of, ref: 'reporting-pool', state: { volume24h: usd('7') } });
    await store.list(silent, reporting);
    await coverAll();
    const answer = await trending('category=mentions');
    expect([silent, reporting].map((pool) => found(answer, pool).change['volume_24h'])).toEqual([null, 7]);
  });

  test('of a market younger than what is stored are complete, others are unknown until there is more', async () => {
    const category = 'Politics';
    const young = market({ platform: 'polymarket', ref: '0xaa', category, tradingStartAt: ago(30 * HOUR) });
    const old = market({ platform: 'polymarket', ref: '0xbb', category, tradingStartAt: ago(90 * DAY) });
    await store.list(young, old);
    await store.cover('polymarket', NOW - 36 * HOUR, Date.now());
    const rows = [26, 2].flatMap((hours) =>
      [young, old].map((of) => trade({ of, atMs: NOW - hours * HOUR, price: '0.5', size: hours === 2 ? '60' : '40' })),
    );
    await tradeAll(...rows);
    const answer = await trending('category=politics');
    expect(found(answer, young).change['volume_change_percent']).toBe(50);
    expect(found(answer, old).change).toMatchObject({ volume_change_percent: null, volume_24h: 30 });
    expect(answer.meta.data_completeness['polymarket']).toMatchObject({
      volumes_from: { trades: 1, snapshots: 0, unknown: 1 },
      trades_complete_from: ago(36 * HOUR),
      window_covered: 'partial',
    });
    // One market's own history is read back further than the feed's.
    await store.cover('polymarket', NOW - 91 * DAY, Date.now(), '0xbb');
    expect(found(await trending('category=politics'), old).change['volume_change_percent']).toBe(50);
  });

  test('come from totals of snapshots where the trades are not all stored', async () => {
    const category = 'Economy';
    const of = { platform: 'limitless', ref: 'reported-by-totals', category, createdAt: ago(80 * DAY) } as const;
    await store.cover('limitless', NOW - HOUR, Date.now());
    const at = (ms: number, total: string) =>
      market({ ...of, fetchedAt: ago(ms), state: { volumeTotal: usd(total), volume24h: usd('1') } });
    for (const [hours, total] of [
      [49, '1000'],
      [48.5, '1010.5'],
      [47, '1500'],
      [25, '1310.5'],
      [23, '1700'],
    ] as const)
      await store.list(at(hours * HOUR, total));
    const last = at(0, '1760.5');
    await store.list(last);
    const answer = await trending('category=economy');
    // (1760.5 − 1310.5) against (1310.5 − 1010.5)
    expect(found(answer, last).change).toMatchObject({ volume_24h: 450, volume_change_percent: 50 });
    expect(answer.meta.data_completeness['limitless']).toMatchObject({
      volumes_from: { trades: 0, snapshots: 1, unknown: 0 },
      trades_complete_from: ago(HOUR),
      oldest_snapshot: ago(49 * HOUR),
      window_covered: 'partial',
    });
  });

  test('name no snapshot that was dropped for its age', async () => {
    await store.list(market({ platform: 'kalshi', ref: 'KXOLD-1', category: 'Transport', fetchedAt: ago(50 * HOUR) }));
    expect(await oldestSnapshot('category=transport')).toBe(ago(50 * HOUR));
    const kept = ago(30 * HOUR);
    await store.clickhouse.command(
      `ALTER TABLE market_snapshots MODIFY COMMENT 'No row was dropped for its age since ${kept}'`,
    );
    expect(await oldestSnapshot('category=transport')).toBe(kept);
    await store.clickhouse.command("ALTER TABLE market_snapshots MODIFY COMMENT ''");
  });

  test('say of no span of trades where each market has its own feed', async () => {
    await store.list(market({ platform: 'limitless', ref: 'own-feed', category: 'Fashion' }));
    await store.cover('limitless', NOW - 90 * DAY, Date.now(), '', EACH_MARKET);
    expect((await trending('category=fashion')).meta.data_completeness['limitless']).toMatchObject({
      trades_complete_from: null,
      trades_complete_to: null,
      window_covered: 'none',
    });
    await store.cover('limitless', NOW - 90 * DAY, Date.now());
  });

  test('are unknown while a gap in a feed is not filled, and while a feed has fallen behind', async () => {
    const [kalshi, polymarket] = (['kalshi', 'polymarket'] as const).map((platform) =>
      market({ platform, ref: `${platform}-2`, category: 'Health', createdAt: ago(50 * DAY) }),
    ) as [MarketRecord, MarketRecord];
    await store.list(kalshi, polymarket);
    await coverAll();
    await tradeAll(...[kalshi, polymarket].flatMap(aroundEdges));
    const gap = { platform: 'polymarket', gap_from: microsecondText((NOW - 40 * HOUR) * 1000) };
    const row = { ...gap, gap_to: microsecondText((NOW - 16 * HOUR) * 1000) };
    await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...row, filled: 0 }]);
    await store.cover('kalshi', NOW - 60 * DAY, NOW - DAY);
    const answer = await trending('category=health');
    for (const of of [kalshi, polymarket]) expect(found(answer, of).change['volume_change_percent']).toBeNull();
    expect(answer.meta.data_completeness).toMatchObject({
      kalshi: { window_covered: 'partial', trades_complete_to: ago(DAY), volumes_from: { unknown: 1 } },
      polymarket: { window_covered: 'partial', trades_complete_from: ago(16 * HOUR), volumes_from: { unknown: 1 } },
    });
    await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [{ ...row, filled: 1 }]);
    await store.cover('kalshi', NOW - 60 * DAY, Date.now());
    const filled = await trending('category=health');
    const asOf = filled.meta.as_of ?? '';
    for (const of of [kalshi, polymarket]) {
      expect(found(filled, of).change['volume_change_percent']).toBe(percent(sold(of, asOf, 1), sold(of, asOf, 2, 1)));
    }
  });
});

const order = async (query: string) => (await trending(query)).trending.map((row) => row.market_id);

describe('trending', () => {
  const names = ['KXA-1', 'KXB-1', 'KXC-1', 'KXD-1', 'KXE-1', 'KXF-1'];
  /** Contracts sold in the window before and in the window, then price, its change in a day and in a week. */
  const facts: [number, number, string | null, string | null, string | null][] = [
    [10, 25, '0.5', '0.1', null],
    [10, 5, '0.2', '-0.3', '-0.1'],
    [0, 900, '0.9', '0.3', '0.45'],
    [0, 40, null, null, null],
    [20, 50, '0.25', '0', '0.05'],
    [4, 1, '0.3', '0.3', '0.299'],
  ];
  const cast = names.map((ref, i) => {
    const [, , price, day, week] = facts[i]!;
    const changes = [day, week].map((text) => (text === null ? null : BigInt(Math.round(Number(text) * 1e10))));
    return market({
      platform: 'kalshi',
      ref,
      category: i < 2 ? 'Politics' : i === 2 ? '' : 'Climate and Weather',
      createdAt: ago(30 * DAY),
      state: {
        quotes: price === null ? [] : quotes(price),
        priceChange24h: changes[0] ?? null,
        priceChange7d: changes[1] ?? null,
        volumeTotal: usd('5000'),
        liquidity: usd('12.5'),
        openInterest: i === 0 ? null : usd('77'),
      },
    });
  });

  ownStore();
  beforeAll(async () => {
    await store.list(...cast);
    await coverAll();
    for (const [i, [before, now]] of facts.entries()) {
      const of = cast[i]!;
      await tradeAll(trade({ of, atMs: NOW - HOUR, price: '0.5', size: String(now) }));
      if (before > 0) await tradeAll(trade({ of, atMs: NOW - 30 * HOUR, price: '0.5', size: String(before) }));
    }
  });
  test('orders by volume change, equal ones by volume, unknown ones last and by volume', async () => {
    expect(await order('')).toEqual(['KXE-1', 'KXA-1', 'KXB-1', 'KXF-1', 'KXC-1', 'KXD-1']);
    const { trending: rows } = await trending();
    expect(rows.map((row) => row.change['volume_change_percent'])).toEqual([150, 150, -50, -75, null, null]);
  });

  test('orders by the size of the price change, null where the price began at 0 or is unknown', async () => {
    const answer = await trending('sort=price_change');
    expect(answer.trending.map((row) => [row.market_id, row.change['price_change_percent']])).toEqual([
      ['KXB-1', -60],
      ['KXC-1', 50],
      ['KXA-1', 25],
      ['KXE-1', 0],
      ['KXD-1', null],
      ['KXF-1', null],
    ]);
    expect(answer.meta.data_completeness['kalshi']).toMatchObject({ with_price_change: 4, markets: 6 });
    const week = await trending('sort_by=price_change&window=7d');
    expect(week.trending.map((row) => [row.market_id, row.change['price_change_percent']])).toEqual([
      ['KXF-1', 29_900],
      ['KXC-1', 100],
      ['KXB-1', -33.333333],
      ['KXE-1', 25],
      // Sold 40 and 35 in the week.
      ['KXD-1', null],
      ['KXA-1', null],
    ]);
    // The change named after its 24 hours stays that of 24 hours.
    expect(week.trending[1]?.change['price_change_24h']).toBe(0.3);
  });

  test('shows each market as it stands', async () => {
    expect(found(await trending(), cast[0]!)).toEqual({
      market_id: 'KXA-1',
      platform: 'kalshi',
      title: 'Market KXA-1',
      category: 'Politics',
      status: 'open',
      url: 'https://example.com/KXA-1',
      image_url: '',
      current_price: { yes: 0.5, no: 0.5 },
      change: { volume_24h: 25, volume_change_percent: 150, price_change_24h: 0.1, price_change_percent: 25 },
      metrics: { total_volume: 5000, liquidity: 12.5, open_interest: null },
    });
  });

  test('keeps to platform, category and limit, and counts what it looked at', async () => {
    expect(await order('category=politics')).toEqual(['KXA-1', 'KXB-1']);
    expect(await order('category=climate-and-weather')).toEqual(['KXE-1', 'KXF-1', 'KXD-1']);
    expect(await order('category=other')).toEqual(['KXC-1']);
    expect(await order('category=unheard-of')).toEqual([]);
    expect(await order('platform=limitless')).toEqual([]);
    const { trending: rows, meta } = await store.get<Trending>('analytics/trending?limit=2&category=Politics');
    expect([rows.length, meta.total_markets_analyzed]).toEqual([2, 2]);
  });

  test('leaves out what does not trade any more', async () => {
    await store.list(
      market({ platform: 'kalshi', ref: 'KXA-1', state: { status: 'settled' } }),
      market({ platform: 'kalshi', ref: 'KXB-1', state: { status: 'paused' } }),
    );
    const answer = await trending();
    expect(answer.trending.map((row) => row.market_id)).toEqual(['KXE-1', 'KXF-1', 'KXC-1', 'KXD-1']);
    expect(answer.meta.total_markets_analyzed).toBe(4);
  });

  test('liquidity of a book that was not read is unknown; of one that is empty it is 0', async () => {
    await store.list(resting('unread-1', 'none'), resting('empty-1', 'best_level'));
    const rows = (await trending('platform=limitless')).trending;
    expect(rows.map(({ market_id, metrics }) => [market_id, metrics['liquidity']]).toSorted()).toEqual([
      ['empty-1', 0],
      ['unread-1', null],
    ]);
  });
});

const resting = (ref: string, basis: string) =>
  market({ platform: 'limitless', ref, state: { liquidity: null, metadata: { liquidity_basis: basis } } });
const crypto = (ref: string, state: Parameters<typeof market>[0]['state']) =>
  market({ platform: 'polymarket', ref, category: 'Crypto', createdAt: ago(50 * DAY), state });

describe('categories', () => {
  ownStore();

  test('add up volumes of all markets, liquidity and spread of open ones', async () => {
    await store.list(
      crypto('0x01', {
        quotes: quotes('0.4', '0.39', '0.42'),
        liquidity: usd('100.5'),
        volume24h: usd('10.000001'),
        volume7d: usd('70'),
        volume30d: usd('300'),
        volumeTotal: usd('1000'),
      }),
      crypto('0x02', {
        quotes: quotes('0.4', '0.3', '0.31'),
        liquidity: usd('0.000001'),
        volume24h: usd('5'),
        volumeTotal: null,
      }),
      crypto('0x03', { quotes: quotes('0.4', null, '0.9'), liquidity: usd('50') }),
      market({
        platform: 'limitless',
        ref: 'crypto-paused',
        category: 'Crypto',
        state: { status: 'paused', quotes: quotes('0.5', '0.1', '0.9'), liquidity: usd('1000'), volume24h: usd('1') },
      }),
      market({ platform: 'kalshi', ref: 'KXNAMELESS-1', category: '', state: { status: 'unopened' } }),
    );
    const answer = await categories();
    expect(answer.categories).toEqual([
      {
        name: 'Crypto',
        slug: 'crypto',
        active_markets: 3,
        total_markets: 4,
        volume_24h: 16.000001,
        volume_7d: 70,
        volume_30d: 300,
        total_volume: 1000,
        volume_24h_usd: 16.000001,
        volume_7d_usd: 70,
        volume_total_usd: 1000,
        liquidity_usd: 1150.500001,
        usd_markets: { volume_24h: 3, volume_7d: 1, volume_total: 1, liquidity: 4 },
        total_liquidity: 150.500001,
        avg_liquidity_per_market: 50.166667,
        avg_spread: 0.02,
        platforms: ['polymarket', 'limitless'],
      },
      {
        name: 'Other',
        slug: 'other',
        active_markets: 0,
        total_markets: 1,
        volume_24h: null,
        volume_7d: null,
        volume_30d: null,
        total_volume: null,
        volume_24h_usd: null,
        volume_7d_usd: null,
        volume_total_usd: null,
        liquidity_usd: 0,
        usd_markets: { volume_24h: 0, volume_7d: 0, volume_total: 0, liquidity: 1 },
        total_liquidity: 0,
        avg_liquidity_per_market: 0,
        avg_spread: null,
        platforms: ['kalshi'],
      },
    ]);
    expect(answer.meta).toMatchObject({ total_active_markets: 3, total_volume_24h: 16.000001 });
    const alone = await categories('platform=limitless');
    expect(alone.categories).toMatchObject([{ slug: 'crypto', active_markets: 0, total_markets: 1, volume_24h: 1 }]);
  });

  test('count of a market that settles inside a window what it sold there, and nothing of what it sold before', async () => {
    const ended = (ref: string, hours: number, volume24h: string) =>
      market({
        platform: 'kalshi',
        ref,
        category: 'Politics',
        createdAt: ago(45 * DAY),
        tradingEndAt: ago(hours * HOUR),
        // As the platform reported it when trading ended, and never again.
        state: { status: 'settled', volume24h: usd(volume24h), volume7d: usd('9999'), volumeTotal: usd('20000') },
      });
    const [lately, before] = [ended('KXLATELY-1', 10, '500'), ended('KXBEFORE-1', 30, '700')];
    await store.list(lately, before);
    const unknown = await categories();
    expect(unknown.categories.find(({ slug }) => slug === 'politics')).toMatchObject({
      volume_24h: 500,
      volume_7d: 19_998,
    });
    await coverAll();
    await tradeAll(
      trade({ of: lately, atMs: NOW - 12 * HOUR, price: '0.9', size: '33' }),
      trade({ of: lately, atMs: NOW - 25 * HOUR, price: '0.9', size: '467' }),
      trade({ of: before, atMs: NOW - 31 * HOUR, price: '0.9', size: '700' }),
      trade({ of: before, atMs: NOW - 20 * DAY, price: '0.9', size: '15' }),
    );
    const answer = await categories();
    expect(answer.categories.find(({ slug }) => slug === 'politics')).toMatchObject({
      volume_24h: 33,
      volume_7d: 1200,
      volume_30d: 1215,
      total_volume: 40_000,
      active_markets: 0,
    });
  });

  test('count for a market that trades on after its end date what its platform reports', async () => {
    const reported = { volume24h: usd('5000'), volume7d: usd('50000'), volume30d: usd('500000') };
    await store.list(
      market({
        platform: 'polymarket',
        ref: '0x04',
        category: 'Geopolitics',
        createdAt: ago(90 * DAY),
        tradingEndAt: ago(40 * DAY),
        state: { status: 'open', ...reported },
      }),
    );
    const { categories: found } = await categories();
    expect(found.find(({ slug }) => slug === 'geopolitics')).toMatchObject({
      volume_24h: 5000,
      volume_7d: 50_000,
      volume_30d: 500_000,
    });
  });
});
