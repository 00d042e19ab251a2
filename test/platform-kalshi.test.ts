import { describe, expect, test } from 'vitest';
import { decimalNumber, notionalUsd, parsePrice, parseSize, parseUsd } from '../src/decimal.ts';
import { mapKalshiBook } from '../src/platforms/kalshi/book.ts';
import { mapKalshiCandle } from '../src/platforms/kalshi/candle.ts';
import { mapKalshiMarket } from '../src/platforms/kalshi/market.ts';
import { mapKalshiTrade } from '../src/platforms/kalshi/trade.ts';
import {
  KalshiCandle,
  KalshiEvent,
  KalshiMarket,
  KalshiOrderBook,
  KalshiSeries,
  KalshiTrade,
} from '../src/platforms/kalshi/wire.ts';
import { liquidityScore } from '../src/platforms/market-fields.ts';
import type { MarketKeys } from '../src/platforms/platform.ts';
import type { BookLevel, Quote } from '../src/schemas.ts';
import { RECEIVED_AT } from './fixtures/canned-http.ts';
import { candleRow, centsMarketRow, eventRow, marketRow, seriesRow, tradeRow } from './fixtures/kalshi/rows.ts';

const map = (raw: object, event: object | null = eventRow(), series: object | null = seriesRow()) =>
  mapKalshiMarket(
    { row: KalshiMarket.parse(raw), raw: { ...raw } },
    event && { row: KalshiEvent.parse(event), raw: { ...event } },
    series && { row: KalshiSeries.parse(series), raw: { ...series } },
    RECEIVED_AT,
  );
const numbers = ({ price, bid, ask }: Quote) =>
  [price, bid, ask].map((value) => (value === null ? null : decimalNumber(value, 10)));
const firstQuote = (change: object) => numbers(map(marketRow(change)).state.quotes[0]!);

const openedAt = (open_time: string) => map(marketRow({ open_time })).state;
const readTrade = (change: object = {}) => mapKalshiTrade(KalshiTrade.parse(tradeRow(change)));
const takerOutcome = (change: object) => readTrade(change)?.outcome;
const readBar = (change: object = {}) => mapKalshiCandle('KXOTTERCUP-1', 1, KalshiCandle.parse(candleRow(change)));
const readHour = (raw: object) => mapKalshiCandle('FED-1', 60, KalshiCandle.parse(raw));
const levels = (side: BookLevel[]) => side.map(({ price, size }) => [decimalNumber(price, 10), decimalNumber(size, 6)]);

describe('a Kalshi market', () => {
  test('is told with its event and series, exact to the last digit', () => {
    const { info, state, raw, fetchedAt } = map(marketRow());
    expect(state.quotes.map(numbers)).toEqual([
      [0.81, 0.8, 0.81],
      [0.19, 0.19, 0.2],
    ]);
    expect(state.liquidity).toBe(parseUsd('84637.8817'));
    expect(liquidityScore(state.liquidity)).toBe(0.8213);
    expect(state).toMatchObject({
      status: 'open',
      volume24h: parseUsd('202329.86'),
      volumeTotal: parseUsd('271926.68'),
      openInterest: parseUsd('242310.93'),
      priceChange24h: parsePrice('-0.03'),
      priceChange7d: null,
      metadata: { liquidity_basis: 'best_level', result: '' },
    });
    expect(info).toMatchObject({
      ref: 'KXOTTERCUP-26OCT08REDBLU-BLU',
      title: 'Bluewater wins',
      eventId: 'KXOTTERCUP-26OCT08REDBLU',
      eventName: 'Redrock vs Bluewater',
      seriesId: 'KXOTTERCUP',
      slug: 'kxottercup-26oct08redblu-blu',
      category: 'Sports',
      categorySlug: 'sports',
      subcategory: 'Otter Cup',
      tags: ['Otters'],
      sourceUrl: 'https://kalshi.com/markets/kxottercup/kxottercup-26oct08redblu',
      createdAt: '2026-09-29T04:01:07.177Z',
      tradingStartAt: '2026-09-29T04:05:00.000Z',
      tradingEndAt: '2026-10-11T00:15:00.000Z',
      resolutionCriteria: 'If Bluewater wins, then the market resolves to Yes.\n\nA tie pays 0.50.',
    });
    expect(info.metadata).toEqual({
      volume_basis: 'contracts',
      open_interest_basis: 'contracts',
      tick_size: 0.01,
      min_order_size: 0.01,
      price_ranges: [{ start: 0, end: 1, step: 0.01 }],
      yes_sub_title: 'Bluewater',
      event_sub_title: 'RED vs BLU (Oct 8)',
      strike: { type: 'structured', custom: { otter_team: 'blu' } },
      mutually_exclusive: true,
      collateral: 'USD',
      fee: { type: 'quadratic', multiplier: 1 },
      exchange_index: 3,
      can_close_early: true,
    });
    expect(raw).toEqual({ market: marketRow(), event: eventRow(), series: seriesRow() });
    expect(fetchedAt).toBe(RECEIVED_AT);
  });

  test('in cents and whole counts, as sent until early 2026, reads like one in dollars', () => {
    const retired = map(centsMarketRow());
    expect(retired.state.quotes).toEqual(map(marketRow()).state.quotes);
    expect(retired.state).toMatchObject({ volumeTotal: parseUsd('271926'), priceChange24h: parsePrice('-0.03') });
    expect(retired.info.metadata).toMatchObject({ tick_size: 0.01, exchange_index: 0 });
  });

  test('whose price field was renamed is refused with the name of the field, not read as unquoted', () => {
    const { yes_bid_dollars: _, ...renamed } = marketRow();
    const issue = KalshiMarket.safeParse(renamed).error?.issues[0];
    expect(issue).toMatchObject({ path: ['yes_bid_dollars'], message: 'missing' });
  });

  test.each([
    ['bid 0.0000 is no bid', { yes_bid_dollars: '0.0000' }, [0.81, null, 0.81]],
    ['ask 1.0000 is no ask', { yes_ask_dollars: '1.0000' }, [0.81, 0.8, null]],
    ['a bid of size 0.00 is no bid', { yes_bid_size_fp: '0.00' }, [0.81, null, 0.81]],
    ['an ask of size 0.00 is no ask', { yes_ask_size_fp: '0.00' }, [0.81, 0.8, null]],
    ['last 0.0000 is never traded: the midpoint stands', { last_price_dollars: '0.0000' }, [0.805, 0.8, 0.81]],
    [
      'never traded and one-sided has no price',
      { last_price_dollars: '0.0000', yes_bid_dollars: '0.0000' },
      [null, null, 0.81],
    ],
  ])('%s', (_, change, expected) => {
    expect(firstQuote(change)).toEqual(expected);
  });

  test('that is finalized is priced at its payout and quotes nothing, whatever the row prints', () => {
    const { state } = map(
      marketRow({
        status: 'finalized',
        result: 'no',
        settlement_value_dollars: '0.0000',
        settlement_ts: '2026-10-09T04:00:00.5Z',
        yes_bid_dollars: '0.3000',
        last_price_dollars: '0.0300',
      }),
    );
    expect(state.quotes.map(numbers)).toEqual([
      [0, null, null],
      [1, null, null],
    ]);
    expect(state).toMatchObject({ status: 'settled', liquidity: 0n, resolvedAt: '2026-10-09T04:00:00.500Z' });
    expect(state.metadata).toMatchObject({ result: 'no', payouts: { yes: 0, no: 1 }, last_trade_price: 0.03 });
  });

  test('that is closed keeps its last price and quotes nothing', () => {
    expect(firstQuote({ status: 'determined', result: 'yes' })).toEqual([0.81, null, null]);
    expect(map(marketRow({ status: 'determined', result: 'yes' })).state.metadata).not.toHaveProperty('payouts');
  });

  test('that ended in a tie pays a fraction and stays binary', () => {
    const { info, state } = map(
      marketRow({ status: 'finalized', result: 'scalar', settlement_value_dollars: '0.5000' }),
    );
    expect(info.marketType).toBe('binary');
    expect(state.metadata.payouts).toEqual({ yes: 0.5, no: 0.5 });
  });

  test.each([
    ['initialized', 'unopened'],
    ['active', 'open'],
    ['inactive', 'paused'],
    ['closed', 'closed'],
    ['determined', 'closed'],
    ['disputed', 'closed'],
    ['amended', 'closed'],
    ['finalized', 'settled'],
    ['something_new', 'closed'],
    ['constructor', 'closed'],
  ])('of status %s is %s', (status, expected) => {
    expect(map(marketRow({ status })).state.status).toBe(expected);
  });

  test.each([
    [
      'bold marks are dropped',
      { title: 'Will the **high** be <80°?', yes_sub_title: 'high' },
      'Will the high be <80°?',
    ],
    [
      'siblings that share a title are told apart',
      { title: 'Redrock vs Bluewater Winner?' },
      'Redrock vs Bluewater Winner? (Bluewater)',
    ],
    [
      'the side is appended when the title lacks it',
      { yes_sub_title: '79° or below' },
      'Bluewater wins (79° or below)',
    ],
  ])('title: %s', (_, change, expected) => {
    expect(map(marketRow(change)).info.title).toBe(expected);
  });

  test('resolves before it closes when Kalshi says so; the times are not swapped', () => {
    const { info } = map(marketRow());
    expect(info.resolutionDate).toBe('2026-10-09T03:15:00.000Z');
    expect(info.tradingEndAt).toBe('2026-10-11T00:15:00.000Z');
    expect(map(marketRow({ expected_expiration_time: undefined })).info.resolutionDate).toBe(
      '2026-10-11T00:15:00.000Z',
    );
  });

  test('created at the zero time has no known creation time', () => {
    expect(map(marketRow({ created_time: '0001-01-01T00:00:00Z' })).info.createdAt).toBeNull();
  });

  test('names its own sources, else its series, and never the placeholder that is Kalshi itself', () => {
    expect(map(marketRow()).info.resolutionSource).toBe('https://league.example/');
    const own = eventRow({ settlement_sources: [{ url: 'https://a.example' }, { url: 'https://b.example' }] });
    expect(map(marketRow(), own).info.resolutionSource).toBe('https://a.example, https://b.example');
    const none = seriesRow({ settlement_sources: [{ url: 'https://kalshi.com/' }] });
    expect(map(marketRow(), eventRow(), none).info.resolutionSource).toBe('');
  });

  test.each([
    ['Climate and Weather', 'Climate and Weather', 'climate-and-weather'],
    ['Elections', 'Politics', 'politics'],
    ['World', 'Geopolitics', 'geopolitics'],
    ['Transportation', 'Transportation', 'transportation'],
  ])('of category %s is filed under %s', (category, name, slug) => {
    expect(map(marketRow(), eventRow({ category })).info).toMatchObject({ category: name, categorySlug: slug });
  });

  test('without event and series is still a market, with nothing invented', () => {
    const { info } = map(marketRow(), null, null);
    expect(info).toMatchObject({ eventName: '', seriesId: '', category: '', subcategory: null, tags: [] });
    expect(info.sourceUrl).toBe('https://kalshi.com');
    expect(info.metadata).not.toHaveProperty('fee');
  });

  test('pays the fees of its event where these override the series', () => {
    const event = eventRow({ fee_multiplier_override: 0.5, fee_type_override: 'flat' });
    expect(map(marketRow(), event).info.metadata.fee).toEqual({ type: 'flat', multiplier: 0.5 });
  });

  test('has the smallest step of its tapered grid as tick size', () => {
    const price_ranges = [
      { start: '0.0000', end: '0.1000', step: '0.0010' },
      { start: '0.1000', end: '1.0000', step: '0.0100' },
    ];
    expect(map(marketRow({ price_ranges })).info.metadata.tick_size).toBe(0.001);
  });

  test('without a price a day ago has no change, and a missing volume is unknown, not zero', () => {
    const { state } = map(marketRow({ previous_price_dollars: '0.0000', volume_24h_fp: undefined }));
    expect(state.priceChange24h).toBeNull();
    expect(state.volume24h).toBeNull();
  });

  test('younger than a window had its whole volume within it', () => {
    expect(openedAt('2026-09-29T04:05:00Z')).toMatchObject({ volume7d: null, volume30d: parseUsd('271926.68') });
    expect(openedAt('2026-09-29T06:40:00Z').volume7d).toBe(parseUsd('271926.68'));
  });
});

describe('a Kalshi trade', () => {
  test('of a No taker is a purchase of No at what No cost', () => {
    const trade = readTrade();
    expect(trade).toMatchObject({
      tradeId: '00000000-0000-9eec-eac5-000000000001',
      side: 'buy',
      outcome: 'no',
      outcomeIndex: 1,
      outcomeCount: 2,
      price: parsePrice('0.2'),
      size: parseSize('14.18'),
      executedAtUs: Date.UTC(2026, 9, 6, 6, 38, 11, 436) * 1000,
      transactionHash: '',
      trader: null,
      isBlockTrade: false,
    });
    expect(notionalUsd(trade!.price, trade!.size)).toBe(parseUsd('2.836'));
  });

  test('reads the taker from the outcome side, else the book side, else the retired side', () => {
    expect(takerOutcome({ taker_outcome_side: 'yes', taker_book_side: 'ask', taker_side: 'no' })).toBe('yes');
    expect(takerOutcome({ taker_outcome_side: undefined, taker_book_side: 'bid', taker_side: 'no' })).toBe('yes');
    expect(takerOutcome({ taker_outcome_side: undefined, taker_book_side: undefined, taker_side: 'no' })).toBe('no');
  });

  test('in cents and whole counts, as sent until March 2026, reads the same', () => {
    const { trade_id, ticker, taker_side, created_time } = tradeRow();
    const retired = { trade_id, ticker, taker_side, created_time, count: 14, yes_price: 80, no_price: 20, price: 0.8 };
    expect(mapKalshiTrade(KalshiTrade.parse(retired))).toEqual({ ...readTrade(), size: parseSize('14') });
  });

  test('is ordered by microseconds whatever number of digits its time has', () => {
    const at = (created_time: string) => readTrade({ created_time })?.executedAtUs;
    const second = Date.UTC(2026, 9, 6, 6, 38, 21) * 1000;
    expect(at('2026-10-06T06:38:21Z')).toBe(second);
    expect(at('2026-10-06T06:38:21.58Z')).toBe(second + 580_000);
    expect(at('2026-10-06T06:38:21.589836Z')).toBe(second + 589_836);
    expect(readTrade({ created_time: 'yesterday' })).toBeNull();
  });

  test('without a taker is refused', () => {
    const { taker_outcome_side: _a, taker_book_side: _b, taker_side: _c, ...row } = tradeRow();
    expect(KalshiTrade.safeParse(row).error?.issues[0]?.path).toEqual(['taker_outcome_side']);
  });
});

describe('a Kalshi bar', () => {
  test('is dated by its start, and an empty side of the book is not a price', () => {
    expect(readBar()).toEqual({
      platform: 'kalshi',
      ref: 'KXOTTERCUP-1',
      intervalMin: 1,
      startTs: 1_786_292_280,
      price: { open: parsePrice('0.42'), high: parsePrice('0.44'), low: parsePrice('0.41'), close: parsePrice('0.43') },
      previousClose: parsePrice('0.4'),
      bid: { open: null, high: parsePrice('0.42'), low: null, close: parsePrice('0.42') },
      ask: { open: null, high: null, low: parsePrice('0.43'), close: parsePrice('0.43') },
      volume: parseSize('22.36'),
      openInterest: parseUsd('19276.41'),
      mean: parsePrice('0.425'),
      source: 'trades',
    });
  });

  test('without trades stands at the previous close, and is unknown when there never was one', () => {
    const flat = {
      open: parsePrice('0.04'),
      high: parsePrice('0.04'),
      low: parsePrice('0.04'),
      close: parsePrice('0.04'),
    };
    expect(readBar({ price: { previous_dollars: '0.0400' }, volume_fp: '0.00' })).toMatchObject({
      price: flat,
      volume: 0n,
    });
    const nothing = { open: null, high: null, low: null, close: null };
    expect(readBar({ price: {} })).toMatchObject({ price: nothing, previousClose: null });
  });

  test('of the archive has bare names for dollar texts and explicit nulls', () => {
    const bar = { open: '0.9200', high: '0.9900', low: '0.9200', close: '0.9900' };
    const archived = {
      end_period_ts: 1_672_894_800,
      open_interest: '27877.50',
      volume: '618.00',
      price: { ...bar, mean: '0.9767', previous: '0.9700' },
      yes_bid: bar,
      yes_ask: { ...bar, high: '1.0000' },
    };
    expect(readHour(archived)).toMatchObject({
      startTs: 1_672_891_200,
      price: { open: parsePrice('0.92'), close: parsePrice('0.99') },
      ask: { high: null, close: parsePrice('0.99') },
      volume: parseSize('618'),
    });
    const empty = { open: null, high: null, low: null, close: null, mean: null, previous: '0.9700' };
    expect(readHour({ ...archived, price: empty })).toMatchObject({ price: { open: parsePrice('0.97') }, mean: null });
  });

  test('of January 2026 has whole cents beside dollar texts', () => {
    const bar = { open: 8, open_dollars: '0.0800', high: 8, low: 8, close: 8, close_dollars: '0.0800' };
    const none = { open: null, high: null, low: null, close: null, previous: 11, previous_dollars: '0.1100' };
    const raw = {
      end_period_ts: 1_760_500_800,
      open_interest: 12432,
      volume: 0,
      price: none,
      yes_bid: bar,
      yes_ask: bar,
    };
    expect(mapKalshiCandle('X', 60, KalshiCandle.parse(raw))).toMatchObject({
      price: { open: parsePrice('0.11'), close: parsePrice('0.11') },
      bid: { open: parsePrice('0.08'), high: parsePrice('0.08'), low: parsePrice('0.08'), close: parsePrice('0.08') },
      volume: 0n,
      openInterest: parseUsd('12432'),
    });
  });

  test('that does not end on a UTC multiple of its interval, as daily bars do, is refused', () => {
    expect(readBar({ end_period_ts: 1_786_292_341 })).toBeNull();
  });
});

describe('a Kalshi order book', () => {
  const keys = { platformId: 'KXOTTERCUP-1', metadata: { tick_size: 0.01 } } as unknown as MarketKeys;
  const read = (body: object) => mapKalshiBook(keys, KalshiOrderBook.parse(body), { ...body }, RECEIVED_AT);

  test('of bids only, best last, becomes two books, best first', () => {
    const book = read({
      orderbook_fp: {
        yes_dollars: [
          ['0.7800', '45938.68'],
          ['0.8000', '16529.55'],
        ],
        no_dollars: [
          ['0.1800', '2630402.87'],
          ['0.1900', '375864.43'],
        ],
      },
    });
    expect(levels(book.yes.bids)).toEqual([
      [0.8, 16529.55],
      [0.78, 45938.68],
    ]);
    expect(levels(book.yes.asks)).toEqual([
      [0.81, 375864.43],
      [0.82, 2630402.87],
    ]);
    expect(levels(book.no.bids)).toEqual([
      [0.19, 375864.43],
      [0.18, 2630402.87],
    ]);
    expect(levels(book.no.asks)).toEqual([
      [0.2, 16529.55],
      [0.22, 45938.68],
    ]);
    expect(book).toMatchObject({
      timestamp: RECEIVED_AT,
      minOrderSize: parseSize('0.01'),
      tickSize: parsePrice('0.01'),
      negRisk: false,
    });
  });

  test('drops empty levels and merges equal prices', () => {
    const book = read({
      orderbook_fp: {
        yes_dollars: [
          ['0.5000', '1.00'],
          ['0.5', '2.00'],
          ['0.4000', '0.00'],
        ],
        no_dollars: [],
      },
    });
    expect(levels(book.yes.bids)).toEqual([[0.5, 3]]);
    expect(book.yes.asks).toEqual([]);
  });

  test('of the retired form, in cents, or null for an empty side, reads the same', () => {
    expect(levels(read({ orderbook: { yes: [[8, 100]], no: null, yes_dollars: null } }).yes.bids)).toEqual([
      [0.08, 100],
    ]);
    const dollars = read({ orderbook: { yes: [[8, 100]], no: null, yes_dollars: [['0.0800', 100]] } });
    expect(levels(dollars.yes.bids)).toEqual([[0.08, 100]]);
    expect(read({ orderbook: { yes: null, no: null, yes_dollars: null, no_dollars: null } }).no.asks).toEqual([]);
  });
});
