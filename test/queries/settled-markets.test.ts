import { afterAll, beforeAll, expect, test } from 'vitest';
import { market, type MarketStore, quotes, startMarketStore } from '../helpers/market-store.ts';

let store: MarketStore;

const named = (ref: string, status: 'open' | 'closed' | 'settled', price: string | null) =>
  market({
    platform: 'kalshi',
    ref,
    outcomes: [
      { id: 'up', name: 'Up', tokenId: '1' },
      { id: 'down', name: 'Down', tokenId: '2' },
    ],
    state: { status, ...(price === null ? {} : { quotes: quotes(price) }) },
  });

beforeAll(async () => {
  store = await startMarketStore();
  await store.list(
    named('KX-UP', 'settled', '1'),
    named('KX-DOWN', 'settled', '0'),
    named('KX-HALF', 'settled', '0.5'),
    named('KX-UNSAID', 'settled', null),
    named('KX-CLOSED', 'closed', '1'),
    named('KX-OPEN', 'open', '1'),
  );
});
afterAll(() => store?.close());

const WINNERS = [
  ['KX-CLOSED', null],
  ['KX-DOWN', 'Down'],
  ['KX-HALF', null],
  ['KX-OPEN', null],
  ['KX-UNSAID', null],
  ['KX-UP', 'Up'],
];

test('a settled market names the outcome that paid 1, any other market names none', async () => {
  const { markets } = await store.get<{ markets: { platform_id: string; winning_outcome: string | null }[] }>(
    'markets?provider=kalshi',
  );
  expect(markets.map((one) => [one.platform_id, one.winning_outcome]).toSorted()).toEqual(WINNERS);
});

test('SQL names the same outcome', async () => {
  const rows = await store.clickhouse.sql<{ market_id: string; winning_outcome: string | null }>(
    'SELECT market_id, winning_outcome FROM v_markets ORDER BY market_id',
  );
  expect(rows.map((one) => [one.market_id, one.winning_outcome])).toEqual(WINNERS);
});
