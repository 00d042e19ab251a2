import { describe, expect, test } from 'vitest';
import { decimalNumber, parseUsd } from '../../../src/core/decimal.ts';
import { mapLimitlessMarket } from '../../../src/platforms/limitless/market.ts';
import { LimitlessGroup, LimitlessMarket, MARKET_ROW } from '../../../src/platforms/limitless/wire.ts';
import { parseRow } from '../../../src/platforms/parse-rows.ts';
import type { Quote } from '../../../src/core/model.ts';
import { RECEIVED_AT, readContext } from '../../fixtures/canned-http.ts';
import {
  NO_TOKEN,
  YES_TOKEN,
  ammRow,
  childRow,
  groupRow,
  marketRow,
  tradePrices,
} from '../../fixtures/limitless/rows.ts';

function map(raw: object, group: object | null = null) {
  const market = parseRow(LimitlessMarket, raw, MARKET_ROW, readContext());
  if (!market) throw new Error('not a market');
  const parent = group && { row: LimitlessGroup.parse(group), raw: { ...group } };
  return mapLimitlessMarket(market, parent, RECEIVED_AT);
}
const numbers = ({ price, bid, ask }: Quote) =>
  [price, bid, ask].map((value) => (value === null ? null : decimalNumber(value, 10)));
const quotes = (raw: object) => map(raw).state.quotes.map(numbers);
const categoryOf = (change: object) => {
  const { category, categorySlug, subcategory } = map(marketRow(change)).info;
  return [category, categorySlug, subcategory];
};
describe('a Limitless market', () => {
  test('reads volume in base units, expiry in milliseconds and HTML as text', () => {
    const { info, state } = map(marketRow());
    expect(info).toMatchObject({
      ref: 'will-the-otter-win-1790108004599',
      title: 'Will the otter win?',
      marketType: 'binary',
      outcomes: [
        { id: 'yes', name: 'Yes', tokenId: YES_TOKEN },
        { id: 'no', name: 'No', tokenId: NO_TOKEN },
      ],
      eventId: '',
      eventName: '',
      description: 'Yes if the otter wins.\nElse "No".',
      category: 'Finance',
      subcategory: 'Korean Market',
      tags: ['Earnings', 'Korean Market', 'Lumy'],
      sourceUrl: 'https://limitless.exchange/markets/will-the-otter-win-1790108004599',
      imageUrl: 'https://img.example/m.png',
      tradingStartAt: '2026-05-21T15:29:34.319Z',
      tradingEndAt: '2027-03-02T04:59:00.000Z',
      resolutionDate: '2027-03-02T04:59:00.000Z',
    });
    expect(info.metadata).toEqual({
      volume_basis: 'usd',
      token_ids: { yes: YES_TOKEN, no: NO_TOKEN },
      condition_id: '0x00aa',
      tick_size: 0.001,
      neg_risk: false,
      collateral: 'USDC',
      fee: { enabled: true, taker_delay_ms: 250 },
      rewards_min_size: 50,
    });
    expect(state).toMatchObject({
      status: 'open',
      resolvedAt: null,
      volumeTotal: parseUsd('227.209'),
      volume24h: null,
      volume7d: null,
      volume1y: parseUsd('227.209'),
      liquidity: null,
      openInterest: null,
      metadata: { liquidity_basis: 'none' },
    });
    expect(quotes(marketRow())).toEqual([
      [0.4725, 0.47, 0.475],
      [0.5275, 0.525, 0.53],
    ]);
  });

  test('nested in a group carries its title, picture, event and place', () => {
    const { info, state, raw } = map(
      childRow({ tradePrices: tradePrices(0.002, 0.998), prices: [0.5, 0.5] }),
      groupRow(),
    );
    expect(info).toMatchObject({
      title: 'Satellites in orbit above 25 in Q4?',
      eventId: 'satellites-above-1779377186826',
      eventName: 'Satellites in orbit above __ in Q4?',
      sourceUrl: 'https://limitless.exchange/markets/satellites-above-1779377186826',
      imageUrl: 'https://img.example/group.png',
    });
    expect(info.metadata).toMatchObject({ group_item_title: '25', order_in_group: 106, neg_risk: false });
    expect(state.quotes.map(numbers)).toEqual([
      [0.5, 0.002, 0.998],
      [0.5, 0.002, 0.998],
    ]);
    expect(state.metadata).toMatchObject({ wide_book: true });
    expect(raw.group).not.toHaveProperty('markets');
  });

  test('of a group without a gap in its title has both titles, and a dollar sign in a title is only a sign', () => {
    expect(map(childRow({ title: 'Draw' }), groupRow({ title: 'Red vs Blue' })).info.title).toBe('Red vs Blue: Draw');
    expect(map(childRow({ title: "$& $'" }), groupRow({ title: 'Above __?' })).info.title).toBe("Above $& $'?");
  });

  test.each([
    ['Bitcoin all time high by ___?', 'December 31, 2026', 'Bitcoin all time high by December 31, 2026?'],
    ['__ lands first', 'Orbita', 'Orbita lands first'],
    ['Seats of ____ in the ______ house', 'Greens', 'Seats of Greens in the Greens house'],
    ['snake_case stays?', 'Yes_no', 'snake_case stays?: Yes_no'],
    ['Who leads _____', '$1__2', 'Who leads $1__2'],
  ])('of the group %j fills every gap, however long it is', (group, child, title) => {
    expect(map(childRow({ title: child }), groupRow({ title: group })).info.title).toBe(title);
  });

  test.each(['Above ___?', 'Red vs Blue'])('never shares its title with another of the group %j', (title) => {
    const children = [
      childRow({ slug: 'draw-1', title: 'Draw' }),
      childRow({ slug: 'draw-2', title: ' Draw' }),
      childRow({ slug: 'none-1', title: '' }),
      childRow({ slug: 'none-2', title: '' }),
      childRow({ slug: 'win-1', title: 'Win' }),
    ];
    const titles = children.map((child) => map(child, groupRow({ title, markets: children })).info.title);
    expect(new Set(titles).size).toBe(children.length);
    expect(titles[0]).toMatch(/Draw.*draw-1/);
    expect(titles[4]).toMatch(/Win\??$/);
  });

  test('finds its event by group, group slug, metadata, or the number of the group', () => {
    const eventId = (change: object) => map(childRow(change)).info.eventId;
    expect(eventId({ groupSlug: 'g-1' })).toBe('g-1');
    expect(eventId({ metadata: { groupSlug: 'g-2' } })).toBe('g-2');
    expect(eventId({ groupSlug: '', metadata: { groupSlug: 'g-2' } })).toBe('g-2');
    expect(eventId({ groupId: '10013329' })).toBe('10013329');
    expect(eventId({})).toBe('10013328');
    expect(map(childRow({})).info.sourceUrl).toBe('https://limitless.exchange/markets/25-1779377186831');
  });

  test('is neg-risk when its group is', () => {
    expect(map(childRow(), groupRow({ negRiskMarketId: '0x1' })).info.metadata.neg_risk).toBe(true);
    expect(map(childRow({ negRiskRequestId: '0x2' })).info.metadata.neg_risk).toBe(true);
  });

  test.each([
    ['CREATED', false, 'unopened'],
    ['DRAFTED', false, 'unopened'],
    ['FUNDED', false, 'open'],
    ['FUNDED_FLAGGED', false, 'open'],
    ['FUNDED', true, 'closed'],
    ['LOCKED', false, 'paused'],
    ['LOCKED', true, 'closed'],
    ['CLOSED', false, 'closed'],
    ['RESOLVED', true, 'settled'],
    ['MarketStatus.FUNDED', false, 'open'],
    ['MarketStatus.PENDING', false, 'unopened'],
    ['SOMETHING_NEW', false, 'closed'],
  ])('of status %s, expired %s, is %s', (status, expired, expected) => {
    expect(map(marketRow({ status, expired })).state.status).toBe(expected);
  });

  test.each([
    ['the time of its end decides', { expirationTimestamp: Date.UTC(2020, 0, 1) }, 'closed'],
    ['it is open before its end', { expirationTimestamp: Date.UTC(2099, 0, 1) }, 'open'],
    ['its status decides when its end is unknown too', { expirationTimestamp: null }, 'open'],
  ])('of which it is unknown whether it expired: %s', (_, change, expected) => {
    for (const expired of ['perhaps', null]) {
      expect(map(marketRow({ status: 'FUNDED', expired, ...change })).state.status).toBe(expected);
    }
  });

  const nothing = [null, null, null];
  test.each([
    [
      'not open yet has no prices, though the row says 0.5',
      { status: 'CREATED', prices: [0.5, 0.5], tradePrices: tradePrices(0, 0) },
      nothing,
    ],
    ['with no bid and no ask has no price', { prices: [0.5, 0.5], tradePrices: tradePrices(0, 1) }, nothing],
    [
      'with a bid only has no price, whatever the row prints',
      { prices: [0.639, 0.361], tradePrices: tradePrices(0.278, 1) },
      [null, 0.278, null],
    ],
    ['expired quotes nothing, and what is left of its book is no price', { expired: true }, nothing],
    [
      'resolved is priced by its numerators and quotes nothing, whatever the row prints',
      { status: 'RESOLVED', payoutNumerators: [1, 0], winningOutcomeIndex: 0, tradePrices: tradePrices(0, 0.01) },
      [1, null, null],
    ],
    [
      'resolved without numerators, as sports are, is priced by its winner',
      { status: 'RESOLVED', payoutNumerators: null, winningOutcomeIndex: 1 },
      [0, null, null],
    ],
    ['resolved 50-50 has no winner', { status: 'RESOLVED', payoutNumerators: [1, 1] }, [0.5, null, null]],
    [
      'resolved with numerators of 18 decimals is priced by their relation',
      { status: 'RESOLVED', payoutNumerators: [`75${'0'.repeat(16)}`, `25${'0'.repeat(16)}`] },
      [0.75, null, null],
    ],
    [
      'resolved with a winner written as text is priced by it',
      { status: 'RESOLVED', winningOutcomeIndex: '1' },
      [0, null, null],
    ],
    ['resolved with neither has no price', { status: 'RESOLVED' }, nothing],
  ])('%s', (_, change, expected) => {
    expect(quotes(marketRow(change))[0]).toEqual(expected);
  });

  test('resolved shows result, payouts and when', () => {
    const { state } = map(
      marketRow({ status: 'RESOLVED', expired: true, winningOutcomeIndex: 1, payoutNumerators: [0, 1] }),
    );
    expect(state.metadata).toMatchObject({ result: 'no', payouts: { yes: 0, no: 1 } });
    expect(state.resolvedAt).toBe('2026-07-24T14:26:42.635Z');
    expect(map(marketRow({ status: 'RESOLVED' })).state.metadata.payouts).toEqual({});
  });

  test('whose winner is known stays closed, without a payout, until it is resolved', () => {
    const { state } = map(marketRow({ status: 'FUNDED', expired: true, winningOutcomeIndex: 0 }));
    expect(state.status).toBe('closed');
    expect(state.metadata).toMatchObject({ result: 'yes' });
    expect(state.metadata).not.toHaveProperty('payouts');
  });

  test('with an automated market maker is priced in percent and has liquidity and open interest, no quotes', () => {
    const { info, state } = map(ammRow());
    expect(state.quotes.map(numbers)).toEqual([
      [0.428, null, null],
      [0.572, null, null],
    ]);
    expect(state).toMatchObject({ liquidity: parseUsd('150'), openInterest: parseUsd('5') });
    expect(state.metadata.liquidity_basis).toBe('amm');
    expect(info.metadata).toMatchObject({
      trade_type: 'amm',
      address: '0x0e03eDc2A0ba38E803DaD62b31b6e6A2f4b216cc',
      open_interest_basis: 'usd',
      token_ids: { yes: YES_TOKEN, no: NO_TOKEN },
    });
  });

  test('with an automated market maker that is not open yet has no price, though the row says 50 percent', () => {
    expect(quotes(ammRow({ status: 'MarketStatus.PENDING', prices: [50, 50] }))[0]).toEqual(nothing);
  });

  test('in another collateral than USDC has no amounts in USD, but the raw volume', () => {
    const collateralToken = { address: '0x42', decimals: 18, symbol: 'WETH' };
    const { info, state } = map(ammRow({ collateralToken, volume: '667934500000000000' }));
    expect(state).toMatchObject({ volumeTotal: null, volume24h: null, liquidity: null, openInterest: null });
    expect(state.metadata).toMatchObject({ volume_raw: '667934500000000000', liquidity_basis: 'none' });
    expect(info.metadata).toMatchObject({ volume_basis: 'raw', collateral: 'WETH', collateral_decimals: 18 });
    expect(info.metadata).not.toHaveProperty('open_interest_basis');
    const over = map(ammRow({ collateralToken, status: 'MarketStatus.RESOLVED' })).state;
    expect([over.liquidity, over.metadata.liquidity_basis]).toEqual([0n, 'none']);
  });

  test('with an automated market maker whose row lacks the liquidity has an unknown one', () => {
    const { state } = map(ammRow({ liquidity: undefined }));
    expect([state.liquidity, state.metadata.liquidity_basis]).toEqual([null, 'none']);
  });

  test('whose trading began within a day traded its whole volume in it, whenever it was created', () => {
    const began = { createdAt: '2026-10-01T12:00:00.000Z', startAt: '2026-10-05T12:00:00.000Z' };
    expect(map(marketRow(began)).state.volume24h).toBe(parseUsd('227.209'));
  });

  test('younger than a day traded its whole volume in it', () => {
    const { state } = map(marketRow({ createdAt: '2026-10-05T12:00:00.000Z' }));
    expect(state).toMatchObject({ volume24h: parseUsd('227.209'), volume7d: parseUsd('227.209') });
  });

  test.each([
    [
      'its domain first',
      { properties: [{ propertyKeySlug: 'domain', value: ['sports'] }] },
      ['Sports', 'sports', 'Earnings'],
    ],
    ['its categories', { categories: ['Daily', 'Crypto'] }, ['Crypto', 'crypto', null]],
    ['the single category of 2024', { categories: undefined, category: 'Politics' }, ['Politics', 'politics', null]],
    [
      'its oracle when it is filed under a period only',
      { categories: ['15 min'], priceOracleMetadata: { assetType: 'CRYPTO' } },
      ['Crypto', 'crypto', null],
    ],
    [
      'what follows its category, past a period',
      { categories: ['Hourly', 'Crypto', '5 min', 'Bitcoin'] },
      ['Crypto', 'crypto', 'Bitcoin'],
    ],
    [
      'its domain, and no period beside it',
      { properties: [{ propertyKeySlug: 'domain', value: ['crypto'] }], categories: ['Minutely', '5 min'] },
      ['Crypto', 'crypto', null],
    ],
    [
      'a word of its own, never a period',
      { categories: ['Hourly', 'Company News'] },
      ['Company News', 'company-news', null],
    ],
    ['nothing at all', { categories: ['Minutely'] }, ['', 'other', null]],
  ])('is categorised by %s', (_, change, expected) => {
    expect(categoryOf(change)).toEqual(expected);
  });

  const domain = [{ propertyKeySlug: 'domain', value: ['crypto'] }];
  test.each([
    ['without properties', { properties: [] }],
    ['with other properties', { properties: [{ propertyKeySlug: 'duration', value: ['1-day'] }] }],
    ['with a domain without a value', { properties: [{ propertyKeySlug: 'domain', value: [] }] }],
  ])('%s is categorised by the domain of its group', (_, change) => {
    const { category } = map(childRow({ categories: [], ...change }), groupRow({ properties: domain })).info;
    expect(category).toBe('Crypto');
  });

  test('without categories is filed under its category', () => {
    expect(categoryOf({ categories: [], category: 'Politics' })).toEqual(['Politics', 'politics', null]);
  });

  test('keeps its row when free-form parts are of another shape', () => {
    const odd = marketRow({ metadata: { fee: 'maybe', openPrice: '---' }, properties: 'none', settings: [] });
    const { info } = map(odd);
    expect(info.metadata['fee']).toEqual({});
    expect(info.metadata).not.toHaveProperty('strike');
    expect(map(marketRow({ metadata: { openPrice: '63819.129774188645' } })).info.metadata.strike).toEqual({
      open_price: 63819.129774188645,
    });
    expect(map(marketRow({ metadata: { fee: false } })).info.metadata.fee).toMatchObject({ enabled: false });
  });

  test('names the source of its data stream where its oracle names none', () => {
    const metadata = { chainlinkDataStream: { streamUrl: 'https://stream.example' } };
    for (const chainlinkStreamUrl of [undefined, null, '']) {
      const { info } = map(marketRow({ metadata, priceOracleMetadata: { chainlinkStreamUrl } }));
      expect(info.resolutionSource).toBe('https://stream.example');
    }
  });

  test('names the market of another platform that it copies', () => {
    const copied = { externalSlug: 'btc-all-time-high-2026', externalProvider: 'polymarket', polymarketSeriesId: 41 };
    const names = {
      external_slug: 'btc-all-time-high-2026',
      external_provider: 'polymarket',
      polymarket_series_id: '41',
    };
    expect(map(marketRow({ metadata: copied })).info.metadata).toMatchObject(names);
    expect(map(childRow({ metadata: {} }), groupRow({ metadata: copied })).info.metadata).toMatchObject(names);
    const own = { ...copied, externalSlug: 'by-december' };
    expect(map(childRow({ metadata: own }), groupRow({ metadata: copied })).info.metadata).toMatchObject({
      external_slug: 'by-december',
    });
    const none = { externalSlug: null, externalProvider: 'polymarket' };
    for (const key of Object.keys(names))
      expect(map(marketRow({ metadata: none })).info.metadata).not.toHaveProperty(key);
  });

  test('without a slug is refused', () => {
    expect(LimitlessMarket.safeParse(marketRow({ slug: undefined })).error?.issues[0]?.path).toEqual(['slug']);
  });
});
