import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case } from './pair.ts';

const by = (title: string, rule: string) => ({ title, rules: `This market will resolve to "Yes" if ${rule}.` });
const LEAVES = 'Lindt leaves as Secretary of Homeland Security by March 31, 2027';

const CASES: readonly Case[] = [
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
    'an office by its short name',
    by('Karl Lindt out as Secretary of Homeland Security by March 31, 2027?', LEAVES),
    by('Karl Lindt out as DHS Secretary by March 31, 2027?', LEAVES),
    'identical',
  ],
  [
    'an act, and its announcement',
    by('Will Tarn acquire Quill by June 30, 2027?', 'Tarn acquires Quill by June 30, 2027, as announced by both'),
    by('Will Tarn announce to acquire Quill by June 30, 2027?', 'Tarn announces to acquire Quill by June 30, 2027'),
    'unknown',
  ],
  [
    'two persons, and one of them',
    by('Moor or Lindt out as DHS Secretary by March 31, 2027?', `Moor or ${LEAVES}`),
    by('Lindt out as DHS Secretary by March 31, 2027?', LEAVES),
    'unknown',
  ],
  [
    'a step that the rules of one market alone state',
    by('Will Tarn IPO by June 30, 2027?', 'Tarn shares trade publicly after an IPO by June 30, 2027'),
    by('Will Tarn announce an IPO by June 30, 2027?', 'Tarn announces an IPO by June 30, 2027'),
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
