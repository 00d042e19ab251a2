import { describe, expect, test } from 'vitest';
import { factsOf, judge } from '../../src/matching/judge.ts';
import { relationOf, texts, type Some } from './pair.ts';

const START = '2027-02-13T15:00:00Z';
/** A market with a side for each outcome, and one about a side. */
const both = (sport: string, rules = ''): Some => ({
  title: 'Leeds United vs. Brentford',
  outcomes: ['Leeds United', 'Brentford'],
  category: sport,
  starts: START,
  rules,
});
const one = (sport: string, rules = ''): Some => ({
  title: 'Leeds United vs Brentford Winner?',
  outcomeName: 'Leeds United',
  outcomes: ['Yes', 'No'],
  category: sport,
  starts: START,
  rules,
});
const WINS = 'If Leeds United wins the game, then the market resolves to Yes.';

describe('where draws are ordinary', () => {
  test.each([
    ['A draw resolves 50-50.', `${WINS} A draw resolves to No.`],
    ['If the game is drawn, this market will resolve 50/50.', WINS],
    ['In case of a tie the market pays $0.50 for each share.', ''],
    ['If the game ends in a draw, the market settles at the last fair price.', WINS],
  ])('a market whose rules say "%s" is not the same as one of a side', (rules, other) => {
    expect(relationOf(both('soccer', rules), one('soccer', other))).toBe('unknown');
    expect(relationOf(one('chess', other), both('chess', rules))).toBe('unknown');
  });

  test.each([
    ['A draw resolves to "No".', WINS],
    ['A draw resolves 50-50.', 'If the game is drawn, the market will resolve 50-50.'],
    ['The main draw is published by the league.', WINS],
    ['If the tie is abandoned, this market resolves 50-50.', WINS],
    ['If it is cancelled, this market resolves 50-50; a draw resolves to No.', WINS],
  ])('markets that pay alike in a draw are the same: "%s" and "%s"', (rules, other) => {
    expect(relationOf(both('soccer', rules), one('soccer', other))).toBe('identical');
  });
});

const rareCases = (rules: string, other: string) => {
  const { relation, reasons } = judge(factsOf(texts(both('football', rules))), factsOf(texts(one('football', other))));
  return [relation, reasons.filter(({ field }) => field === 'rare_case')];
};

test('where draws are rare, what the rules say of them is a rare case', () => {
  const [half, no] = ['If the game ends in a tie, this market will resolve 50-50.', 'A tie resolves to No.'];
  expect(rareCases(half, no)).toEqual(['identical', [{ field: 'rare_case', a: half, b: no, verdict: 'differs' }]]);
  expect(rareCases(half, WINS)).toEqual(['identical', [{ field: 'rare_case', a: half, b: '', verdict: 'one_sided' }]]);
  expect(rareCases(half, half)).toEqual(['identical', []]);
});
