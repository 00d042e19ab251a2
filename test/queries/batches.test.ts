import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { PlatformError } from '../../src/core/errors.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import type { OrderBook, Platform } from '../../src/core/model.ts';
import type { PlatformData, StoredMarket } from '../../src/platforms/contract.ts';
import type { MarketPriceAnswer, OrderBooksAnswer } from '../../src/schemas/batches.ts';
import { market, type MarketStore, quotes, startMarketStore, trade, usd } from '../helpers/market-store.ts';

type Prices = { data: z.infer<typeof MarketPriceAnswer>[]; meta: { not_found: string[] } };
type Books = z.infer<typeof OrderBooksAnswer>;
interface Listed {
  markets: { platform_id: string }[];
  pagination: { total: number; has_more: boolean; next_cursor: string | null };
  meta: { not_found?: string[] };
}

const HOUR_MS = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const now = Date.now();
let store: MarketStore;
/** What the platforms were asked for, and what fails. */
let asked: string[] = [];
let failing = new Map<string, PlatformError>();
let bookless = new Set<string>();
let partial = new Set<string>();

const bookOf = ({ platform, platformId, ref }: StoredMarket): OrderBook => ({
  platform,
  platformId,
  timestamp: new Date(now).toISOString(),
  exchangeAt: null,
  yes: {
    bids: ['0.5', '0.4', '0.3'].map((price) => ({ price: parsePrice(price), size: parseSize('0.1') })),
    asks: [{ price: parsePrice('0.6'), size: parseSize('0.2') }],
  },
  no: { bids: [], asks: [] },
  minOrderSize: null,
  tickSize: null,
  negRisk: false,
  lastTradePrice: null,
  leftOut: partial.has(ref) ? 2 : 0,
  raw: { secret: 1 },
});
const orderBook = async (one: StoredMarket): Promise<OrderBook | null> => {
  asked.push(one.ref);
  const error = failing.get(one.ref);
  if (error) throw error;
  return bookless.has(one.ref) ? null : bookOf(one);
};
const dataOf = (platform: Platform): PlatformData =>
  ({
    platform,
    orderBook,
    ...(platform === 'limitless'
      ? {}
      : {
          orderBooks: async (markets: readonly StoredMarket[]) => {
            asked.push(markets.map(({ ref }) => ref).join());
            const whole = failing.get('all');
            if (whole) throw whole;
            const held = markets.filter(({ ref }) => !bookless.has(ref));
            return new Map(held.map((one) => [one.ref, failing.get(one.ref) ?? bookOf(one)] as const));
          },
        }),
  }) as unknown as PlatformData;

beforeAll(async () => {
  store = await startMarketStore({
    platforms: { kalshi: dataOf('kalshi'), limitless: dataOf('limitless'), polymarket: dataOf('polymarket') },
  });
});
beforeEach(() => {
  asked = [];
  failing = new Map();
  bookless = new Set();
  partial = new Set();
});
afterAll(() => store?.close());

const ids = ({ markets }: Listed): string[] => markets.map(({ platform_id: id }) => id);

test('market_ids answers these markets in this order on one page, by any id, and names those that are unknown', async () => {
  const refs = Array.from({ length: 60 }, (_, i) => `KXLIST-${i}`);
  await store.list(...refs.map((ref) => market({ ref, platform: 'kalshi' })));
  const wanted = refs.toReversed();
  const list = await store.get<Listed>(
    `markets?provider=kalshi&market_ids=${['KXNONE', 'kalshi:kxlist-3', ...wanted, 'K%20X'].join()}`,
  );
  expect(ids(list)).toEqual(['KXLIST-3', ...wanted.filter((ref) => ref !== 'KXLIST-3')]);
  expect(list.meta.not_found).toEqual(['KXNONE', 'K X']);
  const prefixed = await store.get<Listed>(
    'markets?provider=kalshi&market_ids=kalshi:kxnone,platform_a:KXLIST-1,KXLIST-1',
  );
  expect([ids(prefixed), prefixed.meta.not_found]).toEqual([['KXLIST-1'], ['kalshi:kxnone']]);
  expect(list.pagination).toMatchObject({ total: 60, has_more: false, next_cursor: null });
  const condition = `0x${'ab'.repeat(32)}`;
  await store.list(
    market({ ref: condition, platformId: '77', slug: 'will-it', platform: 'polymarket' }),
    market({ ref: `0x${'cd'.repeat(32)}`, platformId: '78', slug: '79', platform: 'polymarket' }),
    market({ ref: `0x${'ef'.repeat(32)}`, platformId: '79', slug: 'x-79', platform: 'polymarket' }),
  );
  const gamma = await store.get<Listed>(`markets?provider=polymarket&market_ids=78,will-it,79,${condition}`);
  expect(ids(gamma)).toEqual(['78', '77', '79']);
  await expect(store.get('markets?provider=kalshi&market_ids=KXLIST-1&status=open')).rejects.toThrow(/400.*status/);
  await expect(
    store.get(`markets?provider=kalshi&market_ids=${Array.from({ length: 101 }, (_, i) => i).join()}`),
  ).rejects.toThrow(/400.*1 to 100 market ids/);
});

const ending = (ref: string, liquidity: string | null, endMs: number | null) =>
  market({
    ref,
    platform: 'limitless',
    tradingEndAt: endMs === null ? null : new Date(endMs).toISOString(),
    state: {
      liquidity: liquidity === null ? null : usd(liquidity),
      metadata: { liquidity_basis: liquidity === null ? 'none' : 'best_level' },
    },
  });

test('min_liquidity, ends_after and ends_before leave out what does not pass, and what is not known', async () => {
  const at = Date.UTC(2027, 0, 1);
  await store.list(
    ending('a', '10', at),
    ending('b', '9.999999', at + HOUR_MS),
    ending('c', null, null),
    ending('d', '0', at - HOUR_MS),
  );
  const found = async (query: string) => ids(await store.get<Listed>(`markets?provider=limitless&${query}`)).toSorted();
  expect(await found('min_liquidity=10')).toEqual(['a']);
  expect(await found('min_liquidity=9.999999')).toEqual(['a', 'b']);
  expect(await found('min_liquidity=0')).toEqual(['a', 'b', 'd']);
  expect(await found(`ends_after=${at / 1000}`)).toEqual(['a', 'b']);
  expect(await found(`ends_before=${at / 1000}`)).toEqual(['d']);
  expect(await found(`ends_after=${at / 1000}&ends_before=${new Date(at + 1).toISOString()}`)).toEqual(['a']);
  expect(await found('limit=10')).toEqual(['a', 'b', 'c', 'd']);
});

test('liquidity that is not known is null in views and day files, not 0', async () => {
  await store.list(ending('unread', null, null), ending('empty', '0', null));
  const of = "market_key IN (sipHash64('limitless', 'unread'), sipHash64('limitless', 'empty')) ORDER BY liquidity";
  const rows = [{ liquidity: '0' }, { liquidity: null }];
  for (const view of ['v_markets', 'v_quotes'])
    expect(await store.clickhouse.sql(`SELECT liquidity FROM ${view} WHERE ${of}`)).toEqual(rows);
  const Row = z.object({ market_id: z.string(), liquidity: z.number().nullable() });
  for (const file of ['file_markets', 'file_quotes'] as const) {
    const day = new Date().toISOString().slice(0, 10);
    const found = await store.clickhouse.query(file, Row, { platform: 'limitless', day });
    const wanted = found.filter((row) => ['unread', 'empty'].includes(row.market_id));
    expect(wanted.map((row) => row.liquidity)).toEqual([0, null]);
  }
});

test('the largest min_liquidity that the store can hold is answered, a larger one is refused', async () => {
  const from = 'markets?provider=limitless&min_liquidity=';
  expect(ids(await store.get<Listed>(`${from}999999999999`))).toEqual([]);
  await expect(store.get(`${from}1000000000000`)).rejects.toThrow(/400.*min_liquidity.*0 to 999999999999/);
});

test('books of many markets are one call to the platform, in the order of the list; a failure costs one book', async () => {
  const refs = ['KXBOOK-1', 'KXBOOK-2', 'KXBOOK-3'];
  await store.list(
    ...refs.map((ref) => market({ ref, platform: 'kalshi' })),
    market({ ref: 'KXBOOK-OVER', platform: 'kalshi', state: { status: 'closed' } }),
  );
  failing.set('KXBOOK-2', new PlatformError('kalshi', 'bad_answer', { detail: 'x' }));
  const query = 'orderbooks?provider=kalshi&market_ids=KXBOOK-3,KXBOOK-2,KXNONE,KXBOOK-OVER,KXBOOK-1';
  const { data, meta } = await store.get<Books>(`${query}&depth=2`);
  expect(data.map((book) => book.market_id)).toEqual(['KXBOOK-3', 'KXBOOK-OVER', 'KXBOOK-1']);
  expect(meta).toMatchObject({ not_found: ['KXNONE'], errors: [{ market_id: 'KXBOOK-2', status: 502 }] });
  expect(asked).toEqual(['KXBOOK-3,KXBOOK-2,KXBOOK-1']);
  expect(data[0]?.yes).toEqual({
    bids: [
      { price: 0.5, size: 0.1 },
      { price: 0.4, size: 0.1 },
    ],
    asks: [{ price: 0.6, size: 0.2 }],
    depth: 0.4,
  });
  expect(data[0]).not.toHaveProperty('raw_data');
  expect(data[1]?.yes).toEqual({ bids: [], asks: [], depth: 0 });
  failing.set('all', new PlatformError('kalshi', 'unavailable'));
  const down = await store.get<Books>('orderbooks?provider=kalshi&market_ids=KXBOOK-1,KXNONE,KXBOOK-OVER');
  expect(down.data.map((book) => book.market_id)).toEqual(['KXBOOK-OVER']);
  expect(down.meta).toMatchObject({ not_found: ['KXNONE'], errors: [{ market_id: 'KXBOOK-1', status: 503 }] });
  const none = await store.get<Books>('orderbooks?provider=kalshi&market_ids=KXBOOK-1,KXBOOK-3');
  expect([none.data, none.meta.errors.map(({ status }) => status)]).toEqual([[], [503, 503]]);
  await expect(store.get(`orderbooks?provider=kalshi&market_ids=${refs.join()}&depth=0`)).rejects.toThrow(/400.*depth/);
});

test.each(['kalshi', 'limitless'] as const)('a book of %s that lacks levels says how many', async (platform) => {
  const [whole, lacking] = ['WHOLE', 'LACKING'].map((word) => `${platform}-${word}`.toUpperCase());
  await store.list(...[whole!, lacking!].map((ref) => market({ ref, platform })));
  partial = new Set([lacking!]);
  const { data } = await store.get<Books>(`orderbooks?provider=${platform}&market_ids=${whole},${lacking}`);
  expect(data.map(({ metadata }) => metadata.levels_left_out)).toEqual([undefined, 2]);
  const one = await store.get<{ data: { metadata: object } }>(`markets/id/${lacking}/orderbook?provider=${platform}`);
  expect(one.data.metadata).toMatchObject({ levels_left_out: 2 });
});

test('an error is the same for callers who share the answer; an open market that the reply leaves out is one', async () => {
  bookless = new Set(['KXBOOK-LEFT-OUT']);
  await store.list(...['KXBOOK-LATE', 'KXBOOK-LEFT-OUT'].map((ref) => market({ ref, platform: 'kalshi' })));
  failing.set('KXBOOK-LATE', new PlatformError('kalshi', 'timeout'));
  const wanted = 'orderbooks?provider=kalshi&market_ids=KXBOOK-LATE,KXBOOK-LEFT-OUT';
  const expected = [
    { market_id: 'KXBOOK-LATE', status: 504, message: 'Kalshi did not respond in time' },
    { market_id: 'KXBOOK-LEFT-OUT', status: 404, message: 'Kalshi has no order book for this market now' },
  ];
  // One of these is answered from the cache.
  for (let n = 0; n < 4; n += 1) expect((await store.get<Books>(wanted)).meta.errors).toEqual(expected);
});

test.each(['kalshi', 'limitless'] as const)(
  'a market of %s that trades and has no book is a 404, not an empty book; a pool, or one that is over, has an empty one',
  async (platform) => {
    const [gone, pool, over, there] = ['GONE', 'POOL', 'OVER', 'THERE'].map((ref) =>
      `${platform}-${ref}`.toUpperCase(),
    );
    await store.list(
      market({ ref: gone!, platform }),
      market({ ref: there!, platform }),
      market({ ref: pool!, platform, metadata: { trade_type: 'amm' } }),
      market({ ref: over!, platform, state: { status: 'settled' } }),
    );
    bookless = new Set([gone!, pool!, over!]);
    const path = `orderbooks?provider=${platform}&market_ids=`;
    const { data, meta } = await store.get<Books>(`${path}${[gone, pool, over, there].join()}`);
    expect(data.map(({ market_id: id, yes }) => [id, yes.bids.length])).toEqual([
      [pool, 0],
      [over, 0],
      [there, 3],
    ]);
    expect(meta.errors).toMatchObject([{ market_id: gone, status: 404 }]);
    expect((await store.get<Books>(`${path}${gone}`)).meta.errors).toMatchObject([{ market_id: gone, status: 404 }]);
    await expect(store.get(`markets/id/${gone}/orderbook?provider=${platform}`)).rejects.toThrow(/404.*no order book/);
    const { data: empty } = await store.get<{ data: { yes: object } }>(
      `markets/id/${pool}/orderbook?provider=${platform}`,
    );
    expect(empty.yes).toEqual({ bids: [], asks: [], depth: 0 });
  },
);

test('where a platform has no batch call its books are read one by one, and one that fails is named', async () => {
  await store.list(...['l-1', 'l-2', 'l-3'].map((ref) => market({ ref, platform: 'limitless' })));
  failing.set('l-2', new PlatformError('limitless', 'timeout'));
  const { data, meta } = await store.get<Books>('orderbooks?provider=limitless&market_ids=l-3,l-2,l-1');
  expect(data.map((book) => book.market_id)).toEqual(['l-3', 'l-1']);
  expect(meta.errors).toMatchObject([{ market_id: 'l-2', status: 504 }]);
  expect(asked.toSorted()).toEqual(['l-1', 'l-2', 'l-3']);
});

test('a price at an instant is the payout, else the last trade, else the last quote of that instant, and never a later one', async () => {
  const start = Math.floor((now - 30 * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const at = (hours: number): number => start + hours * HOUR_MS;
  const seen = (hours: number, state: Parameters<typeof market>[0]['state']) =>
    market({ ref: 'KXPRICE', platform: 'kalshi', fetchedAt: iso(at(hours)), ...(state ? { state } : {}) });
  // Only bids and asks at first, then trades, a pause, and the payout.
  await store.list(seen(1, { quotes: quotes('0.3', '0.28', '0.32') }));
  const one = seen(2, { quotes: quotes('0.35', '0.33', '0.37') });
  await store.list(one);
  await store.trade(
    trade({ of: one, atMs: at(3) + 1, price: '0.4', size: '10' }),
    trade({ of: one, atMs: at(3.5), price: '0.45', size: '10', outcome: 'no' }),
    trade({ of: one, atMs: at(3.6), price: '0.99', size: '10', isBlockTrade: true }),
    trade({ of: one, atMs: at(9), price: '0.7', size: '10' }),
  );
  await store.list(seen(10, { status: 'paused', quotes: quotes('0.7') }));
  const resolvedAt = iso(at(20));
  await store.list(seen(21, { status: 'settled', resolvedAt, quotes: quotes('1') }));
  const priceAt = async (ms: number | null) => {
    const path = `markets/prices?provider=kalshi&market_ids=KXPRICE${ms === null ? '' : `&at=${ms}`}`;
    const [price] = (await store.get<Prices>(path)).data;
    return price && [price.prices['yes'], price.prices['no'], price.at, price.source];
  };
  expect(await priceAt(at(0.5))).toEqual([null, null, null, null]);
  expect(await priceAt(at(1))).toEqual([0.3, 0.7, iso(at(1)), 'quote']);
  expect(await priceAt(at(2) - 1)).toEqual([0.3, 0.7, iso(at(1)), 'quote']);
  expect(await priceAt(at(3))).toEqual([0.35, 0.65, iso(at(2)), 'quote']);
  expect(await priceAt(at(3) + 1)).toEqual([0.4, 0.6, iso(at(3) + 1), 'trade']);
  expect(await priceAt(at(3.5))).toEqual([0.55, 0.45, iso(at(3.5)), 'trade']);
  expect(await priceAt(at(8.99))).toEqual([0.55, 0.45, iso(at(3.5)), 'trade']);
  expect(await priceAt(at(10.5))).toEqual([0.7, 0.3, iso(at(9)), 'trade']);
  expect(await priceAt(at(20) - 1)).toEqual([0.7, 0.3, iso(at(9)), 'trade']);
  expect(await priceAt(at(20))).toEqual([1, 0, resolvedAt, 'payout']);
  expect(await priceAt(null)).toEqual([1, 0, resolvedAt, 'payout']);
  expect(await priceAt(Date.UTC(2200, 0, 1))).toEqual([1, 0, resolvedAt, 'payout']);
  const { meta, data } = await store.get<Prices>('markets/prices?provider=kalshi&market_ids=KXNONE,KXPRICE,KXLIST-1');
  expect(meta.not_found).toEqual(['KXNONE']);
  expect(data.map((price) => price.market_id)).toEqual(['KXPRICE', 'KXLIST-1']);
});

test('an instant beyond what the store can hold is now; one between two milliseconds is not rounded up', async () => {
  const one = market({ ref: 'KXINSTANT', platform: 'kalshi' });
  await store.list(one);
  const second = Math.floor(now / 1000) - 7200;
  await store.trade(
    trade({ of: one, atMs: second * 1000, price: '0.4', size: '1' }),
    trade({ of: one, atMs: second * 1000 + 124, price: '0.5', size: '1' }),
  );
  const priceAt = async (at: string) =>
    (await store.get<Prices>(`markets/prices?provider=kalshi&market_ids=KXINSTANT&at=${at}`)).data[0]?.prices['yes'];
  expect(await priceAt('2110-01-01')).toBe(0.5);
  expect(await priceAt(`${second}.1239`)).toBe(0.4);
  expect(await priceAt(`${second}.124`)).toBe(0.5);
});

test('the last trade is known by its bar where trades were dropped for their age', async () => {
  const one = market({ ref: 'KXAGED', platform: 'kalshi' });
  await store.list(one);
  const hour = Math.floor(now / HOUR_MS - 50) * HOUR_MS;
  await store.trade(
    trade({ of: one, atMs: hour + 1001, price: '0.2', size: '1' }),
    trade({ of: one, atMs: hour + 61_001, price: '0.3', size: '1' }),
    trade({ of: one, atMs: hour + 62_002, price: '0.99', size: '1', isBlockTrade: true }),
    trade({ of: one, atMs: hour + 3_000_000, price: '0.4', size: '1' }),
  );
  /** Ids that are spelled otherwise are another answer. */
  const pricesOf = async (id: string) =>
    Promise.all(
      [1000, 1001, 61_000, 61_001, 3_000_000, 2 * HOUR_MS].map(async (ms) => {
        const [price] = (await store.get<Prices>(`markets/prices?provider=kalshi&market_ids=${id}&at=${hour + ms}`))
          .data;
        return [price?.prices['yes'], price?.at, price?.source];
      }),
    );
  const before = await pricesOf('kxaged');
  expect(before.map(([price]) => price)).toEqual([null, 0.2, 0.2, 0.3, 0.4, 0.4]);
  await store.clickhouse.command("DELETE FROM trades WHERE market_key = sipHash64('kalshi', 'KXAGED')");
  expect(await pricesOf('KXAGED')).toEqual(before);
});

test('a market that was dropped since it was looked up is not found', async () => {
  await store.list(market({ ref: 'KXGONE', platform: 'kalshi' }));
  const asked = 'provider=kalshi&market_ids=KXGONE,KXLIST-1';
  expect(ids(await store.get<Listed>(`markets?${asked}`))).toEqual(['KXGONE', 'KXLIST-1']);
  for (const table of ['markets', 'market_state']) {
    await store.clickhouse.command(`DELETE FROM ${table} WHERE market_key = sipHash64('kalshi', 'KXGONE')`);
  }
  await store.app.deps.present.copyNow('kalshi', ['KXGONE']);
  const list = await store.get<Listed>(`markets?${asked}&limit=9`);
  expect([ids(list), list.meta.not_found]).toEqual([['KXLIST-1'], ['KXGONE']]);
  const prices = await store.get<Prices>(`markets/prices?${asked}`);
  expect([prices.data.length, prices.meta.not_found]).toEqual([1, ['KXGONE']]);
});

test('of a market with three outcomes each has the price of its own last trade', async () => {
  const outcomes = ['a', 'b', 'c'].map((id) => ({ id, name: id, tokenId: '' }));
  const many = market({ ref: 'KXMANY', platform: 'kalshi', outcomes, marketType: 'multiple_choice' });
  await store.list(many);
  const at = now - 2 * HOUR_MS;
  await store.trade(
    trade({ of: many, atMs: at, price: '0.2', size: '1', outcome: 'a' }),
    trade({ of: many, atMs: at + 1000, price: '0.5', size: '1', outcome: 'c' }),
  );
  const { data } = await store.get<Prices>('markets/prices?provider=kalshi&market_ids=KXMANY');
  const prices = { a: 0.2, b: null, c: 0.5 };
  expect(data[0]).toMatchObject({ prices, at: new Date(at + 1000).toISOString(), source: 'trade' });
});
