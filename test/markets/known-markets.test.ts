import { expect, test } from 'vitest';
import { KnownMarkets } from '../../src/markets/known-markets.ts';

const written = (status: string) => ({
  info: 0n,
  state: 0n,
  status,
  level: null,
  stateAtMs: 0,
  rawAtMs: 0,
  hasTraded: false,
  fromTrades: false,
});

test('of more markets than are kept, the open ones stay known and the oldest others are dropped', () => {
  const known = new KnownMarkets(2);
  for (const name of ['open 1', 'open 2', 'open 3', 'open 4']) known.wrote(name, written('open'), 0);
  for (const name of ['over 1', 'over 2', 'over 3']) known.wrote(name, written('settled'), 0);
  known.wrote('open 1', written('closed'), 0);
  expect(known.entries().map(([name]) => name)).toEqual(['open 2', 'open 3', 'open 4', 'over 3', 'open 1']);
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
