import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { market, startMarketStore, type MarketStore } from '../helpers/market-store.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

test('a market that is not stored yet is read from its platform once, however many trades ask for it at the same time', async () => {
  const reads: string[] = [];
  const markets = new StoredMarkets(store.clickhouse, async (platform, id) => {
    reads.push(`${platform} ${id}`);
    await sleep(200);
    await store.list(market({ platform: 'kalshi', ref: 'KXNEW-1' }));
    return 'KXNEW-1';
  });
  const asked = Array.from({ length: 40 }, async (_, n) => {
    // Some come while the store is asked, some while the platform is.
    await sleep(n * 2);
    return (await markets.byRef('kalshi', ['KXNEW-1'])).get('KXNEW-1')?.ref;
  });
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['KXNEW-1']));
  expect(reads).toEqual(['kalshi KXNEW-1']);
});

test('ingestion asks once in a while for a market that no platform knows', async () => {
  const reads: string[] = [];
  const markets = new StoredMarkets(store.clickhouse, async (_platform, id) => {
    reads.push(id);
    return null;
  });
  await markets.byRef('kalshi', ['KXNONE-1']);
  // Also where nothing that was read before is used.
  markets.forgetAll();
  await markets.byRef('kalshi', ['KXNONE-1']);
  expect(reads).toEqual(['KXNONE-1']);
});
