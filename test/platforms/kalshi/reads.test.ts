import { describe, expect, test } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import type { StoredMarket, TradePage } from '../../../src/platforms/contract.ts';
import { SETTINGS, cannedHttp, collect, readContext, refuse } from '../../fixtures/canned-http.ts';
import { candleRow, eventRow, marketRow, seriesRow, tradeRow } from '../../fixtures/kalshi/rows.ts';

const NOW = Date.UTC(2026, 9, 6, 6, 40);
const CUTOFF_S = Date.UTC(2026, 7, 7) / 1000;
const CUTOFF = { market_settled_ts: '2026-08-07T00:00:00Z', trades_created_ts: '2026-08-07T00:00:00Z' };
const DAY_S = 86_400;

type Answer = Parameters<typeof cannedHttp>[0];

function adapter(answer: Answer) {
  const http = cannedHttp((path, query) =>
    path === '/historical/cutoff'
      ? CUTOFF
      : path === '/events' && !query.has('tickers')
        ? { events: [] }
        : answer(path, query),
  );
  return { http, data: createKalshiData({ http, settings: SETTINGS, now: () => NOW }), context: readContext() };
}

const keys: StoredMarket = {
  platform: 'kalshi',
  ref: 'KXOTTERCUP-26OCT08REDBLU-BLU',
  platformId: 'KXOTTERCUP-26OCT08REDBLU-BLU',
  title: 'Bluewater wins',
  slug: 'kxottercup-26oct08redblu-blu',
  eventId: 'KXOTTERCUP-26OCT08REDBLU',
  sourceUrl: '',
  seriesId: 'KXOTTERCUP',
  status: 'open',
  outcomes: [],
  tradingStartAt: '2026-09-29T04:05:00.000Z',
  tradingEndAt: '2026-10-11T00:15:00.000Z',
  metadata: { tick_size: 0.01 },
};
const directory = { byRef: async () => new Map() };
const unknownEvents: Answer = (path) => (path === '/events' ? { events: [] } : undefined);

/** Archived markets by the day of June on which they settled, null for one whose time is unreadable. */
const archive = (days: (number | null)[][]) =>
  adapter((path, query) => {
    if (path !== '/historical/markets') return unknownEvents(path, query);
    const page = Number(query.get('cursor') ?? 0);
    const markets = days[page]!.map((day) =>
      marketRow({
        ticker: `D-${day}`,
        status: 'finalized',
        result: 'yes',
        settlement_ts: day === null ? 'in June' : `2026-06-${day}T00:00:00Z`,
      }),
    );
    return { markets, cursor: page + 1 < days.length ? String(page + 1) : '' };
  });
const archived = async ({ data, context }: ReturnType<typeof archive>) => {
  const sinceMs = Date.UTC(2026, 5, 15);
  const pages = await collect(data.sweep({ kind: 'historical', sinceMs }, context));
  return pages.flatMap(({ markets }) => markets.map(({ info }) => info.ref));
};

const us = (seconds: number) => seconds * 1e6;
const at = (seconds: number, id: string) =>
  tradeRow({ trade_id: id, created_time: new Date(seconds * 1000).toISOString() });
const ids = (pages: TradePage[]) => pages.flatMap(({ trades }) => trades.map(({ tradeId }) => tradeId));
const archiveDay = (from: number, to: number) => `/historical/trades?limit=1000&min_ts=${from - 1}&max_ts=${to}`;
const archivedBars: Answer = (path) =>
  path.startsWith('/historical/markets/') ? { candlesticks: [candleRow()] } : undefined;

describe('sweeping Kalshi', () => {
  test('a full sweep asks each status by itself, at the maximum limit, without combinations, until the cursor is empty', async () => {
    const { http, data, context } = adapter((path, query) => {
      if (path === '/series') return { series: [seriesRow()] };
      if (path === '/events') return { events: [eventRow()], cursor: '' };
      const [status, cursor] = [query.get('status'), query.get('cursor')];
      if (status !== 'open') return { markets: [], cursor: '' };
      if (cursor === null) return { markets: [marketRow({ ticker: 'A' })], cursor: 'two' };
      return cursor === 'two'
        ? { markets: [], cursor: 'three' }
        : { markets: [marketRow({ ticker: 'B' })], cursor: '' };
    });
    const pages = await collect(data.sweep({ kind: 'full' }, context));
    expect(pages.flatMap(({ markets }) => markets.map(({ info }) => info.ref))).toEqual(['A', 'B']);
    const statuses = http.asked.filter((url) => url.startsWith('/markets?') && !url.includes('cursor'));
    expect(statuses).toEqual(
      ['open', 'unopened', 'paused', 'closed', 'settled'].map(
        (status) => `/markets?limit=1000&mve_filter=exclude&status=${status}`,
      ),
    );
    expect(http.asked).toContain('/events?limit=200&with_nested_markets=true&status=open');
    expect(http.asked.filter((url) => url.startsWith('/series'))).toEqual(['/series']);
  });

  test('events that are missing are looked up a hundred at a time, once', async () => {
    const rows = Array.from({ length: 150 }, (_, n) => marketRow({ ticker: `M-${n}`, event_ticker: `E-${n}` }));
    const { http, data, context } = adapter((path, query) => {
      if (path === '/events') {
        const tickers = (query.get('tickers') ?? '').split(',').filter((ticker) => ticker !== 'E-7');
        return { events: tickers.map((event_ticker) => eventRow({ event_ticker, title: `Event ${event_ticker}` })) };
      }
      return path === '/markets' ? { markets: rows, cursor: '' } : { series: seriesRow() };
    });
    const [page] = await collect(data.sweep({ kind: 'open' }, context));
    expect(page?.markets[149]?.info.eventName).toBe('Event E-149');
    expect(page?.markets[7]?.info).toMatchObject({ eventId: 'E-7', eventName: '' });
    await collect(data.sweep({ kind: 'open' }, context));
    expect(http.asked.filter((url) => url.startsWith('/events'))).toHaveLength(2);
    expect(http.asked.filter((url) => url.startsWith('/series'))).toEqual(['/series/KXOTTERCUP']);
  });

  test('what changed is asked by change, creation, closing and settlement, one family of times per request', async () => {
    const { http, data, context } = adapter((path) =>
      path === '/series' ? { series: [] } : { markets: [], cursor: '' },
    );
    await collect(data.sweep({ kind: 'changed', sinceMs: NOW - 60_000 }, context));
    const [since, now] = [NOW / 1000 - 60, NOW / 1000];
    expect(http.asked).toEqual([
      `/series?min_updated_ts=${since}`,
      `/events?limit=200&with_nested_markets=true&min_updated_ts=${since}`,
      `/markets?limit=1000&mve_filter=exclude&min_updated_ts=${since}`,
      `/markets?limit=1000&mve_filter=exclude&min_created_ts=${since}`,
      `/markets?limit=1000&mve_filter=exclude&min_close_ts=${since}&max_close_ts=${now}`,
      `/markets?limit=1000&mve_filter=exclude&status=settled&min_settled_ts=${since}`,
    ]);
  });

  test('the archive is left at the first page that is too old while it comes newest first', async () => {
    const newestFirst = archive([
      [20, 16],
      [14, 12],
      [11, 10],
    ]);
    expect(await archived(newestFirst)).toEqual(['D-20', 'D-16']);
    expect(newestFirst.http.asked.filter((url) => url.startsWith('/historical/markets'))).toHaveLength(2);
  });

  test('an unreadable time in the archive neither ends it nor has it read to its end', async () => {
    const mixed = archive([[20, null], [18, 16], [14, null], [11], [10]]);
    expect(await archived(mixed)).toEqual(['D-20', 'D-null', 'D-18', 'D-16', 'D-null']);
    expect(mixed.http.asked.filter((url) => url.startsWith('/historical/markets'))).toHaveLength(3);
    const undated = archive([[null], [null], [null], [null], [null]]);
    await archived(undated);
    expect(undated.http.asked.filter((url) => url.startsWith('/historical/markets'))).toHaveLength(3);
  });

  test('empty pages of the archive do not end it', async () => {
    const gappy = archive([[20], [], [], [], [16], [14], [12]]);
    expect(await archived(gappy)).toEqual(['D-20', 'D-16']);
    expect(gappy.http.asked.filter((url) => url.startsWith('/historical/markets'))).toHaveLength(6);
    // An empty page between pages without a known time does not begin their count anew.
    const undated = archive([[null], [], [null], [], [null], [], [null]]);
    await archived(undated);
    expect(undated.http.asked.filter((url) => url.startsWith('/historical/markets'))).toHaveLength(5);
  });

  test('an archive in any other order is read to its end', async () => {
    expect(
      await archived(
        archive([
          [10, 11],
          [12, 14],
          [16, 20],
        ]),
      ),
    ).toEqual(['D-16', 'D-20']);
  });

  test('a row without a ticker is reported with its path and the page goes on; an odd field or status is reported and kept', async () => {
    const { data, context } = adapter((path, query) =>
      path === '/markets'
        ? {
            markets: [
              marketRow({ ticker: {} }),
              marketRow({ ticker: 'PART', yes_bid_dollars: 'cheap' }),
              'not a row',
              marketRow({ ticker: 'ODD', status: 'frozen' }),
              marketRow({ ticker: 'GOOD' }),
            ],
            cursor: '',
          }
        : unknownEvents(path, query),
    );
    const [page] = await collect(data.sweep({ kind: 'open' }, context));
    expect(page?.markets.map(({ info, state }) => [info.ref, state.status])).toEqual([
      ['PART', 'open'],
      ['ODD', 'closed'],
      ['GOOD', 'open'],
    ]);
    expect(context.badRows).toEqual([
      expect.objectContaining({ kind: 'market', id: '', reason: expect.stringMatching(/^ticker: /) }),
      expect.objectContaining({ kind: 'market', id: 'PART', field: 'yes_bid_dollars' }),
      expect.objectContaining({ kind: 'market', id: '' }),
      expect.objectContaining({ id: 'ODD', field: 'status', reason: expect.stringContaining('unknown word "frozen"') }),
    ]);
  });

  test('a cursor that does not move ends in an error, not in a loop', async () => {
    const { data, context } = adapter((path) =>
      path === '/markets' ? { markets: [], cursor: 'same' } : { events: [] },
    );
    await expect(collect(data.sweep({ kind: 'open' }, context))).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  test('a reply of another shape is a bad answer', async () => {
    const { data, context } = adapter(() => ({ rows: [] }));
    await expect(collect(data.sweep({ kind: 'open' }, context))).rejects.toMatchObject({ kind: 'bad_answer' });
  });
});

describe('one Kalshi market', () => {
  test('is found by a ticker in any case, and in the archive once it has left the live tier', async () => {
    const { http, data, context } = adapter((path, query) => {
      if (path === '/historical/markets/KXOLD-1') return { market: marketRow({ ticker: 'KXOLD-1' }) };
      if (path === '/series/KXOTTERCUP') return { series: seriesRow() };
      return path === '/events' ? { events: [eventRow()], cursor: '' } : unknownEvents(path, query);
    });
    const record = await data.market('kxold-1', context);
    expect(record?.info).toMatchObject({ ref: 'KXOLD-1', eventName: 'Redrock vs Bluewater', tags: ['Otters'] });
    expect(http.asked.slice(0, 2)).toEqual(['/markets/KXOLD-1', '/historical/markets/KXOLD-1']);
  });

  test('that neither tier knows is null; what cannot be a ticker is not asked for', async () => {
    const { http, data, context } = adapter(() => undefined);
    expect(await data.market('KXNONE', context)).toBeNull();
    http.asked.length = 0;
    expect(await data.market('../portfolio?x=1', context)).toBeNull();
    expect(http.asked).toEqual([]);
  });
});

describe('reading Kalshi trades', () => {
  const nowS = NOW / 1000;

  test('pages follow the cursor, newest first, and say down to where they are complete', async () => {
    const { http, data, context } = adapter((_, query) =>
      query.get('cursor') === null
        ? { trades: [at(nowS - 1, 'a'), at(nowS - 5, 'b')], cursor: 'n' }
        : { trades: [at(nowS - 9, 'c'), at(nowS - 200, 'too-old')], cursor: '' },
    );
    const query = { sinceUs: us(nowS - 120), untilUs: null, market: null };
    const pages = await collect(data.trades(query, directory, context));
    expect(pages.map(({ trades, completeFromUs }) => [trades.map(({ tradeId }) => tradeId), completeFromUs])).toEqual([
      [['a', 'b'], us(nowS - 5) + 1],
      [['c'], us(nowS - 120)],
      [[], us(nowS - 120)],
    ]);
    expect(http.asked).toEqual([
      `/markets/trades?limit=1000&min_ts=${nowS - 121}`,
      `/markets/trades?limit=1000&min_ts=${nowS - 121}&cursor=n`,
    ]);
  });

  test('a chain whose cursor is refused goes on from the oldest trade seen, plus a second', async () => {
    const { http, data, context } = adapter((_, query) => {
      if (query.get('cursor') === 'n') return refuse('refused', 400);
      if (query.has('max_ts')) return { trades: [at(nowS - 5, 'b'), at(nowS - 7, 'c')], cursor: '' };
      return { trades: [at(nowS - 1, 'a'), at(nowS - 5, 'b')], cursor: 'n' };
    });
    const query = { sinceUs: us(nowS - 60), untilUs: null, market: null };
    expect(ids(await collect(data.trades(query, directory, context)))).toEqual(['a', 'b', 'b', 'c']);
    expect(http.asked.at(-1)).toBe(`/markets/trades?limit=1000&min_ts=${nowS - 61}&max_ts=${nowS - 4}`);
  });

  test('a row that states a time of years ago ends no read: the pages behind it are read too', async () => {
    const pages: Record<string, unknown[]> = {
      '': [at(nowS - 1, 'a'), at(0, 'odd'), at(nowS - 5, 'b')],
      1: [at(nowS - 9, 'c'), at(nowS - 20, 'd')],
      2: [at(nowS - 50, 'e'), at(nowS - 200, 'too-old'), at(nowS - 201, 'too-old')],
      3: [at(nowS - 300, 'far')],
    };
    const { http, data, context } = adapter((_, query) => {
      const cursor = query.get('cursor') ?? '';
      return { trades: pages[cursor], cursor: String(Number(cursor) + 1) };
    });
    const query = { sinceUs: us(nowS - 120), untilUs: null, market: null };
    const read = await collect(data.trades(query, directory, context));
    expect(ids(read)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(read[0]?.completeFromUs).toBe(us(nowS - 5) + 1);
    expect(http.asked.filter((url) => url.includes('/trades'))).toHaveLength(3);
  });

  test('new trades are read while the cutoff cannot be, and one of its times costs no other', async () => {
    let cutoff: unknown = refuse('unavailable', 500);
    const http = cannedHttp((path) =>
      path === '/historical/cutoff' ? cutoff : { trades: [at(nowS - 1, 'a')], cursor: '' },
    );
    const data = createKalshiData({ http, settings: SETTINGS, now: () => NOW });
    const read = (days: number) =>
      collect(data.trades({ sinceUs: us(nowS - days * DAY_S), untilUs: null, market: null }, directory, readContext()));
    expect(ids(await read(1))).toEqual(['a']);
    await expect(read(3)).rejects.toMatchObject({ status: 500 });
    cutoff = { trades_created_ts: '2026-08-07T00:00:00Z', market_settled_ts: null };
    expect(ids(await read(3))).toEqual(['a']);
    cutoff = { trades_created_ts: 'soon', market_settled_ts: '2026-08-07T00:00:00Z' };
    const later = createKalshiData({ http, settings: SETTINGS, now: () => NOW });
    const old = { sinceUs: us(CUTOFF_S + 3 * DAY_S), untilUs: null, market: null };
    const readOld = () => collect(later.trades(old, directory, readContext()));
    await expect(readOld()).rejects.toMatchObject({ kind: 'bad_answer' });
    cutoff = CUTOFF;
    expect(ids(await readOld())).toEqual(['a']);
  });

  test('a first page that fails, or an outage in between, is an error', async () => {
    const query = { sinceUs: us(nowS - 60), untilUs: null, market: null };
    const refused = adapter(() => refuse('refused', 400));
    await expect(collect(refused.data.trades(query, directory, refused.context))).rejects.toMatchObject({
      status: 400,
    });
    const down = adapter((_, query) =>
      query.has('cursor') ? refuse('unavailable', 503) : { trades: [at(nowS - 1, 'a')], cursor: 'n' },
    );
    await expect(collect(down.data.trades(query, directory, down.context))).rejects.toMatchObject({ status: 503 });
  });

  test('below the cutoff the archive is asked, day by day with both bounds, a little across the cutoff', async () => {
    const { http, data, context } = adapter((path) => ({
      trades: path === '/markets/trades' ? [at(CUTOFF_S + 10, 'live')] : [],
      cursor: '',
    }));
    const sinceS = CUTOFF_S - 1.5 * DAY_S;
    const query = { sinceUs: us(sinceS), untilUs: us(CUTOFF_S + 60), market: null };
    const pages = await collect(data.trades(query, directory, context));
    const top = CUTOFF_S + 61;
    expect(http.asked.filter((url) => url.startsWith('/historical/trades'))).toEqual([
      archiveDay(top - DAY_S, top),
      archiveDay(sinceS, top - DAY_S),
    ]);
    expect(pages.map(({ completeFromUs }) => completeFromUs)).toEqual([
      us(CUTOFF_S + 10) + 1,
      us(CUTOFF_S),
      null,
      us(top - DAY_S),
      null,
      us(sinceS),
    ]);
  });

  test('a span wholly below the cutoff is not asked from the live list', async () => {
    const { http, data, context } = adapter(() => ({ trades: [], cursor: '' }));
    const untilUs = us(CUTOFF_S - 3 * DAY_S);
    await collect(data.trades({ sinceUs: untilUs - us(60), untilUs, market: null }, directory, context));
    expect(http.asked.filter((url) => url.startsWith('/markets/trades'))).toEqual([]);
  });

  test("one market's archive is read in one chain", async () => {
    const { http, data, context } = adapter(() => ({ trades: [], cursor: '' }));
    await collect(data.trades({ sinceUs: us(CUTOFF_S - 90 * DAY_S), untilUs: null, market: keys }, directory, context));
    const archive = http.asked.filter((url) => url.startsWith('/historical/trades'));
    expect(archive).toEqual([
      `/historical/trades?limit=1000&ticker=${keys.ref}&min_ts=${CUTOFF_S - 90 * DAY_S - 1}&max_ts=${CUTOFF_S + 3600}`,
    ]);
  });
});

describe('reading Kalshi bars', () => {
  const nothing = { candlesticks: [] };

  test('asks for inclusive ends and returns starts within the range', async () => {
    const { http, data, context } = adapter(() => ({
      candlesticks: [
        candleRow({ end_period_ts: 3600 }),
        candleRow({ end_period_ts: 7200 }),
        candleRow({ end_period_ts: 10_800 }),
      ],
    }));
    const candles = await data.candles(keys, 60, 3600, 7200, context);
    expect(candles.map(({ startTs }) => startTs)).toEqual([3600]);
    expect(http.asked).toEqual([
      `/series/KXOTTERCUP/markets/${keys.ref}/candlesticks?start_ts=7200&end_ts=10799&period_interval=60`,
    ]);
  });

  test('keep prices and volume without a quote that is none, and leave out only a bar whose own price is none', async () => {
    const odd = { open_dollars: '0.4000', high_dollars: '42', low_dollars: '0.4000', close_dollars: '0.4100' };
    const { data, context } = adapter(() => ({
      candlesticks: [
        candleRow({ end_period_ts: 3600, yes_bid: odd, yes_ask: undefined }),
        candleRow({ end_period_ts: 7200, price: odd }),
        candleRow({ end_period_ts: 10_800 }),
      ],
    }));
    const [first, ...others] = await data.candles(keys, 60, 0, 10_800, context);
    expect(first).toMatchObject({ startTs: 0, volume: 22_360_000n, price: { close: 4_300_000_000n } });
    expect([first?.bid.close, first?.bid.high, first?.ask.close]).toEqual([4_100_000_000n, null, null]);
    expect(others.map(({ startTs }) => startTs)).toEqual([7200]);
    expect(context.badRows.map(({ id, field }) => [id, field])).toEqual([
      ['3600', 'yes_bid.high_dollars'],
      ['7200', undefined],
    ]);
  });

  test.each([
    [{ open_dollars: 'x' }, [3600]],
    [{ close_dollars: '81' }, [3600]],
    [{ low: {} }, [3600]],
    [{ previous_dollars: 'x' }, [3600, 7200]],
    [{ previous: {}, mean_dollars: '81' }, [3600, 7200]],
  ])('keep what traded where another price beside it is none: %j', async (odd, kept) => {
    const row = candleRow({ end_period_ts: 7200 });
    const { data, context } = adapter(() => ({
      candlesticks: [row, candleRow({ end_period_ts: 10_800, price: { ...row.price, ...odd } })],
    }));
    const candles = await data.candles(keys, 60, 0, 10_800, context);
    expect(candles.map(({ startTs }) => startTs)).toEqual(kept);
    expect(context.badRows.every(({ field }) => (field !== undefined) === (kept.length === 2))).toBe(true);
  });

  test('splits a long range into requests of 5,000 bars', async () => {
    const { http, data, context } = adapter(() => nothing);
    await data.candles(keys, 1, 0, 6000 * 60, context);
    expect(http.asked.map((url) => url.replace(/.*\?/, ''))).toEqual([
      'start_ts=60&end_ts=300059&period_interval=1',
      'start_ts=300060&end_ts=360059&period_interval=1',
    ]);
  });

  test('turns to the archive when the live tier no longer has the market, and asks it first for one settled before the cutoff', async () => {
    const open = adapter(archivedBars);
    expect(await open.data.candles(keys, 1, 1_786_292_280, 1_786_292_340, open.context)).toHaveLength(1);
    expect(open.http.asked).toHaveLength(2);
    const settled = adapter(archivedBars);
    const old = { ...keys, status: 'settled', tradingEndAt: '2026-05-01T00:00:00.000Z' };
    expect(await settled.data.candles(old, 1, 1_786_292_280, 1_786_292_340, settled.context)).toHaveLength(1);
    expect(settled.http.asked.filter((url) => url.startsWith('/series'))).toEqual([]);
    const neither = adapter(() => undefined);
    expect(await neither.data.candles(keys, 1, 0, 60, neither.context)).toEqual([]);
  });

  test('learns the series from the event, never from the ticker', async () => {
    const { http, data, context } = adapter((path) => {
      if (path === '/events') return { events: [eventRow({ series_ticker: 'KXRENAMED' })] };
      return path.startsWith('/series/KXRENAMED/') ? nothing : undefined;
    });
    await data.candles({ ...keys, seriesId: '' }, 60, 0, 3600, context);
    expect(http.asked[0]).toBe('/events?limit=200&with_nested_markets=true&tickers=KXOTTERCUP-26OCT08REDBLU');
    expect(http.asked[1]).toMatch(/^\/series\/KXRENAMED\/markets\//);
  });
});

describe('Kalshi now', () => {
  test('a book that is gone is none', async () => {
    const { data, context } = adapter(() => undefined);
    expect(await data.orderBook(keys, context)).toBeNull();
  });

  test("a gateway's 404 says nothing about a book, a market, its bars, its event or its series", async () => {
    const found: Record<string, unknown> = {
      [`/markets/${keys.ref}`]: { market: marketRow() },
      [`/events/${keys.eventId}`]: { event: eventRow() },
      '/series/KXOTTERCUP': { series: seriesRow() },
    };
    // The list of events omits that of a combination, which is then read by itself.
    const hiding = (hidden: RegExp) =>
      adapter((path) =>
        path === '/events' ? { events: [] } : hidden.test(path) ? refuse('not_found', 404) : found[path],
      );
    const { data, context } = hiding(/./);
    await expect(data.orderBook(keys, context)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(data.candles(keys, 60, 0, 3600, context)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(data.eventImage?.(keys.eventId, context)).rejects.toMatchObject({ kind: 'unavailable' });
    for (const hidden of [/^.(historical.)?markets/, /^.events./, /^.series./]) {
      const { data: one, context: read } = hiding(hidden);
      await expect(one.market(keys.ref, read)).rejects.toMatchObject({ kind: 'unavailable' });
    }
  });
});
