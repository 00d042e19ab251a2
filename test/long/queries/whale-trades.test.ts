import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reconcile } from '../../../ingest/reconcile-rollups.ts';
import type { MarketRecord, TradeRecord } from '../../../src/core/model.ts';
import { type MarketStore, market, startMarketStore, trade } from '../../helpers/market-store.ts';
import { rollupDifferences } from '../../helpers/rollups.ts';
import { isoUs, rescale, toNumber } from '../../oracle/exact.ts';
import { createRng } from '../../simulators/lib/index.ts';

interface Whale {
  trade_id: string;
  market_id: string;
  platform: string;
  size: number;
  notional_value: number;
  trader: { address: string; name: string; pseudonym: string; profile_image: string };
}
interface Page {
  trades: Whale[];
  pagination: { total: number; has_more: boolean; next_cursor: string | null };
  meta: { platform: string; min_size_applied: number; sort: string; data_freshness: string | null };
}

const NOW = Date.now();
const DAY = 86_400_000;
const WALLET = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const rng = createRng(5);
const markets = {
  kalshi: market({ platform: 'kalshi', ref: 'KXBIG-1', metadata: { yes_sub_title: '**Otter** City' } }),
  quiet: market({ platform: 'kalshi', ref: 'KXQUIET-1', metadata: { yes_sub_title: 'Yes', neg_risk_other: true } }),
  polymarket: market({
    platform: 'polymarket',
    ref: `0x${'ab'.repeat(32)}`,
    platformId: '500001',
    slug: 'will-it',
    metadata: { group_item_title: '↑ 100' },
  }),
  limitless: market({
    platform: 'limitless',
    ref: 'will-it-ever',
    metadata: { external_slug: 'will-it', external_provider: 'polymarket' },
  }),
};
/** Which market of its event each is. */
const NAMES: Record<string, string | null> = {
  'KXBIG-1': 'Otter City',
  'KXQUIET-1': null,
  500001: '↑ 100',
  'will-it-ever': null,
};
const traded = [markets.kalshi, markets.polymarket, markets.limitless];

/** Sizes below, at and above every floor there is; times and sizes that coincide. */
function someTrades(count: number, at = (i: number) => NOW - 40 * DAY + Math.floor(i / 3) * 7_000_000): TradeRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const of = traded[i % 3] as MarketRecord;
    const size = ['0.01', '99.99', '249.999999', '250', '999.99', '1000', '5000.5', String(rng.int(1, 4000))][i % 8]!;
    const { platform } = of.info;
    return trade({
      of,
      atMs: at(i),
      size,
      price: `0.${rng.int(10, 99)}`,
      outcome: rng.chance(0.5) ? 'yes' : 'no',
      isBlockTrade: platform === 'kalshi' && i % 10 === 0,
      transactionHash: platform === 'kalshi' ? '' : `0x${i.toString(16).padStart(64, '0')}`,
      trader:
        platform === 'kalshi'
          ? null
          : { address: WALLET, name: 'Ann', pseudonym: 'ann', profileImage: 'https://x.y/a' },
    });
  });
}

/** What a trade must look like among the whales. */
function expected(row: TradeRecord): object {
  const of = traded.find(({ info }) => info.ref === row.ref)!;
  const named = row.trader !== null;
  return {
    trade_id: row.tradeId,
    market_id: of.info.platformId,
    platform: row.platform,
    market_title: of.info.title,
    outcome_name: NAMES[of.info.platformId],
    side: row.side,
    outcome: row.outcome,
    price: toNumber(row.price, 10),
    size: toNumber(row.size, 6),
    notional_value: toNumber(rescale(row.price * row.size, 16, 6), 6),
    timestamp: Math.floor(row.executedAtUs / 1e6),
    transaction_hash: row.transactionHash,
    trader: {
      address: !named ? '' : row.platform === 'limitless' ? getAddress(WALLET) : WALLET,
      name: named ? 'Ann' : '',
      pseudonym: named ? 'ann' : '',
      profile_image: named ? 'https://x.y/a' : '',
    },
    metadata: {
      executed_at: isoUs(row.executedAtUs),
      ...(row.platform === 'kalshi' ? { is_block_trade: row.isBlockTrade } : {}),
    },
  };
}

const falling = (a: bigint | number | string, b: bigint | number | string): number => (a < b ? 1 : a > b ? -1 : 0);
const byTime = (a: TradeRecord, b: TradeRecord): number =>
  falling(a.executedAtUs, b.executedAtUs) || falling(a.tradeId, b.tradeId);
const bySize = (a: TradeRecord, b: TradeRecord): number => falling(a.size, b.size) || byTime(a, b);
const notional = (row: TradeRecord): bigint => rescale(row.price * row.size, 16, 6);

let store: MarketStore;
let world: TradeRecord[];

beforeAll(async () => {
  store = await startMarketStore();
  world = someTrades(420);
  await store.list(...Object.values(markets));
  // In two halves, the older one last: as a backfill would bring them.
  await store.trade(...world.slice(200));
  await store.trade(...world.slice(0, 230));
});
afterAll(() => store?.close());

test('the view and the API name the same market of an event, whatever its platform calls it', async () => {
  const rows = await store.clickhouse.sql<{
    platform_id: string;
    outcome_name: string | null;
    is_placeholder: boolean;
    external: [string | null, string | null];
  }>('SELECT platform_id, outcome_name, is_placeholder, [external_provider, external_slug] AS external FROM v_markets');
  expect(Object.fromEntries(rows.map((row) => [row.platform_id, row.outcome_name]))).toEqual(NAMES);
  expect(rows.filter((row) => row.is_placeholder).map((row) => row.platform_id)).toEqual(['KXQUIET-1']);
  expect(rows.filter(({ external: [provider] }) => provider !== null)).toEqual([
    expect.objectContaining({ platform_id: 'will-it-ever', external: ['polymarket', 'will-it'] }),
  ]);
  for (const { platform, platformId } of Object.values(markets).map(({ info }) => info)) {
    const { markets: listed } = await store.get<{ markets: { outcome_name: string | null }[] }>(
      `markets?provider=${platform}&market_ids=${platformId}`,
    );
    expect(listed.map((row) => row.outcome_name)).toEqual([NAMES[platformId]]);
  }
});

/** All pages of a query. */
async function walk(query: string, limit: number, between: () => Promise<unknown> = async () => {}): Promise<Whale[]> {
  const rows: Whale[] = [];
  let cursor: string | null = '';
  let total: number | null = null;
  while (cursor !== null) {
    const page: Page = await store.get(`trades/whales?${query}&limit=${limit}&cursor=${cursor}`);
    total ??= page.pagination.total;
    expect(page.pagination.total).toBe(total);
    rows.push(...page.trades);
    cursor = page.pagination.next_cursor;
    expect(page.pagination.has_more).toBe(cursor !== null);
    if (cursor !== null) await between();
  }
  return rows;
}

const span = { start: NOW - 30 * DAY, end: NOW - 5 * DAY };
const FILTERS: [string, (row: TradeRecord) => boolean][] = [
  ['', (row) => row.size >= 1_000_000_000n],
  ['min_size=0', () => true],
  ['min_size=99.99', (row) => row.size >= 99_990_000n],
  ['min_size=250', (row) => row.size >= 250_000_000n],
  ['min_size=1000.000001', (row) => row.size > 1_000_000_000n],
  ['min_size=0&min_notional=100', (row) => notional(row) >= 100_000_000n],
  ['min_size=0&min_notional=400.5', (row) => notional(row) >= 400_500_000n],
  ['min_notional=700', (row) => notional(row) >= 700_000_000n],
  ['min_notional=60', (row) => notional(row) >= 60_000_000n],
  ['min_notional=60&min_size=1000', (row) => row.size >= 1_000_000_000n && notional(row) >= 60_000_000n],
  ['min_size=999999999999', () => false],
  ['min_size=0&min_notional=999999999999', () => false],
  ['platform=limitless', (row) => row.size >= 1_000_000_000n && row.platform === 'limitless'],
  ['platform=platform_b&min_size=0', (row) => row.platform === 'polymarket'],
  ['market_id=kxbig-1&min_size=300', (row) => row.size >= 300_000_000n && row.platform === 'kalshi'],
  ['market_id=polymarket:500001&min_size=0', (row) => row.platform === 'polymarket'],
  ['market_id=will-it&platform=polymarket&minSize=1000', (row) => row.size >= 1e9 && row.platform === 'polymarket'],
  [`market_id=0x${'AB'.repeat(32)}`, (row) => row.size >= 1_000_000_000n && row.platform === 'polymarket'],
  ['market_id=kalshi:KXQUIET-1&min_size=0', () => false],
  [
    `start_ts=${Math.floor(span.start / 1000)}&end_ts=${new Date(span.end).toISOString()}`,
    (row) =>
      row.size >= 1_000_000_000n &&
      row.executedAtUs >= Math.floor(span.start / 1000) * 1e6 &&
      row.executedAtUs < span.end * 1000,
  ],
  [
    `from=${Math.floor(span.start / 1000)}&minimum_size=1`,
    (row) => row.size >= 1_000_000n && row.executedAtUs >= Math.floor(span.start / 1000) * 1e6,
  ],
];

describe.each([
  ['time', byTime],
  ['size', bySize],
] as const)('whales by %s', (sort, order) => {
  test.each(FILTERS)(
    'with "%s" are those that the filter names, each once, with an exact total',
    async (query, holds) => {
      const truth = world.filter(holds).toSorted(order);
      expect(await walk(`sort=${sort}&${query}`, 37)).toEqual(truth.map(expected));
      const page: Page = await store.get(`trades/whales?sort=${sort}&${query}`);
      expect(page.pagination.total).toBe(truth.length);
      expect(page.trades).toHaveLength(Math.min(50, truth.length));
    },
  );

  test.each([
    ['', 31],
    ['min_size=0', 97],
    ['market_id=KXBIG-1&min_size=10', 41],
  ])('with "%s" repeat none and miss none while trades stream in everywhere', async (query, limit) => {
    const before = await walk(`sort=${sort}&${query}`, 200);
    const rows = await walk(`sort=${sort}&${query}`, limit, async () => {
      const fresh = someTrades(6, () => NOW - rng.int(0, 41 * DAY));
      world.push(...fresh);
      await store.trade(...fresh);
    });
    const ids = rows.map((row) => row.trade_id);
    expect(rows.length).toBeGreaterThan(3 * limit);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.filter((row) => !ids.includes(row.trade_id))).toEqual([]);
  });
});

const ofAnySize = (rest: string) => store.get<Page>(`trades/whales?min_size=0&${rest}`);
test('trades of given wallets alone, of all markets and of one, by time and by size, page by page', async () => {
  const other = `0x${'6b'.repeat(20)}`;
  const { pagination, trades } = await ofAnySize(`addresses=${WALLET},${other}&limit=200`);
  expect(pagination.total).toBe(
    (await ofAnySize('platform=polymarket')).pagination.total +
      (await ofAnySize('platform=limitless')).pagination.total,
  );
  expect(trades.every(({ trader }) => trader.address.toLowerCase() === WALLET)).toBe(true);
  const ofOne = await ofAnySize(`addresses=${WALLET}&platform=polymarket&market_id=500001&limit=1`);
  expect(ofOne.pagination.total).toBe((await ofAnySize('platform=polymarket')).pagination.total);
  const largest = await ofAnySize(`addresses=${WALLET}&sort=size&limit=2`);
  const all = await ofAnySize(`sort=size&limit=200`);
  const own = all.trades.filter(({ platform }) => platform !== 'kalshi').map(({ trade_id: id }) => id);
  expect(largest.trades.map(({ trade_id: id }) => id)).toEqual(own.slice(0, 2));
  const next = await ofAnySize(`addresses=${WALLET}&sort=size&limit=2&cursor=${largest.pagination.next_cursor}`);
  expect(next.trades.map(({ trade_id: id }) => id)).toEqual(own.slice(2, 4));
  expect(await ofAnySize(`addresses=${other}`)).toMatchObject({ trades: [], pagination: { total: 0 } });
});

test('what was applied stands in meta', async () => {
  const { meta }: Page = await store.get('trades/whales');
  expect(meta).toMatchObject({ platform: 'all', min_size_applied: 1000, sort: 'time', data_freshness: null });
  const money: Page = await store.get('trades/whales?min_notional=50');
  expect(money.meta).toMatchObject({ min_size_applied: 0, min_notional_applied: 50 });
  const both: Page = await store.get('trades/whales?min_notional=50&min_size=7');
  expect(both.meta).toMatchObject({ min_size_applied: 7, min_notional_applied: 50 });
  const narrow: Page = await store.get('trades/whales?platform=platform_a&min_size=12.5&sort=size');
  expect(narrow.meta).toMatchObject({ platform: 'kalshi', min_size_applied: 12.5, sort: 'size' });
});

test('a trade that two writers stored is shown once, and its second row goes when the store is reconciled', async () => {
  const kalshi = world.filter((row) => row.platform === 'kalshi' && row.size >= 1_000_000_000n).toSorted(bySize);
  for (const table of ['whales', 'whale_sizes']) {
    await store.clickhouse.command(`INSERT INTO ${table} SELECT * FROM ${table} WHERE platform = 'kalshi'`);
  }
  for (const sort of ['time', 'size']) {
    const rows = await walk(`platform=kalshi&sort=${sort}`, 200);
    expect(rows.map((row) => row.trade_id).toSorted()).toEqual(kalshi.map((row) => row.tradeId).toSorted());
  }
  await reconcile(store.clickhouse, 'kalshi', new Date(0));
  expect(await rollupDifferences(store.clickhouse)).toEqual([]);
  const page: Page = await store.get('trades/whales?platform=kalshi');
  expect(page.pagination.total).toBe(kalshi.length);
});

test('whales that a roll-up lost come back when the store is reconciled', async () => {
  await store.clickhouse.command(`ALTER TABLE whales DELETE WHERE size >= 1000 SETTINGS mutations_sync = 2`);
  await store.clickhouse.command(`ALTER TABLE whale_sizes DELETE WHERE notional >= 300 SETTINGS mutations_sync = 2`);
  for (const platform of ['kalshi', 'polymarket', 'limitless'] as const) {
    await reconcile(store.clickhouse, platform, new Date(0));
  }
  expect(await rollupDifferences(store.clickhouse)).toEqual([]);
  const truth = world.filter((row) => row.size >= 1_000_000_000n);
  expect(await walk('sort=size', 200)).toEqual(truth.toSorted(bySize).map(expected));
});

test('an unknown market is not found', async () => {
  const { key } = await store.app.newKey();
  const reply = await store.app.app.inject({
    url: '/v1/api/trades/whales?market_id=nothing',
    headers: { 'x-api-key': key },
  });
  expect(reply.statusCode).toBe(404);
  expect(reply.json().error.message).toBe('Market not found on any platform');
});

test('the id of a stored market of another platform is not found, and its platform is named', async () => {
  const { key } = await store.app.newKey();
  for (const [path, id] of [
    ['markets/id/will-it?provider=limitless', 'polymarket:500001'],
    ['markets/id/500001/orderbook?provider=limitless', 'polymarket:500001'],
    ['markets/id/KXBIG-1/trades?provider=limitless', 'kalshi:KXBIG-1'],
    ['metrics/snapshot?platform=limitless&market_id=KXBIG-1', 'kalshi:KXBIG-1'],
  ]) {
    const reply = await store.app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': key } });
    const { message, resolution } = reply.json().error as Record<string, string>;
    expect([path, reply.statusCode, message]).toEqual([path, 404, 'Market not found on Limitless']);
    expect(resolution).toContain(`This is ${id}`);
  }
});

test('trades of a platform without a list of them are refused, with where they are', async () => {
  await expect(store.get('markets/trades?provider=limitless&market_id=will-it-ever')).rejects.toThrow(
    /400 .*provider: one of kalshi, polymarket; others in GET \/v1\/api\/markets\/id\/\{id\}\/trades/,
  );
});

test('a list without rows names its columns as CSV, those that a row would have', async () => {
  const { key } = await store.app.newKey();
  const lines = async (query: string): Promise<string[]> => {
    const headers = { 'x-api-key': key, accept: 'text/csv' };
    const reply = await store.app.app.inject({ url: `/v1/api/trades/whales?${query}`, headers });
    return reply.body.trimEnd().split('\r\n');
  };
  const [header, ...rows] = await lines('min_size=99999999');
  expect(rows).toEqual([]);
  expect(header).toBe((await lines('limit=1'))[0]);
});

test('an empty store has no whales', async () => {
  const empty = await startMarketStore();
  try {
    const page: Page = await empty.get('trades/whales?min_size=0&sort=size');
    expect(page).toMatchObject({ trades: [], pagination: { total: 0, has_more: false, next_cursor: null } });
  } finally {
    await empty.close();
  }
});

test.each(['min_size', 'min_notional'])('%s beyond what the store holds is refused', async (name) => {
  await expect(store.get(`trades/whales?${name}=1000000000000`)).rejects.toThrow(
    /answered 400 .*from 0 to 999999999999/,
  );
});
