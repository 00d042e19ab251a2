import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case } from './pair.ts';

const asks = (title: string): { title: string } => ({ title: `Will ${title} in 2029?` });

const CASES: readonly Case[] = [
  ['a strike in the other direction', asks('Norland strike Sudmark'), asks('Sudmark strike Norland'), 'unknown'],
  [
    'tariffs of the other country',
    asks('Norland raise tariffs on Sudmark'),
    asks('Sudmark raise tariffs on Norland'),
    'unknown',
  ],
  ['the United States among those who act', asks('the US strike Sudmark'), asks('Norland strike Sudmark'), 'unknown'],
  [
    'two who act are more than one of them',
    asks('the US and Norland strike Sudmark'),
    asks('Norland strike Sudmark'),
    'unknown',
  ],
  ['acquiring is not being acquired', asks('Tarn acquire Ostheim'), asks('Tarn be acquired by Ostheim'), 'unknown'],
  [
    'one country agrees to the terms of another',
    asks('Norland agree to a ceasefire in Sudmark'),
    asks('Sudmark agree to a ceasefire in Norland'),
    'unknown',
  ],
  [
    'the same doer in another form',
    asks('Norland strike Sudmark'),
    { title: 'Norland strikes Sudmark in 2029?' },
    'identical',
  ],
  [
    'who says whose name',
    asks('Odo Varga say "Lena Moor" during the debate'),
    asks('Lena Moor say "Odo Varga" during the debate'),
    'unknown',
  ],
  [
    'both are more than either',
    asks('Odo Varga visit Peru and Chile'),
    asks('Odo Varga visit Peru or Chile'),
    'unknown',
  ],
  [
    'a list with two readings is left alone',
    asks('Odo Varga visit Peru and Chile or Cuba'),
    asks('Odo Varga visit Peru or Chile and Cuba'),
    'unknown',
  ],
  [
    'before an event is not after it',
    asks('Odo Varga resign before the summit'),
    asks('Odo Varga resign after the summit'),
    'unknown',
  ],
  [
    'each month is more than one month',
    asks('Odo Varga sign a treaty each month'),
    asks('Odo Varga sign a treaty any month'),
    'unknown',
  ],
  [
    'a number in words has its comparator',
    asks('Tarn launch at least two rockets'),
    asks('Tarn launch exactly two rockets'),
    'superset',
  ],
  [
    'more than two is three or more',
    asks('Tarn launch more than two rockets'),
    asks('Tarn launch 3 or more rockets'),
    'identical',
  ],
  [
    'the most of all are more than some',
    asks('Odo Varga sign the most bills'),
    asks('Odo Varga sign bills'),
    'unknown',
  ],
  [
    'a market whose first outcome is No',
    { ...asks('Odo Varga resign'), outcomes: ['No', 'Yes'] },
    { ...asks('Odo Varga resign'), outcomes: ['Yes', 'No'] },
    'unknown',
  ],
  ...['impose tariffs on', 'endorse', 'lift sanctions on', 'ban imports in a deal with'].map((act): Case => [
    `who does it to whom: ${act}`,
    asks(`Norland ${act} Sudmark`),
    asks(`Sudmark ${act} Norland`),
    'unknown',
  ]),
  [
    'a ceasefire has no first side',
    asks('Norland and Sudmark declare a ceasefire'),
    asks('Sudmark and Norland declare a ceasefire'),
    'identical',
  ],
  ...[
    ['the US and Norland sign a trade deal', 'Norland and the US sign a trade deal'],
    ['Norland sign a peace deal with Sudmark', 'Sudmark sign a peace deal with Norland'],
    ['the US sign a treaty with Norland', 'Norland sign a treaty with the US'],
    ['Norland agree to a ceasefire with Sudmark', 'Sudmark agree to a ceasefire with Norland'],
    ['the federal government ban Tarn', 'the government ban Tarn'],
    ['Petra Alm release a new album', 'Petra Alm release an album'],
  ].map(([one = '', other = '']): Case => [`the same act: ${one}`, asks(one), asks(other), 'identical']),
  ...[
    ['Norland sign a law on a deal with Sudmark', 'Sudmark sign a law on a deal with Norland'],
    ['Norland sign a trade deal with the US', 'Norland sign a trade deal'],
    ['Norland sign a new deal to release prisoners', 'Norland sign a deal to release prisoners'],
  ].map(([one = '', other = '']): Case => [`another act: ${one}`, asks(one), asks(other), 'unknown']),
  ['a new deal is one more', asks('Odo Varga sign a new deal'), asks('Odo Varga sign a deal'), 'unknown'],
  ['a tariff of a rate', asks('Norland impose a 25% tariff'), asks('Norland impose a tariff'), 'unknown'],
  [
    'to win a deal is not to hit it',
    asks('Odo Varga win a Norland deal'),
    asks('Odo Varga hit a Norland deal'),
    'unknown',
  ],
  [
    'an all-time high is always a new one',
    asks('Ostcoin hit a new all time high'),
    asks('Ostcoin hit an all time high'),
    'identical',
  ],
];

test.each(CASES)('deciding words: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
