import { describe, expect, test } from 'vitest';
import { notionalUsd, parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { mapPolymarketBook } from '../../../src/platforms/polymarket/book.ts';
import { mapPolymarketCandles } from '../../../src/platforms/polymarket/candle.ts';
import {
  mapPolymarketTrade,
  parseTrades,
  tradeFingerprint,
  tradeIds,
} from '../../../src/platforms/polymarket/trade.ts';
import { clobBook, dataTrade, historyPoint } from '../../../src/platforms/polymarket/wire.ts';
import { readContext } from '../../fixtures/canned-http.ts';
import { bookRow, hex, marketKeys, token, tradeRow } from '../../fixtures/polymarket/rows.ts';

const row = (over: Record<string, unknown> = {}) => dataTrade.parse(tradeRow(over));
const book = (first: Record<string, unknown> = {}, second: Record<string, unknown> = {}, metadata = {}) =>
  mapPolymarketBook(
    { ...marketKeys, metadata },
    clobBook.parse(bookRow(first)),
    clobBook.parse(bookRow({ asset_id: token(12), timestamp: '1785561505111', ...second })),
    {},
    '2026-08-01T05:19:00.000Z',
  );
const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });

describe('trades', () => {
  test('known answers of the fingerprint', () => {
    const first = row({
      proxy_wallet: '0xa66790e2b0075e73c3781ddaf1d0b875a3aaceb3',
      price: 0.979,
      size: 17.27,
      token_id: token(8244167),
      transaction_hash: '0xdf2ab72195b2b55c96245af1693da0cb3ff2656cd9e6fdfda23326fe2e7508b1',
    });
    expect(tradeFingerprint(first)).toBe(`${first.transactionHash}-08244167-77282dd2`);
    const weighted = row({
      proxy_wallet: '0x57aa2b8ae0e09a52ad2d24c12c84d6fc964104c5',
      price: 0.02287586,
      size: 1000,
      token_id: '86932080736452480237732098907051856907018662555423678437063711274130010166912',
      transaction_hash: '0xde2c594136c5713b2c12047663848d8d05f4f570730e223d0701a8c1283dcd9f',
    });
    expect(tradeFingerprint(weighted)).toBe(`${weighted.transactionHash}-10166912-3938d57e`);
  });

  test('a row has one id, whatever the case of its addresses and the noise of its doubles', () => {
    const upper = row({ proxy_wallet: '0xA66790E2B0075E73C3781DDAF1D0B875A3AACEB3', side: 'buy' });
    const noisy = row({ proxy_wallet: '0xa66790e2b0075e73c3781ddaf1d0b875a3aaceb3', price: 0.50000004 });
    expect(tradeFingerprint(upper)).toBe(tradeFingerprint(noisy));
  });

  test('identical rows of one transaction are numbered, others keep their text', () => {
    const ids = tradeIds([row(), row(), row({ size: 11 }), row()]);
    expect(ids.map((id) => id.slice(76))).toEqual([
      expect.stringMatching(/^[0-9a-f]{8}$/),
      expect.stringMatching(/^[0-9a-f]{8}\.2$/),
      expect.stringMatching(/^[0-9a-f]{8}$/),
      expect.stringMatching(/^[0-9a-f]{8}\.3$/),
    ]);
    expect(new Set(ids).size).toBe(4);
  });

  test('the outcome is the one whose token traded, though the outcome index says 999', () => {
    const unlabelled = row({ token_id: token(12), outcome_index: 999, outcome: '', event_slug: '' });
    expect(mapPolymarketTrade(unlabelled, 'id', marketKeys)).toMatchObject({
      outcome: 'no',
      outcomeIndex: 1,
      outcomeCount: 2,
    });
    expect(mapPolymarketTrade(row({ token_id: token(99) }), 'id', marketKeys)).toBeNull();
  });

  test('a market whose tokens are not known takes the outcome that the row is labelled with', () => {
    const outcomes = marketKeys.outcomes.map((outcome) => ({ ...outcome, tokenId: '' }));
    const unread = { ...marketKeys, outcomes };
    const second = row({ outcome: 'No', outcome_index: 1 });
    expect(mapPolymarketTrade(second, 'id', unread)).toMatchObject({ outcome: 'no', outcomeIndex: 1 });
    expect(mapPolymarketTrade(row({ outcome: '', outcome_index: 999 }), 'id', unread)).toBeNull();
  });

  test.each([
    [0, 'No', 1, 13, 'no'],
    [1, 'Yes', 0, 14, 'yes'],
    [0, 'Yes', 0, 11, null],
    [1, 'No', 1, 14, null],
    [0, '', 999, 13, null],
  ])(
    'with the token of outcome %i alone, a trade labelled %j (%i) of token %i is of outcome %j',
    (known, outcome, outcome_index, traded, expected) => {
      const outcomes = marketKeys.outcomes.map((one, index) => ({ ...one, tokenId: index === known ? token(12) : '' }));
      const trade = row({ outcome, outcome_index, token_id: token(traded) });
      expect(mapPolymarketTrade(trade, 'id', { ...marketKeys, outcomes })?.outcome ?? null).toBe(expected);
      const own = row({ outcome, outcome_index, token_id: token(12) });
      expect(mapPolymarketTrade(own, 'id', { ...marketKeys, outcomes })?.outcomeIndex).toBe(known);
    },
  );

  test('an off-tick weighted price keeps its ten decimals and its exact notional', () => {
    const trade = mapPolymarketTrade(row({ price: 0.0218768264, size: 1000, side: 'SELL' }), 'id', marketKeys);
    expect(trade).toMatchObject({ price: 218_768_264n, size: parseSize('1000'), side: 'sell', quoteUsd: null });
    expect(trade).toMatchObject({ executedAtUs: 1_780_000_000_000_000, transactionHash: hex(1), isBlockTrade: false });
    expect(trade && notionalUsd(trade.price, trade.size)).toBe(parseUsd('21.876826'));
    expect(trade?.trader).toEqual({
      address: '0xa66790e2b0075e73c3781ddaf1d0b875a3aaceb3',
      name: 'ada',
      pseudonym: 'Quiet-Heron',
      profileImage: 'https://img.example/ada.png',
    });
  });

  test.each([
    ['price', 1.5],
    ['price', 0],
    ['price', '0.00'],
    ['size', 0],
    ['token_id', 12],
    ['transaction_hash', '0x12'],
    ['timestamp', '1780000000000'],
    ['timestamp', 'now'],
  ])('a row with %s %j is refused', (field, value) => {
    const result = dataTrade.safeParse(tradeRow({ [field]: value }));
    expect(result.error?.issues[0]?.path).toEqual([field]);
  });
});

test('a time and an outcome written as texts are read as numbers are', () => {
  const written = { timestamp: '1780000000', outcome_index: '1' };
  expect(row(written)).toEqual(row({ timestamp: 1_780_000_000, outcome_index: 1 }));
});

test('the rows of combos are left out, however long their condition, and those of markets with a short one are not', () => {
  const digits = `${'7'.repeat(32)}0002${'0'.repeat(24)}`;
  const [combo, binary, negativeRisk] = ['03', '01', '02'].map((module) => `0x${module}${digits}`);
  const context = readContext();
  const ids = [combo, `${combo}00`, `0x${'9'.repeat(62)}`, binary, `${negativeRisk}00`, hex(7)];
  const read = parseTrades(
    ids.map((condition_id) => tradeRow({ condition_id })),
    context,
  );
  expect(read.map((one) => one.row.conditionId)).toEqual([`${binary}00`, `${negativeRisk}00`, hex(7)]);
  expect(context.badRows).toEqual([]);
});

test('an odd field that does not identify a trade costs that field alone', () => {
  const context = readContext();
  const odd = { title: {}, slug: [], outcome: {}, outcome_index: 'one', event_slug: [], name: true, pseudonym: {} };
  const [first] = parseTrades([tradeRow({ ...odd, profile_image: {} }), tradeRow({ proxy_wallet: {} })], context);
  const plain = parseTrades([tradeRow({ name: '', pseudonym: '', profile_image: '' })], readContext())[0];
  expect(first && mapPolymarketTrade(first.row, 'id', marketKeys)).toEqual(
    plain && mapPolymarketTrade(plain.row, 'id', marketKeys),
  );
  expect(context.badRows.filter(({ field }) => field !== undefined)).toHaveLength(8);
  expect(context.badRows.filter(({ field }) => field === undefined)).toHaveLength(1);
});

describe('order book', () => {
  test('the best level comes last on the wire and first here', () => {
    const { yes } = book();
    expect(yes.bids).toEqual([level('0.5', '40.5'), level('0.48', '900')]);
    expect(yes.asks).toEqual([level('0.51', '20'), level('0.55', '1000')]);
  });

  test('any order is sorted, size 0 is dropped, equal prices are merged', () => {
    const bids = [
      { price: '0.5', size: '1' },
      { price: '0.2', size: '3' },
      { price: '.5', size: '2' },
      { price: '0.3', size: '0' },
    ];
    expect(book({ bids }).yes.bids).toEqual([level('0.5', '3'), level('0.2', '3')]);
  });

  test('null is a side without orders; without a list there is no book', () => {
    expect(book({ asks: null }).yes).toEqual({ bids: book().yes.bids, asks: [] });
    expect(clobBook.safeParse(bookRow({ asks: undefined })).success).toBe(false);
  });

  test('its time is the older of the two books', () => {
    expect(book().timestamp).toBe('2026-08-01T05:18:25.111Z');
  });

  test("the wire's last_trade_price is not this token's and is never a price", () => {
    expect(book().lastTradePrice).toBeNull();
  });

  test('its limits for orders are those of the first token', () => {
    expect(book()).toMatchObject({ tickSize: parsePrice('0.01'), minOrderSize: parseSize('5'), negRisk: false });
  });

  test('books of 2024 have no tick, minimum or neg risk', () => {
    const old = { tick_size: undefined, min_order_size: undefined, neg_risk: undefined };
    expect(book(old, {}, { neg_risk: true })).toMatchObject({ tickSize: null, minOrderSize: null, negRisk: true });
  });
});

describe('price samples', () => {
  const points = [
    { timestamp: 3_600_118, price: 0.41 },
    { timestamp: 3_600_044, price: 0.4 },
    { timestamp: 3_600_059, price: 0.35 },
    { timestamp: 3_600_163, price: 0.43 },
    { timestamp: 3_600_300, price: 0.9 },
  ].map((point) => historyPoint.parse(point));

  test('a bar opens with its first sample and closes with its last; there is no volume, and gaps stay gaps', () => {
    const bars = mapPolymarketCandles(points, marketKeys.ref, 1, 3_600_000, 3_600_300);
    expect(bars.map((bar) => [bar.startTs, bar.price.open, bar.price.high, bar.price.low, bar.price.close])).toEqual([
      [3_600_000, ...['0.4', '0.4', '0.35', '0.35'].map(parsePrice)],
      [3_600_060, ...['0.41', '0.41', '0.41', '0.41'].map(parsePrice)],
      [3_600_120, ...['0.43', '0.43', '0.43', '0.43'].map(parsePrice)],
    ]);
    expect(bars[0]).toMatchObject({ volume: null, source: 'midpoint', intervalMin: 1, previousClose: null });
  });

  test('an hour holds all samples of it', () => {
    const [bar, ...rest] = mapPolymarketCandles(points, marketKeys.ref, 60, 3_600_000, 3_603_600);
    expect(rest).toEqual([]);
    expect(bar?.price).toEqual({
      open: parsePrice('0.4'),
      high: parsePrice('0.9'),
      low: parsePrice('0.35'),
      close: parsePrice('0.9'),
    });
  });
});
