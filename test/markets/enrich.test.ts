import { describe, expect, test } from 'vitest';
import { parsePrice, parseUsd, type Usd } from '../../src/core/decimal.ts';
import type { EventRecord, MarketRecord, MarketState, Platform, SeriesRecord } from '../../src/core/model.ts';
import { enrichFromStore, LookbackRow } from '../../src/markets/enrich.ts';
import type { RestingFigures } from '../../src/platforms/book-sides.ts';
import { market, quotes } from '../helpers/market-store.ts';

const stored = (metadata: object, row: object = {}) =>
  LookbackRow.parse({
    ref: 'A',
    first_seen_at: '2026-10-01T00:00:00.000Z',
    title: 'Stored title',
    event_id: 'E',
    event_name: 'Event',
    series_id: 'S',
    category: 'Sports',
    category_slug: 'sports',
    subcategory: null,
    tags: [],
    image_url: '',
    outcome_ids: ['yes', 'no'],
    metadata: JSON.stringify(metadata),
    resolved_at: null,
    open_interest: null,
    best_level: null,
    day_total: null,
    week_total: null,
    day_price: null,
    week_price: null,
    ...row,
  });

/** A book of which this much rests on its only levels. */
const atRest = (bestLevel: Usd | undefined): RestingFigures | undefined =>
  bestLevel === undefined
    ? undefined
    : { bestLevel, wholeBook: bestLevel, bid: null, ask: null, adjustedMidpoint: null };

test('a body without its event keeps what the event reported; what the market itself no longer reports is dropped', () => {
  const { record } = enrichFromStore(market({ platform: 'kalshi', ref: 'A', metadata: { tick_size: 0.001 } }), {
    stored: stored({
      tick_size: 0.01,
      event_sub_title: 'TB vs DAL',
      mutually_exclusive: true,
      fee: { multiplier: 1 },
      is_provisional: true,
      rewards_min_size: 50,
    }),
    traded: undefined,
    openInterest: undefined,
    resting: undefined,
  });
  expect(record.info.metadata).toEqual({
    tick_size: 0.001,
    event_sub_title: 'TB vs DAL',
    mutually_exclusive: true,
    fee: { multiplier: 1 },
  });
});

test.each([
  ['keeps title and event while its event cannot be read', { lacksEvent: true }, 'Event', ['Stored title', 'E']],
  ['has its own title before its event was ever read', { lacksEvent: true }, '', ['By December', '10006670']],
  ['takes a new title and event with its event', {}, 'Event', ['By December', '10006670']],
] as const)('a market %s', (_what, given, eventName, expected) => {
  const { info, ...rest } = market({ platform: 'limitless', ref: 'A', title: 'By December', eventId: '10006670' });
  const { record } = enrichFromStore(
    { ...rest, info, ...given },
    {
      stored: stored({}, { event_name: eventName }),
      traded: undefined,
      openInterest: undefined,
      resting: undefined,
    },
  );
  expect([record.info.title, record.info.eventId]).toEqual(expected);
});

describe('a subcategory', () => {
  const { info, state, ...rest } = market({ platform: 'kalshi', ref: 'A' });
  const event: EventRecord = {
    platform: 'kalshi',
    eventId: 'E',
    seriesId: 'S',
    slug: '',
    title: 'Event',
    category: 'Sports',
    categorySlug: 'sports',
    tags: [],
    mutuallyExclusive: null,
    imageUrl: '',
    sourceUrl: '',
    marketIds: [],
  };
  const series: SeriesRecord = {
    platform: 'kalshi',
    seriesId: 'S',
    title: 'Series',
    category: 'Sports',
    categorySlug: 'sports',
    frequency: null,
  };
  const named = (subcategory: string | null, given: Pick<MarketRecord, 'event' | 'series'>) =>
    enrichFromStore(
      {
        ...rest,
        info: { ...info, eventId: 'E', seriesId: 'S', category: 'Sports', subcategory },
        state,
        ...given,
      },
      {
        stored: stored({}, { subcategory: 'Tennis' }),
        traded: undefined,
        openInterest: undefined,
        resting: undefined,
      },
    ).record.info.subcategory;

  test.each([
    ['is gone once event and series were read and name none', null, { event, series }, null],
    ['is the one they name', 'Golf', { event, series }, 'Golf'],
    ['stays while the event was not read', null, { series }, 'Tennis'],
    ['stays while the series was not read', null, { event }, 'Tennis'],
  ])('%s', (_what, subcategory, given, expected) => {
    expect(named(subcategory, given)).toBe(expected);
  });
});

describe('what rests in a book that the listing does not report', () => {
  const open = { ...market({ platform: 'limitless', ref: 'A' }) };
  open.state = { ...open.state, liquidity: null, metadata: { liquidity_basis: 'none' } };
  const enriched = (row: object, liquidity: bigint | undefined) => {
    const { state } = enrichFromStore(open, {
      stored: stored({}, row),
      traded: undefined,
      openInterest: undefined,
      resting: atRest(liquidity),
    }).record;
    return [state.liquidity, state.metadata['liquidity_basis']];
  };

  test.each([
    ['is unknown until it is read', {}, undefined, [null, 'none']],
    ['is what was read', {}, parseUsd('12.5'), [parseUsd('12.5'), 'best_level']],
    ['is nothing when the book was read empty', {}, 0n, [0n, 'best_level']],
    ['stays what is stored after a restart', { best_level: '7.25' }, undefined, [parseUsd('7.25'), 'best_level']],
  ])('%s', (_what, row, read, expected) => {
    expect(enriched(row, read)).toEqual(expected);
  });

  test.each([
    ['open', undefined, undefined, undefined],
    ['open', undefined, '12.5', parseUsd('12.5')],
    ['open', '7.25', undefined, parseUsd('7.25')],
    ['paused', '7.25', '0', 0n],
    ['settled', '7.25', '12.5', undefined],
  ] as const)(
    'its best levels stand beside a figure of the whole book while it is %s',
    (status, row, read, expected) => {
      const metadata = { liquidity_basis: 'full_book' };
      const { state } = enrichFromStore(
        market({ platform: 'polymarket', ref: 'A', state: { status, liquidity: parseUsd('900'), metadata } }),
        {
          stored: stored({}, { best_level: row ?? null }),
          traded: undefined,
          openInterest: undefined,
          resting: atRest(read === undefined ? undefined : parseUsd(read)),
        },
      ).record;
      expect([state.liquidity, state.metadata, state.bestLevel]).toEqual([parseUsd('900'), metadata, expected]);
    },
  );
});

const unread = (platform: Platform, metadata: object, row: object) => {
  const record = market({ platform, ref: 'A', metadata: { open_interest_basis: 'contracts' } });
  return enrichFromStore(
    { ...record, state: { ...record.state, openInterest: null, liquidity: null, metadata: { ...metadata } } },
    { stored: stored({}, row), traded: undefined, openInterest: undefined, resting: undefined },
  ).record;
};

describe('a figure of the listing that cannot be read', () => {
  test.each(['kalshi', 'limitless'] as const)('is no earlier open interest, and keeps its unit, on %s', (platform) => {
    const { info, state } = unread(platform, {}, { open_interest: '2422.48' });
    expect([state.openInterest, state.metadata, info.metadata]).toEqual([
      null,
      {},
      { open_interest_basis: 'contracts' },
    ]);
  });

  test('is the earlier open interest on Polymarket, which states it apart from the listing', () => {
    const { state } = unread('polymarket', {}, { open_interest: '2422.48' });
    expect([state.openInterest, state.metadata]).toEqual([parseUsd('2422.48'), { open_interest_basis: 'usd' }]);
  });

  test.each(['kalshi', 'polymarket'] as const)(
    'is no liquidity of an earlier listing or of the book on %s',
    (platform) => {
      const { state } = unread(platform, { liquidity_basis: 'none' }, { best_level: '7.25' });
      expect([state.liquidity, state.metadata['liquidity_basis']]).toEqual([null, 'none']);
    },
  );
});

const pricesOf = (status: MarketState['status'], traded: string | null, bookPrice?: bigint) => {
  const open = market({ platform: 'limitless', ref: 'A', state: { status, quotes: quotes('0.5', '0.4', '0.6') } });
  const { state } = enrichFromStore(
    { ...open, fromTrades: { volumes: 'market' } },
    {
      stored: undefined,
      traded: { ref: 'A', day_traded: null, week_traded: null, last_price: traded, week_price: null },
      openInterest: undefined,
      resting: undefined,
      bookPrice,
    },
  ).record;
  return state.quotes.map(({ price }) => price);
};

describe('the price of a market whose listing names no trade', () => {
  const [half, low, high] = ['0.5', '0.3', '0.7'].map((text) => parsePrice(text));

  test('is the newest stored trade, else the last that its book names, else the middle', () => {
    expect(pricesOf('open', '0.3', high)).toEqual([low, high]);
    expect(pricesOf('open', null, high)).toEqual([high, low]);
    expect(pricesOf('closed', null, high)).toEqual([high, low]);
    expect(pricesOf('open', null)).toEqual([half, half]);
    expect(pricesOf('unopened', null, high)).toEqual([half, half]);
  });
});

const usdOrNull = (text: string | null): Usd | null => (text === null ? null : parseUsd(text));

describe('the volume of a day', () => {
  test.each([
    ['is the difference of totals', '100', '70', '20', '30'],
    ['is the sum of trades without an earlier total', '100', null, '20', '20'],
    ['is the sum of trades of a market whose total is unknown', null, '70', '20', '20'],
    ['is unknown without total and sum', null, null, null, null],
    ['is 0 while nothing was ever traded', '0', null, null, '0'],
  ])('%s', (_what, total, then, sum, expected) => {
    const record = market({ platform: 'limitless', ref: 'A', state: { volumeTotal: usdOrNull(total) } });
    const { state } = enrichFromStore(record, {
      stored: stored({}, { day_total: then, week_total: then }),
      traded: { ref: 'A', day_traded: sum, week_traded: sum, last_price: null, week_price: null },
      openInterest: undefined,
      resting: undefined,
    }).record;
    expect([state.volume24h, state.volume7d]).toEqual([usdOrNull(expected), usdOrNull(expected)]);
  });
});

const settledLater = (platform: Platform, statedResolution?: string): string | null =>
  enrichFromStore(
    market({ platform, ref: 'A', state: { status: 'settled', resolvedAt: '2026-10-03T09:00:00.000Z' } }),
    {
      stored: stored({}, { resolved_at: '2026-10-01T12:00:00.000Z' }),
      traded: undefined,
      openInterest: undefined,
      resting: undefined,
      statedResolution,
    },
  ).record.state.resolvedAt;

test('an edited name of an outcome changes neither its id nor what is stated by that id', () => {
  const asSent = market({
    platform: 'polymarket',
    ref: 'A',
    outcomes: ['home-side', 'guests'].map((id, index) => ({ id, name: id, tokenId: `7${index}` })),
    metadata: { token_ids: { 'home-side': '70', guests: '71' }, tick_size: 0.01 },
  });
  const state = { ...asSent.state, metadata: { payouts: { 'home-side': 1, guests: 0 } } };
  const { record } = enrichFromStore(
    { ...asSent, state },
    {
      stored: stored({ token_ids: { home: '70', guests: '71' } }, { outcome_ids: ['home', 'guests'] }),
      traded: undefined,
      openInterest: undefined,
      resting: undefined,
    },
  );
  expect(record.info.outcomes.map(({ id }) => id)).toEqual(['home', 'guests']);
  expect(record.info.metadata).toEqual({ token_ids: { home: '70', guests: '71' }, tick_size: 0.01 });
  expect(record.state.metadata).toMatchObject({ payouts: { home: 1, guests: 0 } });
});

test.each([
  ['none', ['', ''], {}, { home: '70', guests: '71' }],
  ['one', ['', '71'], {}, { home: '70', guests: '71' }],
  ['others', ['80', '81'], {}, { home: '80', guests: '81' }],
  ['none, of the stored version', ['', ''], { version: 'v1' }, { home: '70', guests: '71' }],
  ['none, of another version', ['', ''], { version: 'v2' }, {}],
] as [string, string[], { version?: string }, Record<string, string>][])(
  'a row that states %s of its tokens does not erase those stored',
  (_, sent, facts, expected) => {
    const version = facts.version && 'v1';
    const [home = '', guests = ''] = sent;
    const listed = Object.entries({ 'home-side': home, guests }).filter(([, token]) => token !== '');
    const { info } = enrichFromStore(
      market({
        platform: 'polymarket',
        ref: 'A',
        outcomes: ['home-side', 'guests'].map((id, index) => ({ id, name: id, tokenId: sent[index] ?? '' })),
        metadata: { token_ids: Object.fromEntries(listed), ...facts },
      }),
      {
        stored: stored({ token_ids: { home: '70', guests: '71' }, version }, { outcome_ids: ['home', 'guests'] }),
        traded: undefined,
        openInterest: undefined,
        resting: undefined,
      },
    ).record;
    expect(info.metadata).toEqual({ token_ids: expected, ...facts });
    expect(info.outcomes.map(({ id, tokenId }) => [id, tokenId])).toEqual(
      ['home', 'guests'].map((id) => [id, expected[id] ?? '']),
    );
  },
);

test('a market resolved when its first settled body said, where later ones say when it was last changed', () => {
  expect(settledLater('limitless')).toBe('2026-10-01T12:00:00.000Z');
  expect(settledLater('kalshi')).toBe('2026-10-03T09:00:00.000Z');
  const stated = '2026-10-01T11:40:00.000Z';
  expect(settledLater('limitless', stated)).toBe(stated);
});

test.each([
  ['its snapshot of then', '0.2', '0.3', '0.3'],
  ['its trades, without a snapshot', null, '0.3', '0.2'],
  ['its trades at a price of 0', null, '0', '0.5'],
  ['nothing that is known', null, null, null],
])('the change of a price over a week goes by %s', (_, snapshot, traded, expected) => {
  const { state } = enrichFromStore(
    market({ platform: 'kalshi', ref: 'A', state: { quotes: quotes('0.5', '0.4', '0.6') } }),
    {
      stored: stored({}, { week_price: snapshot }),
      traded: { ref: 'A', day_traded: null, week_traded: null, last_price: null, week_price: traded },
      openInterest: undefined,
      resting: undefined,
    },
  ).record;
  expect(state.priceChange7d).toBe(expected === null ? null : parsePrice(expected));
});

test.each([
  ['kalshi', null, null],
  ['kalshi', '-0.1', '-0.1'],
  ['polymarket', null, '0.3'],
  ['polymarket', '-0.1', '-0.1'],
  ['limitless', null, '0.3'],
] as const)('the change over a day on %s, which states %s, is %s', (platform, given, expected) => {
  const priceChange24h = given === null ? null : parsePrice(given);
  const state = { quotes: quotes('0.5', '0.4', '0.6'), priceChange24h };
  const { record } = enrichFromStore(market({ platform, ref: 'A', state }), {
    stored: stored({}, { day_price: '0.2' }),
    traded: undefined,
    openInterest: undefined,
    resting: undefined,
  });
  expect(record.state.priceChange24h).toBe(expected === null ? null : parsePrice(expected));
});

const bookSays = (state: Partial<MarketState>, resting: RestingFigures | null) =>
  enrichFromStore(market({ platform: 'kalshi', ref: 'A', state: { quotes: quotes('0.5', '0.4', '0.6'), ...state } }), {
    stored: undefined,
    traded: undefined,
    openInterest: undefined,
    resting,
  }).record.state.metadata;

describe('what the book of a market says beside its listing', () => {
  const book: RestingFigures = {
    bestLevel: parseUsd('4'),
    wholeBook: parseUsd('90.5'),
    bid: parsePrice('0.4'),
    ask: parsePrice('0.6'),
    adjustedMidpoint: parsePrice('0.45'),
  };
  const adjusted = { adjusted_midpoint: 0.45 };
  const whole = { liquidity_clob: 90.5 };
  test.each([
    ['all that rests in it, and its adjusted midpoint', {}, book, { ...whole, ...adjusted }],
    ['nothing while it is not known', {}, null, {}],
    ['nothing after the market has ended', { status: 'closed' }, book, {}],
    ['no midpoint beside other best prices', { quotes: quotes('0.5', '0.41', '0.6') }, book, whole],
    ['no midpoint of one side', { quotes: quotes('0.5', '0.4', null) }, { ...book, ask: null }, whole],
    ['no midpoint that is the plain one', {}, { ...book, adjustedMidpoint: parsePrice('0.5') }, whole],
    ['no midpoint without large levels', {}, { ...book, adjustedMidpoint: null }, whole],
    ['that nothing rests in it', {}, { ...book, wholeBook: 0n }, { liquidity_clob: 0, ...adjusted }],
    [
      'no sum where the listing counts it',
      { liquidity: parseUsd('7'), metadata: { liquidity_basis: 'full_book' } },
      book,
      { liquidity_basis: 'full_book', ...adjusted },
    ],
  ] satisfies [string, Partial<MarketState>, RestingFigures | null, object][])(
    '%s',
    (_what, state, resting, expected) => {
      expect(bookSays(state, resting)).toEqual(expected);
    },
  );
});
