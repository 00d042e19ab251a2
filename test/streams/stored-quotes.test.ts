import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/time.ts';
import { QuoteFollower } from '../../src/streams/quotes.ts';
import { market, type MarketStore, quotes, startMarketStore, trade } from '../helpers/market-store.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const pricesOf = (data: string): unknown => JSON.parse(data).prices.yes;

test('a streamed quote has the price of the last trade, as REST', async () => {
  const { clickhouse } = store;
  const refs = Array.from({ length: 20 }, (_, n) => `KXPRICED-${n}`);
  const of = refs.map((ref) =>
    market({
      platform: 'kalshi',
      ref,
      fetchedAt: new Date(Date.now() - 60_000).toISOString(),
      state: { quotes: quotes('0.4', '0.39', '0.42') },
    }),
  );
  const startedMs = Date.now();
  await store.list(...of);
  await store.trade(...of.map((one) => trade({ of: one, atMs: Date.now() - 1000, price: '0.64', size: '1' })));
  const { markets } = await store.get<{ markets: object[] }>('markets/id/KXPRICED-0?provider=kalshi');
  expect(markets[0]).toMatchObject({ current_prices: { yes: { price: 0.64 } } });

  const follower = new QuoteFollower({ clock: systemClock, clickhouse, log: pino({ level: 'silent' }) });
  const first = await follower.newest(new Map([['kalshi', new Set(refs)]]));
  expect(first).toHaveLength(refs.length);
  for (const { data } of first) expect(pricesOf(data)).toMatchObject({ price: 0.64, bid: 0.39, ask: 0.42 });

  const Row = z.object({ prices: z.array(z.coerce.number()) });
  const changed = await clickhouse.query('quotes', Row, { since_ms: startedMs - 60_000 });
  expect(changed.map(({ prices }) => prices[0])).toEqual(refs.map(() => 0.64));
});
