import { describe, expect, test } from 'vitest';
import {
  type MarketDirectory,
  type StoredMarket,
  TradeFeedGap,
  type TradePage,
} from '../../../src/platforms/contract.ts';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import { SETTINGS, cannedHttp, readContext } from '../../fixtures/canned-http.ts';
import { dataEnvelope, hex, marketKeys, token, tradeRow } from '../../fixtures/polymarket/rows.ts';

const NOW = Date.parse('2026-06-20T00:00:00Z');
const NOW_SEC = NOW / 1000;
const directory: MarketDirectory = { byRef: async () => new Map([[marketKeys.ref, marketKeys]]) };

type Rows = Record<string, unknown>[];

/** A tape, newest first: one row a second, each in its own transaction. */
const tape = (count: number): Rows =>
  Array.from({ length: count }, (_, index) => ({ transaction_hash: hex(count - index), timestamp: NOW_SEC - index }));

interface Reading {
  rows: Rows;
  /** Seconds before now. */
  back: number;
  until?: number;
  market?: StoredMarket;
  expected?: number;
}

/** Reads the trades of a tape. */
async function read({ rows, back, until, market, expected }: Reading) {
  const http = cannedHttp((_, query) => {
    const limit = Number(query.get('limit'));
    const from = Number(query.get('cursor') ?? 0);
    const page = rows.slice(from, from + limit);
    return dataEnvelope(page.map(tradeRow), from + limit < rows.length ? String(from + limit) : null);
  });
  const context = readContext();
  const pages: TradePage[] = [];
  const query = {
    sinceUs: (NOW_SEC - back) * 1e6,
    untilUs: until === undefined ? null : (NOW_SEC - until) * 1e6,
    market: market ?? null,
    ...(expected === undefined ? {} : { expected }),
  };
  const data = createPolymarketData({ http, settings: SETTINGS, now: () => NOW });
  let gap: unknown = null;
  try {
    for await (const page of data.trades(query, directory, context)) pages.push(page);
  } catch (error) {
    gap = error;
  }
  const ids = pages.flatMap((page) => page.trades.map((trade) => trade.tradeId));
  const asked = http.requests.map(({ url }) => new URL(url));
  const steps = asked.map(({ pathname, searchParams: one }) => `${pathname} ${one.get('cursor') ?? ''}`);
  return { pages, ids, unique: new Set(ids), asked, steps, bad: context.badRows, gap };
}

describe('the feed of all markets', () => {
  test('is read newest first until the bound is passed, and no further', async () => {
    const { unique, steps, pages } = await read({ rows: tape(2500), back: 1200 });
    expect(unique.size).toBe(1201);
    expect(steps).toEqual(['/v2/trades ', '/v2/trades 1000']);
    expect(pages.map((page) => page.completeFromUs)).toEqual([(NOW_SEC - 998) * 1e6, (NOW_SEC - 1200) * 1e6]);
  });

  test('sends its floor, its filters and a parameter that never repeats with every page', async () => {
    const { asked } = await read({ rows: tape(6000), back: 5000 });
    expect(asked.length).toBe(6);
    for (const { searchParams } of asked) {
      const { _, cursor: _cursor, ...filters } = Object.fromEntries(searchParams);
      expect(filters).toEqual({ taker_only: 'true', filter_type: 'TOKENS', filter_amount: '0.01', limit: '1000' });
    }
    expect(new Set(asked.map(({ searchParams }) => searchParams.get('_'))).size).toBe(6);
  });

  test('a read that expects few trades asks for a small page, and for further ones until the bound is passed', async () => {
    const few = await read({ rows: tape(2500), back: 10, expected: 4 });
    expect(few.asked.map(({ searchParams }) => searchParams.get('limit'))).toEqual(['56']);
    expect(few.unique.size).toBe(11);
    const more = await read({ rows: tape(2500), back: 100, expected: 4 });
    expect(more.unique.size).toBe(101);
    expect(more.steps).toEqual(['/v2/trades ', '/v2/trades 56']);
  });

  test('a transaction cut off by a page is counted where it is whole: three identical rows stay three', async () => {
    const rows = tape(1200);
    rows[999] = { ...rows[998] };
    rows[1000] = { ...rows[998] };
    const { unique, ids } = await read({ rows, back: 1100 });
    expect(ids.length).toBe(unique.size);
    const triple = [...unique].filter((id) => id.startsWith(String(rows[998]?.transaction_hash)));
    expect(triple.map((id) => id.slice(84))).toEqual(['', '.2', '.3']);
  });

  test('a short tape that ends is complete down to what was asked for', async () => {
    const { unique, pages, steps } = await read({ rows: tape(7), back: 86_400 });
    expect(unique.size).toBe(7);
    expect(pages.at(-1)?.completeFromUs).toBe((NOW_SEC - 86_400) * 1e6);
    expect(steps).toEqual(['/v2/trades ']);
  });

  test('a tape that is cut at the start of last month says what is missing', async () => {
    const floor = Date.parse('2026-05-01T00:00:00Z') / 1000;
    const rows = [...tape(5), { transaction_hash: hex(900), timestamp: floor + 60 }];
    const since = floor - 10 * 86_400;
    const { gap, unique } = await read({ rows, back: NOW_SEC - since });
    expect(unique.size).toBe(6);
    expect(gap).toBeInstanceOf(TradeFeedGap);
    expect(gap).toMatchObject({ fromUs: since * 1e6, toUs: (floor + 60) * 1e6 });
  });

  test('a last row that states a time of years ago ends no read', async () => {
    const rows = tape(2500);
    rows[999] = { ...rows[999], timestamp: 1 };
    const { unique, steps, pages } = await read({ rows, back: 1200 });
    expect(unique.size).toBe(1200);
    expect(steps).toEqual(['/v2/trades ', '/v2/trades 1000']);
    expect(pages[0]?.completeFromUs).toBe((NOW_SEC - 997) * 1e6);
  });

  test('rows newer than the upper bound are left out', async () => {
    expect((await read({ rows: tape(100), back: 50, until: 40 })).unique.size).toBe(11);
  });

  test('combos, which are bets on no single market, are left out without being bad', async () => {
    const combo = { condition_id: `0x03${'7'.repeat(32)}${'0'.repeat(28)}`, slug: '', outcome: '' };
    const rows = [...tape(2), { ...combo, timestamp: NOW_SEC - 3 }, { is_combo: true, timestamp: NOW_SEC - 4 }];
    const { unique, bad } = await read({ rows, back: 10 });
    expect([unique.size, bad]).toEqual([2, []]);
  });

  test('a bad row and an unknown token are reported, and the page goes on', async () => {
    const rows = [
      ...tape(3),
      { transaction_hash: hex(50), timestamp: NOW_SEC - 3, price: 'much' },
      { transaction_hash: hex(51), timestamp: NOW_SEC - 4, condition_id: hex(0xbad) },
      { transaction_hash: hex(52), timestamp: NOW_SEC - 5, token_id: token(99) },
      { transaction_hash: hex(53), timestamp: NOW_SEC - 6, outcome_index: 999, outcome: '' },
      { transaction_hash: hex(54), timestamp: NOW_SEC - 9 },
    ];
    const { unique, bad } = await read({ rows, back: 7 });
    expect(unique.size).toBe(5);
    expect(bad.map(({ kind, reason }) => `${kind}: ${reason}`)).toEqual([
      expect.stringMatching(/^trade: price: /),
      `trade: token ${token(99)} is not one of its market's`,
    ]);
    expect(bad[0]?.id).toBe(hex(50));
  });

  test('an unlabelled trade of a market that is not listed yet waits, and is bad only after a quarter of an hour', async () => {
    const unlabelled = { condition_id: hex(0xbad), outcome_index: 999, outcome: '' };
    const rows = [
      ...tape(3),
      { ...unlabelled, transaction_hash: hex(60), timestamp: NOW_SEC - 20 },
      { ...unlabelled, transaction_hash: hex(61), timestamp: NOW_SEC - 40 },
      { ...unlabelled, transaction_hash: hex(62), timestamp: NOW_SEC - 1000 },
    ];
    const { pages, bad } = await read({ rows, back: 2000 });
    expect(pages.map(({ waitsFromUs }) => waitsFromUs)).toEqual([(NOW_SEC - 40) * 1e6]);
    expect(bad.map(({ reason }) => reason)).toEqual([`unknown condition ${hex(0xbad)}`]);
  });
});

describe('the feed of one market', () => {
  test('is asked for by condition, and a transaction over two pages is completed by the second', async () => {
    const rows = tape(1500);
    rows[1000] = { ...rows[999] };
    const { unique, asked } = await read({ rows, back: 1e6, market: marketKeys });
    expect(unique.size).toBe(1500);
    expect([...unique].filter((id) => id.endsWith('.2'))).toHaveLength(1);
    const conditions = asked.map((url) => `${url.pathname} ${url.searchParams.get('condition')}`);
    expect(conditions).toEqual(Array(2).fill(`/v2/trades ${marketKeys.ref}`));
  });

  const floor = Date.parse('2023-06-20T00:00:00Z') / 1000;
  const back = NOW_SEC - floor + 86_400 * 100;
  const older = { ...marketKeys, tradingStartAt: '2021-02-01T00:00:00.000Z' };
  test.each([
    ['no trades', 0, older],
    ['a few late trades', 7, older],
    ['an unknown beginning', 7, { ...marketKeys, tradingStartAt: null }],
  ])('of a market older than the feed is complete only from its start on: %s', async (_, count, of) => {
    const { pages, gap } = await read({ rows: tape(count), back, market: of });
    expect([pages.at(-1)?.completeFromUs, gap]).toEqual([floor * 1e6, null]);
  });

  test.each([[[]], [[{ transaction_hash: hex(900), timestamp: floor + 60 }]]])(
    'of a market that is younger than the feed is complete, whatever it has: %o',
    async (rows) => {
      const younger = { ...marketKeys, tradingStartAt: '2023-06-20T00:00:00.000Z' };
      const { pages, gap } = await read({ rows, back, market: younger });
      expect([pages.at(-1)?.completeFromUs, gap]).toEqual([(NOW_SEC - back) * 1e6, null]);
    },
  );

  test('a market without a condition has no trades and asks nothing', async () => {
    const { asked } = await read({ rows: tape(3), back: 10, market: { ...marketKeys, ref: 'gamma:700123' } });
    expect(asked).toEqual([]);
  });
});
