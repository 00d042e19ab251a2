import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { marketKey } from '../../src/core/market-key.ts';
import { buildPresent, catchUp } from '../../src/present/catch-up.ts';
import { copyMarkets } from '../../src/present/copy.ts';
import { Projector } from '../../src/present/projector.ts';
import { marketsNamed } from '../../src/present/read.ts';
import { ownKey } from '../../src/present/rows.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';
import { isAtWork } from '../helpers/at-work.ts';
import { differences, marketCounts } from '../helpers/present.ts';
import { LEASE, market, type MarketStore, quotes, startMarketStore, trade } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const CONDITION = `0x${'ab'.repeat(32)}`;
const TOKENS = ['1'.repeat(70), '2'.repeat(70)];
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

let store: MarketStore;
const stores = () => ({ clickhouse: store.clickhouse, postgres: store.app.postgres, log: silent });
const unlike = async () => [...(await differences(stores(), 'polymarket')), ...(await differences(stores(), 'kalshi'))];
const named = async (platform: 'kalshi' | 'polymarket', name: string) =>
  (await marketsNamed(store.app.postgres, platform, [name])).get(name);
const outcomes = TOKENS.map((tokenId, n) => ({ id: ['yes', 'no'][n] ?? '', name: ['Yes', 'No'][n] ?? '', tokenId }));
const one = (title: string, minutes: number) =>
  market({
    platform: 'polymarket',
    ref: CONDITION,
    platformId: '77',
    slug: 'a-slug',
    title,
    eventId: '9',
    eventName: 'An event',
    outcomes,
    fetchedAt: minutesAgo(minutes),
    state: { quotes: quotes('0.6', '0.59', '0.61') },
  });

beforeAll(async () => {
  store = await startMarketStore();
  await buildPresent(stores());
});
afterAll(() => store.close());

test('a market that was stored is found in PostgreSQL by each of its ids, row by row as in ClickHouse', async () => {
  await store.list(one('First', 9), market({ platform: 'kalshi', ref: 'KXONE-1' }));
  const trader = { address: `0x${'11'.repeat(20)}`, name: '', pseudonym: '', profileImage: '' };
  await store.trade(trade({ of: one('First', 9), atMs: Date.now() - 5000, price: '0.61', size: '3', trader }));
  for (const name of [CONDITION, '77', 'a-slug', ...TOKENS]) {
    expect(await named('polymarket', name)).toMatchObject({ ref: CONDITION, tokenIds: TOKENS, traders: { count: 1 } });
  }
  expect(await named('kalshi', '77')).toBeUndefined();
  expect(await unlike()).toEqual([]);
});

test('GET markets/id answers without a statement to ClickHouse', async () => {
  const asked = vi.spyOn(store.clickhouse, 'query');
  const { markets } = await store.get<{ markets: { title: string; unique_traders: number }[] }>(
    'markets/id/77?provider=polymarket',
  );
  const names = asked.mock.calls.map(([name]) => name);
  asked.mockRestore();
  expect(markets[0]).toMatchObject({ title: 'First', unique_traders: 1, current_prices: { yes: { price: 0.61 } } });
  // The freshness of all listings is kept for a while.
  expect(names.filter((name) => name !== 'freshness')).toEqual([]);
});

/** What an answer asks for beside the freshness of all listings, which is kept for a while. */
async function statements(path: string): Promise<{ answer: object; toClickHouse: string[]; toPostgres: number }> {
  const asked = vi.spyOn(store.clickhouse, 'query');
  const { execute } = store.app.postgres.db;
  const texts: string[] = [];
  const run = vi.spyOn(store.app.postgres.db, 'execute').mockImplementation(function (
    this: typeof store.app.postgres.db,
    query,
  ) {
    texts.push(JSON.stringify(query));
    return execute.call(this, query);
  });
  const answer = await store.get<object>(path);
  const names = asked.mock.calls.map(([name]) => name);
  asked.mockRestore();
  run.mockRestore();
  return {
    answer,
    toClickHouse: names.filter((name) => name !== 'freshness'),
    toPostgres: texts.filter((text) => text.includes('present_')).length,
  };
}

test.each([
  ['GET markets', 'markets?provider=polymarket', { markets: [{ title: 'First' }] }],
  ['GET markets with a query', 'markets?provider=polymarket&query=fir', { markets: [{ title: 'First' }] }],
  ['GET search', 'search?q=first&types=markets', { results: [{ title: 'First' }] }],
  ['GET events', 'events?provider=polymarket', { events: [{ title: 'An event', markets_count: 1 }] }],
  ['GET events with a query', 'events?provider=polymarket&query=event', { events: [{ event_id: '9' }] }],
  ['GET events/{id}', 'events/9?provider=polymarket', { event: { title: 'An event' }, markets: [{ title: 'First' }] }],
])('%s is one statement to PostgreSQL and none to ClickHouse', async (_, path, expected) => {
  const { answer, ...asked } = await statements(path);
  expect(answer).toMatchObject(expected);
  expect(asked).toEqual({ toClickHouse: [], toPostgres: 1 });
});

test('GET metrics/snapshot is one statement to PostgreSQL and none to ClickHouse', async () => {
  const { answer, ...asked } = await statements('metrics/snapshot?platform=polymarket&market_id=77');
  expect(answer).toMatchObject({ title: 'First', metrics: { unique_traders: 1 } });
  expect(asked).toEqual({ toClickHouse: [], toPostgres: 1 });
});

test('a read of history takes its market and trades from PostgreSQL, and from ClickHouse quotes alone where the bars of its platform are midpoints', async () => {
  const since = Math.floor(Date.now() / 1000) - 7200;
  const of = market({ platform: 'limitless', ref: 'of-history' });
  await store.list(of);
  await store.trade(trade({ of, atMs: Date.now() - 5000, price: '0.61', size: '3' }));
  await store.cover('limitless', since * 1000, Date.now());
  const reads = [
    [
      `markets/price-history?provider=limitless&market_ids=of-history&start_ts=${since}&end_ts=${since + 9000}`,
      'close',
    ],
    [`metrics/historical?platform=limitless&market_id=of-history&start_ts=${since}`, 'trade_count'],
  ] as const;
  for (const [path, field] of reads) {
    const { answer, ...asked } = await statements(path);
    expect(JSON.stringify(answer)).toContain(`"${field}":`);
    expect(answer).toMatchObject({ data: [expect.anything()] });
    expect(asked).toEqual({ toClickHouse: ['bars_of_quotes'], toPostgres: 1 });
  }
});

test.each([
  [
    'trades/whales?min_size=1&platform=polymarket',
    { trades: [{ market_title: 'First' }] },
    ['whales_by_time', 'whales_count'],
  ],
  ['analytics/trending?platform=polymarket', { trending: [{ title: 'First' }] }, ['trending', 'trending_completeness']],
])('GET %s has the names of its markets and traders from PostgreSQL', async (path, expected, toClickHouse) => {
  await store.refresh();
  const { answer, ...asked } = await statements(path);
  expect(answer).toMatchObject(expected);
  expect(asked.toClickHouse).toEqual(toClickHouse);
});

test('an event that is stored and not copied yet is found all the same', async () => {
  const fresh = market({ platform: 'kalshi', ref: 'KXNEW-1', eventId: 'KXNEW', eventName: 'A new event' });
  await new MarketWriter(store.clickhouse, systemClock).write('kalshi', [fresh]);
  expect(await store.get('events/kalshi:KXNEW?provider=kalshi')).toMatchObject({
    event: { title: 'A new event', markets_count: 1 },
    markets: [{ platform_id: 'KXNEW-1' }],
  });
});

const dayListed = (minutes: number, price: string, eventName = 'A day') =>
  market({
    platform: 'kalshi',
    ref: 'KXDAY-1',
    eventId: 'KXDAY',
    eventName,
    seriesId: 'KXDAYS',
    fetchedAt: minutesAgo(minutes),
    state: { quotes: quotes(price, price, price) },
  });
const seriesOf = (seriesId: string, title: string) => ({
  platform: 'kalshi' as const,
  seriesId,
  title,
  category: '',
  categorySlug: '',
  frequency: null,
});

test('events and series are read for their copies once they were stored, not with each change of a market', async () => {
  const { present } = store.app.deps;
  const writer = new MarketWriter(store.clickhouse, systemClock, { present });
  const asked = vi.spyOn(store.clickhouse, 'query');
  const readsOf = async (write: Promise<unknown>): Promise<number> => {
    asked.mockClear();
    await write;
    await present.settled();
    return asked.mock.calls.filter(([name]) => name === 'present_parents').length;
  };
  const reads = [
    await readsOf(writer.write('kalshi', [dayListed(9, '0.5')])),
    await readsOf(writer.write('kalshi', [dayListed(8, '0.6')])),
    await readsOf(writer.write('kalshi', [dayListed(7, '0.6', 'Another day')])),
    await readsOf(writer.writeSeries('kalshi', [seriesOf('KXDAYS', 'Days'), seriesOf('KXNOMARKET', 'Nothing')])),
  ];
  asked.mockRestore();
  expect(reads).toEqual([1, 0, 1, 1]);
  const event = await store.get('events/KXDAY?provider=kalshi');
  expect(event).toMatchObject({ event: { title: 'Another day' }, markets: [{ platform_id: 'KXDAY-1' }] });
  const rows = await store.app.postgres.db.execute(sql`SELECT id, info FROM present_series WHERE id LIKE 'KX%'`);
  expect(rowsOf(rows)).toEqual([{ id: 'KXDAYS', info: expect.stringContaining('"title":"Days"') }]);
  expect(await differences(stores(), 'kalshi')).toEqual([]);
});

test('a market that is stored and not copied yet is found by GET markets/id all the same', async () => {
  await new MarketWriter(store.clickhouse, systemClock).write('kalshi', [
    market({ platform: 'kalshi', ref: 'KXFRESH-1' }),
  ]);
  expect(await named('kalshi', 'KXFRESH-1')).toBeUndefined();
  const { markets } = await store.get<{ markets: { platform_id: string }[] }>('markets/id/KXFRESH-1?provider=kalshi');
  expect(markets).toMatchObject([{ platform_id: 'KXFRESH-1' }]);
});

test('a list of ids has the markets that are stored and not copied yet, and names those that are not stored', async () => {
  await new MarketWriter(store.clickhouse, systemClock).write('kalshi', [
    market({ platform: 'kalshi', ref: 'KXFRESH-2' }),
  ]);
  expect(await named('kalshi', 'KXFRESH-2')).toBeUndefined();
  const { markets, meta } = await store.get<{ markets: { platform_id: string }[]; meta: { not_found: string[] } }>(
    'markets?provider=kalshi&market_ids=KXFRESH-2,KXFRESH-1,KXNEVER-1',
  );
  expect(markets.map(({ platform_id: id }) => id).toSorted()).toEqual(['KXFRESH-1', 'KXFRESH-2']);
  expect(meta.not_found).toEqual(['KXNEVER-1']);
});

test('what was stored by a process that was killed before it copied it is copied by the next', async () => {
  const killed = new MarketWriter(store.clickhouse, systemClock);
  await killed.write('polymarket', [one('Second', 6)]);
  const later = market({ platform: 'kalshi', ref: 'KXLATER-1' });
  await killed.write('kalshi', [later]);
  expect(await named('polymarket', '77')).toMatchObject({ info: expect.stringContaining('First') });
  expect(await named('kalshi', 'KXLATER-1')).toBeUndefined();
  expect(await catchUp(stores(), 'polymarket', { trades: false })).toBe(1);
  expect(await catchUp(stores(), 'kalshi', { trades: false })).toBe(1);
  expect(await named('polymarket', '77')).toMatchObject({ info: expect.stringContaining('Second') });
  expect(await unlike()).toEqual([]);
  expect(await catchUp(stores(), 'kalshi', { trades: false })).toBe(0);
});

test('trades that were stored by a process that was killed before it copied their takers count from the next on', async () => {
  const trader = { address: `0x${'22'.repeat(20)}`, name: '', pseudonym: '', profileImage: '' };
  const made = trade({ of: one('Second', 6), atMs: Date.now() - 4000, price: '0.62', size: '3', trader });
  await store.writers.polymarket.write([made], LEASE);
  expect(await named('polymarket', '77')).toMatchObject({ traders: { count: 1 } });
  await catchUp(stores(), 'polymarket', { trades: true });
  expect(await named('polymarket', '77')).toMatchObject({ traders: { count: 2 } });
  expect(await unlike()).toEqual([]);
});

test('markets are copied again while a store fails, and no later than it works', async () => {
  const { query } = store.clickhouse;
  const lost = vi
    .spyOn(store.clickhouse, 'query')
    .mockImplementation((name, ...rest) =>
      name === 'present_markets' ? Promise.reject(new Error('unreachable')) : query(name, ...rest),
    );
  store.app.deps.present.changed('kalshi', ['KXONE-1', 'KXUNKNOWN']);
  await vi.waitFor(() => expect(lost).toHaveBeenCalled());
  // Complete before the store works again: the next try may come at any moment.
  await new MarketWriter(store.clickhouse, systemClock).write('kalshi', [
    market({ platform: 'kalshi', ref: 'KXONE-1', title: 'Renamed' }),
  ]);
  lost.mockRestore();
  await store.app.deps.present.settled();
  expect(await named('kalshi', 'KXONE-1')).toMatchObject({ info: expect.stringContaining('Renamed') });
});

test('a group that ClickHouse does not give in time is copied in smaller ones', async () => {
  const { query } = store.clickhouse;
  const clickhouse: Pick<typeof store.clickhouse, 'query'> = {
    query: (name, row, params, ...rest) =>
      name === 'present_markets' && Array.isArray(params?.['refs']) && params['refs'].length > 100
        ? Promise.reject(new Error('it took too long'))
        : query(name, row, params, ...rest),
  };
  const clock = virtualClock();
  const present = new Projector({ ...stores(), clickhouse: { ...store.clickhouse, ...clickhouse }, clock });
  const many = Array.from({ length: 150 }, (_, n) => market({ platform: 'kalshi', ref: `KXMANY-${n}` }));
  await new MarketWriter(store.clickhouse, systemClock).write('kalshi', many);
  present.changed(
    'kalshi',
    many.map(({ info }) => info.ref),
  );
  onTestFinished(clock.flow(isAtWork));
  await present.settled();
  expect(await unlike()).toEqual([]);
});

test('a slug that another market took over, and the names of a dropped one, lead nowhere else', async () => {
  const other = market({
    platform: 'polymarket',
    ref: `0x${'cd'.repeat(32)}`,
    platformId: '78',
    slug: 'other',
    outcomes: [],
    fetchedAt: minutesAgo(3),
  });
  await store.list(one('Third', 3), other);
  await store.list(
    { ...one('Third', 2), info: { ...one('Third', 2).info, slug: 'new-slug' } },
    { ...other, fetchedAt: minutesAgo(1), info: { ...other.info, slug: 'a-slug' } },
  );
  expect(await named('polymarket', 'a-slug')).toMatchObject({ ref: other.info.ref });
  expect(await named('polymarket', 'new-slug')).toMatchObject({ ref: CONDITION });
  const writer = new MarketWriter(store.clickhouse, systemClock, { present: store.app.deps.present });
  await writer.drop('polymarket', other.info.ref);
  await store.app.deps.present.settled();
  expect(await named('polymarket', 'a-slug')).toBeUndefined();
  expect(await unlike()).toEqual([]);
});

test('a copy finds its markets by their keys: no table of PostgreSQL has an index on references', async () => {
  const { db } = store.app.postgres;
  const texts: string[] = [];
  const watched = new Proxy(db, {
    get: (target, name) =>
      name !== 'transaction'
        ? Reflect.get(target, name)
        : (work: (run: typeof db) => Promise<void>) =>
            target.transaction((run) => {
              const { execute } = run;
              run.execute = (query) => {
                texts.push(JSON.stringify(query));
                return execute.call(run, query);
              };
              return work(run as unknown as typeof db);
            }),
  });
  const markets = ['KXONE-1', 'KXNOWHERE'].map((ref) => ({ platform: 'kalshi', ref }) as const);
  await copyMarkets({ ...stores(), postgres: { db: watched } }, markets);
  expect(texts.filter((text) => text.includes('DELETE FROM present_markets'))).toHaveLength(1);
  expect(texts.filter((text) => /ref = /.test(text))).toEqual([]);
});

test('a PostgreSQL without the markets, or with others, is built again', async () => {
  const { db } = store.app.postgres;
  const gone = ownKey(marketKey({ platform: 'kalshi', ref: 'KXGONE' }));
  await db.execute(
    sql`DELETE FROM present_states WHERE key IN (SELECT key FROM present_markets WHERE ref = 'KXONE-1')`,
  );
  await db.execute(sql`UPDATE present_markets SET info = '{}' WHERE ref = 'KXLATER-1'`);
  await db.execute(
    sql`INSERT INTO present_markets VALUES (${gone}::bigint, 'kalshi', 'KXGONE', 'KXGONE', '{}', '{}', now(), now(), 0)`,
  );
  await db.execute(sql`INSERT INTO present_names VALUES ('kalshi', 'KXGONE', ${gone}::bigint, 0)`);
  await buildPresent(stores(), { again: true });
  expect(await unlike()).toEqual([]);
  const { kept, counted } = await marketCounts(stores());
  expect(kept).toEqual(counted);
  for (const table of ['present_markets', 'present_names', 'present_states', 'present_ranks'])
    await db.execute(sql`DELETE FROM ${sql.identifier(table)}`);
  await db.execute(sql`UPDATE present_platforms SET complete_to = NULL`);
  await buildPresent(stores());
  expect(await unlike()).toEqual([]);
});

test('a market that PostgreSQL cannot hold costs no other market of its group the copy', async () => {
  const unheld = randomBytes(3000).toString('hex');
  const rows = ['KXHELD-1', 'KXHELD-2', 'KXHELD-3'].map((ref) =>
    market({ platform: 'kalshi', ref, ...(ref === 'KXHELD-2' ? { eventId: unheld } : {}) }),
  );
  await store.list(...rows);
  expect(await Promise.all(rows.map(async ({ info: { ref } }) => (await named('kalshi', ref))?.ref ?? null))).toEqual([
    'KXHELD-1',
    null,
    'KXHELD-3',
  ]);
  await new MarketWriter(store.clickhouse, systemClock, { present: store.app.deps.present }).drop('kalshi', 'KXHELD-2');
});
