import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import type { Platform } from '../../../src/core/model.ts';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import type { PlatformHttp } from '../../../src/platforms/http/request.ts';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import { liveBooks } from '../../../src/queries/order-book.ts';
import { openShared } from '../../../src/stores/shared/open.ts';
import type { Shared } from '../../../src/stores/shared/shared.ts';
import { SETTINGS } from '../../fixtures/canned-http.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';
import { createSimServer, json, type SimServer } from '../../simulators/lib/index.ts';

waitsInRealTime('the budget of a platform');

const log = { info() {}, warn() {} };
let server: SimServer;
let shared: Shared;
let http: PlatformHttp;
let down = false;

beforeAll(async () => {
  const side = [{ price: 0.4, size: 1_000_000, side: 'BUY' }];
  const book = { adjustedMidpoint: 0.5, asks: [], bids: side, lastTradePrice: 0.4, maxSpread: '0', minSize: '0' };
  server = await createSimServer({ handle: () => (down ? json(503, {}) : json(200, { ...book, tokenId: '1' })) });
  shared = await openShared({ REDIS_URL: undefined }, log);
  http = createPlatformHttp({ shared, log });
});
afterAll(async () => {
  await http?.close();
  await shared?.close();
  await server?.close();
});

const named = (ref: string): StoredMarket => ({
  platform: 'limitless',
  ref,
  platformId: ref,
  title: ref,
  slug: ref,
  eventId: '',
  sourceUrl: '',
  seriesId: '',
  status: 'open',
  outcomes: [
    { id: 'yes', name: 'Yes', tokenId: '1' },
    { id: 'no', name: 'No', tokenId: '2' },
  ],
  tradingStartAt: null,
  tradingEndAt: null,
  metadata: {},
});
const marketsOf = (name: string, count: number): StoredMarket[] =>
  Array.from({ length: count }, (_, n) => named(`${name}-${n}`));

function read(user: string, markets: StoredMarket[]) {
  const limitless = createLimitlessData({
    http,
    settings: { ...SETTINGS, LIMITLESS_API_URL: server.origin },
    now: Date.now,
  });
  const source = {
    platforms: { limitless } as Partial<Record<Platform, typeof limitless>>,
    shared,
    clock: systemClock,
  };
  return liveBooks(source, 'limitless', markets, { priority: 'live', user, onBadRow() {} });
}

test('each book of a batch is read within the budget that callers have, and a single book beside it does not wait long', async () => {
  const markets = marketsOf('many', 16);
  const batch = read('one', markets);
  const started = performance.now();
  const other = await read('other', [named('single')]);
  expect([other.books.length, other.errors]).toEqual([1, []]);
  expect(performance.now() - started).toBeLessThan(5000);
  const { books, errors } = await batch;
  expect(errors).toEqual([]);
  expect(books.map(({ market_id: id }) => id)).toEqual(markets.map(({ ref }) => ref));
  expect(books[0]?.yes.bids).toEqual([{ price: 0.4, size: 1 }]);
});

test('a platform that is down fails the whole batch in seconds', async () => {
  down = true;
  const started = performance.now();
  const { books, errors } = await read('third', marketsOf('down', 12));
  expect(books).toEqual([]);
  expect(new Set(errors.map(({ status }) => status))).toEqual(new Set([503]));
  expect(performance.now() - started).toBeLessThan(20_000);
});
