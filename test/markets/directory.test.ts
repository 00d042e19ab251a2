import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { market, startMarketStore, type MarketStore } from '../helpers/market-store.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

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

test('markets that are used are read again together, before they expire one by one', async () => {
  const refs = ['KXUSED-1', 'KXUSED-2', 'KXUSED-3', 'KXUNUSED-1'];
  await store.list(...refs.map((ref) => market({ platform: 'kalshi', ref })));
  const clock = virtualClock();
  const read: number[] = [];
  const counted: ClickHouse = {
    ...store.clickhouse,
    query: (name, row, params, ...rest) => {
      read.push((params!['keys'] as unknown[]).length);
      return store.clickhouse.query(name, row, params, ...rest);
    },
  };
  const markets = new StoredMarkets(counted, async () => null, clock);
  const ask = async (...some: string[]) => [...(await markets.storedByRef('kalshi', some)).keys()];
  const used = refs.slice(0, 3);
  for (const ref of refs) {
    await ask(ref);
    clock.stall(5000);
  }
  expect([await ask(...used), read]).toEqual([used, [1, 1, 1, 1]]);
  clock.stall(41_000);
  // The first has expired; the others that were used come with it.
  expect([await ask('KXUSED-1'), read]).toEqual([['KXUSED-1'], [1, 1, 1, 1, 3]]);
  clock.stall(30_000);
  expect([await ask(...used), read]).toEqual([used, [1, 1, 1, 1, 3]]);
  // Each is read again once its minute is over.
  clock.stall(30_001);
  expect([await ask(...used), read.at(-1)]).toEqual([used, 3]);
});
