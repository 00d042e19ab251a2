import { expect, test } from 'vitest';
import { oneByOne, type PairedMarkets } from '../../src/matching/event-match.ts';

/** "a=b" is identical, "a!b" is opposite. */
const pairs = (...texts: string[]): PairedMarkets[] =>
  texts.map((text) => {
    const [a = '', b = ''] = text.split(/[=!]/);
    return { a, b, relation: text.includes('=') ? 'identical' : 'complement' };
  });
const chosen = (...texts: string[]): string[] | undefined =>
  oneByOne(pairs(...texts))?.map(({ a, relation, b }) => `${a}${relation === 'identical' ? '=' : '!'}${b}`);

test('each market is paired with its one partner', () => {
  expect(chosen('a=x', 'b=y', 'c!z')).toEqual(['a=x', 'b=y', 'c!z']);
});

test('an identical partner comes before an opposite one, which then has none', () => {
  expect(chosen('home=H', 'away=A', 'home!A', 'away!H')).toEqual(['home=H', 'away=A']);
  expect(chosen('home=game', 'away!game', 'draw=tie')).toEqual(['home=game', 'draw=tie']);
});

test('one pair makes no match of two events, and neither does a market with two partners', () => {
  expect(chosen('a=x')).toBeUndefined();
  expect(chosen('a=x', 'a=y', 'b=z')).toBeUndefined();
  expect(chosen('a=x', 'b=x', 'c=y')).toBeUndefined();
  expect(chosen('a!x', 'a!y', 'b=z')).toBeUndefined();
  expect(chosen()).toBeUndefined();
});
