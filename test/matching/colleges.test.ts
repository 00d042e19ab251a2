import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const ticker = (first: string, second: string, series = 'NCAAMB'): Some => ({
  id: `KX${series}GAME-27FEB10AAABBB-AAA`,
  title: `${first} at ${second} Winner? (${first})`,
  outcomeName: first,
  eventTitle: `${first} at ${second}`,
});
const named = (first: string, second: string): Some => ({
  title: `${first} vs. ${second}`,
  eventTitle: `${first} vs. ${second}`,
  outcomes: [first, second],
  starts: '2027-02-11T00:00:00Z',
  slug: 'cbb-aaa-bbb-2027-02-10',
  category: 'CBB',
});

const CASES: readonly Case[] = [
  ...[
    ['Ohio St.', 'Ohio State Buckeyes'],
    ['Connecticut', 'UConn Huskies'],
    ['Mississippi', 'Ole Miss Rebels'],
    ['North Carolina St.', 'NC State Wolfpack'],
    ['North Carolina', 'North Carolina Tar Heels'],
    ['Miami (FL)', 'Miami Hurricanes'],
    ['Miami (OH)', 'Miami (OH) RedHawks'],
    ["St. John's", "St. John's Red Storm"],
    ['TCU', 'Texas Christian Horned Frogs'],
    ['Charlotte', 'UNC Charlotte 49ers'],
    ['UNLV', 'Nevada Las Vegas Rebels'],
    ['Texas A&M', 'Texas A&M Aggies'],
  ].map(([one = '', other = '']): Case => [
    `a college and its team: ${one}, ${other}`,
    ticker(one, 'Villanova'),
    named(other, 'Villanova Wildcats'),
    'identical',
  ]),
  ...[
    ['Ohio', 'Ohio State Buckeyes'],
    ['Mississippi', 'Mississippi State Bulldogs'],
    ['North Carolina', 'NC State Wolfpack'],
    ['Miami (FL)', 'Miami (OH) RedHawks'],
    ['Miami', 'Miami Ohio RedHawks'],
    ['Nevada', 'UNLV Rebels'],
    ['Tennessee', 'Middle Tennessee Blue Raiders'],
    ['California', 'UC Davis Aggies'],
    ['Texas', 'Texas A&M'],
    ['Texas', 'TCU Horned Frogs'],
    ['Virginia', 'VCU Rams'],
    ['Houston', 'Houston Christian'],
    ['Florida', 'Florida Gulf Coast'],
    ['South Carolina', 'USC Trojans'],
  ].map(([one = '', other = '']): Case => [
    `two colleges: ${one}, ${other}`,
    ticker(one, 'Villanova'),
    named(other, 'Villanova Wildcats'),
    'unknown',
  ]),
  [
    'the college game of the women is another one',
    ticker('Connecticut', 'Villanova', 'NCAAWB'),
    named('UConn Huskies', 'Villanova Wildcats'),
    'unknown',
  ],
];

test.each(CASES)('colleges: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
