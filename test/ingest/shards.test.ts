import { expect, test } from 'vitest';
import { Shards } from '../../ingest/live/shards.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';

const markets = (...refs: string[]): StoredMarket[] => refs.map((ref) => ({ ref }) as StoredMarket);

test('markets stay where they are, gaps are filled first, and what is empty at the end is no connection', () => {
  const shards = new Shards(2);
  const set = (...refs: string[]): string[] =>
    shards.set(markets(...refs)).map(({ markets }) => markets.map(({ ref }) => ref).join(''));
  expect(set('A', 'B', 'C', 'D', 'E')).toEqual(['AB', 'CD', 'E']);
  expect(set('A', 'E')).toEqual(['A', '', 'E']);
  expect(set('A', 'E', 'F', 'G')).toEqual(['AF', 'G', 'E']);
  expect(set('A')).toEqual(['A']);
  expect(set()).toEqual([]);
  expect(set('H')).toEqual(['H']);
});
