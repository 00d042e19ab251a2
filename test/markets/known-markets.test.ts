import { expect, test } from 'vitest';
import { KnownMarkets } from '../../src/markets/known-markets.ts';

const written = (status: string) => ({
  info: 0n,
  state: 0n,
  status,
  isCombo: false,
  level: null,
  stateAtMs: 0,
  rawAtMs: 0,
  hasTraded: false,
  fromTrades: false,
});

test('of more markets than are kept, those that are not settled stay known and the oldest others are dropped', () => {
  const known = new KnownMarkets(2);
  for (const name of ['open 1', 'open 2', 'open 3', 'open 4']) known.wrote(name, written('open'), 0);
  for (const name of ['over 1', 'over 2', 'over 3']) known.wrote(name, written('settled'), 0);
  known.wrote('open 1', written('closed'), 0);
  known.wrote('open 2', written('settled'), 0);
  expect(known.entries().map(([name]) => name)).toEqual(['open 3', 'open 4', 'open 1', 'over 3', 'open 2']);
  expect(Array.from(known.unsettled(), ([name]) => name)).toEqual(['open 3', 'open 4', 'open 1']);
});

test('a fact that is learnt while a market is being written leaves it due', () => {
  const known = new KnownMarkets();
  known.learn('a');
  const fact = known.get('a')?.fact ?? 0;
  known.learn('a');
  known.wrote('a', written('open'), fact);
  const isDue = () => (known.get('a')?.fact ?? 0) > (known.get('a')?.writtenFact ?? 0);
  expect(isDue()).toBe(true);
  known.wrote('a', written('open'), known.get('a')?.fact ?? 0);
  expect(isDue()).toBe(false);
});
