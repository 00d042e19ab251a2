import { afterAll, beforeAll, expect, test } from 'vitest';
import { marketKey } from '../../src/core/market-key.ts';
import { PLATFORMS } from '../../src/core/model.ts';
import { type MarketStore, startMarketStore } from '../helpers/market-store.ts';

let store: MarketStore;

beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const REFS = [
  // Every length of the last word, with and without whole words before it.
  ...Array.from({ length: 18 }, (_, length) => 'KXTIDE-26NOV'.repeat(2).slice(0, length)),
  `0x${'9f'.repeat(32)}`,
  'x'.repeat(300),
  'ärger-€-日本-🌊',
  "a'b\\c\n\td",
  // Not a character: both sides store U+FFFD in its place.
  'half \ud83c',
];

test('a market has the key that the store computes from its platform and reference', async () => {
  for (const platform of PLATFORMS) {
    const rows = await store.clickhouse.sql<{ key: string }>(
      'SELECT toString(sipHash64({platform:String}, arrayJoin({refs:Array(String)}))) AS key',
      { platform, refs: REFS },
    );
    expect(REFS.map((ref) => marketKey({ platform, ref }))).toEqual(rows.map(({ key }) => key));
  }
});

test('a stored row carries that key', async () => {
  await store.clickhouse.insert('market_refs (platform, ref)', [{ platform: 'limitless', ref: 'tide-above-2-m' }]);
  const rows = await store.clickhouse.sql(
    "SELECT toString(market_key) AS key FROM market_refs WHERE platform = 'limitless'",
  );
  expect(rows).toEqual([{ key: marketKey({ platform: 'limitless', ref: 'tide-above-2-m' }) }]);
});
