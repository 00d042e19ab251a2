import { describe, expect, test } from 'vitest';
import { decimalNumber, PRICE_SCALE } from '../../src/core/decimal.ts';
import { PlatformError } from '../../src/core/errors.ts';
import type { BookLevel } from '../../src/core/model.ts';
import type { PlatformData, StoredMarket } from '../../src/platforms/contract.ts';
import { createKalshiData } from '../../src/platforms/kalshi/data.ts';
import { createLimitlessData } from '../../src/platforms/limitless/data.ts';
import { createPolymarketData } from '../../src/platforms/polymarket/data.ts';
import { cannedHttp, readContext, SETTINGS } from '../fixtures/canned-http.ts';
import { bookRow, marketKeys, token } from '../fixtures/polymarket/rows.ts';

/** The prices of the bids of the first outcome, best first; a price of 48 is none. */
type Bids = readonly number[];

const now = (): number => Date.parse('2026-10-06T06:38:20Z');
/** The bids with their sizes: 10, but of the last one. */
const sized = (bids: Bids, last = '10') =>
  bids.map((price, at) => ({ price, size: at + 1 < bids.length ? '10' : last }));
const kalshi = (bids: Bids, last?: string): PlatformData => {
  const book = {
    orderbook_fp: { yes_dollars: sized(bids, last).map(({ price, size }) => [String(price), size]), no_dollars: [] },
  };
  const listed = { orderbooks: [{ ticker: 'KXOTTERCUP-1', ...book }] };
  const http = cannedHttp((path) => (path === '/markets/orderbooks' ? listed : book));
  return createKalshiData({ http, settings: SETTINGS, now });
};
const polymarket = (bids: Bids, last?: string): PlatformData => {
  const first = bookRow({
    bids: sized(bids, last).map(({ price, size }) => ({ price: String(price), size })),
    asks: [],
  });
  const http = cannedHttp(() => [first, bookRow({ asset_id: token(12), bids: [], asks: [] })]);
  return createPolymarketData({ http, settings: SETTINGS, now });
};
const limitless = (bids: Bids, last?: string): PlatformData => {
  const units = sized(bids, last).map(({ price, size }) => ({ price, size: `${size}000000` }));
  const body = { bids: units, asks: [], lastTradePrice: null };
  return createLimitlessData({ http: cannedHttp(() => body), settings: SETTINGS, now });
};
const named = (platform: StoredMarket['platform'], ref: string): StoredMarket => ({
  ...marketKeys,
  platform,
  ref,
  platformId: ref,
});

const pricesOf = (levels: readonly BookLevel[]): number[] =>
  levels.map(({ price }) => decimalNumber(price, PRICE_SCALE));

describe.each([
  ['kalshi', kalshi, named('kalshi', 'KXOTTERCUP-1')],
  ['polymarket', polymarket, marketKeys],
  ['limitless', limitless, named('limitless', 'otter-1')],
] as const)('a book of %s', (platform, dataOf, market) => {
  test('lacks a level that cannot be read, for a reader that takes it so, and says how many', async () => {
    const context = readContext();
    const book = await dataOf([0.5, 48, 0.4]).orderBook(market, { ...context, takesPartialBooks: true });
    expect(book && pricesOf(book.yes.bids)).toEqual([0.5, 0.4]);
    expect(book?.leftOut).toBe(1);
    const [warning] = context.badRows;
    expect(warning).toMatchObject({
      platform,
      kind: 'book',
      field: 'levels',
      reason: 'levels that could not be read: 1',
    });
  });

  test.each(['-5', '9'.repeat(13)])('lacks a level of size %s, which no order has', async (last) => {
    const context = { ...readContext(), takesPartialBooks: true };
    const book = await dataOf([0.5, 0.4], last).orderBook(market, context);
    expect(book && pricesOf(book.yes.bids)).toEqual([0.5]);
    expect(book?.leftOut).toBe(1);
  });

  test('that lacks a level is an error for every other reader', async () => {
    const failure = { kind: 'bad_answer', detail: expect.stringContaining('levels that could not be read: 1') };
    await expect(dataOf([0.5, 48]).orderBook(market, readContext())).rejects.toMatchObject(failure);
    const several = await dataOf([0.5, 48]).orderBooks?.([market], readContext());
    for (const book of several?.values() ?? []) expect(book).toBeInstanceOf(PlatformError);
  });

  test('of which most levels cannot be read is an error: it is not an empty book', async () => {
    const reading = dataOf([48, 47, 0.5]).orderBook(market, { ...readContext(), takesPartialBooks: true });
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  test('with all its levels is whole', async () => {
    const context = readContext();
    expect((await dataOf([0.5, 0.4]).orderBook(market, context))?.leftOut).toBe(0);
    expect(context.badRows).toEqual([]);
  });
});
