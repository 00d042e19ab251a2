import { expect, test } from 'vitest';
import type { Platform } from '../../src/core/model.ts';
import type { MarketFacts } from '../../src/matching/facts.ts';
import { factsOf } from '../../src/matching/judge.ts';
import { bareFacts, fullFacts, packFacts } from '../../src/matching/kept-facts.ts';
import { MatchIndex } from '../../src/matching/match-index.ts';
import { type Some, texts } from './pair.ts';

const facts = (some: Some): MarketFacts => {
  const found = factsOf(texts(some));
  if (!found) throw new Error(`no facts: ${some.title}`);
  return found;
};
const add = (index: MatchIndex, platform: Platform, key: string, some: Some): void =>
  index.set({ key, platform, texts: '1', eventId: '', categorySlug: '', facts: facts(some) });
const found = (index: MatchIndex, key: string): string[] =>
  index
    .matchesOf(key)
    .map((market) => market.key)
    .toSorted();

const priced = (level: string): Some => ({
  title: `Bitcoin above ${level} on April 2, 5PM ET?`,
  rules: `This market resolves to Yes if the Binance BTC/USDT close at 5PM ET on April 2, 2027 is above ${level}.`,
  ends: '2027-04-02T21:00:00Z',
});
const game = (title: string, starts: string): Some => ({ title, category: 'Soccer', starts });
const SOME: readonly Some[] = [
  priced('100,000'),
  game('Norwich City vs. Leeds United: O/U 2.5', '2027-03-01T15:00:00Z'),
  {
    title: 'Will Ann Abbot win the 2028 presidential election in Peru?',
    rules: 'This market resolves to Yes if Ann Abbot wins the 2028 presidential election in Peru.\nOtherwise to No.',
  },
];

test('packed facts come back whole, and without their quotes they hold everything else', () => {
  for (const some of SOME) {
    const given = facts(some);
    expect(fullFacts(packFacts(given))).toEqual(given);
    const { claim, kind } = bareFacts(packFacts(given));
    expect({ of: claim.of, kind }).toEqual({ of: given.claim.of, kind: given.kind });
  }
});

test('a game is found under the other name of a side, and on the day before or after', () => {
  const index = new MatchIndex();
  add(index, 'kalshi', 'k', game('Norwich City vs. Leeds United: O/U 2.5', '2027-03-01T15:00:00Z'));
  add(index, 'polymarket', 'p', game('Norwich vs Leeds United: 3+ total goals?', '2027-03-02T15:00:00Z'));
  add(index, 'polymarket', 'late', game('Norwich vs Leeds United: 3+ total goals?', '2027-03-09T15:00:00Z'));
  expect(found(index, 'k')).toEqual(['p']);
  expect(found(index, 'p')).toEqual(['k']);
});

test('markets of one platform are no matches, and a market that was replaced or deleted is found no longer', () => {
  const index = new MatchIndex();
  add(index, 'kalshi', 'k', priced('100,000'));
  add(index, 'kalshi', 'k2', priced('100,000'));
  add(index, 'polymarket', 'p', priced('100,000'));
  expect(found(index, 'k')).toEqual(['p']);
  add(index, 'polymarket', 'p', game('Norwich City vs. Leeds United: O/U 2.5', '2027-03-01T15:00:00Z'));
  expect(found(index, 'k')).toEqual([]);
  add(index, 'polymarket', 'p', priced('100,000'));
  index.delete('p');
  expect([found(index, 'k'), index.size, index.market('p')]).toEqual([[], 2, null]);
});

test('of a game with hundreds of lines of players the same line is found, and its winner, from both sides', () => {
  const index = new MatchIndex();
  const day = {
    starts: '2027-01-17T01:00:00Z',
    category: 'NBA',
    eventTitle: 'Suns vs. Bucks',
    outcomes: ['Yes', 'No'],
  };
  const names = Array.from('abcdefghijklmnopqrst', (letter) => `Karl${letter} Lindt${letter}`);
  for (const name of names) {
    for (let points = 1; points <= 25; points += 1) {
      const title = `${name}: ${points}+ points`;
      add(index, 'kalshi', title, { ...day, id: `KXNBAPTS-27JAN16PHXMIL-PHX-${points}`, title });
    }
    add(index, 'polymarket', name, { ...day, title: `${name}: Points O/U 19.5` });
  }
  add(index, 'kalshi', 'k', { ...day, title: 'Suns vs. Bucks', outcomes: ['Suns', 'Bucks'] });
  add(index, 'polymarket', 'p', { ...day, title: 'Suns vs. Bucks', outcomes: ['Suns', 'Bucks'] });
  for (const name of names) {
    expect(found(index, name)).toContain(`${name}: 20+ points`);
    expect(found(index, `${name}: 20+ points`)).toContain(name);
  }
  expect([found(index, 'k'), found(index, 'p')]).toEqual([['p'], ['k']]);
});

test('of a ladder with thousands of levels the same level is found, and few of the others', () => {
  const index = new MatchIndex();
  for (let level = 10_001; level <= 15_000; level += 1) add(index, 'polymarket', `p${level}`, priced(`${level}`));
  add(index, 'kalshi', 'k', priced('12345'));
  const matches = found(index, 'k');
  expect(matches).toContain('p12345');
  expect(matches.length).toBeLessThanOrEqual(20);
});
