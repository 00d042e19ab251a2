import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { type FetchMarket, StoredMarkets } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { PresentMarkets } from '../../src/markets/present-markets.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { market, startMarketStore, trade, type MarketStore, usd } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

const marketsOf = (fetchMarket: FetchMarket, shared = createLocalShared(silent, systemClock)): PresentMarkets =>
  new PresentMarkets({ ...store.app.deps, fetchMarket, shared });

test('a market that is not stored yet is read from its platform once, however many ask for it at the same time', async () => {
  const reads: string[] = [];
  const markets = marketsOf(async (platform, id) => {
    reads.push(`${platform} ${id}`);
    await sleep(200);
    await store.list(market({ platform: 'kalshi', ref: 'KXNEW-1' }));
    return 'KXNEW-1';
  });
  const asked = Array.from({ length: 40 }, async (_, n) => {
    // Some come while the store is asked, some while the platform is.
    await sleep(n * 2);
    return n % 4 === 0
      ? (await markets.byRef('kalshi', ['KXNEW-1'])).get('KXNEW-1')
      : markets.byAnyId('kalshi', n % 2 === 0 ? 'KXNEW-1' : 'kxnew-1');
  });
  expect((await Promise.all(asked)).map((found) => found?.ref)).toEqual(asked.map(() => 'KXNEW-1'));
  expect(reads).toEqual(['kalshi KXNEW-1']);
});

test('a platform that fails once is asked again by the next who wants the market', async () => {
  let fails = true;
  const markets = marketsOf(async () => {
    await sleep(5);
    if (fails) throw new Error('the platform is down');
    await store.list(market({ platform: 'limitless', ref: 'late-market' }));
    return 'late-market';
  });
  const failed = await Promise.allSettled([1, 2, 3].map(() => markets.byAnyId('limitless', 'late-market')));
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  fails = false;
  expect(await markets.byAnyId('limitless', 'late-market')).toMatchObject({ ref: 'late-market' });
});

test("a condition of Polymarket's Protocol V2 is found by either spelling, in any case", async () => {
  const condition = `0x01${'9c'.repeat(16)}${'0'.repeat(30)}`;
  await store.list(market({ platform: 'polymarket', ref: condition }));
  const markets = marketsOf(async () => null);
  for (const id of [condition, condition.slice(0, 64), condition.toUpperCase().replace('0X', '0x')]) {
    expect(await markets.byAnyId('polymarket', id)).toMatchObject({ ref: condition });
  }
});

test('an id that no platform knows is asked for once, by all processes together', async () => {
  const shared = createLocalShared(silent, systemClock);
  const reads: string[] = [];
  const fetchMarket: FetchMarket = async (_platform, id, user) => {
    reads.push(`${id} for ${user}`);
    return null;
  };
  const [one, other] = [1, 2].map(() => marketsOf(fetchMarket, shared));
  expect(await one?.byAnyId('kalshi', 'kxnone-1', 'ann')).toBeNull();
  expect(await one?.byAnyId('kalshi', 'KXNONE-1', 'ann')).toBeNull();
  expect(await other?.byAnyId('kalshi', 'KXNONE-1', 'bob')).toBeNull();
  expect(reads).toEqual(['KXNONE-1 for ann']);
});

const CONDITION = `0x${'cd'.repeat(32)}`;
const TOKENS = ['3'.repeat(76), '4'.repeat(76)];
const outcomes = TOKENS.map((tokenId, n) => ({ id: ['yes', 'no'][n] ?? '', name: ['Yes', 'No'][n] ?? '', tokenId }));
const named = market({
  platform: 'polymarket',
  ref: CONDITION,
  platformId: '4711',
  slug: 'will-it-rain',
  eventId: '99',
  outcomes,
  metadata: { tick_size: 0.01 },
  tradingEndAt: '2027-01-01T00:00:00.000Z',
  state: { volumeTotal: usd('12.5') },
});
const IDS = [CONDITION, '4711', 'will-it-rain', ...TOKENS];

test('a market of PostgreSQL is what ingestion reads of it in ClickHouse, by each of its ids', async () => {
  await store.list(named);
  const stored = new StoredMarkets(store.clickhouse, async () => null);
  const expected = (await stored.byRef('polymarket', [CONDITION])).get(CONDITION);
  const markets = marketsOf(async () => null);
  const asked = vi.spyOn(store.clickhouse, 'query');
  const execute = vi.spyOn(store.app.postgres.db, 'execute');
  const found = await markets.storedByAnyIds('polymarket', IDS);
  expect([asked.mock.calls.length, execute.mock.calls.length]).toEqual([0, 1]);
  asked.mockRestore();
  execute.mockRestore();
  expect(expected).toBeDefined();
  const read = { volumeTotal: '12.5', resolvedAt: null, storedTrades: 0, syncedAt: expect.stringContaining('Z') };
  expect([...found]).toEqual(IDS.map((id) => [id, { ...expected, ...read }]));
});

test('every endpoint of a market takes each of its ids, its tokens too', async () => {
  await store.list(named);
  await store.trade(trade({ of: named, atMs: Date.now() - 60_000, price: '0.4', size: '5' }));
  // Nothing is fetched before the answer.
  await store.cover('polymarket', 0, Date.now());
  const end = Math.ceil(Date.now() / 1000);
  for (const id of IDS) {
    expect(await store.get(`markets/id/${id}?provider=polymarket`)).toMatchObject({
      markets: [{ platform_id: '4711' }],
    });
    for (const path of [
      `markets/trades?provider=polymarket&market_id=${id}`,
      `markets/id/${id}/trades?provider=polymarket`,
    ])
      expect(await store.get(path)).toMatchObject({ trades: [{ size: 5 }], meta: { market_id: '4711' } });
    expect(await store.get(`metrics/snapshot?platform=polymarket&market_id=${id}`)).toMatchObject({
      market_id: '4711',
    });
    expect(
      await store.get(
        `markets/price-history?provider=polymarket&market_ids=${id}&start_ts=${end - 3600}&end_ts=${end}&interval=1`,
      ),
    ).toMatchObject({ data: [{ marketId: '4711', price: { close: 0.4 } }] });
    expect(await store.get(`metrics/historical?platform=polymarket&market_id=${id}`)).toMatchObject({
      market_id: '4711',
    });
    expect(await store.get(`markets/prices?provider=polymarket&market_ids=${id}`)).toMatchObject({
      data: [{ market_id: '4711' }],
    });
    expect(await store.get(`markets?provider=polymarket&market_ids=${id}`)).toMatchObject({
      markets: [{ platform_id: '4711' }],
    });
    expect(await store.get(`trades/whales?market_id=${id}&min_size=1`)).toMatchObject({ trades: [{ size: 5 }] });
  }
});

test('a feed without any trade of a traded market that is over for a day is not the feed of its trades', async () => {
  const dayMs = 86_400_000;
  const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * dayMs).toISOString();
  const over = market({
    platform: 'kalshi',
    ref: 'KXOVER-1',
    tradingStartAt: at(9),
    tradingEndAt: at(3),
    state: { status: 'settled', volumeTotal: usd('5') },
  });
  await store.list(over);
  await store.cover('kalshi', Date.now() - 20 * dayMs, Date.now());
  const meta = async () => (await store.get('markets/trades?provider=kalshi&market_id=KXOVER-1'))['meta'];
  expect(await meta()).toMatchObject({ complete_from: null, older_trades: 'not_in_feed' });
  await store.trade(trade({ of: over, atMs: Date.parse(at(5)), price: '0.5', size: '5' }));
  expect(await meta()).toMatchObject({ complete_from: over.info.tradingStartAt, older_trades: 'none' });
});

test('a market that is stored and not copied yet is found by every endpoint of one market', async () => {
  const late = [1, 2, 3].map((n) => market({ platform: 'kalshi', ref: `KXLATE-${n}` }));
  await new MarketWriter(store.clickhouse, systemClock).write('kalshi', late);
  expect(await store.get('markets/trades?provider=kalshi&market_id=KXLATE-1')).toMatchObject({
    meta: { market_id: 'KXLATE-1' },
  });
  expect(await store.get('markets/prices?provider=kalshi&market_ids=KXLATE-2,KXLATE-9')).toMatchObject({
    meta: { not_found: expect.arrayContaining(['KXLATE-9']) },
  });
  expect(await store.get('trades/whales?market_id=kxlate-3')).toMatchObject({ meta: { platform: 'kalshi' } });
});

test('an unknown id names the markets of its event, or the platform that has it', async () => {
  const event = {
    platform: 'polymarket',
    eventId: '98',
    seriesId: '',
    slug: 'who-wins-the-cup',
    title: 'Cup',
  } as const;
  const facts = { category: '', categorySlug: '', tags: [], mutuallyExclusive: true, imageUrl: '', sourceUrl: '' };
  const ofEvent = (n: number) => ({
    ...market({ platform: 'polymarket', ref: `0x${`9${n}`.repeat(32)}`, platformId: `480${n}`, eventId: '98' }),
    event: { ...event, ...facts, marketIds: [] },
  });
  await store.list(named, market({ platform: 'kalshi', ref: 'KXHERE-1' }), ofEvent(1), ofEvent(2));
  const { key } = await store.app.newKey();
  const get = async (path: string) =>
    (await store.app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': key } })).json<{ error: object }>();
  expect(await get('markets/trades?provider=polymarket&market_id=99')).toMatchObject({
    error: { status: 404, resolution: 'This is an event: use one of its markets, 4711.' },
  });
  // As in the address of its page, which is all that a reader of the platform's site has.
  expect(await get('markets/id/who-wins-the-cup?platform=polymarket')).toMatchObject({
    error: { status: 404, resolution: 'This is an event: use one of its markets, 4801, 4802.' },
  });
  expect(await get('markets/id/KXHERE-1/trades?provider=limitless')).toMatchObject({
    error: { status: 404, resolution: 'This is kalshi:KXHERE-1: name that platform.' },
  });
  expect(await get(`markets/id/${TOKENS[0]}/orderbook?provider=limitless`)).toMatchObject({
    error: { status: 404, resolution: 'This is polymarket:4711: name that platform.' },
  });
});
