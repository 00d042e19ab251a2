import { describe, expect, test } from 'vitest';
import { parsePrice, parseUsd } from '../../../src/core/decimal.ts';
import { PlatformError } from '../../../src/core/errors.ts';
import type { SweepScope } from '../../../src/platforms/contract.ts';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import { RECEIVED_AT, SETTINGS, cannedHttp, collect, readContext, refuse } from '../../fixtures/canned-http.ts';
import {
  bookRow,
  dataEnvelope,
  gammaEventRow,
  gammaRow,
  gammaTag,
  hex,
  marketKeys,
  token,
} from '../../fixtures/polymarket/rows.ts';

const NOW = Date.parse('2026-08-01T00:00:00Z');
const HOUR = 3_600_000;
const NO_BOOK = 'No orderbook exists for the requested token id';

type Answer = (path: string, query: URLSearchParams, body?: string) => unknown;

const reader = (answer: Answer) => {
  const http = cannedHttp(answer);
  const data = createPolymarketData({ http, settings: SETTINGS, now: () => NOW });
  const asked = (): URL[] => http.requests.map(({ url }) => new URL(url));
  return { data, context: readContext(), requests: http.requests, asked };
};

type Row = Record<string, unknown>;

/** Gamma's lists over a few events and markets; the keyset cursor is an index. */
function gamma(events: Row[], orphans: Row[] = []) {
  const nested = events.flatMap((event) =>
    (event.markets as Row[]).map((market) => Object.assign(structuredClone(market), { events: [bare(event)] })),
  );
  const markets = [...nested, ...orphans];
  return (path: string, query: URLSearchParams): unknown => {
    const ids = query.getAll('id');
    const closed = query.get('closed') === 'true';
    const listed = (path === '/events/keyset' ? events : markets).filter((row) => row.closed === closed);
    const rows = ids.length > 0 ? listed.filter((row) => ids.includes(String(row.id))) : sorted(listed, query);
    const from = Number(query.get('after_cursor') ?? 0);
    const to = from + Number(query.get('limit'));
    const shown = query.get('include_markets') === 'false' ? rows.map(withoutMarkets) : rows;
    const page = shown.slice(from, to);
    return {
      [path === '/events/keyset' ? 'events' : 'markets']: page,
      ...(to < rows.length ? { next_cursor: String(to) } : {}),
    };
  };
}

const withoutMarkets = ({ markets: _markets, ...row }: Row): Row => row;
/** A parent as a market row carries it: no tags, no series, no markets. */
const bare = ({ tags: _tags, series: _series, markets: _markets, ...event }: Row): Row => event;
const sorted = (rows: Row[], query: URLSearchParams): Row[] => {
  const key = query.get('order');
  if (key === null) return rows;
  const value = (row: Row): string => String(row[key] ?? '').padStart(20, '0');
  return rows.toSorted((a, b) => (value(a) < value(b) ? 1 : -1));
};

const market = (id: number, over: Row = {}): Row =>
  gammaRow({ id: String(id), conditionId: hex(id), slug: `market-${id}`, ...over });
const closedAt = (ms: number): Row => ({
  closed: true,
  closedTime: new Date(ms).toISOString().slice(0, 19).replace('T', ' ').concat('+00'),
});

async function sweep(answer: Answer, scope: SweepScope) {
  const { data, asked, context } = reader(answer);
  const pages = await collect(data.sweep(scope, context));
  const records = pages.flatMap((page) => page.markets);
  return { records, ids: records.map(({ info }) => info.platformId), asked: asked(), bad: context.badRows };
}

const POLITICS = [gammaTag('Politics', 'politics', true)];

describe('listings', () => {
  const event = gammaEventRow({
    tags: POLITICS,
    series: [{ id: '10684', slug: 'works' }],
    markets: [market(1), market(2, closedAt(NOW - HOUR))],
  });

  test('markets nested in an event take their category, series and name from it', async () => {
    const { records } = await sweep(gamma([event]), { kind: 'open' });
    expect(records.map(({ info }) => [info.platformId, info.category, info.eventId, info.seriesId])).toEqual([
      ['1', 'Politics', '40111', '10684'],
      ['2', 'Politics', '40111', '10684'],
    ]);
    expect(records[0]?.raw).toMatchObject({ market: { id: '1' }, event: { id: '40111' } });
    expect(records[0]?.raw.event).not.toHaveProperty('markets');
  });

  test('a full pass follows the cursor until the key is absent, then finds the markets that no event lists', async () => {
    const events = Array.from({ length: 250 }, (_, index) =>
      gammaEventRow({ id: String(1000 + index), markets: [market(5000 + index)] }),
    );
    const { ids, asked } = await sweep(gamma(events, [market(9, { events: undefined })]), { kind: 'full' });
    expect(new Set(ids).size).toBe(251);
    expect(ids).toHaveLength(251);
    expect(ids).toContain('9');
    expect(asked.filter(({ pathname }) => pathname === '/events/keyset')).toHaveLength(3);
  });

  test('closed markets come newest first and end at the bound, with an hour to spare for late ones', async () => {
    const closed = Array.from({ length: 400 }, (_, index) => market(1000 + index, closedAt(NOW - index * 60_000)));
    const ended = gammaEventRow({ closed: true, tags: POLITICS, markets: closed });
    const { records, ids, asked } = await sweep(gamma([ended]), { kind: 'historical', sinceMs: NOW - 2 * HOUR });
    expect(ids).toHaveLength(181);
    expect(records.every(({ info }) => info.category === 'Politics')).toBe(true);
    expect(asked.filter(({ pathname }) => pathname === '/markets/keyset')).toHaveLength(3);
  });

  test.each(['soon', '2026-02-30 10:00:00+00', ''])(
    'a list of markets that closed at %j is not read to its end, and neither are new ones created then',
    async (time) => {
      const closed = Array.from({ length: 600 }, (_, index) =>
        market(1000 + index, index % 10 === 0 ? { closed: true, closedTime: time } : closedAt(NOW - 9 * HOUR - index)),
      );
      const opened = Array.from({ length: 600 }, (_, index) => market(5000 + index, { createdAt: time }));
      const answer = gamma([gammaEventRow({ closed: true, markets: closed })], opened);
      const { asked } = await sweep(answer, { kind: 'changed', sinceMs: NOW - HOUR });
      expect(asked.filter(({ pathname }) => pathname === '/markets/keyset')).toHaveLength(4);
    },
  );

  test('a page of markets that closed at unknown times ends no list', async () => {
    const closed = Array.from({ length: 250 }, (_, index) =>
      market(1000 + index, index < 100 ? { closed: true, closedTime: 'soon' } : closedAt(NOW - index * 10_000)),
    );
    const ended = gammaEventRow({ closed: true, markets: closed });
    const { ids } = await sweep(gamma([ended]), { kind: 'historical', sinceMs: NOW - HOUR });
    expect(ids).toHaveLength(250);
  });

  test('a market that closed at an unknown time is read beside its neighbours', async () => {
    const closed = Array.from({ length: 250 }, (_, index) =>
      market(1000 + index, index === 150 ? { closed: true, closedTime: '' } : closedAt(NOW - index * 60_000)),
    );
    const ended = gammaEventRow({ closed: true, markets: closed });
    const inOrder = (path: string, query: URLSearchParams) => {
      query.delete('order');
      return gamma([ended])(path, query);
    };
    const { ids } = await sweep(inOrder, { kind: 'historical', sinceMs: NOW - 2 * HOUR });
    expect(ids).toHaveLength(181);
    expect(ids).toContain('1150');
  });

  test('a market of an open event that closed finds its event among the open ones', async () => {
    const { records } = await sweep(gamma([event]), { kind: 'historical', sinceMs: NOW - 2 * HOUR });
    expect(records.map(({ info }) => [info.platformId, info.seriesId])).toEqual([['2', '10684']]);
  });

  test('an event first seen by a closed market lists all its markets in the order of the platform', async () => {
    const closed = gammaEventRow({
      id: '12',
      closed: true,
      markets: [market(32, closedAt(NOW - 5 * HOUR)), market(30, closedAt(NOW - 60_000)), market(31, closedAt(NOW))],
    });
    const { records } = await sweep(gamma([closed]), { kind: 'historical', sinceMs: NOW - HOUR });
    expect(records.map(({ info }) => info.platformId)).toEqual(['31', '30']);
    for (const { event } of records) expect(event?.marketIds).toEqual(['32', '30', '31']);
  });

  test('changes are new markets, the most traded events and closed markets', async () => {
    const old = { createdAt: '2026-01-01T00:00:00Z' };
    const quiet = Array.from({ length: 600 }, (_, index) =>
      gammaEventRow({ id: String(1000 + index), volume24hr: index, markets: [market(5000 + index, old)] }),
    );
    const fresh = gammaEventRow({
      id: '9',
      volume24hr: 0,
      markets: [market(9000, { createdAt: '2026-07-31T23:30:00Z' })],
    });
    const closed = gammaEventRow({
      id: '10',
      closed: true,
      markets: [market(7, { ...closedAt(NOW - 60_000), ...old })],
    });
    const { ids } = await sweep(gamma([...quiet, fresh, closed]), { kind: 'changed', sinceMs: NOW - HOUR });
    expect(ids).toHaveLength(502);
    expect(ids).toEqual(expect.arrayContaining(['9000', '7', '5599', '5100']));
    expect(ids).not.toContain('5099');
  });

  test('a row that cannot be read is reported by id and field, and the page goes on', async () => {
    const broken = gammaEventRow({
      markets: [market(1, { outcomes: '["Yes"' }), market(2), market(3, { conditionId: 5 })],
    });
    const { ids, bad } = await sweep(gamma([broken]), { kind: 'open' });
    expect(ids).toEqual(['2']);
    expect(bad).toEqual([
      { platform: 'polymarket', kind: 'market', id: '1', reason: 'outcomes: expected a JSON list of strings' },
      { platform: 'polymarket', kind: 'market', id: '3', reason: expect.stringMatching(/^conditionId: /) },
    ]);
  });

  test('a cursor that does not move is an error, not an endless loop', async () => {
    const stuck = sweep(() => ({ events: [], next_cursor: 'same' }), { kind: 'open' });
    await expect(stuck).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  test('a body of another shape is a bad answer', async () => {
    await expect(sweep(() => ({ items: [] }), { kind: 'open' })).rejects.toMatchObject({ kind: 'bad_answer' });
  });
});

describe('one market', () => {
  const row = market(1, { events: [bare(gammaEventRow())] });
  const event = gammaEventRow({ tags: POLITICS });
  const events = (query: URLSearchParams) => ({ events: query.get('closed') === 'false' ? [event] : [] });

  test.each([
    ['700123', '/markets/700123'],
    ['harbour-bridge-2027', '/markets/slug/harbour-bridge-2027'],
  ])('%s is asked for at %s and completed with its event', async (id, path) => {
    const { data, asked, context } = reader((asked, query) => (asked === path ? row : events(query)));
    const record = await data.market(id, context);
    expect(record?.info).toMatchObject({ platformId: '1', category: 'Politics' });
    expect(asked()[0]?.pathname).toBe(path);
  });

  test('a condition id is asked for among open and among closed markets', async () => {
    const { data, asked, context } = reader((path, query) => {
      if (path === '/events/keyset') return events(query);
      return { markets: query.get('closed') === 'true' ? [row] : [] };
    });
    const id = hex(0xabc).toUpperCase().replace('0X', '0x');
    expect((await data.market(id, context))?.info.platformId).toBe('1');
    const queries = asked().map(({ searchParams }) => searchParams);
    expect(queries.slice(0, 2).map((query) => `${query.get('condition_ids')} ${query.get('closed')}`)).toEqual([
      `${hex(0xabc)} false`,
      `${hex(0xabc)} true`,
    ]);
  });

  test('a condition id of Protocol V2 is asked for in both spellings, however it was written', async () => {
    const short = `0x01${'7a'.repeat(16)}${'0'.repeat(28)}`;
    const listed = gammaRow({ id: '1', conditionId: short, version: 'v2' });
    for (const id of [short, `${short}00`]) {
      const { data, asked, context } = reader((path, query) => {
        if (path === '/events/keyset') return events(query);
        return query.getAll('condition_ids').includes(short) ? { markets: [listed] } : { markets: [] };
      });
      expect((await data.market(id, context))?.info.ref).toBe(`${short}00`);
      expect(asked()[0]?.searchParams.getAll('condition_ids')).toEqual([short, `${short}00`]);
    }
  });

  test('a token is asked for among open and among closed markets', async () => {
    const token = '7'.repeat(77);
    const { data, asked, context } = reader((path, query) => {
      if (path === '/events/keyset') return events(query);
      return { markets: query.get('closed') === 'true' ? [row] : [] };
    });
    expect((await data.market(token, context))?.info.platformId).toBe('1');
    const queries = asked().map(({ searchParams }) => searchParams);
    expect(queries.slice(0, 2).map((query) => `${query.get('clob_token_ids')} ${query.get('closed')}`)).toEqual([
      `${token} false`,
      `${token} true`,
    ]);
  });

  test('unknown is null; what no market can be called is not asked for', async () => {
    const { data, asked, context } = reader((path) => (path === '/markets/keyset' ? { markets: [] } : undefined));
    expect(await data.market('700123', context)).toBeNull();
    expect(await data.market(hex(1), context)).toBeNull();
    expect(asked()).toHaveLength(3);
    expect(await data.market('../admin', context)).toBeNull();
    expect(asked()).toHaveLength(3);
    expect(await data.market('9'.repeat(30), context)).toBeNull();
    expect(asked()).toHaveLength(5);
  });

  test('a market that cannot be read is a bad answer, not a missing one', async () => {
    const { data, context } = reader(() => ({ id: '1' }));
    await expect(data.market('1', context)).rejects.toBeInstanceOf(PlatformError);
  });
});

describe('price samples', () => {
  const NOW_SEC = Date.parse('2026-08-01T00:00:00Z') / 1000;
  const DAY = 86_400;

  test('are read for the first token in windows of at most 15 days, each as fine as is kept', async () => {
    const { data, asked, context } = reader((_, query) =>
      dataEnvelope([{ timestamp: Number(query.get('start')) + 44, price: 0.25 }, { timestamp: 'soon' }], null),
    );
    const start = NOW_SEC - 120 * DAY;
    const bars = await data.candles(marketKeys, 60, start, start + 80 * DAY, context);
    const queries = asked().map(({ searchParams }) => Object.fromEntries(searchParams));
    const days = queries.map(({ start: from, end, bucket_seconds: width }) => [
      (Number(from) - NOW_SEC) / DAY,
      (Number(end) - NOW_SEC) / DAY,
      Number(width),
    ]);
    expect(days).toEqual([
      [-120, -105, 10_800],
      [-105, -90, 10_800],
      [-90, -75, 1800],
      [-75, -60, 1800],
      [-60, -55, 300],
      [-55, -40, 300],
    ]);
    expect(queries.every((query) => query['token_id'] === token(11) && query['limit'] === '10000')).toBe(true);
    expect(bars.map((bar) => (bar.startTs - NOW_SEC) / DAY)).toEqual(days.map(([from]) => from));
    expect(context.badRows).toHaveLength(6);
  });

  test('keep the last trade of each window of an ended market, and lack its payout, whole or fractional', async () => {
    const payout = { timestamp: NOW_SEC - 5 * DAY, price: 0.4, resolution_seconds: 0 };
    const { data, context } = reader((_, query) => {
      const [start, end] = [Number(query.get('start')), Number(query.get('end'))];
      const last = { timestamp: start + 7200, price: 0.3, resolution_seconds: 0 };
      return dataEnvelope([last, ...(payout.timestamp >= start && payout.timestamp < end ? [payout] : [])], null);
    });
    const start = NOW_SEC - 120 * DAY;
    const hours = async (status: string, tradingEndAt: string | null): Promise<number[]> => {
      const bars = await data.candles({ ...marketKeys, status, tradingEndAt }, 60, start, NOW_SEC, context);
      return bars.map(({ startTs }) => (startTs - NOW_SEC) / DAY);
    };
    const closedAt = new Date((NOW_SEC - 5 * DAY) * 1000 + 683).toISOString();
    const all = await hours('open', null);
    expect(all).toContain(-5);
    expect(await hours('settled', closedAt)).toEqual(all.filter((day) => day !== -5));
    for (const unknown of [null, new Date((NOW_SEC + DAY) * 1000).toISOString()]) {
      expect(await hours('settled', unknown)).toEqual([]);
    }
  });

  test('of minutes are there for a week, and older ones are not asked for', async () => {
    const { data, asked, context } = reader(() => dataEnvelope([], null));
    await data.candles(marketKeys, 1, NOW_SEC - 20 * DAY, NOW_SEC, context);
    expect(asked().map(({ searchParams }) => [searchParams.get('start'), searchParams.get('bucket_seconds')])).toEqual([
      [String(NOW_SEC - 7 * DAY), '60'],
    ]);
  });

  test('go over all pages of a window, the same parameters on each', async () => {
    const { data, asked, context } = reader((_, query) =>
      dataEnvelope(
        [{ timestamp: Number(query.get('start')) + (query.has('cursor') ? 3600 : 0), price: 0.5 }],
        query.has('cursor') ? null : 'more',
      ),
    );
    const bars = await data.candles(marketKeys, 60, NOW_SEC - 7200, NOW_SEC, context);
    expect(bars.map(({ startTs }) => startTs - NOW_SEC)).toEqual([-7200, -3600]);
    const [first, second] = asked().map(({ searchParams }) => searchParams.toString());
    expect(second).toBe(`${first}&cursor=more`);
  });
});

test('a null fee member and an entry that cannot be read cost no market and no event', async () => {
  const market = gammaRow({ feeSchedule: { exponent: null, rate: 0.05, takerOnly: true, rebateRate: null } });
  const event = gammaEventRow({ markets: [market], tags: ['?', gammaTag('Crypto', 'crypto')], series: ['?'] });
  const { records, bad } = await sweep(gamma([event]), { kind: 'open' });
  const [record] = records;
  expect(record?.info.metadata['fee']).toEqual({ enabled: expect.any(Boolean), rate: 0.05, takerOnly: true });
  expect(record?.info.tags).toEqual(['Crypto']);
  expect(bad.map(({ id, field }) => [id, field])).toEqual([
    ['40111', 'tags[]'],
    ['40111', 'series[]'],
  ]);
});

const many = Array.from({ length: 40 }, (_, n) => {
  const [yes = '', no = ''] = [token(100 + 2 * n), token(101 + 2 * n)];
  const [first, second] = marketKeys.outcomes;
  const outcomes = [
    { ...first!, tokenId: yes },
    { ...second!, tokenId: no },
  ];
  return { ...marketKeys, ref: hex(0xc00 + n), outcomes };
});
/** Answers books of all tokens asked for, unless the bad one is among them. */
const booksExcept = (bad: string, refusal: unknown) =>
  reader((_, __, body) => {
    const tokens = (JSON.parse(body ?? '[]') as { token_id: string }[]).map(({ token_id }) => token_id);
    return tokens.includes(bad) ? refusal : tokens.map((id) => bookRow({ asset_id: id }));
  });

describe('the order book', () => {
  test('both tokens are asked for in one call and distinguished by id, whatever their order', async () => {
    const second = bookRow({ asset_id: token(12), bids: [{ price: '0.4', size: '7' }] });
    const { data, requests, context } = reader(() => [second, bookRow()]);
    const book = await data.orderBook(marketKeys, context);
    expect(requests).toMatchObject([{ method: 'POST', url: `${SETTINGS.POLYMARKET_CLOB_URL}/books`, retry: true }]);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual([{ token_id: token(11) }, { token_id: token(12) }]);
    expect(book?.yes.bids[0]?.price).toBe(parsePrice('0.5'));
    expect(book?.no.bids[0]?.price).toBe(parsePrice('0.4'));
  });

  test.each([
    ['a 404 in its words', () => ({ refuse: { kind: 'not_found', status: 404, detail: NO_BOOK } })],
    ['no row', () => []],
    ['one token only', () => [bookRow()]],
  ])('%s means that there is none', async (_, answer) => {
    const { data, context } = reader(answer);
    expect(await data.orderBook(marketKeys, context)).toBeNull();
  });

  test.each([
    [1_785_561_505_321, '2026-08-01T05:18:25.321Z', []],
    [undefined, '2026-08-01T05:18:25.999Z', []],
    ['0', '2026-08-01T05:18:25.999Z', []],
    [{}, '2026-08-01T05:18:25.999Z', ['timestamp']],
  ])('a time that is written as %j costs the time at most', async (timestamp, shown, odd) => {
    const second = bookRow({ asset_id: token(12), timestamp: '1785561505999' });
    const { data, context } = reader(() => [bookRow({ timestamp }), second]);
    expect((await data.orderBook(marketKeys, context))?.timestamp).toBe(shown);
    expect(context.badRows.map(({ field }) => field)).toEqual(odd);
  });

  test('limits that cannot be read cost no book', async () => {
    const odd = { min_order_size: {}, tick_size: 'fine', neg_risk: 'no' };
    const { data, context } = reader(() => [bookRow(odd), bookRow({ asset_id: token(12) })]);
    const book = await data.orderBook(marketKeys, context);
    expect(book).toMatchObject({ minOrderSize: null, tickSize: null, negRisk: false });
    expect(context.badRows.map(({ field }) => field)).toEqual(['min_order_size', 'tick_size', 'neg_risk']);
  });

  test.each(['949713', 'will-it-rain'])("a gateway's 404 does not say that there is no market %s", async (id) => {
    const { data, context } = reader(() => refuse('not_found', 404));
    await expect(data.market(id, context)).rejects.toMatchObject({ kind: 'unavailable', status: 404 });
  });

  test('a 404 of the route is a failure, of one market and of many', async () => {
    const { data, context } = reader(() => refuse('not_found', 404));
    const failure = { kind: 'unavailable', status: 404 };
    await expect(data.orderBook(marketKeys, context)).rejects.toMatchObject(failure);
    const other = { ...marketKeys, ref: hex(0xb0b) };
    await expect(data.orderBooks?.([marketKeys, other], context)).rejects.toMatchObject(failure);
  });

  test.each([
    ['refused', refuse('refused', 400)],
    ['answered 500', refuse('unavailable', 500)],
  ])('one token that is %s costs only its own market the book', async (_, refusal) => {
    const { data, context, requests } = booksExcept(token(114), refusal);
    const books = await data.orderBooks?.(many, context);
    expect(books?.size).toBe(40);
    const failed = [...(books ?? [])].filter(([, book]) => book instanceof PlatformError);
    expect(failed.map(([ref]) => ref)).toEqual([many[7]?.ref]);
    expect(requests.length).toBeLessThan(14);
  });

  test('one token without a book leaves only its own market out', async () => {
    const { data, context } = booksExcept(token(114), {
      refuse: { kind: 'not_found', status: 404, detail: NO_BOOK },
    });
    const books = await data.orderBooks?.(many, context);
    expect(many.filter(({ ref }) => !books?.has(ref))).toEqual([many[7]]);
  });

  test('a platform that refuses every request is not asked for each market', async () => {
    const { data, context, requests } = reader(() => refuse('refused', 400));
    await expect(data.orderBooks?.(many, context)).rejects.toMatchObject({ kind: 'refused' });
    expect(requests).toHaveLength(16);
  });

  test('a market without tokens has none and is not asked for', async () => {
    const { data, asked, context } = reader(() => []);
    const outcomes = marketKeys.outcomes.map((outcome) => ({ ...outcome, tokenId: '' }));
    expect(await data.orderBook({ ...marketKeys, outcomes }, context)).toBeNull();
    expect(asked()).toEqual([]);
  });
});

test('open interest is asked for 20 conditions at a time, never for all, and keyed by lower-case condition', async () => {
  const { data, asked, context } = reader((_, query) => ({
    data: (query.get('condition') ?? '')
      .split(',')
      .slice(0, 1)
      .map((id) => ({ condition_id: id.toUpperCase().replace('0X', '0x'), value: 3356.035556 })),
  }));
  const refs = Array.from({ length: 50 }, (_, index) => hex(0xa00 + index));
  const interest = await data.openInterest?.(refs, context);
  expect(asked().map(({ pathname }) => pathname)).toEqual(Array(3).fill('/v2/oi'));
  expect(interest).toEqual(
    new Map([refs[0], refs[20], refs[40]].map((ref) => [ref, { value: parseUsd('3356.035556'), at: RECEIVED_AT }])),
  );
  await data.openInterest?.(['gamma:12'], context);
  expect(asked()).toHaveLength(3);
});
