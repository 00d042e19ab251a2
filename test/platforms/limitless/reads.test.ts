import { describe, expect, test } from 'vitest';
import { parsePrice, parseUsd } from '../../../src/core/decimal.ts';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import type { SweepScope, TradePage, TradeQuery } from '../../../src/platforms/contract.ts';
import { SETTINGS, cannedHttp, collect, readContext, refuse } from '../../fixtures/canned-http.ts';
import { NO_TOKEN, YES_TOKEN, childRow, groupRow, marketRow, tradeRow } from '../../fixtures/limitless/rows.ts';
import { storedMarket, yesNo } from '../../fixtures/stored-market.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { manualClock } from '../../simulators/lib/index.ts';
import { startLimitless } from '../../simulators/limitless.ts';

const NOW = Date.UTC(2026, 9, 6, 6, 40);
const directory = { byRef: async () => new Map() };

function adapter(answer: Parameters<typeof cannedHttp>[0]) {
  const http = cannedHttp(answer);
  return { http, data: createLimitlessData({ http, settings: SETTINGS, now: () => NOW }), context: readContext() };
}

const keys = storedMarket({
  platform: 'limitless',
  ref: 'otter-1',
  title: 'Will the otter win?',
  outcomes: yesNo(YES_TOKEN, NO_TOKEN),
  metadata: { neg_risk: false },
});

/** A listing, without the list of slugs, whose rows can change between requests: `onPage` runs before each page is cut. */
function listing(rows: { id: number; slug: string }[], onPage: (request: number) => void = () => {}) {
  let requests = 0;
  return adapter((path, query) => {
    if (path !== '/markets/active') return undefined;
    onPage((requests += 1));
    const from = (Number(query.get('page')) - 1) * Number(query.get('limit'));
    return { data: rows.slice(from, from + Number(query.get('limit'))), totalMarketsCount: rows.length };
  });
}
const numbered = (count: number, change: (n: number) => object = () => ({})) =>
  Array.from(
    { length: count },
    (_, n) => marketRow({ id: n + 1, slug: `otter-${n + 1}`, ...change(n) }) as { id: number; slug: string },
  );
async function refs({ data, context }: ReturnType<typeof adapter>, scope: SweepScope) {
  const pages = await collect(data.sweep(scope, context));
  return pages.flatMap(({ markets }) => markets.map(({ info }) => info.ref));
}

describe('sweeping Limitless', () => {
  test('an open sweep is one pass of 25 rows a page, each row once', async () => {
    const sim = listing(numbered(51));
    expect(await refs(sim, { kind: 'open' })).toHaveLength(51);
    expect(sim.http.asked).toEqual([1, 2, 3].map((page) => `/markets/active?page=${page}&limit=25&sortBy=newest`));
  });

  test('a full sweep repeats until a pass brings nothing new, so that rows shifted off a page are found', async () => {
    const rows = numbered(60);
    const gone = rows[0]!;
    // The first row leaves between the first two pages: row 26 slips onto the page already read.
    const sim = listing(rows, (request) => {
      if (request === 2) rows.shift();
    });
    const found = await refs(sim, { kind: 'full' });
    expect(new Set(found).size).toBe(found.length);
    expect(found.toSorted()).toEqual([gone, ...rows].map(({ slug }) => slug).toSorted());
  });

  test.each([
    ['too low', 25, 5],
    ['0', 0, 5],
    ['a text', '110', 5],
    ['below 0', -1, 5],
    ['absent', undefined, 5],
    ['too high', 1_000_000, 8],
  ])('a count that is %s neither ends the listing early nor keeps it going', async (_, count, pages) => {
    const rows = numbered(110);
    const sim = adapter((path, query) => {
      if (path !== '/markets/active') return undefined;
      const from = (Number(query.get('page')) - 1) * 25;
      return { data: rows.slice(from, from + 25), totalMarketsCount: count };
    });
    expect(await refs(sim, { kind: 'open' })).toHaveLength(110);
    expect(sim.http.asked).toHaveLength(pages);
    const isOdd = typeof count !== 'number' || count < 0;
    expect(sim.context.badRows.some(({ field }) => field === 'totalMarketsCount')).toBe(isOdd);
  });

  test('a listing that repeats its pages ends', async () => {
    const rows = numbered(25);
    const sim = adapter((path) =>
      path === '/markets/active' ? { data: rows, totalMarketsCount: 1_000_000 } : undefined,
    );
    expect(await refs(sim, { kind: 'open' })).toHaveLength(25);
    expect(sim.http.asked).toHaveLength(4);
  });

  test('a full sweep asks singly for markets the slug list knows and no page showed', async () => {
    const rows = numbered(3);
    const hidden = marketRow({ id: 99, slug: 'otter-99' });
    const { http, data, context } = adapter((path) => {
      if (path === '/markets/active/slugs') return [...rows, { slug: 'group-1', markets: [{ slug: 'otter-99' }] }];
      if (path === '/markets/otter-99') return hidden;
      return path === '/markets/active' ? { data: rows, totalMarketsCount: 3 } : undefined;
    });
    const pages = await collect(data.sweep({ kind: 'full' }, context));
    expect(pages.at(-1)?.markets.map(({ info }) => info.ref)).toEqual(['otter-99']);
    expect(http.asked.at(-1)).toBe('/markets/otter-99');
  });

  test('a strike that a row does not state is that of the slug list', async () => {
    const oracle = { priceOracleMetadata: { chainlinkPair: 'DOGE/USD' } };
    const rows = [
      marketRow({ id: 1, slug: 'doge-1', ...oracle, metadata: { openPrice: '0.25' } }),
      marketRow({ id: 2, slug: 'doge-2', ...oracle, metadata: { openPrice: '---' } }),
      marketRow({ id: 3, slug: 'doge-3', ...oracle }),
      marketRow({ id: 4, slug: 'doge-4', ...oracle }),
      groupRow({ id: 5, slug: 'group-1', markets: [childRow({ slug: 'doge-5' })] }),
    ];
    const slugs: object[] = [
      { slug: 'doge-1', strikePrice: '0.3' },
      { slug: 'doge-2', strikePrice: '0.108590000000000000' },
      { slug: 'doge-3', strikePrice: '0' },
      { slug: 'doge-4', strikePrice: { odd: 1 } },
      { slug: 'group-1', strikePrice: null, markets: [{ slug: 'doge-5', strikePrice: '7' }] },
    ];
    const { http, data, context } = adapter((path) => {
      if (path === '/markets/active/slugs') return slugs;
      return path === '/markets/active' ? { data: rows, totalMarketsCount: 5 } : undefined;
    });
    const strikes = async (kind: 'full' | 'open') =>
      Object.fromEntries(
        (await collect(data.sweep({ kind }, context))).flatMap(({ markets }) =>
          markets.map(({ info }) => [info.ref, info.metadata['strike']]),
        ),
      );
    const known = { 'doge-1': { open_price: 0.25 }, 'doge-2': { price: 0.10859 }, 'doge-3': { price: 0 } };
    expect(await strikes('full')).toEqual({ ...known, 'doge-4': undefined, 'doge-5': { price: 7 } });
    // Before the next pass, as one is still unknown; the pass after it has no need.
    slugs[3] = { slug: 'doge-4', strikePrice: '0.5' };
    const all = { ...known, 'doge-4': { price: 0.5 }, 'doge-5': { price: 7 } };
    for (let passes = 0; passes < 2; passes += 1) expect(await strikes('open')).toEqual(all);
    expect(http.asked.filter((path) => path === '/markets/active/slugs')).toHaveLength(2);
  });

  test('a market that is asked for singly and refused costs itself only', async () => {
    const rows = numbered(3);
    const slugs = [{ slug: 'broken-1' }, { slug: 'broken-2' }, { slug: 'otter-99' }];
    const { data, context } = adapter((path) => {
      if (path === '/markets/active/slugs') return slugs;
      if (path === '/markets/broken-1') return refuse('refused', 400);
      if (path === '/markets/broken-2') return refuse('unavailable', 500);
      if (path === '/markets/otter-99') return marketRow({ id: 99, slug: 'otter-99' });
      return path === '/markets/active' ? { data: rows, totalMarketsCount: 3 } : undefined;
    });
    const pages = await collect(data.sweep({ kind: 'full' }, context));
    expect(pages.at(-1)?.markets.map(({ info }) => info.ref)).toEqual(['otter-99']);
    expect(context.badRows.map(({ kind, id }) => [kind, id])).toEqual([
      ['market', 'broken-1'],
      ['market', 'broken-2'],
    ]);
  });

  test('a group is one row of the count and as many markets as it nests; a bad child costs itself only', async () => {
    const bad = { ...childRow({ slug: 'bad-1' }), title: null };
    const rows = [
      groupRow({ markets: [childRow(), bad, childRow({ slug: '30-1', title: '30' })] }),
      groupRow({ id: 2, markets: 7 }),
    ];
    const { data, context } = adapter(() => ({ data: rows, totalMarketsCount: 2 }));
    const [page] = await collect(data.sweep({ kind: 'open' }, context));
    expect(page?.markets.map(({ info }) => info.title)).toEqual([
      'Satellites in orbit above 25 in Q4?',
      'Satellites in orbit above 30 in Q4?',
    ]);
    expect(context.badRows.map(({ kind, id, reason }) => [kind, id, reason.split(':')[0]])).toEqual([
      ['market', 'bad-1', 'title'],
      ['event', 'satellites-above-1779377186826', 'markets'],
    ]);
  });

  test('a resolved child whose row has no result is read alone, and stays out of the list', async () => {
    const { payoutNumerators: _payouts, ...listed } = childRow({ status: 'RESOLVED', expired: true });
    const children = [
      { ...listed, slug: 'split-1' },
      { ...listed, slug: 'won-1', winningOutcomeIndex: 0 },
      { ...listed, slug: 'open-1', status: 'FUNDED', expired: false },
    ];
    const { data, context } = adapter((path) => {
      if (path === '/markets/active/slugs')
        return [{ slug: 'group-1', markets: children.map(({ slug }) => ({ slug })) }];
      if (path === '/markets/split-1') return { ...listed, slug: 'split-1', payoutNumerators: [1, 1] };
      return path === '/markets/active' ? { data: [groupRow({ markets: children })], totalMarketsCount: 1 } : undefined;
    });
    const found = async (kind: 'open' | 'full') =>
      (await collect(data.sweep({ kind }, context))).flatMap(({ markets }) =>
        markets.map(({ info, state }) => [info.ref, state.status, state.metadata['payouts']]),
      );
    const inList = [
      ['won-1', 'settled', { yes: 1, no: 0 }],
      ['open-1', 'open', undefined],
    ];
    expect(await found('open')).toEqual(inList);
    expect(await found('full')).toEqual([...inList, ['split-1', 'settled', { yes: 0.5, no: 0.5 }]]);
  });

  test('what is new is read until a page is older', async () => {
    const rows = numbered(75, (n) => ({ createdAt: new Date(NOW - n * 60_000).toISOString() }));
    const sim = listing(rows);
    expect(await refs(sim, { kind: 'changed', sinceMs: NOW - 9.5 * 60_000 })).toHaveLength(10);
    expect(sim.http.asked).toHaveLength(2);
    expect(await refs(sim, { kind: 'historical', sinceMs: 0 })).toEqual([]);
  });

  test('what was created at an unknown time is read, and the list is read on for two pages of it at most', async () => {
    const sim = listing(numbered(200, () => ({ createdAt: '2026-13-01T00:00:00Z' })));
    expect(await refs(sim, { kind: 'changed', sinceMs: NOW - 60_000 })).toHaveLength(75);
    expect(sim.http.asked).toHaveLength(3);
  });
});

describe('one Limitless market', () => {
  test('that belongs to a group gets its title from the group, asked for once', async () => {
    const { http, data, context } = adapter((path) => {
      if (path === '/markets/25-1') return childRow({ slug: '25-1', groupSlug: 'group-1' });
      return path === '/markets/group-1' ? groupRow({ slug: 'group-1' }) : undefined;
    });
    const record = await data.market('25-1', context);
    expect(record?.info).toMatchObject({ title: 'Satellites in orbit above 25 in Q4?', eventId: 'group-1' });
    await data.market('25-1', context);
    expect(http.asked).toEqual(['/markets/25-1', '/markets/group-1', '/markets/25-1']);
  });

  test.each([
    ['whose group cannot be read', { groupSlug: 'group-1' }, 'group-1'],
    ['that has the number of its group alone', { groupSlug: null }, '10013328'],
    ['of no group', { groupId: null }, ''],
  ])('%s says whether it lacks its event', async (_, change, eventId) => {
    const { data, context } = adapter((path) =>
      path === '/markets/25-1' ? childRow({ slug: '25-1', ...change }) : refuse('unavailable', 500),
    );
    const record = await data.market('25-1', context);
    expect([record?.info.eventId, record?.lacksEvent]).toEqual([eventId, eventId === '' ? undefined : true]);
  });

  test('is null when unknown, and for a group, which is an event', async () => {
    const { data, context } = adapter((path) => (path === '/markets/group-1' ? groupRow() : undefined));
    expect(await data.market('nobody-1', context)).toBeNull();
    expect(await data.market('group-1', context)).toBeNull();
  });

  test('of a pool is asked for by its address with the checksum, however it is written', async () => {
    const address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
    for (const id of [address, address.toLowerCase(), address.toUpperCase().replace('0X', '0x')]) {
      const { http, data, context } = adapter(() => undefined);
      await data.market(id, context);
      expect(http.asked).toEqual([`/markets/${address}`]);
    }
  });

  test('of a pool whose slug Limitless does not know is read by its address once a listing had it', async () => {
    const sim = await startLimitless({ seed: 7, clock: manualClock(NOW), markets: 20 });
    const http = await unmeteredHttp();
    try {
      const { world } = sim;
      const span = { createdAt: NOW - 86_400_000, expiresAt: NOW + 1e8 };
      const [known, unseen] = [world.createPool({ title: 'A pool', ...span }), { slug: 'a-pool-1700000000000' }];
      const data = createLimitlessData({ http, settings: { ...SETTINGS, ...sim.env }, now: () => NOW });
      await collect(data.sweep({ kind: 'full' }, readContext()));
      const account = { ...sim.world.demoProfile, id: 1, username: null, displayName: '', isPublic: true };
      const trade = {
        at: NOW - 7_200_000,
        txHash: '0x1',
        outcome: 0,
        side: 'BUY',
        shares: 1n,
        collateral: 1n,
      } as const;
      known.trades.push(
        { ...trade, yesAfter: 6100, account },
        { ...trade, at: trade.at + 600_000, yesAfter: 6200, account },
      );
      world.knowsPoolsBySlug = false;
      const record = await data.market(known.slug, readContext());
      expect(record?.info.ref).toBe(known.slug);
      const bars = await data.candles({ ...record!.info, status: 'open' }, 60, 0, NOW / 1000, readContext());
      expect(bars.length).toBeGreaterThan(0);
      expect(await data.market(unseen.slug, readContext())).toBeNull();
    } finally {
      await http.close();
      await sim.close();
    }
  });

  test('that is not a market after all is a bad answer', async () => {
    const { data, context } = adapter(() => ({ hello: 1 }));
    await expect(data.market('odd-1', context)).rejects.toMatchObject({ kind: 'bad_answer' });
    expect(context.badRows).toHaveLength(1);
  });
});

/** A feed of trades, newest first, that may grow before a page is cut. */
function feed(rows: object[], onPage: (page: number) => unknown = () => {}) {
  return adapter((path, query) => {
    if (path !== '/markets/otter-1/events') return undefined;
    const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))];
    onPage(page);
    const events = rows.slice((page - 1) * limit, page * limit);
    return { events, page, limit, totalPages: Math.ceil(rows.length / limit), totalRows: rows.length };
  });
}
const secondsAgo = (seconds: number) => (NOW - seconds * 1000) * 1000;
const trade = (secondsOld: number, change: object = {}) =>
  tradeRow({ createdAt: new Date(NOW - secondsOld * 1000).toISOString(), txHash: `0x${secondsOld}`, ...change });
const all: TradeQuery = { sinceUs: 0, untilUs: null, market: keys };
const ids = (pages: TradePage[]) => pages.flatMap(({ trades }) => trades.map(({ tradeId }) => tradeId));

describe('reading Limitless trades', () => {
  test('goes on until a page reaches the mark, and one page further', async () => {
    const { http, data, context } = feed(Array.from({ length: 500 }, (_, n) => trade(n)));
    const sinceUs = secondsAgo(150);
    const pages = await collect(data.trades({ ...all, sinceUs }, directory, context));
    expect(http.asked).toHaveLength(3);
    expect(pages.flatMap(({ trades }) => trades.filter((one) => one.executedAtUs >= sinceUs))).toHaveLength(151);
    expect(pages.map(({ completeFromUs }) => completeFromUs)).toEqual([
      secondsAgo(99) + 1,
      secondsAgo(150),
      secondsAgo(150),
    ]);
  });

  test.each([{ totalRows: 'n/a' }, { totalPages: -1 }, { limit: 0 }])(
    'counts of a page that are none cost no trade: %j',
    async (odd) => {
      const rows = Array.from({ length: 150 }, (_, n) => trade(n));
      const { data, context } = adapter((_, query) => {
        const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))];
        const whole = { limit, totalPages: Math.ceil(rows.length / limit), totalRows: rows.length };
        return { events: rows.slice((page - 1) * limit, page * limit), page, ...whole, ...odd };
      });
      expect(new Set(ids(await collect(data.trades(all, directory, context)))).size).toBe(150);
    },
  );

  test('a row that states a time of years ago does not end the reading', async () => {
    const rows = Array.from({ length: 350 }, (_, n) => trade(n));
    rows[20] = trade(21, { createdAt: '1971-01-01T00:00:00.000Z' });
    const { http, data, context } = feed(rows);
    const pages = await collect(data.trades({ ...all, sinceUs: secondsAgo(250) }, directory, context));
    expect(http.asked).toHaveLength(4);
    expect(new Set(ids(pages)).size).toBeGreaterThanOrEqual(250);
  });

  test('numbers identical rows of one transaction, also where a page ends inside it', async () => {
    const twins = Array.from({ length: 4 }, () => trade(98, { txHash: '0xtwin' }));
    const rows = [...Array.from({ length: 98 }, (_, n) => trade(n)), ...twins, trade(200)];
    const first = feed(rows);
    const pages = await collect(first.data.trades(all, directory, first.context));
    expect(pages.map(({ trades }) => trades.length)).toEqual([98, 5]);
    expect(new Set(ids(pages)).size).toBe(103);
    // Read again when one more trade has shifted every page, the same rows have the same ids.
    const second = feed([trade(0, { txHash: '0xnew' }), ...rows]);
    const again = ids(await collect(second.data.trades(all, directory, second.context)));
    expect(again).toHaveLength(104);
    expect(again.slice(1).toSorted()).toEqual(ids(pages).toSorted());
  });

  test('does not count a row twice that new trades pushed onto the next page', async () => {
    const rows = Array.from({ length: 150 }, (_, n) => trade(n + 10));
    const { data, context } = feed(rows, (page) => {
      if (page === 2 && rows.length === 150) rows.unshift(trade(2), trade(1));
    });
    const found = ids(await collect(data.trades(all, directory, context)));
    expect(found).toHaveLength(150);
    expect(new Set(found).size).toBe(150);
  });

  test('refuses a page from an older cache than the page before: what it lacks would be lost', async () => {
    const rows = Array.from({ length: 250 }, (_, n) => trade(n));
    const { data, context } = feed(rows, (page) => {
      if (page === 2 && rows.length === 250) rows.splice(0, 3);
    });
    await expect(collect(data.trades(all, directory, context))).rejects.toMatchObject({
      kind: 'bad_answer',
      detail: '/markets/otter-1/events: page 2 is older than the one before',
    });
  });

  test('finds its place again when more than a page of new trades came in between, and gives up when they never stop', async () => {
    const rows = Array.from({ length: 150 }, (_, n) => trade(n + 300));
    const burst = (count: number) => rows.unshift(...Array.from({ length: count }, (_, n) => trade(rows.length + n)));
    const once = feed(rows, (page) => page === 2 && rows.length === 150 && burst(130));
    const found = ids(await collect(once.data.trades(all, directory, once.context)));
    expect([found.length, new Set(found).size]).toEqual([150, 150]);
    expect(once.http.asked.map((url) => /page=(\d+)/.exec(url)?.[1])).toEqual(['1', '2', '3']);
    const endless = feed(rows, () => burst(130));
    await expect(collect(endless.data.trades(all, directory, endless.context))).rejects.toMatchObject({
      detail: expect.stringContaining('outrun'),
    });
  });

  test('keeps a trade of the last day that was indexed behind newer ones', async () => {
    const { data, context } = feed([trade(10), trade(7200), trade(20), trade(400)]);
    const pages = await collect(data.trades({ ...all, sinceUs: secondsAgo(300) }, directory, context));
    expect(pages.flatMap(({ trades }) => trades.map(({ executedAtUs }) => executedAtUs))).toContain(secondsAgo(7200));
    expect(pages.at(-1)?.completeFromUs).toBe(secondsAgo(300));
  });

  test('keeps within its bounds and leaves out what cannot be read', async () => {
    const rows = [trade(1), trade(2, { tokenId: '7' }), trade(3, { price: 'x' }), trade(4), trade(90_000)];
    const { data, context } = feed(rows);
    const query = { ...all, sinceUs: secondsAgo(5), untilUs: secondsAgo(2) };
    const [page] = await collect(data.trades(query, directory, context));
    expect(page?.trades.map(({ executedAtUs }) => executedAtUs)).toEqual([secondsAgo(4)]);
    expect(context.badRows.map(({ reason }) => reason.split(':')[0])).toEqual(['price', 'tokenId']);
  });

  test('has none of an automated market maker and refuses a read of all markets', async () => {
    const { http, data, context } = feed([]);
    const amm = { ...keys, metadata: { trade_type: 'amm' } };
    expect(await collect(data.trades({ ...all, market: amm }, directory, context))).toEqual([]);
    expect(http.asked).toEqual([]);
    await expect(collect(data.trades({ ...all, market: null }, directory, context))).rejects.toThrow(
      'market: required',
    );
  });
});

describe('Limitless now', () => {
  test.each([404, 400])('a book that answers %i is none', async (status) => {
    const { data, context } = adapter(() => refuse(status === 404 ? 'not_found' : 'refused', status, {}));
    expect(await data.orderBook(keys, context)).toBeNull();
  });

  test.each([404, 400])('a %i without JSON says nothing about a market, its book or its prices', async (status) => {
    const { data, context } = adapter(() => refuse(status === 404 ? 'not_found' : 'refused', status));
    const failure = { status, kind: status === 404 ? 'unavailable' : 'refused' };
    await expect(data.market(keys.ref, context)).rejects.toMatchObject(failure);
    await expect(data.orderBook(keys, context)).rejects.toMatchObject(failure);
    await expect(data.candles(keys, 60, 0, 7200, context)).rejects.toMatchObject(failure);
    await expect(
      data.oracleCandles?.(
        { ...keys, metadata: { oracle: 'pyth' } },
        { interval: '1h', startTs: 0, endTs: 7200 },
        context,
      ),
    ).rejects.toMatchObject(failure);
  });

  test('a book brings what rests in it and its last trade, in terms of the first outcome', async () => {
    const [bid, ask] = [0.4, 0.6].map((price) => ({ price, size: 10_000_000, side: 'x' }));
    const body = { bids: [bid], asks: [ask], tokenId: '1', minSize: '1', lastTradePrice: 0.37 };
    const { data, context } = adapter(() => body);
    const [eight, bestBid, bestAsk] = [parseUsd('8'), parsePrice('0.4'), parsePrice('0.6')];
    expect(await data.bookFigures?.(keys, context)).toEqual({
      resting: { bestLevel: eight, wholeBook: eight, bid: bestBid, ask: bestAsk, adjustedMidpoint: parsePrice('0.5') },
      lastTradePrice: parsePrice('0.37'),
    });
  });

  test.each([
    ['stated', 0.005, '0.005'],
    ['not stated', undefined, '0.0125'],
    ['no price', 'odd', '0.0125'],
  ])('the adjusted midpoint of a book that is %s', async (_, adjustedMidpoint, expected) => {
    const [bids, asks] = [[{ price: 0.002, size: 50_000_000 }], [{ price: 0.023, size: 900_000_000 }]];
    const { data, context } = adapter(() => ({ bids, asks, minSize: '100000000', adjustedMidpoint }));
    const figures = await data.bookFigures?.({ ...keys, metadata: { rewards_min_size: 10 } }, context);
    expect(figures?.resting.adjustedMidpoint).toBe(parsePrice(expected));
  });

  test('the adjusted midpoint of a book passes levels that are too small to earn rewards', async () => {
    const [bids, asks] = [
      [
        { price: 0.717, size: 250_000_000 },
        { price: 0.71, size: 3_000_000 },
      ],
      [
        { price: 0.762, size: 5_000_000 },
        { price: 0.769, size: 250_000_000 },
      ],
    ];
    const body = { bids, asks, minSize: '50000000' };
    const { data, context } = adapter(() => body);
    const market = { ...keys, metadata: { rewards_min_size: 50 } };
    expect((await data.bookFigures?.(market, context))?.resting).toMatchObject({
      bid: parsePrice('0.717'),
      ask: parsePrice('0.762'),
      adjustedMidpoint: parsePrice('0.743'),
    });
  });

  test('a book that is down is an error; an automated market maker is not asked for one', async () => {
    const down = adapter(() => refuse('unavailable', 503));
    await expect(down.data.orderBook(keys, down.context)).rejects.toMatchObject({ status: 503 });
    down.http.asked.length = 0;
    expect(await down.data.orderBook({ ...keys, metadata: { trade_type: 'amm' } }, down.context)).toBeNull();
    expect(down.http.asked).toEqual([]);
  });

  test.each([
    [1, '1d'],
    [6, '1w'],
    [29, '1m'],
    [31, 'all'],
  ])('hourly bars of %i days ago look back %s', async (days, interval) => {
    const { http, data, context } = adapter(() => ({ title: 't', prices: [] }));
    const startTs = NOW / 1000 - days * 86_400;
    expect(await data.candles(keys, 60, startTs, startTs + 7200, context)).toEqual([]);
    expect(http.asked).toEqual([`/markets/otter-1/historical-price?interval=${interval}`]);
  });

  test('hourly bars keep within the range asked for; minute bars are not made of samples', async () => {
    const startTs = Math.floor(NOW / 3_600_000) * 3600 - 7200;
    const prices = Array.from({ length: 12 }, (_, n) => ({ timestamp: (startTs + (11 - n) * 900) * 1000, price: 0.4 }));
    const { data, context } = adapter(() => [{ title: 't', prices }]);
    const bars = await data.candles(keys, 60, startTs, startTs + 3600, context);
    expect(bars.map((bar) => bar.startTs)).toEqual([startTs]);
    expect(await data.candles(keys, 1, startTs, startTs + 3600, context)).toEqual([]);
  });
});
