import { describe, expect, test } from 'vitest';
import { type MarketDirectory, type MarketKeys, TradeFeedGap, type TradePage } from '../src/platforms/platform.ts';
import { createPolymarketData } from '../src/platforms/polymarket/data.ts';
import { URLS, cannedHttp, readContext, refuse } from './fixtures/canned-http.ts';
import { dataEnvelope, hex, marketKeys, token, tradeRow, tradeRowV2 } from './fixtures/polymarket/rows.ts';

const NOW = Date.parse('2026-06-20T00:00:00Z');
const NOW_SEC = NOW / 1000;
const directory: MarketDirectory = { byRef: async () => new Map([[marketKeys.ref, marketKeys]]) };

type Rows = Record<string, unknown>[];

/** A tape, newest first: one row a second, each in its own transaction. */
const tape = (count: number): Rows =>
  Array.from({ length: count }, (_, index) => ({ transactionHash: hex(count - index), timestamp: NOW_SEC - index }));

interface Reading {
  rows: Rows | (() => Rows);
  /** Seconds before now. */
  back: number;
  until?: number;
  market?: MarketKeys;
  now?: number;
  /** May answer instead, or change what was asked. */
  first?: (query: URLSearchParams) => unknown;
}

/** Reads the trades off both versions of the feed over one tape. */
async function read({ rows, back, until, market, now = NOW, first = () => undefined }: Reading) {
  const http = cannedHttp((path, query) => {
    const instead = first(query);
    if (instead !== undefined) return instead;
    const all = typeof rows === 'function' ? rows() : rows;
    const limit = Number(query.get('limit'));
    const from = Number(query.get('offset') ?? query.get('cursor') ?? 0);
    const page = all.slice(from, from + limit);
    if (path === '/trades') return page.map(tradeRow);
    return dataEnvelope(page.map(tradeRowV2), from + limit < all.length ? String(from + limit) : null);
  });
  const context = readContext();
  const pages: TradePage[] = [];
  const query = {
    sinceUs: (NOW_SEC - back) * 1e6,
    untilUs: until === undefined ? null : (NOW_SEC - until) * 1e6,
    market: market ?? null,
  };
  const data = createPolymarketData({ http, urls: URLS, now: () => now });
  let gap: unknown = null;
  try {
    for await (const page of data.trades(query, directory, context)) pages.push(page);
  } catch (error) {
    gap = error;
  }
  const ids = pages.flatMap((page) => page.trades.map((trade) => trade.tradeId));
  const asked = http.requests.map(({ url }) => new URL(url));
  const steps = asked.map(
    ({ pathname, searchParams: one }) => `${pathname} ${one.get('offset') ?? one.get('cursor') ?? ''}`,
  );
  return { pages, ids, unique: new Set(ids), asked, steps, bad: context.badRows, gap };
}

/** The first page of version 2, as it was 250 seconds of forty trades ago. */
const kept = (query: URLSearchParams) =>
  query.has('taker_only') && !query.get('cursor') ? void query.set('cursor', String(250 * 40)) : undefined;

describe('the feed of all markets', () => {
  test('is read newest first until the bound is passed, and no further', async () => {
    const { unique, asked, steps, pages } = await read({ rows: tape(2500), back: 1200 });
    expect(unique.size).toBe(1201);
    expect(steps).toEqual(['/trades 0', '/trades 999']);
    expect(asked[0]?.searchParams.get('takerOnly')).toBe('true');
    expect(pages.map((page) => page.completeFromUs)).toEqual([(NOW_SEC - 998) * 1e6, (NOW_SEC - 1200) * 1e6]);
  });

  test('a transaction cut off by a page is counted where it is whole: three identical rows stay three', async () => {
    const rows = tape(1200);
    rows[999] = { ...rows[998] };
    rows[1000] = { ...rows[998] };
    const { unique, steps } = await read({ rows, back: 1100 });
    expect(steps).toEqual(['/trades 0', '/trades 998']);
    const triple = [...unique].filter((id) => id.startsWith(String(rows[998]?.transactionHash)));
    expect(triple.map((id) => id.slice(84))).toEqual(['', '.2', '.3']);
  });

  test('trades that arrive between two pages shift the feed: rows repeat, none is lost, no id changes', async () => {
    let rows = tape(2500);
    const fresh = Array.from({ length: 40 }, (_, index) => ({
      transactionHash: hex(2540 - index),
      timestamp: NOW_SEC + 40 - index,
    }));
    const arrive = (query: URLSearchParams): void => {
      if (query.get('offset') === '999') rows = [...fresh, ...rows];
    };
    const { unique, ids } = await read({ rows: () => rows, back: 1500, first: arrive });
    const steady = await read({ rows: tape(2500), back: 1500 });
    expect(unique).toEqual(steady.unique);
    expect(ids.length).toBeGreaterThan(unique.size);
  });

  test('at offset 3,000 it goes on in version 2, without rows it has already read', async () => {
    const { unique, ids, asked, steps, pages } = await read({ rows: tape(6000), back: 5000 });
    expect(unique.size).toBe(5001);
    expect(ids.length).toBe(5001);
    const offsets = ['/trades 0', '/trades 999', '/trades 1998', '/trades 2997'];
    expect(steps.slice(0, 6)).toEqual([...offsets, '/v2/trades ', '/v2/trades 960']);
    expect(asked[4]?.searchParams.get('taker_only')).toBe('true');
    expect(pages.at(-1)?.completeFromUs).toBe((NOW_SEC - 5000) * 1e6);
  });

  test('a first page of version 2 that was kept since before what version 1 shows passes nothing over: it is an outage', async () => {
    // Forty trades a second: version 1 shows a hundred seconds of them, the page is 250 s old.
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      transactionHash: hex(20_000 - i),
      timestamp: NOW_SEC - Math.floor(i / 40),
    }));
    const { gap, pages } = await read({ rows, back: 400, first: kept });
    expect(gap).toMatchObject({ kind: 'unavailable' });
    expect(pages.at(-1)?.completeFromUs).toBeGreaterThan((NOW_SEC - 101) * 1e6);
  });

  test('the first page of version 2 has another address every quarter of a minute, so that none kept of it is old', async () => {
    const limits = new Set<string | null>();
    for (let seconds = 0; seconds < 120; seconds += 15) {
      const { asked } = await read({ rows: tape(6000), back: 5000, now: NOW + seconds * 1000 });
      limits.add(asked[4]?.searchParams.get('limit') ?? null);
    }
    expect(limits.size).toBe(8);
  });

  test.each([
    ['refuses', () => refuse('refused', 400)],
    ['repeats its first page', (query: URLSearchParams) => query.set('offset', '0')],
  ])('where version 1 %s beyond an offset it goes on in version 2', async (_, beyond) => {
    const first = (query: URLSearchParams) => (Number(query.get('offset') ?? 0) > 1500 ? beyond(query) : undefined);
    const { unique } = await read({ rows: tape(6000), back: 4000, first });
    expect(unique.size).toBe(4001);
  });

  test('a short tape ends in version 2, which knows that it has ended', async () => {
    const { unique, pages, steps } = await read({ rows: tape(7), back: 86_400 });
    expect(unique.size).toBe(7);
    expect(pages.at(-1)?.completeFromUs).toBe((NOW_SEC - 86_400) * 1e6);
    expect(steps).toEqual(['/trades 0', '/v2/trades ']);
  });

  test('a tape that is cut at the start of last month says what is missing', async () => {
    const floor = Date.parse('2026-05-01T00:00:00Z') / 1000;
    const rows = [...tape(5), { transactionHash: hex(900), timestamp: floor + 60 }];
    const since = floor - 10 * 86_400;
    const { gap, unique } = await read({ rows, back: NOW_SEC - since });
    expect(unique.size).toBe(6);
    expect(gap).toBeInstanceOf(TradeFeedGap);
    expect(gap).toMatchObject({ fromUs: since * 1e6, toUs: (floor + 60) * 1e6 });
  });

  test('rows newer than the upper bound are left out', async () => {
    expect((await read({ rows: tape(100), back: 50, until: 40 })).unique.size).toBe(11);
  });

  test('a bad row, an unknown token and an unlabelled row of an unknown market are reported, and the page goes on', async () => {
    const rows = [
      ...tape(3),
      { transactionHash: hex(50), timestamp: NOW_SEC - 3, price: 'much' },
      { transactionHash: hex(51), timestamp: NOW_SEC - 4, conditionId: hex(0xbad) },
      { transactionHash: hex(52), timestamp: NOW_SEC - 5, asset: token(99) },
      { transactionHash: hex(53), timestamp: NOW_SEC - 6, outcomeIndex: 999, outcome: '' },
      { transactionHash: hex(55), timestamp: NOW_SEC - 7, conditionId: hex(0xbad), outcomeIndex: 999, outcome: '' },
      { transactionHash: hex(54), timestamp: NOW_SEC - 9 },
    ];
    const { unique, bad } = await read({ rows, back: 7 });
    expect(unique.size).toBe(5);
    expect(bad.map(({ kind, reason }) => `${kind}: ${reason}`)).toEqual([
      expect.stringMatching(/^trade: price: /),
      `trade: token ${token(99)} is not one of its market's`,
      `trade: unknown condition ${hex(0xbad)}`,
    ]);
    expect(bad[0]?.id).toBe(hex(50));
  });
});

describe('the feed of one market', () => {
  test('is version 2 by condition, and a transaction over two pages is completed by the second', async () => {
    const rows = tape(1500);
    rows[1000] = { ...rows[999] };
    const { unique, asked } = await read({ rows, back: 1e6, market: marketKeys });
    expect(unique.size).toBe(1500);
    expect([...unique].filter((id) => id.endsWith('.2'))).toHaveLength(1);
    const conditions = asked.map((url) => `${url.pathname} ${url.searchParams.get('condition')}`);
    expect(conditions).toEqual(Array(2).fill(`/v2/trades ${marketKeys.ref}`));
  });

  test('a market without a condition has no trades and asks nothing', async () => {
    const { asked } = await read({ rows: tape(3), back: 10, market: { ...marketKeys, ref: 'gamma:700123' } });
    expect(asked).toEqual([]);
  });
});
