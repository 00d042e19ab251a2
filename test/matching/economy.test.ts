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

/** Titles of one decision in other words. */
const SAME_DECISIONS: readonly (readonly [usual: string, titles: readonly string[]])[] = [
  [
    'No change in Fed interest rates after December 2028 meeting?',
    [
      'Will the Fed leave rates unchanged in December 2028?',
      'Will the Fed keep rates unchanged in December 2028?',
      'Will the Fed keep interest rates the same in December 2028?',
      'Will the Fed hold rates steady in December 2028?',
      'Will the Fed hold its benchmark rate steady in December 2028?',
      'Will the federal funds rate remain unchanged after the Fed meeting in December 2028?',
      'Fed leaves interest rates unchanged after December 2028 meeting?',
      'Will the Fed make no change to rates at the December 11-12, 2028 meeting?',
    ],
  ],
  [
    'Will the Fed cut rates by 25 bps in December 2028?',
    [
      'Will the Fed lower its target range by 25 bps in December 2028?',
      'Will the Fed deliver a 25 bps rate cut in December 2028?',
      'Will the Fed make a 25 bps cut at its December 2028 meeting?',
      'Will the Fed trim rates by 25 bps in December 2028?',
      'Fed cuts rates by a quarter point (25 bps) in December 2028?',
      'Will the Federal Open Market Committee lower rates by 25 bps in December 2028?',
      'Will the Fed cut rates by 25 bps at the December 11-12, 2028 meeting?',
      'Will the Fed cut rates by 25 bps at the Dec. 11-12, 2028 meeting?',
    ],
  ],
  [
    'Bank of England decreases Bank Rate by 25 bps after November 2028 meeting?',
    [
      'Will the Bank of England cut its base rate by 25 bps in November 2028?',
      "Will the Bank of England's Monetary Policy Committee cut rates by 25 bps in November 2028?",
    ],
  ],
  [
    'Bank of Korea decreases rates by 25 bps after November 2028 meeting?',
    ['Will the Bank of Korea cut its base rate by 25 bps in November 2028?'],
  ],
  [
    'Bank of Japan increases rates by 25 bps after October 2028 meeting?',
    ['Will the BOJ raise its short-term rate by 25 bps in October 2028?'],
  ],
  [
    'Banco Central do Brasil decreases rates by 50 bps after December 2028 meeting?',
    ['Will Brazil Copom cut Selic by 50 bps in December 2028?'],
  ],
];

const CASES: readonly Case[] = [
  ...SAME_DECISIONS.flatMap(([usual, titles]) =>
    titles.map((title): Case => [`a decision in other words: ${title}`, { title: usual }, { title }, 'identical']),
  ),
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
    'the advance estimate is the first figure',
    { title: 'Will real GDP increase by more than 2.5% in Q1 2027 (advance estimate)?' },
    { title: 'US GDP growth in Q1 2027 above 2.5%?' },
    'identical',
  ],
  [
    'the economy adds the jobs',
    { title: 'Will the U.S. economy add more than 100,000 jobs in March 2027?' },
    { title: 'Nonfarm payrolls above 100k in March 2027?' },
    'identical',
  ],
  [
    'before a month is not in it',
    { title: 'Will CPI year-over-year be above 2.9% before March 2027?' },
    { title: 'Will CPI year-over-year be above 2.9% in March 2027?' },
    'unknown',
  ],
  [
    'two comparators state the two ends of a range',
    { title: 'Will the unemployment rate be greater than or equal to 4% and less than 5% in March 2027?' },
    { title: 'Will the unemployment rate be between 4.0% and 4.9% in March 2027?' },
    'identical',
  ],
  [
    'a range with two ends lies within one of its ends',
    { title: 'Will the unemployment rate be greater than or equal to 4% and less than or equal to 5% in March 2027?' },
    { title: 'Will the unemployment rate be 4% or more in March 2027?' },
    'subset',
  ],
  [
    'an end that is left out belongs to the other range',
    { title: 'Will the unemployment rate be above 4% and below 5% in March 2027?' },
    { title: 'Will the unemployment rate be exactly 4% in March 2027?' },
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
  ...[
    [
      'continuing jobless claims for the week of March 6, 2027 be above 1,900,000',
      'initial jobless claims for the week of March 6, 2027 be above 1,900,000',
    ],
    ['the ISM Services PMI be above 51 in March 2027', 'the ISM Manufacturing PMI be above 51 in March 2027'],
    [
      'core PPI rise more than 0.2% month over month in March 2027',
      'PPI rise more than 0.2% month over month in March 2027',
    ],
    ['the U-6 unemployment rate be above 8.4% in March 2027', 'the unemployment rate be above 8.4% in March 2027'],
    ['the Ohio unemployment rate be above 4.4% in March 2027', 'the unemployment rate be above 4.4% in March 2027'],
    ['ADP payrolls be above 90,000 in March 2027', 'nonfarm payrolls be above 90,000 in March 2027'],
    [
      'the 15-year mortgage rate be above 5.80% on March 11, 2027',
      'the 30-year mortgage rate be above 5.80% on March 11, 2027',
    ],
    ['nominal GDP growth in Q1 2027 be above 3.1%', 'real GDP growth in Q1 2027 be above 3.1%'],
    ['Danish CPI be above 1.4% YoY in March 2027', 'Austrian CPI be above 1.4% YoY in March 2027'],
    ['Denmark inflation be above 1.4% YoY in March 2027', 'inflation be above 1.4% YoY in March 2027'],
    ['the Fed cut rates by 25 bps by the April 2027 meeting', 'the Fed cut rates by 25 bps at the April 2027 meeting'],
    [
      'the ECB deposit rate be cut by 25 bps at the April 2027 meeting',
      'the ECB refinancing rate be cut by 25 bps at the April 2027 meeting',
    ],
  ].map(([one, other]): Case => [
    `another figure: ${one}`,
    { title: `Will ${one}?` },
    { title: `Will ${other}?` },
    'unknown',
  ]),
  ...[
    ['the third estimate of GDP growth is above 3.1%', 'the advance estimate of GDP growth is above 3.1%'],
    ['GDP growth as revised in June is above 3.1%', 'GDP growth is above 3.1%'],
    ['the not seasonally adjusted GDP growth is above 3.1%', 'the seasonally adjusted GDP growth is above 3.1%'],
  ].map(([one, other]): Case => [
    `another figure by the rules: ${one}`,
    { title: 'Will US GDP growth in Q1 2027 be above 3.1%?', rules: `If ${one}, then the market resolves to Yes.` },
    { title: 'Will US GDP growth in Q1 2027 be above 3.1%?', rules: `If ${other}, then the market resolves to Yes.` },
    'unknown',
  ]),
  [
    'a negated question is left alone',
    { title: 'Will the unemployment rate not rise above 4.5% in March 2027?' },
    { title: 'Will the unemployment rate (U-3) be above 4.5% in March 2027?' },
    'unknown',
  ],
  ...[
    'Will Lena Moor vote for a 25 bps cut at the Fed meeting in April 2027?',
    'Will the Fed cut rates by 25 bps in April 2027 with a dissent?',
    'Will the Fed cut rates by 25 bps in March and April 2027?',
    'Will the FOMC unanimously cut rates by 25 bps in April 2027?',
    'Will the White House call for a 25 bps Fed rate cut in April 2027?',
    'Will Brazil call for a 25 bps Fed rate cut in April 2027?',
    'Will the Fed keep its plan for a 25 bps cut in April 2027?',
    'Will the Fed cut rates by 25 bps this April and leave QT unchanged in April 2027?',
  ].map((title): Case => [
    `a decision is not what else its title asks: ${title}`,
    fed('Will the Fed cut rates by 25 bps in April 2027?'),
    fed(title),
    'unknown',
  ]),
  ...(
    [
      ['equal to or above', 'at least'],
      ['equal to or greater than', 'at least'],
      ['meets or exceeds', 'at least'],
      ['exceeds or equals', 'at least'],
      ['at or exceeding', 'at least'],
      ['equal to or below', 'at most'],
      ['equal to or less than', 'at most'],
    ] as const
  ).flatMap(([comparator, same]): Case[] => [
    [
      `a level belongs to "${comparator}"`,
      jobs('US unemployment rate in March 2027?', `This market resolves to Yes if the rate is ${comparator} 4.7%.`),
      jobs('US unemployment rate in March 2027?', `This market resolves to Yes if the rate is ${same} 4.7%.`),
      'identical',
    ],
    [
      `a level of "${comparator}" is more than what lies beyond it`,
      jobs('US unemployment rate in March 2027?', `This market resolves to Yes if the rate is ${comparator} 4.7%.`),
      jobs(
        'US unemployment rate in March 2027?',
        `This market resolves to Yes if the rate is ${same === 'at least' ? 'above' : 'below'} 4.7%.`,
      ),
      'superset',
    ],
  ]),
  ...['non-seasonally adjusted', 'before seasonal adjustment', 'unadjusted'].map((raw): Case => [
    `a monthly figure that is ${raw} is another one`,
    jobs('Will CPI rise by more than 0.2% in March 2027?', 'Resolves to Yes if CPI rises by more than 0.2%.'),
    jobs('Will CPI rise by more than 0.2% in March 2027?', `Resolves to Yes if CPI, ${raw}, rises by more than 0.2%.`),
    'unknown',
  ]),
  ...(['December', 'November'] as const).map((month): Case => [
    `${month} right before a statistic`,
    { title: 'Will the unemployment rate be above 4.4% in December 2031?' },
    { title: `Will the ${month} unemployment rate be at least 4.5%?`, ends: '2032-01-08T00:00:00Z' },
    month === 'December' ? 'identical' : 'unknown',
  ]),
  [
    'the month of a release, and the month of its figure',
    { title: 'Will the CPI released in December be above 3.0% YoY?', ends: '2026-12-10T13:30:00Z' },
    { title: 'Will December CPI be above 3.0% YoY?', ends: '2027-01-13T13:30:00Z' },
    'unknown',
  ],
];

test.each(CASES)('economy: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
