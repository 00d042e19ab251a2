import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const degree = (range: string, publisher?: string): Some => ({
  title: `Highest temperature in Ostheim on March 3, 2027?: ${range}`,
  eventTitle: 'Highest temperature in Ostheim on March 3, 2027?',
  rules:
    publisher === undefined
      ? ''
      : `This market will resolve to the range of the highest temperature recorded at the Ostheim Field Station on March 3, 2027, as published by ${publisher}.`,
});

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
  [
    'a date that names a market of a ladder is no name',
    {
      title: 'Rafael Ortiz out as Prime Minister of Peru by June 30?',
      eventTitle: 'Rafael Ortiz out as Prime Minister of Peru by...?',
      outcomeName: 'June 30',
      ends: '2027-06-30T00:00:00Z',
    },
    {
      title: 'Rafael Ortiz out as Prime Minister of Peru by...?: June 30',
      eventTitle: 'Rafael Ortiz out as Prime Minister of Peru by...?',
      outcomeName: 'June 30',
      ends: '2027-06-30T00:00:00Z',
    },
    'identical',
  ],
  [
    'a title that begins as its group fills no blank of it',
    {
      title: 'Quill-6 released by March 31, 2027?',
      eventTitle: 'Quill-6 released by...?',
      ends: '2027-03-31T00:00:00Z',
    },
    {
      title: 'Quill-6 released by ___?: March 31, 2027',
      eventTitle: 'Quill-6 released by ___?',
      ends: '2027-03-31T00:00:00Z',
    },
    'identical',
  ],
  [
    'the end of a year is no word of the question',
    { title: 'Will Norland invade Sudmark by end of 2027?', ends: '2027-12-31T00:00:00Z' },
    { title: 'Will Norland invade Sudmark before 2028?', ends: '2027-12-31T00:00:00Z' },
    'identical',
  ],
  [
    'a commutation is more than a pardon',
    {
      title: 'Will the king pardon Ivo Brandt before 2028?',
      rules: 'If the king pardons Ivo Brandt before Jan 1, 2028, then the market resolves to Yes.',
    },
    {
      title: 'Will the king pardon Ivo Brandt before 2028?',
      rules:
        'This market will resolve to "Yes" if the king grants Ivo Brandt a pardon, commutation, or reprieve by December 31, 2027.',
    },
    'unknown',
  ],
  ['one degree', degree('4°C'), degree('4°C'), 'identical'],
  ['two degrees', degree('-4°C'), degree('4°C'), 'disjoint'],
  ['a degree and all below it', degree('4°C or below'), degree('4°C'), 'superset'],
  [
    'two publishers of one station',
    degree('4°C', 'National Weather Service'),
    degree('4°C', 'Wunderground'),
    'overlap',
  ],
  ['a station that one market alone names', degree('4°C', 'Wunderground'), degree('4°C'), 'unknown'],
  [
    'two averages of polls',
    {
      title: 'Will the approval rating be between 44.0% and 44.9% on March 5, 2027?',
      rules: 'This market will resolve according to the Silver Bulletin approval tracker.',
    },
    {
      title: 'Will the approval rating be between 44.0% and 44.9% on March 5, 2027?',
      rules: 'This market will resolve according to the average of RealClearPolitics.',
    },
    'overlap',
  ],
  [
    'a rating with decimals and no sign of percent',
    { title: "Will Odo Varga's approval rating be above 41.2 on March 5, 2027?" },
    { title: "Will Odo Varga's approval rating be above 41.7 on March 5, 2027?" },
    'superset',
  ],
  ...['second-hottest year', '4th-warmest year', 'one of the three hottest years'].map((rank): Case => [
    `another rank than the hottest: ${rank}`,
    { title: `Will 2028 be the ${rank} on record?` },
    { title: 'Will 2028 be the hottest year on record?' },
    'unknown',
  ]),
  ['degrees of a scale and of none', degree('20°C or higher'), degree('20° or higher'), 'unknown'],
  ['degrees of a scale and of none', degree('20°F or higher'), degree('20° or higher'), 'unknown'],
  ['degrees of a scale and of none', degree('68-69°'), degree('20°C'), 'unknown'],
  ['degrees of Fahrenheit and of none, too hot for Celsius', degree('68-69°F'), degree('68-69°'), 'identical'],
  ['degrees of two scales', degree('20°C or higher'), degree('20°F or higher'), 'unknown'],
  [
    'snow by a day is not snow on it',
    { title: 'Will Ostheim have more than 3 inches of snow by March 9, 2027?' },
    { title: 'Will Ostheim have more than 3 inches of snow on March 9, 2027?' },
    'unknown',
  ],
  [
    'what lasts longer has lasted',
    { title: 'Will the Sudmark ceasefire last until May 31, 2027?' },
    { title: 'Will the Sudmark ceasefire last until June 30, 2027?' },
    'superset',
  ],
  [
    'fewer until later is fewer until now',
    { title: 'Will Tarn post fewer than 50 tweets by May 31, 2027?' },
    { title: 'Will Tarn post fewer than 50 tweets by June 30, 2027?' },
    'superset',
  ],
  [
    'an act may happen above and below a number',
    { title: 'Will Tarn release a phone below $300 in 2027?' },
    { title: 'Will Tarn release a phone above $300 in 2027?' },
    'unknown',
  ],
  [
    'the opening of a film is one weekend',
    { title: 'Will "Iron Orchard" Opening Weekend Box Office be between $20m and $25m?', ends: '2027-03-08T00:00:00Z' },
    {
      title: '"Iron Orchard" Opening Weekend Box Office: 20-25m',
      eventTitle: '"Iron Orchard" Opening Weekend Box Office',
      ends: '2027-03-08T00:00:00Z',
    },
    'identical',
  ],
];

test.each(CASES)('happenings: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
