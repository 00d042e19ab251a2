import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case } from './pair.ts';

const CASES: readonly Case[] = [
  [
    'before 2028 is in 2027',
    { title: 'Will the U.S. recognize Atlantis before 2028?' },
    { title: 'Will the US recognize Atlantis in 2027?' },
    'identical',
  ],
  [
    'in December is not by December',
    { title: 'Will the U.S. recognize Atlantis in December 2027?' },
    { title: 'Will the U.S. recognize Atlantis by December 31, 2027?' },
    'subset',
  ],
  [
    'the very next holder is not the one after the election',
    {
      title: 'Will Ivo Brandt be the next Prime Minister of Freedonia?',
      rules: 'If Ivo Brandt is the next Prime Minister of Freedonia, then the market resolves to Yes.',
      ends: '2027-11-01T00:00:00Z',
    },
    {
      title: 'Will Ivo Brandt be the next Prime Minister of Freedonia?',
      rules:
        'This market will resolve to "Yes" if Ivo Brandt becomes Prime Minister of Freedonia following the next general election. An interim or caretaker Prime Minister does not count.',
      ends: '2027-11-01T00:00:00Z',
    },
    'unknown',
  ],
  [
    'one month is not another',
    { title: 'Will Quill have the best AI model at the end of May 2027?' },
    { title: 'Will Quill have the best AI model at the end of June 2027?' },
    'unknown',
  ],
  [
    'an answer in a group of one month',
    { title: 'Will Quill have the best AI model at the end of May 2027?' },
    { title: 'Which company has the best AI model end of May 2027?: Quill' },
    'identical',
  ],
  [
    'who does it to whom',
    { title: 'Will Ivo Brandt pardon Maria Keller in 2027?' },
    { title: 'Will Maria Keller pardon Ivo Brandt in 2027?' },
    'unknown',
  ],
  [
    'a meeting is the same from both sides',
    { title: 'Will Ivo Brandt meet Maria Keller in 2027?' },
    { title: 'Will Maria Keller meet Ivo Brandt in 2027?' },
    'identical',
  ],
  [
    'one day less is a smaller window',
    { title: 'Will the U.S. recognize Atlantis by May 1, 2027?' },
    { title: 'Will the U.S. recognize Atlantis before May 1, 2027?' },
    'superset',
  ],
  [
    'a rule corrects the deadline of its title',
    {
      title: 'Will the President visit Atlantis in the first 100 days?',
      rules: 'If the President visits Atlantis before Jan 1, 2028, then the market resolves to Yes.',
    },
    { title: 'Will the President visit Atlantis in 2027?' },
    'identical',
  ],
  [
    'announcing is not being',
    { title: 'Will Ivo Brandt be the next James Bond?', id: 'KXBOND-30-IB' },
    { title: 'Ivo Brandt announced as next James Bond?' },
    'unknown',
  ],
  [
    'buckets of a count',
    {
      title: 'Will between 10 to 12 Kestrel launches reach space in 2027?',
      rules: 'If between 10 to 12 Kestrel launches reach Space in 2027, then the market resolves to Yes.',
    },
    { title: 'Will 10-12 Kestrel launches successfully reach Space in 2027?' },
    'identical',
  ],
  [
    'above 24 is 25 or more',
    { title: 'Will above 24 Kestrel launches reach space in 2027?' },
    { title: 'Will 25 or more Kestrel launches successfully reach Space in 2027?' },
    'identical',
  ],
  [
    'the same bucket of two weeks',
    { title: 'Will Ivo Brandt publish 10-19 posts from May 1 to May 8, 2027?' },
    { title: 'Will Ivo Brandt publish 10-19 posts from May 8 to May 15, 2027?' },
    'overlap',
  ],
  [
    'neighbouring buckets',
    { title: 'Will between 10 to 12 Kestrel launches reach space in 2027?' },
    { title: 'Will 13-15 Kestrel launches successfully reach Space in 2027?' },
    'disjoint',
  ],
  [
    'a month is not a year',
    { title: 'Will Mar 2027 be the hottest March ever?' },
    { title: 'Will 2027 be the hottest year on record?' },
    'unknown',
  ],
  [
    'two stations of one city',
    {
      title: 'Highest temperature in NYC on March 3, 2027 above 60°F?',
      rules:
        'If the highest temperature recorded in Central Park is above 60°F on March 3, 2027, then the market resolves to Yes.',
    },
    {
      title: 'Highest temperature in NYC on March 3, 2027 above 60°F?',
      rules:
        'This market will resolve to "Yes" if the highest temperature recorded at the LaGuardia station is above 60°F on March 3, 2027.',
    },
    'overlap',
  ],
  [
    'what no kind recognises',
    { title: 'Is this the way to Amarillo?' },
    { title: 'Is this the way to Amarillo?' },
    'unknown',
  ],
];

test.each(CASES)('happenings: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
