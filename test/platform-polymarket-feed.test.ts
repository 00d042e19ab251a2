import { describe, expect, test } from 'vitest';
import { type MarketDirectory, TradeFeedGap, type TradePage } from '../src/platforms/platform.ts';
import { createPolymarketData } from '../src/platforms/polymarket/data.ts';
import { type AskedRequest, URLS, cannedHttp, refusal, watched } from './fixtures/polymarket/http.ts';
import { dataEnvelope, hex, marketKeys, token, tradeRow, tradeRowV2 } from './fixtures/polymarket/rows.ts';

const NOW = Date.parse('2026-06-20T00:00:00Z');
const NOW_SEC = NOW / 1000;
const directory: MarketDirectory = { byRef: async () => new Map([[marketKeys.ref, marketKeys]]) };

type Rows = Record<string, unknown>[];

/** A tape, newest first: one row a second, each in its own transaction. */
const tape = (count: number): Rows =>
  Array.from({ length: count }, (_, index) => ({ transactionHash: hex(count - index), timestamp: NOW_SEC - index }));

/** Both versions of the feed over one tape. */
const feed =
  (rows: () => Rows, tweak: (request: AskedRequest) => void = () => {}) =>
  (request: AskedRequest): unknown => {
    tweak(request);
    const limit = Number(request.query.get('limit'));
    const from = Number(request.query.get('offset') ?? request.query.get('cursor') ?? 0);
    const page = rows().slice(from, from + limit);
    if (request.path === '/trades') return page.map(tradeRow);
    return dataEnvelope(page.map(tradeRowV2), from + limit < rows().length ? String(from + limit) : null);
  };

async function read(answer: (request: AskedRequest) => unknown, since: number, over: object = {}) {
  const http = cannedHttp(answer);
  const context = watched();
  const pages: TradePage[] = [];
  const query = { sinceUs: since * 1e6, untilUs: null, market: null, ...over };
  const data = createPolymarketData({ http, urls: URLS, now: () => NOW });
  let gap: unknown = null;
  try {
    for await (const page of data.trades(query, directory, context)) pages.push(page);
  } catch (error) {
    gap = error;
  }
  const ids = pages.flatMap((page) => page.trades.map((trade) => trade.tradeId));
  return { pages, ids, unique: new Set(ids), asked: http.asked, bad: context.bad, gap };
}

const offsets = (asked: AskedRequest[]): string[] =>
  asked.map(({ path, query }) => `${path} ${query.get('offset') ?? query.get('cursor') ?? ''}`);

describe('the feed of all markets', () => {
  test('is read newest first until the bound is passed, and no further', async () => {
    const { unique, asked, pages } = await read(
      feed(() => tape(2500)),
      NOW_SEC - 1200,
    );
    expect(unique.size).toBe(1201);
    expect(offsets(asked)).toEqual(['/trades 0', '/trades 999']);
    expect(asked[0]?.query.get('takerOnly')).toBe('true');
    expect(pages.map((page) => page.completeFromUs)).toEqual([(NOW_SEC - 998) * 1e6, (NOW_SEC - 1200) * 1e6]);
  });

  test('a transaction cut off by a page is counted where it is whole: two identical rows stay two', async () => {
    const rows = tape(1200);
    rows[999] = { ...rows[998] };
    rows[1000] = { ...rows[998] };
    const { unique, asked } = await read(
      feed(() => rows),
      NOW_SEC - 1100,
    );
    expect(offsets(asked)).toEqual(['/trades 0', '/trades 998']);
    const triple = [...unique].filter((id) => id.startsWith(String(rows[998]?.transactionHash)));
    expect(triple.map((id) => id.slice(84))).toEqual(['', '.2', '.3']);
  });

  test('trades that arrive between two pages shift the feed: rows repeat, none is lost, no id changes', async () => {
    let rows = tape(2500);
    const fresh = Array.from({ length: 40 }, (_, index) => ({
      transactionHash: hex(2540 - index),
      timestamp: NOW_SEC + 40 - index,
    }));
    const answer = feed(
      () => rows,
      ({ query }) => {
        if (query.get('offset') === '999') rows = [...fresh, ...rows];
      },
    );
    const { unique, ids } = await read(answer, NOW_SEC - 1500);
    const steady = await read(
      feed(() => tape(2500)),
      NOW_SEC - 1500,
    );
    expect(unique).toEqual(steady.unique);
    expect(ids.length).toBeGreaterThan(unique.size);
  });

  test('at offset 3,000 it goes on in version 2, without rows it has already read', async () => {
    const { unique, ids, asked, pages } = await read(
      feed(() => tape(6000)),
      NOW_SEC - 5000,
    );
    expect(unique.size).toBe(5001);
    expect(ids.length).toBe(5001);
    expect(offsets(asked).slice(0, 6)).toEqual([
      '/trades 0',
      '/trades 999',
      '/trades 1998',
      '/trades 2997',
      '/v2/trades ',
      '/v2/trades 1000',
    ]);
    expect(asked[4]?.query.get('taker_only')).toBe('true');
    expect(pages.at(-1)?.completeFromUs).toBe((NOW_SEC - 5000) * 1e6);
  });

  test.each([
    [
      'refuses',
      () => {
        throw refusal(400, 'offset too large');
      },
    ],
    ['repeats its first page', (request: AskedRequest) => request.query.set('offset', '0')],
  ])('where version 1 %s beyond an offset it goes on in version 2', async (_, beyond) => {
    const tweak = (request: AskedRequest): void => {
      if (Number(request.query.get('offset') ?? 0) > 1500) beyond(request);
    };
    const { unique } = await read(
      feed(() => tape(6000), tweak),
      NOW_SEC - 4000,
    );
    expect(unique.size).toBe(4001);
  });

  test('a short tape ends in version 2, which knows that it has ended', async () => {
    const { unique, pages, asked } = await read(
      feed(() => tape(7)),
      NOW_SEC - 86_400,
    );
    expect(unique.size).toBe(7);
    expect(pages.at(-1)?.completeFromUs).toBe((NOW_SEC - 86_400) * 1e6);
    expect(offsets(asked)).toEqual(['/trades 0', '/v2/trades ']);
  });

  test('a tape that is cut at the start of last month says what is missing', async () => {
    const floor = Date.parse('2026-05-01T00:00:00Z') / 1000;
    const rows = [...tape(5), { transactionHash: hex(900), timestamp: floor + 60 }];
    const since = floor - 10 * 86_400;
    const { gap, unique } = await read(
      feed(() => rows),
      since,
    );
    expect(unique.size).toBe(6);
    expect(gap).toBeInstanceOf(TradeFeedGap);
    expect(gap).toMatchObject({ fromUs: since * 1e6, toUs: (floor + 60) * 1e6 });
  });

  test('rows newer than the upper bound are left out', async () => {
    const { unique } = await read(
      feed(() => tape(100)),
      NOW_SEC - 50,
      { untilUs: (NOW_SEC - 40) * 1e6 },
    );
    expect(unique.size).toBe(11);
  });

  test('a bad row, an unknown market and an unknown token are reported, and the page goes on', async () => {
    const rows = [
      ...tape(3),
      { transactionHash: hex(50), timestamp: NOW_SEC - 3, price: 'much' },
      { transactionHash: hex(51), timestamp: NOW_SEC - 4, conditionId: hex(0xbad) },
      { transactionHash: hex(52), timestamp: NOW_SEC - 5, asset: token(99) },
      { transactionHash: hex(53), timestamp: NOW_SEC - 6, outcomeIndex: 999, outcome: '' },
      { transactionHash: hex(54), timestamp: NOW_SEC - 9 },
    ];
    const { unique, bad } = await read(
      feed(() => rows),
      NOW_SEC - 7,
    );
    expect(unique.size).toBe(4);
    expect(bad.map(({ kind, reason }) => `${kind}: ${reason}`)).toEqual([
      expect.stringMatching(/^trade: price: /),
      `trade: unknown condition ${hex(0xbad)}`,
      `trade: token ${token(99)} is not one of its market's`,
    ]);
    expect(bad[0]?.id).toBe(hex(50));
  });
});

describe('the feed of one market', () => {
  test('is version 2 by condition, and a transaction over two pages is completed by the second', async () => {
    const rows = tape(1500);
    rows[1000] = { ...rows[999] };
    const { unique, asked } = await read(
      feed(() => rows),
      1,
      { market: marketKeys },
    );
    expect(unique.size).toBe(1500);
    expect([...unique].filter((id) => id.endsWith('.2'))).toHaveLength(1);
    expect(asked.map(({ path, query }) => `${path} ${query.get('condition')}`)).toEqual(
      Array(2).fill(`/v2/trades ${marketKeys.ref}`),
    );
  });

  test('a market without a condition has no trades and asks nothing', async () => {
    const { asked } = await read(
      feed(() => tape(3)),
      1,
      { market: { ...marketKeys, ref: 'gamma:700123' } },
    );
    expect(asked).toEqual([]);
  });
});
