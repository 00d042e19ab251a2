import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case } from './pair.ts';

const by = (title: string, rule: string) => ({ title, rules: `This market will resolve to "Yes" if ${rule}.` });
const LAUNCHES = { eventTitle: 'Tarn launches in 2027?' };
const LEAVES = 'Lindt leaves as Secretary of Homeland Security by March 31, 2027';

const CASES: readonly Case[] = [
  [
    'a holder of an office by the family name',
    by(
      'Karl Lindt out as President of Norland by March 31, 2027?',
      'Karl Lindt ceases to be President of Norland by March 31, 2027',
    ),
    by(
      'Lindt out as President of Norland by March 31, 2027?',
      'Lindt ceases to be President of Norland by March 31, 2027',
    ),
    'identical',
  ],
  [
    'two holders of one office',
    by(
      'Karl Lindt out as President of Norland by March 31, 2027?',
      'Karl Lindt ceases to be President of Norland by March 31, 2027',
    ),
    by(
      'Paul Lindt out as President of Norland by March 31, 2027?',
      'Paul Lindt ceases to be President of Norland by March 31, 2027',
    ),
    'unknown',
  ],
  [
    'holders of two offices',
    by(
      'Karl Lindt out as President of Norland by March 31, 2027?',
      'Karl Lindt ceases to be President of Norland by March 31, 2027',
    ),
    by(
      'Lindt out as President of Sudmark by March 31, 2027?',
      'Lindt ceases to be President of Sudmark by March 31, 2027',
    ),
    'unknown',
  ],
  [
    'an office by its short name',
    by('Karl Lindt out as Secretary of Homeland Security by March 31, 2027?', LEAVES),
    by('Karl Lindt out as DHS Secretary by March 31, 2027?', LEAVES),
    'identical',
  ],
  [
    'a step that one title leaves out and both rules state',
    by('Will Tarn IPO by June 30, 2027?', 'Tarn confirms an IPO by June 30, 2027'),
    by('Will Tarn confirm an IPO by June 30, 2027?', 'Tarn confirms an IPO by June 30, 2027'),
    'identical',
  ],
  [
    'a step that the rules of one market alone state',
    by('Will Tarn IPO by June 30, 2027?', 'Tarn shares trade publicly after an IPO by June 30, 2027'),
    by('Will Tarn announce an IPO by June 30, 2027?', 'Tarn announces an IPO by June 30, 2027'),
    'unknown',
  ],
  [
    'launches of rockets',
    {
      ...by('Will Tarn launch more than 160 rockets in 2027?', 'the number of Tarn launches in 2027 is above 160'),
      ...LAUNCHES,
    },
    by('Will Tarn have 161 or more launches in 2027?', 'Tarn completes 161 or more launches in 2027'),
    'identical',
  ],
  [
    'launches of one sort of rocket',
    {
      ...by('Will Tarn launch more than 60 rockets in 2027?', 'the number of Tarn launches in 2027 is above 60'),
      ...LAUNCHES,
    },
    by('Will Tarn have 61 or more Quill launches in 2027?', 'Tarn completes 61 or more Quill launches in 2027'),
    'unknown',
  ],
  [
    'the top model may be that of another board than the best one',
    { title: 'Will Quill have the top AI model at the end of May 2027?' },
    { title: 'Will Quill have the best AI model at the end of May 2027?' },
    'unknown',
  ],
  [
    'a name at the end of a title that has it already',
    { title: 'Will Quill have the best AI model at the end of May 2027?: Quill' },
    { title: 'Will Quill have the best AI model at the end of May 2027?' },
    'identical',
  ],
  [
    'a month before the name of its figure',
    { title: 'Will the unemployment rate be above 4.4% in December 2026?' },
    by(
      'Will the December unemployment rate be at least 4.5%?',
      'the unemployment rate is at least 4.5% for December 2026',
    ),
    'identical',
  ],
  [
    'another month before the name of the figure',
    { title: 'Will the unemployment rate be above 4.4% in December 2026?' },
    by(
      'Will the November unemployment rate be at least 4.5%?',
      'the unemployment rate is at least 4.5% for November 2026',
    ),
    'unknown',
  ],
];

test.each(CASES)('names in acts: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
