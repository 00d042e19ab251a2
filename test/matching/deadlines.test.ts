import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const quits = (when: string, rule = ''): Some => ({
  title: `Will Odo Varga resign ${when}?`,
  rules:
    rule === ''
      ? ''
      : `This market will resolve to "Yes" if Odo Varga resigns ${rule}. Otherwise, it resolves to "No".`,
  ends: '2028-05-09T03:59:00Z',
});

const CASES: readonly Case[] = [
  ['on one day is not by that day', quits('on May 8, 2028'), quits('by May 8, 2028'), 'subset'],
  ['on one day is not before the next one', quits('on May 8, 2028'), quits('before May 9, 2028'), 'subset'],
  [
    'a touch on one day is not a touch by that day',
    { title: 'Will Litecoin hit $400 on May 8, 2028?' },
    { title: 'Will Litecoin hit $400 by May 8, 2028?' },
    'subset',
  ],
  [
    'of two spans with one end the later one is inside',
    quits('between May 2 and May 8, 2028'),
    quits('between April 27 and May 8, 2028'),
    'subset',
  ],
  [
    'the day on which a market opened is no beginning',
    quits('by May 8', 'between April 27, 2028 and May 8, 2028, 11:59 PM ET'),
    quits('before May 9, 2028'),
    'identical',
  ],
  [
    'a clock before the date leaves the deadline a deadline',
    quits('by May 8', 'by 11:59 PM ET on May 8, 2028'),
    quits('by May 8, 2028'),
    'identical',
  ],
  ['on or before a day includes the day', quits('on or before May 8, 2028'), quits('by May 8, 2028'), 'identical'],
  [
    'on or before a day is later than before it',
    quits('on or before May 8, 2028'),
    quits('before May 8, 2028'),
    'superset',
  ],
  [
    'a rule that says on or before',
    quits('by May 8', 'on or before May 8, 2028, 11:59 PM ET'),
    quits('before May 8, 2028'),
    'superset',
  ],
];

test.each(CASES)('deadlines: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
