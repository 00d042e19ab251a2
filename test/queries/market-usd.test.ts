import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventRecord, MarketRecord } from '../../src/core/model.ts';
import { forgetFormer, refreshRanks } from '../../src/present/copy.ts';
import { EACH_MARKET } from '../../src/markets/trade-history.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { clockAt, hurriedClock } from '../helpers/virtual-clock.ts';
import { market, type MarketStore, startMarketStore, trade, usd } from '../helpers/market-store.ts';
import { differences } from '../helpers/present.ts';

interface Listed {
  platform_id: string;
  volume_24h_usd: number | null;
  volume_7d_usd: number | null;
  volume_total_usd: number | null;
  liquidity: number | null;
  liquidity_usd: number | null;
  usd_basis: Record<'volume_24h' | 'volume_7d' | 'volume_total' | 'liquidity', string | null>;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = Date.now();
const ago = (ms: number): string => new Date(now - ms).toISOString();
const contracts = (volume: string | null) =>
  volume === null
    ? { volume24h: null, volume7d: null, volumeTotal: null }
    : { volume24h: usd(volume), volume7d: usd(volume), volumeTotal: usd(volume) };
const kalshi = (ref: string, volume: string | null, rest: Partial<Parameters<typeof market>[0]> = {}): MarketRecord =>
  market({
    platform: 'kalshi',
    ref,
    createdAt: ago(3 * DAY),
    tradingStartAt: ago(3 * DAY),
    ...rest,
    state: { ...contracts(volume), ...rest.state },
  });
const slug = (ref: string, kind: string, volume: string): MarketRecord =>
  market({ platform: 'limitless', ref, metadata: { trade_type: kind }, state: contracts(volume) });

let store: MarketStore;
let shownMs = now;
const listed = async (path: string): Promise<Listed[]> =>
  (await store.get<{ markets: Listed[] }>(`markets${path}`)).markets;
const one = async (id: string, platform = 'kalshi'): Promise<Listed> =>
  (await listed(`/id/${id}?provider=${platform}`))[0]!;
const amounts = ({ volume_24h_usd: day, volume_7d_usd: week, volume_total_usd: total }: Listed) => [day, week, total];
const basis = ({ usd_basis: of }: Listed) => [of.volume_24h, of.volume_7d, of.volume_total];

type Viewed = Record<
  'id' | 'day_basis' | 'week_basis' | 'total_basis' | 'day' | 'week' | 'total' | 'liquidity',
  string
>;
const number = (text: string | null) => (text === null ? null : Number(text));
/** Amounts of each market, of v_markets. */
async function viewed() {
  await store.refresh();
  await store.clickhouse.command('SYSTEM RELOAD DICTIONARY market_amounts');
  const rows = await store.clickhouse.sql<Viewed>(
    `SELECT platform_id AS id, volume_24h_usd AS day, volume_7d_usd AS week, volume_total_usd AS total, liquidity_usd AS liquidity,
       volume_24h_usd_basis AS day_basis, volume_7d_usd_basis AS week_basis, volume_total_usd_basis AS total_basis FROM v_markets`,
  );
  return rows.map((row) => ({
    id: row.id,
    amounts: [row.day, row.week, row.total, row.liquidity].map(number),
    basis: [row.day_basis, row.week_basis, row.total_basis],
  }));
}
async function expectViewsAgree(): Promise<void> {
  const rows = await viewed();
  expect(rows.length).toBeGreaterThan(5);
  for (const { id, amounts: stated, basis: from } of rows) {
    const asked = await one(id, id.startsWith('KX') ? 'kalshi' : 'limitless');
    expect([id, ...stated, ...from]).toEqual([id, ...amounts(asked), asked.liquidity_usd, ...basis(asked)]);
  }
}

const byWeek = async () => (await listed('?provider=kalshi&sort=volume_7d_usd')).map((row) => row.platform_id);

beforeAll(async () => {
  store = await startMarketStore({ clock: clockAt(() => shownMs) });
  const dear = kalshi('KXUSD-1', '100');
  const cheap = kalshi('KXUSD-2', '1000');
  const lively = slug('a-book', 'clob', '50');
  await store.list(
    dear,
    cheap,
    kalshi('KXUSD-3', '0'),
    kalshi('KXUSD-4', '7'),
    lively,
    slug('a-pool', 'amm', '20'),
    kalshi('KXUSD-5', '10', { state: { status: 'settled' } }),
  );
  await store.trade(
    trade({ of: dear, atMs: now - HOUR, price: '0.9', size: '100' }),
    trade({ of: dear, atMs: now - 2 * DAY, price: '0.5', size: '10' }),
    trade({ of: cheap, atMs: now - HOUR, price: '0.01', size: '1000' }),
    trade({ of: kalshi('KXUSD-5', null), atMs: now - HOUR, price: '0.2', size: '10' }),
  );
});
afterAll(() => store?.close());

test('while not every trade is stored, amounts in USD are those that the platform states in USD, or as zero', async () => {
  expect(amounts(await one('KXUSD-1'))).toEqual([null, null, null]);
  expect(basis(await one('KXUSD-1'))).toEqual([null, null, null]);
  expect(amounts(await one('KXUSD-3'))).toEqual([0, 0, 0]);
  expect(basis(await one('KXUSD-3'))).toEqual(['reported', 'reported', 'reported']);
  expect(amounts(await one('a-book', 'limitless'))).toEqual([50, 50, 50]);
  expect(basis(await one('a-book', 'limitless'))).toEqual(['reported', 'reported', 'reported']);
  expect(amounts(await one('a-pool', 'limitless'))).toEqual([20, 20, 20]);
  await expectViewsAgree();
});

test('once every trade is stored they are the notional of these, window by window', async () => {
  await store.cover('kalshi', now - 30 * DAY, Date.now());
  await store.app.deps.present.copyNow('kalshi', ['KXUSD-1', 'KXUSD-2', 'KXUSD-3', 'KXUSD-4', 'KXUSD-5']);
  expect(amounts(await one('KXUSD-1'))).toEqual([90, 95, 95]);
  expect(basis(await one('KXUSD-1'))).toEqual(['traded', 'traded', 'traded']);
  expect(amounts(await one('KXUSD-2'))).toEqual([10, 10, 10]);
  // It reports volume and has no trade: its trades are in no feed.
  expect(amounts(await one('KXUSD-4'))).toEqual([null, null, null]);
  expect(await differences({ clickhouse: store.clickhouse, postgres: store.app.postgres }, 'kalshi')).toEqual([]);
  await expectViewsAgree();
});

test('views and GET categories sum what is known in USD, and say of how many markets', async () => {
  const known = { volume_24h: 4, volume_7d: 4, volume_total: 4, liquidity: 5 };
  const sums = 'sum(volume_24h_usd) AS day, sum(markets_count) AS markets, sum(usd_markets.volume_24h) AS of';
  const [row] = await store.clickhouse.sql(`SELECT ${sums} FROM v_categories WHERE platform = 'kalshi'`);
  expect(row).toEqual({ day: '102', markets: '5', of: '4' });
  const { categories } = await store.get<{ categories: Record<string, unknown>[] }>(
    'analytics/categories?platform=kalshi',
  );
  expect(categories).toMatchObject([{ volume_24h_usd: 102, volume_7d_usd: 107, total_markets: 5, usd_markets: known }]);
});

test('lists sort by USD: a thousand contracts at one cent come after a hundred at ninety, the unknown last', async () => {
  for (const sort of ['volume_24h_usd', 'volume_7d_usd', 'volume_total_usd']) {
    const ids = (await listed(`?provider=kalshi&sort=${sort}`)).map((row) => row.platform_id);
    expect(ids).toEqual(['KXUSD-1', 'KXUSD-2', 'KXUSD-5', 'KXUSD-3', 'KXUSD-4']);
  }
  expect((await listed('?provider=kalshi&sort=volume_24h')).map((row) => row.platform_id)[0]).toBe('KXUSD-2');
});

test('a list by USD keeps its order for ten minutes, and its older cursor is refused with what to do', async () => {
  const path = '/v1/api/markets?provider=kalshi&sort=volume_24h_usd&limit=1';
  const { key } = await store.app.newKey('pro');
  const ask = (url: string) => store.app.app.inject({ url, headers: { 'x-api-key': key } });
  const { pagination } = (await ask(path)).json<{ pagination: { next_cursor: string } }>();
  await store.list(kalshi('KXUSD-4', '8'));
  await store.app.postgres.db.execute(
    sql`UPDATE present_ranks_were SET replaced_at = replaced_at - interval '11 minutes'`,
  );
  await forgetFormer(store.app, 'kalshi');
  const late = await ask(`${path}&cursor=${pagination.next_cursor}`);
  expect(late.statusCode).toBe(400);
  expect(late.json()).toMatchObject({ error: { resolution: 'Start again without a cursor.' } });
});

test('liquidity in USD says which part of the book counts', async () => {
  const book = market({
    platform: 'kalshi',
    ref: 'KXUSD-9',
    state: { liquidity: usd('12.5'), metadata: { liquidity_basis: 'best_level' } },
  });
  await store.list(book);
  expect(await one('KXUSD-9')).toMatchObject({ liquidity_usd: 12.5, usd_basis: { liquidity: 'best_level' } });
  expect((await listed('?provider=kalshi&sort=liquidity_usd&limit=1'))[0]?.platform_id).toBe('KXUSD-9');
});

test('a market that is over has sold nothing in a day and a week that began after its last reading', async () => {
  expect(amounts(await one('KXUSD-5'))).toEqual([2, 2, 2]);
  shownMs = Date.now() + 2 * DAY;
  expect(amounts(await one('KXUSD-5'))).toEqual([0, 2, 2]);
  shownMs = Date.now() + 8 * DAY;
  expect(amounts(await one('KXUSD-5'))).toEqual([0, 0, 2]);
  const expected = ['KXUSD-1', 'KXUSD-2', 'KXUSD-3', 'KXUSD-5'];
  expect((await byWeek()).filter((id) => expected.includes(id)).toSorted()).toEqual(expected);
  expect((await byWeek()).slice(0, 2)).toEqual(['KXUSD-1', 'KXUSD-2']);
  await refreshRanks(store.app, 'kalshi', shownMs);
  expect((await byWeek()).slice(0, 2)).toEqual(['KXUSD-1', 'KXUSD-2']);
});

test('liquidity is compared by the best levels, where a platform states the whole book', async () => {
  const event: EventRecord = {
    platform: 'polymarket',
    eventId: 'whole',
    seriesId: '',
    slug: '',
    title: 'Whole books',
    category: 'Sports',
    categorySlug: 'sports',
    tags: [],
    mutuallyExclusive: null,
    imageUrl: '',
    sourceUrl: '',
    marketIds: [],
  };
  const whole = (ref: string, liquidity: string, bestLevel?: string): MarketRecord => ({
    ...market({
      platform: 'polymarket',
      ref: `0x${ref.repeat(32)}`,
      platformId: ref,
      eventId: 'whole',
      state: {
        liquidity: usd(liquidity),
        ...(bestLevel === undefined ? {} : { bestLevel: usd(bestLevel) }),
        metadata: { liquidity_basis: 'full_book' },
      },
    }),
    event,
  });
  const pool = market({
    platform: 'limitless',
    ref: 'a-pool',
    metadata: { trade_type: 'amm' },
    state: { liquidity: usd('30'), metadata: { liquidity_basis: 'amm' } },
  });
  await store.list(whole('a1', '900', '20.5'), whole('a2', '9000'), whole('a3', '0'), pool);
  const { results } = await store.get<{ results: { market: Listed }[] }>('search?types=markets&sort=liquidity_usd');
  const shown = results.map(({ market: of }) => [of.platform_id, of.liquidity_usd, of.usd_basis.liquidity]);
  expect(shown.slice(0, 3)).toEqual([
    ['a-pool', 30, 'amm'],
    ['a1', 20.5, 'best_level'],
    ['KXUSD-9', 12.5, 'best_level'],
  ]);
  expect(await one('a2', 'polymarket')).toMatchObject({
    liquidity: 9000,
    liquidity_usd: null,
    usd_basis: { liquidity: null },
  });
  expect(await one('a3', 'polymarket')).toMatchObject({ liquidity: 0, liquidity_usd: 0 });
  const least = await store.get<{ results: { market: Listed }[] }>('search?types=markets&min_liquidity=20');
  expect(least.results.map(({ market: { platform_id: id } }) => id).toSorted()).toEqual(['a-pool', 'a1']);
  expect((await listed('?provider=polymarket&sort=liquidity&limit=1'))[0]?.platform_id).toBe('a2');
  const { event: sums } = await store.get<{ event: { liquidity_usd: number; usd_markets: { liquidity: number } } }>(
    'events/whole?provider=polymarket',
  );
  expect([sums.liquidity_usd, sums.usd_markets.liquidity]).toEqual([20.5, 2]);
  await store.refresh();
  const known = { liquidity: '20.5', known: '2' };
  const views = await store.clickhouse.sql(
    `SELECT toString(liquidity_usd) AS liquidity, toString(usd_markets.liquidity) AS known FROM v_events WHERE event_id = 'whole'
     UNION ALL
     SELECT toString(liquidity_usd), toString(usd_markets.liquidity) FROM v_categories WHERE platform = 'polymarket'`,
  );
  expect(views).toEqual([known, known]);
});

test('markets that ended count their trades once all of these are known to be stored', async () => {
  const ended = (platformId: string, status: 'closed' | 'settled') =>
    market({
      platform: 'polymarket',
      ref: `0x${platformId.repeat(32)}`,
      platformId,
      tradingStartAt: ago(3 * DAY),
      state: { status, volumeTotal: usd('9') },
    });
  const [closed, settled] = [ended('81', 'closed'), ended('82', 'settled')];
  await store.list(closed, settled);
  await store.trade(...[closed, settled].map((of) => trade({ of, atMs: now - 2 * DAY, price: '0.5', size: '6' })));
  expect((await one('82', 'polymarket')).usd_basis.volume_total).toBe('reported');
  await store.cover('polymarket', now - 4 * DAY, Date.now());
  const writer = new MarketWriter(store.clickhouse, hurriedClock, { present: store.present });
  await writer.markAllStale('polymarket', (now - 4 * DAY) * 1000);
  await store.present.settled();
  for (const id of ['81', '82']) {
    const shown = await one(id, 'polymarket');
    expect([shown.volume_total_usd, shown.usd_basis.volume_total]).toEqual([3, 'traded']);
  }
});

test('of a market whose start nobody states no trades are taken for all of them', async () => {
  const ref = `0x${'83'.repeat(32)}`;
  const of = market({ platform: 'polymarket', ref, platformId: '83', state: { volumeTotal: usd('9') } });
  await store.list(of);
  await store.trade(trade({ of, atMs: now - 2 * DAY, price: '0.5', size: '6' }));
  const shown = await one('83', 'polymarket');
  expect(shown).toMatchObject({ volume_7d_usd: null, volume_total_usd: 9, usd_basis: { volume_total: 'reported' } });
});

test('windows of a market with a feed of its own are complete since its own span, not since those of others', async () => {
  const born = { createdAt: ago(30 * DAY), tradingStartAt: ago(30 * DAY) };
  const late = market({ platform: 'limitless', ref: 'late-book', ...born, state: contracts('50') });
  await store.list(late);
  await store.cover('limitless', now - 60 * DAY, Date.now(), '', EACH_MARKET);
  await store.cover('limitless', now - 5 * DAY, Date.now(), 'late-book', '50');
  await store.trade(trade({ of: late, atMs: now - 1.5 * DAY, price: '0.5', size: '10' }));
  await store.refresh();
  const windows = await store.clickhouse.sql(
    `SELECT toFloat64(sold_24h) AS day, toFloat64(sold_24h_before) AS before, toFloat64(sold_7d) AS week, basis_7d
     FROM market_windows WHERE market_key = sipHash64('limitless', 'late-book')`,
  );
  expect(windows).toEqual([{ day: 0, before: 5, week: null, basis_7d: 'unknown' }]);
});
