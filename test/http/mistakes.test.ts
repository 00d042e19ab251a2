import { afterAll, beforeAll, expect, test } from 'vitest';
import { market, type MarketStore, startMarketStore } from '../helpers/market-store.ts';

let store: MarketStore;
let key = '';
beforeAll(async () => {
  store = await startMarketStore();
  ({ key } = await store.app.newKey('pro'));
  await store.list(
    market({ platform: 'kalshi', ref: 'KXHERE-1' }),
    market({ platform: 'polymarket', ref: `0x${'ab'.repeat(32)}`, platformId: '77', slug: 'there' }),
    market({ platform: 'limitless', ref: 'a-slug' }),
  );
});
afterAll(() => store?.close());

interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  body?: string;
}
const BOOK = {
  platform: 'kalshi',
  market_id: 'KXHERE-1',
  side: 'buy',
  outcome: 'Yes',
  type: 'limit',
  size: 1,
  price: 0.5,
};
const order = (change: object): Asked => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ ...BOOK, ...change }),
});

const WALLETS = Array.from({ length: 100 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`);

/** What a beginner sends, and what the answer has to say: its status, and the words that name the field and the rule. */
const MISTAKES: [mistake: string, path: string, status: number, says: string, asked?: Asked][] = [
  ['no platform', 'markets', 400, 'provider: one of kalshi, polymarket, limitless, received nothing'],
  [
    'a platform with a capital',
    'markets?provider=Kalshi',
    400,
    'provider: one of kalshi, polymarket, limitless, received "Kalshi"',
  ],
  [
    'a platform that is not here',
    'markets?provider=manifold',
    400,
    'provider: one of kalshi, polymarket, limitless, received "manifold"',
  ],
  ['a limit in words', 'markets?provider=kalshi&limit=ten', 400, 'limit: an integer from 1 to 500, received "ten"'],
  ['a limit of 0', 'markets?provider=kalshi&limit=0', 400, 'limit: an integer from 1 to 500, received "0"'],
  [
    'a limit beyond the most',
    'markets?provider=kalshi&limit=1000',
    400,
    'limit: an integer from 1 to 500, received "1000"',
  ],
  ['a negative limit', 'markets?provider=kalshi&limit=-5', 400, 'limit: an integer from 1 to 500, received "-5"'],
  ['a page number', 'markets?provider=kalshi&page=2', 400, 'page: no such parameter (nearest: cursor), received "2"'],
  ['an offset', 'markets?provider=kalshi&offset=50', 400, 'offset: no such parameter (nearest: cursor), received "50"'],
  [
    'a misspelt parameter',
    'markets?provider=kalshi&statuss=open',
    400,
    'statuss: no such parameter (nearest: status), received "open"',
  ],
  [
    'a state that is none',
    'markets?provider=kalshi&status=active',
    400,
    'status: one of unopened, open, paused, closed, settled, received "active"',
  ],
  [
    'a sort that is none',
    'markets?provider=kalshi&sort=volume',
    400,
    'sort: one of volume_24h, volume_total, liquidity, end_date, created, match, volume_24h_usd, volume_7d_usd, volume_total_usd, liquidity_usd, price, spread, price_change_24h, resolved, received "volume"',
  ],
  [
    'a made-up cursor',
    'markets?provider=kalshi&cursor=2',
    400,
    'cursor: the next_cursor of a previous answer, received "2"',
  ],
  [
    'a parameter twice',
    'markets?provider=kalshi&provider=polymarket',
    400,
    'provider: one value, received "kalshi" and "polymarket"',
  ],
  ['two aliases that differ', 'markets?provider=kalshi&q=a&query=b', 400, 'query: one value, received "a" and "b"'],
  ['a flag as 1', 'markets?provider=kalshi&include_raw=1', 400, 'include_raw: true or false, received "1"'],
  [
    'a format that is none',
    'markets?provider=kalshi&format=xlsx',
    400,
    'format: one of json, csv, ndjson, parquet or arrow, received "xlsx"',
  ],
  [
    'ids and a filter together',
    'markets?provider=kalshi&market_ids=KXHERE-1&status=open',
    400,
    'status: no value: not allowed with market_ids, received "open"',
  ],
  ['an empty search', 'markets?provider=kalshi&query=', 400, 'query: text of 1 to 200 characters, received ""'],
  [
    'an end before the start',
    'markets?provider=kalshi&ends_after=2026-02-01&ends_before=2026-01-01',
    400,
    'ends_after: a time before ends_before, received "2026-02-01" with ends_before "2026-01-01"',
  ],
  [
    'an amount with a comma',
    'markets?provider=kalshi&min_liquidity=1,000',
    400,
    'min_liquidity: a number from 0 to 999999999999 with at most 6 decimals, received "1,000"',
  ],
  ['an unknown market', 'markets/id/KXNONE-1?provider=kalshi', 404, 'no market "KXNONE-1" on Kalshi'],
  [
    'a market of another platform',
    'markets/id/a-slug?provider=kalshi',
    404,
    'This is limitless:a-slug: name that platform.',
  ],
  [
    'an id of another platform by its prefix',
    'markets/id/limitless:a-slug?provider=kalshi',
    400,
    'id: an id of provider kalshi, received "limitless:a-slug"',
  ],
  [
    'a book without a platform',
    'markets/id/KXHERE-1/orderbook',
    400,
    'provider: one of kalshi, polymarket, limitless, received nothing',
  ],
  [
    'trades of a platform that is served elsewhere',
    'markets/trades?provider=limitless&market_id=a-slug',
    400,
    'provider: one of kalshi, polymarket; others in GET /v1/api/markets/id/{id}/trades, received "limitless"',
  ],
  [
    'trades without a market',
    'markets/trades?provider=kalshi',
    400,
    'market_id: text of 1 to 512 characters, received nothing',
  ],
  [
    'an interval in between',
    'markets/price-history?provider=kalshi&market_ids=KXHERE-1&start_ts=1700000000&end_ts=1700003600&interval=30',
    400,
    'interval: one of 1, 60, 1440 (or 1m, 1h, 1d), received "30"',
  ],
  [
    'history without a time',
    'markets/price-history?provider=kalshi&market_ids=KXHERE-1',
    400,
    'start_ts: a time in Unix seconds, Unix milliseconds or ISO-8601, received nothing; end_ts: a time in Unix seconds, Unix milliseconds or ISO-8601, received nothing',
  ],
  [
    'a start after the end',
    'markets/price-history?provider=kalshi&market_ids=KXHERE-1&start_ts=1700003600&end_ts=1700000000',
    400,
    'start_ts: a time before end_ts, received "1700003600" with end_ts "1700000000"',
  ],
  [
    'a date in words',
    'markets/price-history?provider=kalshi&market_ids=KXHERE-1&start_ts=yesterday&end_ts=1700000000',
    400,
    'start_ts: a time in Unix seconds, Unix milliseconds or ISO-8601, received "yesterday"',
  ],
  [
    'a day that is not in the calendar',
    'markets/price-history?provider=kalshi&market_ids=KXHERE-1&start_ts=2026-02-30&end_ts=1772500000',
    400,
    'start_ts: a time in Unix seconds, Unix milliseconds or ISO-8601, received "2026-02-30"',
  ],
  [
    'eleven markets of at most ten',
    'markets/price-history?provider=kalshi&market_ids=a,b,c,d,e,f,g,h,i,j,k&start_ts=1700000000&end_ts=1700003600',
    400,
    'market_ids: 1 to 10 market ids, comma-separated, received "a,b,c,d,e,f,g,h,i,j,k"',
  ],
  [
    'a word of an interval that is none',
    'metrics/historical?platform=kalshi&market_id=KXHERE-1&interval=2h',
    400,
    'interval: one of 1m, 5m, 15m, 1h, 4h, 1d (or 1, 5, 15, 60, 240, 1440 minutes), received "2h"',
  ],
  [
    'metrics without a market',
    'metrics/snapshot?platform=kalshi',
    400,
    'market_id: text of 1 to 512 characters, received nothing',
  ],
  ['a window that is none', 'analytics/trending?window=30d', 400, 'window: one of 24h, 7d, received "30d"'],
  ['too many whales', 'trades/whales?limit=500', 400, 'limit: an integer from 1 to 200, received "500"'],
  [
    'a floor below zero',
    'trades/whales?min_size=-1',
    400,
    'min_size: a number from 0 to 999999999999 with at most 6 decimals, received "-1"',
  ],
  [
    'a recorded book of the future',
    'markets/id/KXHERE-1/orderbook?provider=kalshi&at=4102444800',
    400,
    'at: a time that is not in the future, received "4102444800"',
  ],
  [
    'an order of events for markets',
    'search?q=a&sort=markets',
    400,
    'sort: no value, or types=events: the other types do not support it, received "markets"',
  ],
  [
    'wallets for all types, of whom not all are repeated',
    `search?q=a&addresses=${WALLETS.join(',')}`,
    400,
    'addresses: no value, or types=markets: the other types do not support it, received 100 addresses',
  ],
  [
    'hidden events by an order that leaves them out',
    'events?provider=kalshi&sort=volume_24h_usd&include_placeholders=true',
    400,
    'sort: volume_24h or another order without USD, with include_placeholders or include_combos, received "volume_24h_usd"',
  ],
  [
    'a parameter of another channel',
    'stream?channels=trades&size=5',
    400,
    'size: nothing without the channel match_gaps, received "5"',
  ],
  [
    'users of a platform that has none',
    'profile/trades?provider=limitless&user=ann',
    400,
    'provider: one of kalshi, polymarket: Limitless has no profiles; GET /v1/api/wallets/{address} has its wallets, received "limitless"',
  ],
  [
    'a user that is missing',
    'profile/positions?provider=polymarket',
    400,
    'user: text of 1 to 200 characters, received nothing',
  ],
  ['an address that is none', 'wallets/ann', 400, 'address: 0x and 40 hex digits, received "ann"'],
  ['a path that is none', 'market?provider=kalshi', 404, 'Route not found'],
  ['a path without its version', '../../markets?provider=kalshi', 404, 'Route not found'],
  [
    'a wrong method',
    'markets?provider=kalshi',
    405,
    'Method not allowed',
    { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
  ],
  ['no key', 'markets?provider=kalshi', 401, 'Invalid API key', { headers: { 'x-api-key': '' } }],
  ['a key cut short', 'markets?provider=kalshi', 401, 'Invalid API key', { headers: { 'x-api-key': 'pk_short' } }],
  [
    'a key as basic password',
    'markets?provider=kalshi',
    401,
    'Invalid API key',
    { headers: { 'x-api-key': '', authorization: 'Basic YTpi' } },
  ],
  [
    'an order in a form',
    'orders',
    415,
    'Unsupported media type',
    { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'side=buy' },
  ],
  [
    'an order that is no JSON',
    'orders',
    400,
    'body: not valid JSON',
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{side: buy}' },
  ],
  [
    'a limit order without a price',
    'orders',
    400,
    'price: a price of 0.01 to 0.99, which a limit order needs, received nothing',
    order({ price: undefined }),
  ],
  [
    'a price in cents',
    'orders',
    400,
    "price: a price of 0.01 to 0.99 on the market's price grid, with at most 10 decimals, received 50",
    order({ price: 50 }),
  ],
  ['a side that is none', 'orders', 400, 'side: one of buy, sell, received "long"', order({ side: 'long' })],
  [
    'a size of nothing',
    'orders',
    400,
    'size: a size above 0 and up to 1000000000, with at most 6 decimals, received 0',
    order({ size: 0 }),
  ],
  [
    'an order field that is none',
    'orders',
    400,
    'quantity: no such parameter (nearest: size), received a value that is not shown',
    order({ quantity: 5 }),
  ],
  ['an unknown event', 'events/KXNONE?provider=kalshi', 404, 'no event "KXNONE" on Kalshi'],
  [
    'a type that is not searched',
    'search?types=users',
    400,
    'types: one or more of markets, events, series, wallets, comma-separated, received "users"',
  ],
  ['a text that is too long', `search?q=${'a'.repeat(201)}`, 400, 'q: text of at most 200 characters, received '],
  [
    'a channel that is none',
    'stream?channels=prices',
    400,
    'channels: a list of trades, whales, markets, matches, quotes, books, match_gaps, orders, received "prices"',
  ],
];

test.each(MISTAKES)(
  '%s is answered with what is wrong and what to do',
  async (_mistake, path, status, says, asked = {}) => {
    const { method = 'GET', headers = {}, body } = asked;
    const reply = await store.app.app.inject({
      method,
      url: `/v1/api/${path}`,
      headers: { 'x-api-key': key, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const { error } = reply.json<{ error: Record<'message' | 'resolution' | 'error_text', string> }>();
    expect(reply.statusCode).toBe(status);
    expect([error.message, error.resolution, error.error_text].join(' ')).toContain(says);
    expect(error.resolution).not.toBe('');
  },
);

test.each([
  ['markets?provider=kalshi&market_ids=KXHERE-1&status=open&event_id=E&limit=0', 'limit, status, event_id'],
  ['markets?provider=kalshi&market_ids=A,B,C&limit=2&sort=created&order=asc', 'sort, order, limit'],
  ['markets?provider=kalshi&query=a&order=asc&limit=0', 'limit, order'],
  ['events?provider=kalshi&sort=volume_7d_usd&include_combos=true&limit=0', 'limit, sort'],
  [`search?sort=price&order=asc&addresses=0x${'1'.repeat(40)}&limit=0`, 'limit, sort, order, addresses'],
  ['search?q=a&order=asc&types=markets&limit=0', 'limit, order'],
  ['markets/id/KXHERE-1/orderbook?provider=kalshi&at=4000000000&include_raw=x', 'include_raw, at'],
  ['metrics/historical?platform=kalshi&market_id=KXHERE-1&start_ts=4000000000&limit=0', 'limit, start_ts'],
  ['matches/gaps?limit=0', 'limit, size'],
  ['matches/gaps?limit=0&size=x', 'size, limit'],
  ['stream?channels=books&min_size=x', 'min_size, market_ids'],
  ['stream?channels=match_gaps&min_size=x', 'min_size, market_ids, size'],
  ['stream?channels=trades&size=1&min_edge=1', 'size, min_edge'],
])('%s names every field that is wrong, by itself or beside others', async (path, fields) => {
  const reply = await store.app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': key } });
  expect(reply.json<{ error: { message: string } }>().error.message).toBe(`Invalid request: ${fields}`);
});

test.each(['matches?event_id=', 'matches/gaps?size=1&event_id=', 'matches?platform=kalshi&event_id='])(
  '%s finds nothing for an id that no platform can have',
  async (path) => {
    for (const id of ['a%20b', 'x%2Fy', '..', '%00']) {
      const reply = await store.app.app.inject({ url: `/v1/api/${path}${id}`, headers: { 'x-api-key': key } });
      expect([reply.statusCode, Object.values(reply.json<object>())[0]]).toEqual([200, []]);
    }
  },
);

test('gaps are those of the asked relation, and only pairs of one question have any', async () => {
  const path = '/v1/api/matches/gaps?size=1&relation=';
  const ask = async (relation: string) =>
    (await store.app.app.inject({ url: `${path}${relation}`, headers: { 'x-api-key': key } })).json<object>();
  expect(await ask('identical')).toMatchObject({ matches: [] });
  expect(await ask('implies')).toMatchObject({
    error: { error_text: 'relation: one of identical, complement, received "implies"' },
  });
});
