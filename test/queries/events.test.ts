import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { MarketAnswer } from '../../src/schemas/markets.ts';
import type { EventAnswer, SeriesAnswer } from '../../src/schemas/events.ts';
import { forgetFormer } from '../../src/present/copy.ts';
import { type EventRecord, type MarketRecord, type MarketStatus } from '../../src/core/model.ts';
import { market, type MarketStore, quotes, startMarketStore, usd } from '../helpers/market-store.ts';
import { listingClock } from '../helpers/virtual-clock.ts';

type Event = z.infer<typeof EventAnswer>;
type Market = z.infer<typeof MarketAnswer>;
interface Page {
  pagination: { total: number; has_more: boolean; next_cursor: string | null };
  events: Event[];
}

const DAY_MS = 86_400_000;
let store: MarketStore;

beforeAll(async () => {
  store = await startMarketStore({ clock: listingClock });
});
afterAll(() => store?.close());

function event(eventId: string, rest: Partial<EventRecord> = {}): EventRecord {
  return {
    platform: 'kalshi',
    eventId,
    seriesId: 'KXS',
    slug: '',
    title: `Event ${eventId}`,
    category: 'Politics',
    categorySlug: 'politics',
    tags: ['One'],
    mutuallyExclusive: true,
    imageUrl: '',
    sourceUrl: `https://kalshi.com/markets/kxs/${eventId.toLowerCase()}`,
    marketIds: [],
    ...rest,
  };
}

interface Facts {
  status?: MarketStatus;
  volume24h?: string | null;
  volumeTotal?: string | null;
  liquidity?: string | null;
  endMs?: number | null;
  createdMs?: number;
}

const money = (text: string | null): bigint | null => (text === null ? null : usd(text));

const time = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

function child(of: EventRecord, ref: string, facts: Facts = {}): MarketRecord {
  const { status = 'open', volume24h = '0', volumeTotal = '0', liquidity = '0' } = facts;
  return {
    ...market({
      ref,
      platform: of.platform,
      eventId: of.eventId,
      eventName: of.title,
      seriesId: of.seriesId,
      category: of.category,
      tradingEndAt: time(facts.endMs),
      createdAt: time(facts.createdMs),
      state: {
        status,
        volume24h: money(volume24h),
        volumeTotal: money(volumeTotal),
        liquidity: money(liquidity),
        metadata: { liquidity_basis: liquidity === null ? 'none' : 'best_level' },
      },
    }),
    event: of,
  };
}

const events = (query: string, cursor: string | null = null): Promise<Page> =>
  store.get<Page>(`events?provider=kalshi&${query}${cursor === null ? '' : `&cursor=${cursor}`}`);

test('figures of an event are exact sums over its markets, and null as soon as one of them is not known', async () => {
  const end = Date.UTC(2027, 0, 2);
  const whole = event('KXWHOLE', { marketIds: ['KXWHOLE-C', 'KXWHOLE-A'] });
  const partly = event('KXPART');
  await store.list(
    child(whole, 'KXWHOLE-A', { volume24h: '0.1', volumeTotal: '100.000001', liquidity: '7.5', endMs: end }),
    child(whole, 'KXWHOLE-B', {
      volume24h: '0.2',
      volumeTotal: '0',
      liquidity: '0',
      endMs: end - DAY_MS,
      createdMs: 1e12,
    }),
    child(whole, 'KXWHOLE-C', { status: 'settled', volume24h: '0.3', volumeTotal: '9', liquidity: null, endMs: end }),
    child(partly, 'KXPART-A', { status: 'paused', volume24h: '5', volumeTotal: null, liquidity: null, endMs: end }),
    child(partly, 'KXPART-B', { status: 'closed', volume24h: null, volumeTotal: '4', endMs: null }),
  );
  const { event: shown, markets } = await store.get<{ event: Event; markets: Market[] }>(
    'events/kalshi:kxwhole?provider=kalshi',
  );
  expect(shown).toEqual({
    id: 'kalshi:KXWHOLE',
    platform: 'kalshi',
    event_id: 'KXWHOLE',
    series_id: 'KXS',
    title: 'Event KXWHOLE',
    category: 'Politics',
    tags: ['One'],
    status: 'open',
    markets_count: 3,
    open_markets: 2,
    volume_24h: 0.6,
    volume_total: 109.000001,
    // The book of a settled market needs no reading.
    liquidity: 7.5,
    // Contracts, and no trades of them: only the zeros are known in USD.
    volume_24h_usd: null,
    volume_7d_usd: 0,
    volume_total_usd: 0,
    liquidity_usd: 7.5,
    usd_markets: { volume_24h: 0, volume_7d: 1, volume_total: 1, liquidity: 3 },
    mutually_exclusive: true,
    trading_end_at: new Date(end).toISOString(),
    image_url: '',
    source_url: 'https://kalshi.com/markets/kxs/kxwhole',
    market_ids: ['KXWHOLE-C', 'KXWHOLE-A', 'KXWHOLE-B'],
  });
  expect(markets.map(({ platform_id: id }) => id)).toEqual(shown.market_ids);
  const alone = await store.get<{ event: Event; markets: Market[] }>(
    'events/KXWHOLE?provider=kalshi&include_markets=false',
  );
  expect(alone).toMatchObject({ event: shown, markets: [] });
  const { event: unknown } = await store.get<{ event: Event }>('events/KXPART?provider=kalshi');
  expect(unknown).toMatchObject({
    status: 'paused',
    markets_count: 2,
    open_markets: 0,
    volume_24h: null,
    volume_total: null,
    liquidity: null,
    trading_end_at: null,
  });
  const { events: listed } = await events('');
  expect(listed.find(({ event_id: id }) => id === 'KXWHOLE')).toEqual(shown);
  expect(listed.find(({ event_id: id }) => id === 'KXPART')).toEqual(unknown);
});

const inUsd = (letter: string) =>
  event(`USD-${letter}`, { platform: 'polymarket', category: 'Science', categorySlug: 'science' });
const lastLetters = ({ events: found }: Page) => found.map(({ event_id: id }) => id.slice(-1)).join('');

test('events are listed by what is known in USD of their markets, unknown last, and pages keep that order', async () => {
  await store.list(
    child(inUsd('A'), '0xa1', { volume24h: '3', volumeTotal: '90', liquidity: '1' }),
    child(inUsd('A'), '0xa2', { volume24h: null, volumeTotal: null, liquidity: null }),
    child(inUsd('B'), '0xb1', { volume24h: '2', volumeTotal: '100', liquidity: '2' }),
    child(inUsd('B'), '0xb2', { volume24h: '2', volumeTotal: '100', liquidity: '2' }),
    child(inUsd('C'), '0xc1', { volume24h: null, volumeTotal: null, liquidity: '9' }),
  );
  const listed = (query: string) => store.get<Page>(`events?provider=polymarket&category=science&${query}`);
  const byDay = await listed('sort=volume_24h_usd&limit=1');
  expect(byDay.events).toMatchObject([{ event_id: 'USD-B', volume_24h_usd: 4, usd_markets: { volume_24h: 2 } }]);
  await store.list(child(inUsd('B'), '0xb1', { volume24h: '0' }));
  expect(lastLetters(await listed(`sort=volume_24h_usd&limit=2&cursor=${byDay.pagination.next_cursor}`))).toBe('AC');
  expect(lastLetters(await listed('sort=volume_24h_usd'))).toBe('ABC');
  expect(lastLetters(await listed('sort=volume_total_usd'))).toBe('BAC');
  expect(lastLetters(await listed('sort=liquidity_usd'))).toBe('CBA');
  await expect(listed('sort=volume_24h_usd&include_placeholders=true')).rejects.toThrow('include_placeholders');
});

/** The last letters of the events that a query lists. */
const letters = async (query: string) => (await events(query)).events.map(({ event_id: id }) => id.slice(-1)).join('');

test('events are listed in the order asked for, unknown figures last, and filters find exactly theirs', async () => {
  const at = Date.UTC(2026, 5, 1);
  const [a, b, c] = [
    event('KXORD-A', {
      category: 'Crypto',
      categorySlug: 'crypto',
      seriesId: 'KXORD',
      title: 'Who wins the Harbour Cup?',
    }),
    event('KXORD-B', { category: 'Crypto', categorySlug: 'crypto', seriesId: 'KXORD' }),
    event('KXORD-C', { category: 'Crypto', categorySlug: 'crypto', seriesId: 'KXOTHER' }),
  ];
  await store.list(
    child(a, 'KXORD-A-1', { volume24h: '10', endMs: at + 2 * DAY_MS, createdMs: at }),
    child(a, 'KXORD-A-2', { volume24h: '10', endMs: at + 3 * DAY_MS, createdMs: at + 9 * DAY_MS }),
    child(b, 'KXORD-B-1', { volume24h: '15', endMs: at + DAY_MS, createdMs: at + 2 * DAY_MS, status: 'settled' }),
    child(c, 'KXORD-C-1', { volume24h: null, endMs: null, createdMs: at + DAY_MS, status: 'unopened' }),
  );
  expect(await letters('category=crypto')).toBe('ABC');
  expect(await letters('category=crypto&sort=end_date')).toBe('BAC');
  expect(await letters('category=crypto&sort=created')).toBe('BCA');
  expect((await letters('category=crypto&sort=markets'))[0]).toBe('A');
  expect(await letters('category=crypto&status=open')).toBe('A');
  expect(await letters('category=crypto&status=settled')).toBe('B');
  expect(await letters('category=crypto&status=unopened')).toBe('C');
  expect(await letters('series_id=kalshi:KXORD')).toBe('AB');
  expect(await letters('query=harbour%20WINS')).toBe('A');
  expect(await letters('query=harb')).toBe('A');
  expect(await letters('query=ha')).toBe('');
  const { series } = await store.get<{ series: z.infer<typeof SeriesAnswer>[] }>(
    'series?provider=kalshi&category=crypto',
  );
  expect(series).toMatchObject([
    { id: 'kalshi:KXORD', series_id: 'KXORD', events_count: 2, open_events: 1, frequency: null },
    { id: 'kalshi:KXOTHER', series_id: 'KXOTHER', events_count: 1, open_events: 0 },
  ]);
});

test('pages of events neither repeat nor miss one while volumes move, markets settle and new ones appear', async () => {
  const all = Array.from({ length: 23 }, (_, i) =>
    event(`KXMOVE-${String(i).padStart(2, '0')}`, { category: 'Health', categorySlug: 'health' }),
  );
  const turned = (turn: number) =>
    all.flatMap((one, i) => [
      child(one, `${one.eventId}-A`, { volume24h: i % 5 === 0 ? null : String(100 + i * (turn % 2 ? -3 : 3)) }),
      child(one, `${one.eventId}-B`, { volume24h: '1', status: i % 7 === turn ? 'settled' : 'open' }),
    ]);
  await store.list(...turned(0));
  const seen: string[] = [];
  let cursor: string | null = null;
  let turn = 0;
  do {
    const page: Page = await events('category=health&status=open&limit=4', cursor);
    expect(page.pagination.total).toBe(all.length);
    seen.push(...page.events.map(({ event_id: id }) => id));
    cursor = page.pagination.next_cursor;
    turn += 1;
    const born = event(`KXBORN-${turn}`, { category: 'Health', categorySlug: 'health' });
    await store.list(...turned(turn), child(born, `KXBORN-${turn}-A`, { volume24h: '1000' }));
  } while (cursor !== null);
  expect(seen.toSorted()).toEqual(all.map(({ eventId }) => eventId));
});

test('later pages of a list whose former order is no longer kept have all its events; those of a search get 400', async () => {
  const all = [40, 30, 20, null, null, null, null].map((volume, i) => ({
    one: event(`KXLATER-${i}`, { category: 'Later', categorySlug: 'later' }),
    volume,
  }));
  const write = (volumes: (number | null)[]) =>
    store.list(
      ...all.map(({ one }, i) =>
        child(one, `${one.eventId}-A`, { volume24h: volumes[i] == null ? null : String(volumes[i]) }),
      ),
    );
  await write(all.map(({ volume }) => volume));
  const [first, found] = [
    await events('category=later&limit=5'),
    await events('category=later&query=event&sort=created&limit=1'),
  ];
  await write([10, 20, 30, 40, 50, 60, 70]);
  const { postgres } = store.app.deps;
  await postgres.db.execute(sql`UPDATE present_ranks_were SET replaced_at = replaced_at - interval '11 minutes'`);
  await forgetFormer({ postgres }, 'kalshi');
  const rest = await events('category=later&limit=5', first.pagination.next_cursor);
  expect([first, rest].map(({ pagination }) => pagination.total)).toEqual([7, 7]);
  const ids = [first, rest].flatMap((page) => page.events.map(({ event_id: id }) => id));
  expect(ids.slice(0, 3)).toEqual(['KXLATER-0', 'KXLATER-1', 'KXLATER-2']);
  expect(ids.toSorted()).toEqual(all.map(({ one }) => one.eventId));
  await expect(events('category=later&query=event&sort=created&limit=1', found.pagination.next_cursor)).rejects.toThrow(
    '400',
  );
});

const found = async (query: string, rest: string): Promise<string[]> =>
  (await events(`query=${encodeURIComponent(query)}${rest}`)).events.map(({ event_id: id }) => id);

test('a search with combinations and placeholders finds every event that one without them finds, in the same order', async () => {
  const all = [
    event('KXWIDE-ONE', { title: 'Will the U.S. elect a señor?', category: 'Fútbol', slug: 'a-slug-of-one' }),
    event('KXWIDE-TWO', { title: 'Fútbol in the US', category: 'Sports', slug: 'a-slug-of-two' }),
    event('KXWIDE-THREE', { title: 'Nothing of the kind', category: 'Sports', slug: 'elections' }),
  ];
  await store.list(...all.map((one, i) => child(one, `${one.eventId}-A`, { volume24h: String(i) })));
  for (const query of [
    'futbol',
    'US',
    'U.S.',
    'kxwide',
    'kxwide-thr',
    'KXWIDE elect',
    'a slug',
    'elcet',
    'señor us',
    'a-slug-of-two',
  ]) {
    const shown = await found(query, '');
    expect([query, shown.length > 0]).toEqual([query, true]);
    expect([query, ...(await found(query, '&include_combos=true'))]).toEqual([query, ...shown]);
    expect([query, ...(await found(query, '&include_placeholders=true'))]).toEqual([query, ...shown]);
  }
});

const seriesPath = (limit: number, cursor = '') => `series?provider=kalshi&limit=${limit}&cursor=${cursor}`;

const polymarketIds = async (query: string): Promise<string[]> =>
  (await store.get<{ markets: Market[] }>(`markets?provider=polymarket&${query}`)).markets
    .map(({ platform_id: id }) => id)
    .toSorted();

describe('a placeholder, which the platform hides', () => {
  const cup = event('CUP', {
    platform: 'polymarket',
    marketIds: ['AFRICA', 'OTHER', 'ASIA'],
    seriesId: 'CUPS',
    categorySlug: 'hidden',
    category: 'Hidden',
  });
  const words = 'placeholdertest';
  const named = (ref: string, rest: Record<string, unknown> = {}, facts: Facts = {}): MarketRecord => {
    const one = child(cup, ref, { volume24h: '3', volumeTotal: '10', liquidity: '5', ...facts });
    const info = { ...one.info, title: `${words} ${ref}`, metadata: { ...one.info.metadata, ...rest } };
    return { ...one, info };
  };
  const other = { neg_risk_other: true };
  beforeAll(async () => {
    await store.list(
      named('AFRICA'),
      named('ASIA', {}, { status: 'closed' }),
      named('OTHER', other, { volume24h: null }),
    );
    await store.list(child(event('HIDDENONLY', { platform: 'polymarket' }), 'ALONE', {}), named('ELSE', other));
    await store.refresh();
  });

  test.each([
    'event_id=CUP',
    `query=${words}`,
    'category=hidden',
    'event_id=CUP&status=open',
    'event_id=CUP&sort=created',
  ])('is in the list %s only when asked for', async (query) => {
    const shown = await polymarketIds(query);
    expect(shown).not.toContain('OTHER');
    expect(shown).toContain('AFRICA');
    expect(await polymarketIds(`${query}&include_placeholders=true`)).toEqual([...shown, 'ELSE', 'OTHER'].toSorted());
  });

  test('is found by its id and in a list of ids, and says what it is', async () => {
    expect(await polymarketIds('market_ids=OTHER,AFRICA')).toEqual(['AFRICA', 'OTHER']);
    const { markets } = await store.get<{ markets: Market[] }>('markets/id/OTHER?provider=polymarket');
    expect(markets[0]?.metadata).toMatchObject(other);
  });

  test('neither counts nor adds to its event unless asked for', async () => {
    const path = 'events/CUP?provider=polymarket';
    const named = {
      markets_count: 2,
      open_markets: 1,
      volume_24h: 6,
      volume_total: 20,
      market_ids: ['AFRICA', 'ASIA'],
    };
    const whole = { markets_count: 4, open_markets: 3, volume_24h: null, volume_total: 40 };
    for (const markets of ['', '&include_markets=false']) {
      expect((await store.get<{ event: Event }>(`${path}${markets}`)).event).toMatchObject(named);
      const all = await store.get<{ event: Event }>(`${path}${markets}&include_placeholders=true`);
      expect(all.event).toMatchObject(whole);
      expect(all.event.market_ids.slice(0, 3)).toEqual(['AFRICA', 'OTHER', 'ASIA']);
    }
    for (const [query, expected] of [
      ['', named],
      ['&include_placeholders=true', whole],
    ] as const) {
      const { events: listed } = await store.get<Page>(`events?provider=polymarket&category=hidden${query}`);
      expect(listed).toEqual([expect.objectContaining(expected)]);
    }
    const [row] = await store.clickhouse.sql(
      'SELECT markets_count, open_markets FROM v_events WHERE event_id = {id:String}',
      { id: 'CUP' },
    );
    expect(row).toMatchObject({ markets_count: '2', open_markets: '1' });
  });

  test('is neither trending nor counted in its category', async () => {
    const { trending } = await store.get<{ trending: { market_id: string }[] }>(
      'analytics/trending?category=hidden&limit=100',
    );
    expect(trending.map(({ market_id: id }) => id.replace('polymarket:', ''))).toEqual(['AFRICA']);
    const { categories } = await store.get<{ categories: Record<string, unknown>[] }>('analytics/categories');
    expect(categories.find(({ slug }) => slug === 'hidden')).toMatchObject({ active_markets: 1, total_markets: 2 });
  });
});

test('a list names the leading markets of each event where it is asked to, the highest price first', async () => {
  const race = event('KXRACE', { category: 'Leaders', categorySlug: 'leaders' });
  const runner = (ref: string, price: string | null, metadata = {}): MarketRecord => {
    const record = child(race, ref);
    if (price !== null) record.state.quotes = quotes(price);
    return { ...record, info: { ...record.info, metadata } };
  };
  await store.list(
    runner('KXRACE-A', '0.2'),
    runner('KXRACE-B', '0.75'),
    runner('KXRACE-C', null),
    runner('KXRACE-D', '0.05'),
    runner('KXRACE-X', '0.99', { neg_risk_other: true }),
  );
  const leading = async (query: string) =>
    (await store.get<{ events: { leading_markets?: string[] }[] }>(`events?provider=kalshi&category=leaders${query}`))
      .events[0]?.leading_markets;
  expect(await leading('')).toBeUndefined();
  expect(await leading('&leaders=2')).toEqual(['KXRACE-B', 'KXRACE-A']);
  expect(await leading('&leaders=5')).toEqual(['KXRACE-B', 'KXRACE-A', 'KXRACE-D', 'KXRACE-C']);
  const searched = await store.get<{ results: { event: { leading_markets: string[] } }[] }>(
    'search?q=KXRACE&types=events&leaders=1',
  );
  expect(searched.results.map(({ event: found }) => found.leading_markets)).toEqual([['KXRACE-B']]);
});

test('series are paged by id, and a cursor of other filters is refused', async () => {
  type SeriesPage = { pagination: Page['pagination']; series: { series_id: string }[] };
  const whole = await store.get<SeriesPage>(seriesPath(200));
  const first = await store.get<SeriesPage>(seriesPath(2));
  const rest = await store.get<SeriesPage>(seriesPath(200, first.pagination.next_cursor ?? ''));
  expect(first.pagination).toMatchObject({ total: whole.series.length, has_more: true });
  expect([...first.series, ...rest.series]).toEqual(whole.series);
  await expect(store.get(`series?provider=kalshi&category=x&cursor=${first.pagination.next_cursor}`)).rejects.toThrow(
    /400/,
  );
});

const seriesFound = async (query: string): Promise<string[]> =>
  (await store.get<{ series: { series_id: string }[] }>(`series?provider=kalshi&query=${query}`)).series
    .map(({ series_id: id }) => id)
    .toSorted();

test('series are found by initials with dots and without', async () => {
  const titles = { KXTAX: 'U.S. tax rates', KXJOBS: 'US jobs report', KXVAN: 'J.D. Vance says', KXBUS: 'Bus fares' };
  for (const [seriesId, title] of Object.entries(titles)) {
    const of = event(`${seriesId}-1`, { seriesId });
    const series = { platform: 'kalshi', seriesId, title, category: 'Economy', categorySlug: 'economy' } as const;
    await store.list({ ...child(of, `${seriesId}-1-A`), series: { ...series, frequency: null } });
  }
  for (const query of ['us', 'US', 'U.S.', 'u.s']) expect(await seriesFound(query)).toEqual(['KXJOBS', 'KXTAX']);
  for (const query of ['U.S. tax', 'us%20tax', 'u%20s%20tax']) expect(await seriesFound(query)).toEqual(['KXTAX']);
  for (const query of ['jd%20vance', 'J.D. Vance']) expect(await seriesFound(query)).toEqual(['KXVAN']);
});

test('an event that no market is stored of is not found, and a shorter body of an event takes nothing away', async () => {
  await expect(store.get('events/KXNOSUCH?provider=kalshi')).rejects.toThrow(/404.*Event not found on Kalshi/);
  await expect(store.get('events/polymarket:12?provider=kalshi')).rejects.toThrow(/400/);
  const long = event('KXSHORT', {
    imageUrl: 'https://images.example.com/1.png',
    marketIds: ['KXSHORT-B', 'KXSHORT-A'],
  });
  await store.list(child(long, 'KXSHORT-A'), child(long, 'KXSHORT-B'));
  const { event: _, ...bare } = child(long, 'KXSHORT-A', { volume24h: '1' });
  await store.list(bare);
  const { event: shown } = await store.get<{ event: Event }>('events/KXSHORT?provider=kalshi');
  expect(shown).toMatchObject({
    title: long.title,
    tags: ['One'],
    mutually_exclusive: true,
    image_url: long.imageUrl,
    market_ids: long.marketIds,
    volume_24h: 1,
  });
});

const PLACES = 'KXPLACE';
const listPlaces = (order: string): Promise<void> => {
  const of = event(PLACES, { marketIds: Array.from(order, (letter) => `${PLACES}-${letter}`) });
  return store.list(...of.marketIds.map((id) => child(of, id)));
};
async function places(): Promise<string> {
  const { event: shown } = await store.get<{ event: Event }>(`events/${PLACES}?provider=kalshi`);
  return shown.market_ids.map((id) => id.slice(-1)).join('');
}

test('a market that a later listing of its event leaves out keeps its place', async () => {
  await listPlaces('DBCA');
  expect(await places()).toBe('DBCA');
  // What it followed moves, and so does it; the first stays first; a new one comes where it is listed.
  await listPlaces('ABE');
  expect(await places()).toBe('DABCE');
  await listPlaces('BEA');
  expect(await places()).toBe('DBCEA');
});

test('the views for analysts say the same', async () => {
  const [row] = await store.clickhouse.sql(
    "SELECT * EXCEPT (tags, source_url) FROM v_events WHERE id = 'kalshi:KXWHOLE'",
  );
  expect(row).toMatchObject({
    status: 'open',
    markets_count: '3',
    volume_24h: '0.6',
    volume_total: '109.000001',
    liquidity: '7.5',
  });
  const rows = await store.clickhouse.sql(
    "SELECT id, events_count, open_events FROM v_series WHERE series_id LIKE 'KXO%' ORDER BY id",
  );
  expect(rows).toEqual([
    { id: 'kalshi:KXORD', events_count: '2', open_events: '1' },
    { id: 'kalshi:KXOTHER', events_count: '1', open_events: '0' },
  ]);
});
