import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Platform } from '../../../../src/core/model.ts';
import type { StoredMarket } from '../../../../src/platforms/contract.ts';
import { createPlatformHttp } from '../../../../src/platforms/http/client.ts';
import type { PlatformHttp } from '../../../../src/platforms/http/request.ts';
import { createLimitlessData } from '../../../../src/platforms/limitless/data.ts';
import { liveBooks } from '../../../../src/queries/order-book.ts';
import { openShared } from '../../../../src/stores/shared/open.ts';
import type { Shared } from '../../../../src/stores/shared/shared.ts';
import { SETTINGS } from '../../../fixtures/canned-http.ts';
import { virtualClock } from '../../../helpers/virtual-clock.ts';
import { createSimServer, json, type SimServer } from '../../../simulators/lib/index.ts';
import { storedMarket, yesNo } from '../../../fixtures/stored-market.ts';
import { silent } from '../../../helpers/silent-log.ts';

const clock = virtualClock();
let server: SimServer;
let shared: Shared;
let http: PlatformHttp;
let down = false;

beforeAll(async () => {
  const side = [{ price: 0.4, size: 1_000_000, side: 'BUY' }];
  const book = { adjustedMidpoint: 0.5, asks: [], bids: side, lastTradePrice: 0.4, maxSpread: '0', minSize: '0' };
  server = await createSimServer({ handle: () => (down ? json(503, {}) : json(200, { ...book, tokenId: '1' })) });
  shared = await openShared({ REDIS_URL: undefined }, silent, { clock });
  http = createPlatformHttp({ shared, log: silent, clock });
});
afterAll(async () => {
  await http?.close();
  await shared?.close();
  await server?.close();
});

const named = (ref: string): StoredMarket =>
  storedMarket({ platform: 'limitless', ref, title: ref, outcomes: yesNo('1', '2') });
const marketsOf = (name: string, count: number): StoredMarket[] =>
  Array.from({ length: count }, (_, n) => named(`${name}-${n}`));

function read(user: string, markets: StoredMarket[]) {
  const limitless = createLimitlessData({
    http,
    settings: { ...SETTINGS, LIMITLESS_API_URL: server.origin },
    now: clock.now,
  });
  const source = {
    platforms: { limitless } as Partial<Record<Platform, typeof limitless>>,
    shared,
    clock,
  };
  return liveBooks(source, 'limitless', markets, { priority: 'live', user, onBadRow() {} });
}

test('each book of a batch is read within the budget that callers have, and a single book beside it does not wait long', async () => {
  const markets = marketsOf('many', 16);
  const batch = read('one', markets);
  const other = await clock.complete(read('other', [named('single')]), 5000);
  expect([other.books.length, other.errors]).toEqual([1, []]);
  const { books, errors } = await clock.complete(batch, 60_000);
  expect(errors).toEqual([]);
  expect(books.map(({ market_id: id }) => id)).toEqual(markets.map(({ ref }) => ref));
  expect(books[0]?.yes.bids).toEqual([{ price: 0.4, size: 1 }]);
});

test('a platform that is down fails the whole batch in seconds', async () => {
  down = true;
  const { books, errors } = await clock.complete(read('third', marketsOf('down', 12)), 20_000);
  expect(books).toEqual([]);
  expect(new Set(errors.map(({ status }) => status))).toEqual(new Set([503]));
});
