import { describe, expect, test } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import { SETTINGS, cannedHttp, collect, readContext, refuse } from '../../fixtures/canned-http.ts';
import { eventRow, marketRow, seriesRow } from '../../fixtures/kalshi/rows.ts';

const NOW = Date.UTC(2026, 9, 6, 6, 40);
const FAILURE = refuse('unavailable', 500, { error: { code: 'internal_error', message: 'internal error' } });

const series = (n: number) => seriesRow({ ticker: `KX${n}`, tags: [`Tag ${n}`] });
const event = (n: number) => eventRow({ event_ticker: `KX${n}-26`, series_ticker: `KX${n}`, title: `Event ${n}` });
const market = (n: number) => marketRow({ ticker: `KX${n}-26-A`, event_ticker: `KX${n}-26` });
const number = (text: string | null) => Number(/\d+/.exec(text ?? '')?.[0]);

/** A platform of markets KX1-A … KX<count>-A, each of its own event and series, of which those in `bad` answer 500. */
function world(count: number) {
  const bad = new Set<string>();
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const listed = { changed: numbers };
  const http = cannedHttp((path, query) => {
    if (path === '/historical/cutoff') return undefined;
    if (bad.has(`${path}?${query.has('tickers') ? 'tickers' : 'list'}`)) return FAILURE;
    if (path.startsWith('/series/')) return bad.has(path.slice(8)) ? FAILURE : { series: series(number(path)) };
    if (bad.has('away') && path === '/events') return refuse('unavailable', 503);
    if (path === '/series') return { series: query.has('min_updated_ts') ? [] : numbers.map(series) };
    if (path === '/events') {
      const tickers = query.get('tickers')?.split(',') ?? [];
      if (tickers.some((ticker) => bad.has(ticker))) return FAILURE;
      return { events: tickers.map((ticker) => event(number(ticker))), cursor: '' };
    }
    if (path.startsWith('/events/')) return FAILURE;
    if (query.has('series_ticker')) return { markets: [market(number(query.get('series_ticker')))], cursor: '' };
    if (query.has('event_ticker')) return { markets: [market(number(query.get('event_ticker')))], cursor: '' };
    return { markets: query.has('min_updated_ts') ? listed.changed.map(market) : [], cursor: '' };
  });
  const data = createKalshiData({ http, settings: SETTINGS, now: () => NOW });
  const sweep = async (kind: 'changed' | 'full' = 'changed', sinceMs = NOW - 60_000) => {
    const context = readContext();
    const pages = await collect(data.sweep(kind === 'full' ? { kind } : { kind, sinceMs }, context));
    const records = new Map(pages.flatMap(({ markets }) => markets).map((one) => [one.info.ref, one]));
    return { records, bad: context.badRows };
  };
  return { bad, listed, sweep, http };
}

describe('what cannot be read beside a page of Kalshi markets', () => {
  test.each([2, 5])('one series of %d that answers 500 costs only its own facts, and is named', async (count) => {
    const { bad, sweep } = world(count);
    bad.add('KX2');
    const { records, bad: named } = await sweep();
    expect([...records.keys()]).toHaveLength(count);
    expect(records.get('KX2-26-A')?.info).toMatchObject({ eventName: 'Event 2', seriesId: 'KX2', tags: [] });
    expect(records.get('KX1-26-A')?.info).toMatchObject({ eventName: 'Event 1', tags: ['Tag 1'] });
    expect(named).toEqual([
      expect.objectContaining({ kind: 'series', id: 'KX2', reason: expect.stringContaining('could not be read') }),
    ]);
  });

  test('the list of all series that answers 500 costs nothing that single reads bring', async () => {
    const { bad, sweep } = world(8);
    bad.add('/series?list');
    bad.add('KX7');
    const { records, bad: named } = await sweep();
    expect(records.get('KX8-26-A')?.info.tags).toEqual(['Tag 8']);
    expect(records.get('KX7-26-A')?.info.tags).toEqual([]);
    expect(named.map(({ kind, id }) => `${kind} ${id}`)).toContain('series KX7');
    expect((await sweep('full')).bad[0]).toMatchObject({ kind: 'series', id: '' });
  });

  test.each([3, 30, 130])(
    'one event of %d that answers 500 leaves its market without event, and no other',
    async (count) => {
      const { bad, sweep } = world(count);
      bad.add('KX3-26');
      const { records, bad: named } = await sweep();
      expect(records.size).toBe(count);
      expect(records.get('KX3-26-A')?.info).toMatchObject({
        eventId: 'KX3-26',
        eventName: '',
        title: 'Bluewater wins',
      });
      for (const n of [1, 2, count === 3 ? 1 : count]) {
        expect(records.get(`KX${n}-26-A`)?.info).toMatchObject({ eventName: `Event ${n}`, tags: [`Tag ${n}`] });
      }
      expect(named).toEqual([expect.objectContaining({ kind: 'event', id: 'KX3-26' })]);
    },
  );

  test('a sweep tries it again alone, and completes its markets once it can be read', async () => {
    const { bad, listed, sweep, http } = world(12);
    for (const id of ['KX2', 'KX9-26', '/series?list']) bad.add(id);
    await sweep();
    listed.changed = [];
    http.asked.length = 0;
    expect((await sweep()).bad.map(({ id }) => id)).toEqual(['KX9-26', 'KX2', '']);
    expect(http.asked.filter((url) => url.includes('KX'))).toEqual([
      '/events?limit=200&with_nested_markets=true&tickers=KX9-26',
      '/series/KX2',
    ]);
    // Failures of these do not count against the host, or they would suspend all reads.
    for (const { url, failedBefore } of http.requests.slice(-http.asked.length))
      expect(failedBefore === true).toBe(url.includes('KX'));
    bad.clear();
    const { records, bad: named } = await sweep();
    expect([...records.keys()].toSorted()).toEqual(['KX2-26-A', 'KX9-26-A']);
    expect(records.get('KX2-26-A')?.info.tags).toEqual(['Tag 2']);
    expect(records.get('KX9-26-A')?.info).toMatchObject({ eventName: 'Event 9', tags: ['Tag 9'] });
    expect(named).toEqual([]);
  });

  test('a list of changes that answered 500 is read from the same time once it can be read', async () => {
    const { bad, sweep, http } = world(1);
    for (const id of ['/series?list', '/events?list']) bad.add(id);
    const first = NOW - 300_000;
    const { records, bad: named } = await sweep('changed', first);
    expect(records.get('KX1-26-A')?.info).toMatchObject({ eventName: 'Event 1', tags: ['Tag 1'] });
    expect(named.map(({ kind, id }) => [kind, id])).toEqual([
      ['series', ''],
      ['event', ''],
    ]);
    bad.clear();
    http.asked.length = 0;
    await sweep('changed', NOW - 60_000);
    expect(http.asked).toContain(`/series?min_updated_ts=${first / 1000}`);
    expect(http.asked).toContain(`/events?limit=200&with_nested_markets=true&min_updated_ts=${first / 1000}`);
    http.asked.length = 0;
    await sweep('changed', NOW - 60_000);
    expect(http.asked).toContain(`/series?min_updated_ts=${NOW / 1000 - 60}`);
  });

  test('a platform that is away is not a bad item', async () => {
    const { bad, sweep } = world(1);
    bad.add('away');
    await expect(sweep()).rejects.toMatchObject({ status: 503 });
  });
});
