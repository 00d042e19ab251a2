import { describe, expect, test } from 'vitest';
import { decimalNumber, parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { mapLimitlessBook } from '../../../src/platforms/limitless/book.ts';
import { barsFromSamples } from '../../../src/platforms/limitless/candle.ts';
import { limitlessTradeId, mapLimitlessTrade } from '../../../src/platforms/limitless/trade.ts';
import { LimitlessOrderBook, LimitlessPricePoint, LimitlessTrade } from '../../../src/platforms/limitless/wire.ts';
import type { BookLevel } from '../../../src/core/model.ts';
import { RECEIVED_AT } from '../../fixtures/canned-http.ts';
import { NO_TOKEN, YES_TOKEN, tradeRow } from '../../fixtures/limitless/rows.ts';
import { storedMarket, yesNo } from '../../fixtures/stored-market.ts';

const keys = storedMarket({
  platform: 'limitless',
  ref: 'will-the-otter-win-1790108004599',
  title: 'Will the otter win?',
  outcomes: yesNo(YES_TOKEN, NO_TOKEN),
  metadata: { neg_risk: false },
});
const readTrade = (change: object = {}) => mapLimitlessTrade(keys, LimitlessTrade.parse(tradeRow(change)), 0);
const shown = (side: BookLevel[]) => side.map(({ price, size }) => [decimalNumber(price, 10), decimalNumber(size, 6)]);
const QUARTER_S = 900;
const sample = (index: number, price: number, step = QUARTER_S) => ({
  timestamp: String((1_781_287_200 + index * step) * 1000),
  price,
});
const bars = (points: object[], percent = false) =>
  barsFromSamples(
    'otter-1',
    points.map((point) => LimitlessPricePoint.parse(point)),
    percent,
  );

describe('a Limitless trade', () => {
  test.each([{ price: 55 }, { price: -0.1 }, { price: 0 }, { matchedSize: '0' }, { matchedSize: '-2500000' }])(
    'in other units than prices above 0, at most 1, and shares above 0 is refused: %o',
    (change) => {
      expect(LimitlessTrade.safeParse(tradeRow(change)).error?.issues[0]?.path).toEqual(Object.keys(change));
    },
  );

  test('has an id made of what identifies it', () => {
    const trade = LimitlessTrade.parse({
      createdAt: '2026-06-12T15:24:25.617Z',
      side: 0,
      price: 0.332,
      matchedSize: '2500000',
      tokenId: '34504808738227095158010759634880534083339296329182698784451980951930485131851',
      txHash: '0x432344fc63f26f37e3ffe3aca45bcfcba6b7addfc07d04de4410855c0a56a175',
    });
    expect(limitlessTradeId(trade, 0)).toBe('dd400bf672c962b27926e333a6079b83');
    expect(limitlessTradeId({ ...trade, txHash: trade.txHash.toUpperCase() }, 0)).toBe(limitlessTradeId(trade, 0));
    expect(limitlessTradeId(trade, 1)).not.toBe(limitlessTradeId(trade, 0));
  });

  test("is given in its token's terms, by its matched size, not by its maker's whole order", () => {
    expect(readTrade()).toEqual({
      platform: 'limitless',
      ref: keys.ref,
      tradeId: expect.stringMatching(/^[\da-f]{32}$/),
      executedAtUs: Date.UTC(2026, 5, 12, 15, 24, 25, 617) * 1000,
      side: 'buy',
      outcome: 'yes',
      outcomeIndex: 0,
      outcomeCount: 2,
      price: parsePrice('0.332'),
      size: parseSize('2.5'),
      transactionHash: '0xabc1',
      trader: { address: '0xAccount', name: 'Otter', pseudonym: 'ott', profileImage: '' },
      isBlockTrade: false,
      quoteUsd: parseUsd('0.83'),
    });
    expect(readTrade({ side: 1, tokenId: NO_TOKEN })).toMatchObject({ side: 'sell', outcome: 'no', outcomeIndex: 1 });
  });

  test('in quoted numbers reads the same', () => {
    expect(readTrade({ side: '0', price: '0.332' })).toEqual(readTrade());
  });

  test('states USDC only where takerAmount agrees with price × size: of a sale it may count shares', () => {
    const sale = { side: 1, price: 0.332, matchedSize: '2500000' };
    expect(readTrade({ ...sale, takerAmount: '830000' })).toMatchObject({ quoteUsd: parseUsd('0.83') });
    // The mean price of several matches is rounded.
    expect(readTrade({ ...sale, takerAmount: '831100' })).toMatchObject({ quoteUsd: parseUsd('0.8311') });
    for (const takerAmount of ['2500000', '60228915', '0', null])
      expect(readTrade({ ...sale, takerAmount })).toMatchObject({ size: parseSize('2.5'), quoteUsd: null });
  });

  test('of a token that is not its market, or at no time, is refused', () => {
    expect(readTrade({ tokenId: '1' })).toBe('tokenId: not one of the market');
    expect(readTrade({ createdAt: 'now' })).toBe('createdAt: not a time');
  });
});

describe('a Limitless order book', () => {
  test('is one book in Yes terms; No is its mirror, and sizes are base units', () => {
    const body = {
      adjustedMidpoint: 0.743,
      midpoint: 0.7395,
      bids: [
        { price: 0.717, size: 250_000_000, side: 'BUY' },
        { price: 0.71, size: 3_521_000, side: 'BUY' },
      ],
      asks: [
        { price: '0.762', size: '5000000', side: 'SELL' },
        { price: 0.769, size: 250_000_000, side: 'SELL' },
      ],
      tokenId: YES_TOKEN,
      lastTradePrice: null,
      minSize: '50000000',
    };
    const book = mapLimitlessBook(keys, LimitlessOrderBook.parse(body), body, RECEIVED_AT);
    expect(shown(book.yes.asks)).toEqual([
      [0.762, 5],
      [0.769, 250],
    ]);
    expect(shown(book.no.bids)).toEqual([
      [0.238, 5],
      [0.231, 250],
    ]);
    expect(shown(book.no.asks)).toEqual([
      [0.283, 250],
      [0.29, 3.521],
    ]);
    expect(book).toMatchObject({
      lastTradePrice: null,
      minOrderSize: null,
      tickSize: parsePrice('0.001'),
      timestamp: RECEIVED_AT,
    });
  });
});

describe('Limitless price samples', () => {
  test('newest first become hourly midpoint bars without volume', () => {
    const points = [sample(5, 0.6), sample(4, 0.5), sample(3, 0.476), sample(2, 0.3), sample(1, 0.9), sample(0, 0.4)];
    const made = bars(points);
    expect(made).toHaveLength(2);
    expect(made[0]).toMatchObject({
      startTs: 1_781_287_200,
      intervalMin: 60,
      source: 'midpoint',
      volume: null,
      price: { open: parsePrice('0.4'), high: parsePrice('0.9'), low: parsePrice('0.3'), close: parsePrice('0.476') },
    });
    expect(made[1]?.price).toMatchObject({ open: parsePrice('0.5'), close: parsePrice('0.6') });
  });

  test('that are payouts, or in other units, are no prices', () => {
    const points = [sample(4, 1), sample(3, 0.9), sample(2, 55), sample(1, 0.8), sample(0, 0)];
    const prices = [parsePrice('0.8'), parsePrice('0.9')] as const;
    expect(bars(points).map(({ price }) => [price.low, price.high])).toEqual([prices]);
    expect(bars([sample(1, 100), sample(0, 42.8)], true)).toEqual([]);
  });

  test('further apart than an hour make no bars', () => {
    expect(bars([sample(0, 0.1, 7200), sample(1, 0.2, 7200), sample(2, 0.2, 7200)])).toEqual([]);
    expect(bars([sample(0, 0.1)])).toEqual([]);
  });

  test('of an automated market maker are percents; times may be seconds or ISO', () => {
    const points = [
      { timestamp: 1_781_287_200, price: '42.8' },
      { timestamp: '2026-06-12T18:15:00.000Z', price: 50 },
    ];
    expect(bars(points, true)[0]?.price).toMatchObject({ open: parsePrice('0.428'), close: parsePrice('0.5') });
  });
});
