import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const fed = (title: string, rules = ''): Some => ({ title, rules, ends: '2027-04-28T18:00:00Z' });
const hikeRule = (change: string): string =>
  `This market will resolve to "Yes" if following the Federal Reserve's April 2027 meeting the upper bound of the target federal funds rate is ${change}. Otherwise, it will resolve to "No".`;
const jobs = (title: string, rules = ''): Some => ({ title, rules, ends: '2027-04-02T12:30:00Z' });
const BRACKETS =
  'This market will resolve according to the nonfarm payrolls of March. If the reported value falls exactly between two brackets, then this market will resolve to the higher range bracket.';

const ROUNDED =
  'If the target rate is changed to a level not expressed in the displayed options, the change will be rounded up to the nearest 25 and will resolve to the relevant bracket.';

const CASES: readonly Case[] = [
  [
    'two wordings of one cut',
    fed('Will the Federal Reserve Cut rates by >25bps at their April 2027 meeting?'),
    fed(
      'Fed decreases interest rates by 50+ bps after April 2027 meeting?',
      hikeRule('decreased by 26 or more basis points'),
    ),
    'identical',
  ],
  [
    'a hike of nothing is no change',
    fed('Will the Federal Reserve Hike rates by 0bps at their April 2027 meeting?'),
    fed('No change in Fed interest rates after April 2027 meeting?'),
    'identical',
  ],
  [
    'a cut is not a hike',
    fed('Will the Federal Reserve Cut rates by 25bps at their April 2027 meeting?'),
    fed('Fed increases interest rates by 25 bps after April 2027 meeting?'),
    'disjoint',
  ],
  [
    'exactly 25 is inside 1 or more',
    fed('Will the Federal Reserve Hike rates by 25bps at their April 2027 meeting?'),
    fed(
      'Fed increases interest rates by 25+ bps after April 2027 meeting?',
      hikeRule('increased by 1 or more basis points'),
    ),
    'subset',
  ],
  [
    'another meeting',
    fed('Will the Federal Reserve Cut rates by 25bps at their April 2027 meeting?'),
    fed('Fed decreases interest rates by 25 bps after June 2027 meeting?'),
    'unknown',
  ],
  [
    'another bank',
    fed('Will the Federal Reserve Cut rates by 25bps at their April 2027 meeting?'),
    fed('ECB decreases interest rates by 25 bps after April 2027 meeting?'),
    'unknown',
  ],
  [
    'a level is not a change',
    fed("Will the upper bound of the federal funds rate be above 3.50% following the Fed's Apr 28, 2027 meeting?"),
    fed('Fed increases interest rates by 25+ bps after April 2027 meeting?'),
    'unknown',
  ],
  [
    'above at one decimal is the next value or more',
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate for March 2027 be greater than or equal to 4.6%?' },
    'identical',
  ],
  [
    'above and at most split a figure',
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate for March 2027 be less than or equal to 4.5%?' },
    'complement',
  ],
  [
    'the same number with another comparator excludes',
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate for March 2027 be exactly 4.5%?' },
    'disjoint',
  ],
  [
    'core is not headline',
    { title: 'Will core CPI year-over-year be above 2.9% in March 2027?' },
    { title: 'Will CPI year-over-year be above 2.9% in March 2027?' },
    'unknown',
  ],
  [
    'monthly is not yearly',
    { title: 'Will CPI rise more than 0.2% month-over-month in March 2027?' },
    { title: 'Will CPI rise more than 0.2% year-over-year in March 2027?' },
    'unknown',
  ],
  [
    'the edge between two brackets belongs to the higher one',
    jobs('Will above 150000 jobs be added in March 2027?'),
    jobs('Will more than 150k jobs be added in March?', BRACKETS),
    'subset',
  ],
  [
    'what both leave out makes no complement',
    jobs('Will above 100000 jobs be added in March 2027?'),
    jobs('Will less than 100k jobs be added in March?', BRACKETS),
    'disjoint',
  ],
  [
    'thousands and k are the same',
    jobs('Will the US add between 100k and 150k jobs in March?'),
    { ...jobs('How many jobs added in March?: 100k – 150k'), eventTitle: 'How many jobs added in March?: <0' },
    'identical',
  ],
  [
    'changes that are rounded up to 25 make "50 or more" of "more than 25"',
    fed('Will the Federal Reserve Cut rates by >25bps at their March 2027 meeting?'),
    fed('Fed decreases interest rates by 50+ bps after March 2027 meeting?', ROUNDED),
    'identical',
  ],
  [
    'a change of 25 is one of those that are rounded up to it',
    fed('Will the Federal Reserve Cut rates by 25bps at their March 2027 meeting?'),
    fed('Fed decreases interest rates by 25 bps after March 2027 meeting?', ROUNDED),
    'subset',
  ],
  [
    'a decision without the word rates',
    fed('Fed decision in March 2027?: No change'),
    fed('No change in Fed interest rates after March 2027 meeting?'),
    'identical',
  ],
  [
    'an index that rises in a month is monthly',
    { title: 'Will CPI rise more than 0.2% in March 2027?' },
    { title: 'Will monthly inflation increase by ≥0.3% in March 2027?' },
    'identical',
  ],
  [
    'an index that rises in a month is not yearly',
    { title: 'Will CPI rise more than 0.2% in March 2027?' },
    { title: 'Will annual inflation increase by ≥0.3% in March 2027?' },
    'unknown',
  ],
  [
    'a level above and a level below it exclude each other',
    fed("Will the upper bound of the federal funds rate be below 3.50% following the Fed's Apr 28, 2027 meeting?"),
    fed("Will the upper bound of the federal funds rate be above 3.50% following the Fed's Apr 28, 2027 meeting?"),
    'disjoint',
  ],
  [
    'at or below a level is what above it leaves',
    fed(
      "Will the upper bound of the federal funds rate be at or below 3.50% following the Fed's Apr 28, 2027 meeting?",
    ),
    fed("Will the upper bound of the federal funds rate be above 3.50% following the Fed's Apr 28, 2027 meeting?"),
    'complement',
  ],
  [
    'at a level is not above it',
    fed("Will the upper bound of the federal funds rate be at 3.50% following the Fed's Apr 28, 2027 meeting?"),
    fed("Will the upper bound of the federal funds rate be above 3.50% following the Fed's Apr 28, 2027 meeting?"),
    'disjoint',
  ],
  [
    'the lower bound is not the upper bound',
    fed("Will the lower bound of the federal funds rate be above 3.50% following the Fed's Apr 28, 2027 meeting?"),
    fed("Will the upper bound of the federal funds rate be above 3.50% following the Fed's Apr 28, 2027 meeting?"),
    'unknown',
  ],
  [
    'at least 25 includes exactly 25',
    fed('Will the Fed cut rates by at least 25 bps at the April 2027 meeting?'),
    fed('Will the Federal Reserve Cut rates by 25bps at their April 2027 meeting?'),
    'superset',
  ],
  [
    '25 or greater includes exactly 25',
    fed('Will the Fed cut rates by 25 bps or greater at the April 2027 meeting?'),
    fed('Will the Federal Reserve Cut rates by 25bps at their April 2027 meeting?'),
    'superset',
  ],
  [
    'less than 50 is not 50',
    fed('Will the Fed cut rates by less than 50 bps at the April 2027 meeting?'),
    fed('Will the Federal Reserve Cut rates by 50bps at their April 2027 meeting?'),
    'unknown',
  ],
  [
    'at or above a figure is not above it',
    { title: 'Will the unemployment rate be at or above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'superset',
  ],
  [
    'no lower than a figure is not above it',
    { title: 'Will the unemployment rate be no lower than 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'superset',
  ],
  [
    'not below a figure is not above it',
    { title: 'Will the unemployment rate be not below 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'superset',
  ],
  [
    'no higher than a figure is not above it',
    { title: 'Will the unemployment rate be no higher than 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'complement',
  ],
  [
    'not above a figure is not above it',
    { title: 'Will the unemployment rate be not above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'complement',
  ],
  [
    'at or below a figure is not above it',
    { title: 'Will the unemployment rate be at or below 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'complement',
  ],
  [
    'a negated question is left alone',
    { title: 'Will the unemployment rate not rise above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'unknown',
  ],
];

test.each(CASES)('economy: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
