import { describe, expect, test } from 'vitest';
import { decimalNumber, notionalUsd, parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { mapKalshiBook } from '../../../src/platforms/kalshi/book.ts';
import { mapKalshiCandle } from '../../../src/platforms/kalshi/candle.ts';
import { KalshiTrade, mapKalshiTrade, TRADE_ROW } from '../../../src/platforms/kalshi/trade.ts';
import { KalshiCandle, KalshiOrderBook } from '../../../src/platforms/kalshi/wire.ts';
import { parseRows } from '../../../src/platforms/parse-rows.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import type { BookLevel } from '../../../src/core/model.ts';
import { readContext, RECEIVED_AT } from '../../fixtures/canned-http.ts';
import { candleRow, tradeRow } from '../../fixtures/kalshi/rows.ts';

const readTrade = (change: object = {}) => mapKalshiTrade(KalshiTrade.parse(tradeRow(change)));
const takerOutcome = (change: object) => readTrade(change)?.outcome;
const readBar = (change: object = {}) => mapKalshiCandle('KXOTTERCUP-1', 1, KalshiCandle.parse(candleRow(change)));
const readHour = (raw: object) => mapKalshiCandle('FED-1', 60, KalshiCandle.parse(raw));
const levels = (side: BookLevel[]) => side.map(({ price, size }) => [decimalNumber(price, 10), decimalNumber(size, 6)]);

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

  test('is priced by what No cost where the row states only that', () => {
    const { yes_price_dollars: _, ...row } = tradeRow();
    const read = (change: object) => mapKalshiTrade(KalshiTrade.parse({ ...row, ...change }))?.price;
    expect(read({ no_price_dollars: '0.1995' })).toBe(parsePrice('0.1995'));
    expect(read({ no_price_dollars: '0.1995', taker_outcome_side: 'yes' })).toBe(parsePrice('0.8005'));
    // Whole cents are the retired form, and less exact.
    expect(read({ no_price_dollars: '0.1995', yes_price: 80, taker_outcome_side: 'yes' })).toBe(parsePrice('0.8005'));
    expect(KalshiTrade.safeParse({ ...row, no_price_dollars: undefined }).success).toBe(false);
  });

  test.each([
    [{ count_fp: '0.50', count: 0 }, '0.5'],
    [{ count_fp: '14.18', count: 14 }, '14.18'],
    [{ count_fp: '0.00', count: 14 }, '14'],
  ])('keeps its size where its other count is 0 or whole: %o', (change, size) => {
    expect(readTrade(change)?.size).toBe(parseSize(size));
  });

  test('keeps its size and price where only a retired form of them is odd', () => {
    const context = readContext();
    const row = tradeRow({ count: 'many', yes_price: 'high' });
    const [parsed] = parseRows(KalshiTrade, [row], TRADE_ROW, context);
    expect(parsed && mapKalshiTrade(parsed.row)).toEqual(readTrade());
    expect(context.badRows.map(({ field }) => field)).toEqual(['count', 'yes_price']);
    const retired = { ...row, count_fp: undefined };
    expect(parseRows(KalshiTrade, [retired], TRADE_ROW, context)).toEqual([]);
  });

  test.each([
    [{ taker_outcome_side: 'yes', yes_price_dollars: '0.0040', yes_price: 0 }, '0.004'],
    [{ taker_outcome_side: 'yes', yes_price_dollars: '1.0000', no_price_dollars: '0.0000' }, '1'],
    [{ taker_outcome_side: 'no', yes_price_dollars: '0.0000', no_price_dollars: '1.0000' }, '1'],
  ])('keeps its price where another form of it is 0: %o', (change, price) => {
    expect(readTrade(change)?.price).toBe(parsePrice(price));
  });

  test('is ordered by microseconds whatever number of digits its time has', () => {
    const at = (created_time: string) => readTrade({ created_time })?.executedAtUs;
    const second = Date.UTC(2026, 9, 6, 6, 38, 21) * 1000;
    expect(at('2026-10-06T06:38:21Z')).toBe(second);
    expect(at('2026-10-06T06:38:21.58Z')).toBe(second + 580_000);
    expect(at('2026-10-06T06:38:21.589836Z')).toBe(second + 589_836);
    expect(readTrade({ created_time: 'yesterday' })).toBeNull();
  });

  test.each([
    { yes_price_dollars: '81.0000' },
    { yes_price_dollars: '-0.1000' },
    { yes_price_dollars: '1.0000' },
    { count_fp: '0.00' },
    { count_fp: '-5.00' },
  ])('in other units than prices above 0, at most 1, and contracts above 0 is refused: %o', (change) => {
    expect(KalshiTrade.safeParse(tradeRow(change)).error?.issues[0]?.path).toEqual(Object.keys(change));
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

  test('without trades has no price, and its previous close where there was one', () => {
    const nothing = { open: null, high: null, low: null, close: null };
    expect(readBar({ price: { previous_dollars: '0.0400' }, volume_fp: '0.00' })).toMatchObject({
      price: nothing,
      previousClose: parsePrice('0.04'),
      volume: 0n,
    });
    expect(readBar({ price: {} })).toMatchObject({ price: nothing, previousClose: null });
    expect(readBar({ price: null })).toMatchObject({ price: nothing, previousClose: null });
    expect(KalshiCandle.safeParse({ ...candleRow(), price: undefined }).success).toBe(false);
  });

  test('of a combination nobody quotes has an ask of 0, which is no price', () => {
    const none = { open_dollars: '0.0000', high_dollars: '0.0000', low_dollars: '0.0000', close_dollars: '0.0000' };
    const nothing = { open: null, high: null, low: null, close: null };
    expect(readBar({ yes_bid: none, yes_ask: none })).toMatchObject({ bid: nothing, ask: nothing });
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
    expect(readHour({ ...archived, price: empty })).toMatchObject({
      price: { open: null },
      previousClose: parsePrice('0.97'),
      mean: null,
    });
  });

  test('of January 2026 has whole cents beside dollar texts', () => {
    const bar = { open: 8, open_dollars: '0.0800', high: 8, low: 8, close: 8, close_dollars: '0.0800' };
    const none = { open: null, high: null, low: null, close: null };
    const raw = {
      end_period_ts: 1_760_500_800,
      open_interest: 12432,
      volume: 0,
      price: { ...none, previous: 11, previous_dollars: '0.1100' },
      yes_bid: bar,
      yes_ask: bar,
    };
    expect(mapKalshiCandle('X', 60, KalshiCandle.parse(raw))).toMatchObject({
      price: none,
      previousClose: parsePrice('0.11'),
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
  const keys = { platformId: 'KXOTTERCUP-1', metadata: { tick_size: 0.01 } } as unknown as StoredMarket;
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
