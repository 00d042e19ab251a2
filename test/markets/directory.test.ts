import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FetchMarket, StoredMarkets } from '../../src/markets/directory.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { market, startMarketStore, type MarketStore } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

test('a market that is not stored yet is read from its platform once, however many ask for it at the same time', async () => {
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
    return n % 4 === 0
      ? (await markets.byRef('kalshi', ['KXNEW-1'])).get('KXNEW-1')
      : markets.byAnyId('kalshi', n % 2 === 0 ? 'KXNEW-1' : 'kxnew-1');
  });
  expect((await Promise.all(asked)).map((keys) => keys?.ref)).toEqual(asked.map(() => 'KXNEW-1'));
  expect(reads).toEqual(['kalshi KXNEW-1']);
});

test('a platform that fails once is asked again by the next who wants the market', async () => {
  let fails = true;
  const markets = new StoredMarkets(store.clickhouse, async () => {
    await sleep(5);
    if (fails) throw new Error('the platform is down');
    await store.list(market({ platform: 'limitless', ref: 'late-market' }));
    return 'late-market';
  });
  const failed = await Promise.allSettled([1, 2, 3].map(() => markets.byAnyId('limitless', 'late-market')));
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  fails = false;
  expect(await markets.byAnyId('limitless', 'late-market')).toMatchObject({ ref: 'late-market' });
});

test("a condition of Polymarket's Protocol V2 is found by either spelling, in any case", async () => {
  const condition = `0x01${'9c'.repeat(16)}${'0'.repeat(30)}`;
  await store.list(market({ platform: 'polymarket', ref: condition }));
  const markets = new StoredMarkets(store.clickhouse, async () => null);
  for (const id of [condition, condition.slice(0, 64), condition.toUpperCase().replace('0X', '0x')]) {
    expect(await markets.byAnyId('polymarket', id)).toMatchObject({ ref: condition });
  }
});

test('an id that no platform knows is asked for once, by all processes together, and ingestion asks again', async () => {
  const shared = createLocalShared(silent);
  const reads: string[] = [];
  const fetchMarket: FetchMarket = async (_platform, id, user) => {
    reads.push(`${id} for ${user ?? 'ingestion'}`);
    return null;
  };
  const [one, other] = [1, 2].map(() => new StoredMarkets(store.clickhouse, fetchMarket, shared.cached));
  expect(await one?.byAnyId('kalshi', 'kxnone-1', 'ann')).toBeNull();
  expect(await one?.byAnyId('kalshi', 'KXNONE-1', 'ann')).toBeNull();
  expect(await other?.byAnyId('kalshi', 'KXNONE-1', 'bob')).toBeNull();
  expect(reads).toEqual(['KXNONE-1 for ann']);
  await other?.byRef('kalshi', ['KXNONE-1']);
  // Ingestion, once in a while, also where nothing that was read before is used.
  other?.forgetAll();
  await other?.byRef('kalshi', ['KXNONE-1']);
  expect(reads).toEqual(['KXNONE-1 for ann', 'KXNONE-1 for ingestion']);
});
