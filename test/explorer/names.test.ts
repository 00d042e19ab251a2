import { expect, test } from 'vitest';
import { nameOf, namesApart, outcomeName, splitTitle } from '../../src/explorer/parts/names.ts';

const market = (title: string, yes_sub_title: string) => ({ title, metadata: { yes_sub_title } });

test('a title that two markets share has the name of each before it', () => {
  expect(nameOf(market('Pines at Mesa Winner?', 'Mesa'))).toBe('Mesa · Pines at Mesa Winner?');
  expect(nameOf(market('Pines at Mesa winner?', 'Mesa'))).toBe('Mesa · Pines at Mesa winner?');
  expect(nameOf(market('Pines vs. Mesa', 'pines'))).toBe('pines · Pines vs. Mesa');
  expect(nameOf(market('Rates unchanged last month?', 'No change'))).toBe('No change · Rates unchanged last month?');
});

test('a name at the end of a title comes first in lists, which cut titles, and stays where it is elsewhere', () => {
  const race = market('Who will win the race? (Ada Reyes)', 'Ada Reyes');
  expect(splitTitle(race)).toEqual({ own: 'Ada Reyes', rest: 'Who will win the race?' });
  expect(nameOf(race)).toBe(race.title);
  const party = market('Which party will lead?: Green List', 'Green List');
  expect(splitTitle(party)).toEqual({ own: 'Green List', rest: 'Which party will lead?' });
});

test('where a title is cut before it names its market, the name comes first', () => {
  const rate = market('Will the upper bound of the base rate be above 4.00%?', 'Above 4.00%');
  expect(splitTitle(rate, 30)).toEqual({ own: 'Above 4.00%', rest: rate.title });
  expect(splitTitle(rate).own).toBe('');
});

test('an outcome is named in one way before and after its market is loaded', () => {
  const outcomes = [{ id: 'no', name: 'No' }];
  expect(outcomeName({ outcome: 'no' }, undefined)).toBe('No');
  expect(outcomeName({ outcome: 'no' }, { outcomes })).toBe('No');
});

const titled = (id: string, title: string) => ({ id, title, metadata: {} });

test('titles that a list would cut alike have before them what differs', () => {
  const markets = [
    titled('a', 'Orbita satellites in orbit above 75 in Q4 2026?'),
    titled('b', 'Orbita satellites in orbit above 100 in Q4 2026?'),
    titled('c', 'Will it rain?'),
  ];
  expect([...namesApart(markets, 30)]).toEqual([
    ['a', '… 75 in Q4 2026?'],
    ['b', '… 100 in Q4 2026?'],
  ]);
  expect(namesApart(markets, 60).size).toBe(0);
  expect(namesApart([titled('a', 'Twice the same?'), titled('b', 'Twice the same?')], 5).size).toBe(0);
});

test('a title that says what its market is about stands alone', () => {
  const titles = [
    ['Will bills passed be over 20?', '20'],
    ['Will it be 22°C or above tomorrow?', '22°C or above'],
    ['Will Ostrom be the largest company at year end?', 'Ostrom'],
    ['Ada Reyes', 'Ada Reyes'],
  ] as const;
  for (const [title, own] of titles) expect(splitTitle(market(title, own))).toEqual({ own: '', rest: title });
  expect(nameOf({ title: 'BTC Up or Down', metadata: undefined })).toBe('BTC Up or Down');
});
