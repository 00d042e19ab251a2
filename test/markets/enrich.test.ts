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

const settledLater = (platform: Platform): string | null =>
  enrichFromStore(
    market({ platform, ref: 'A', state: { status: 'settled', resolvedAt: '2026-10-03T09:00:00.000Z' } }),
    {
      stored: stored({}, { resolved_at: '2026-10-01T12:00:00.000Z' }),
      traded: undefined,
      openInterest: undefined,
      resting: undefined,
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

test('a market resolved when its first settled body said, where later ones say when it was last changed', () => {
  expect(settledLater('limitless')).toBe('2026-10-01T12:00:00.000Z');
  expect(settledLater('kalshi')).toBe('2026-10-03T09:00:00.000Z');
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
