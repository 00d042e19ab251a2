import { expect, test } from 'vitest';
import { nameOf, namesApart, namesWithin, outcomeName, splitTitle } from '../../src/explorer/parts/names.ts';

/** Day, and day and minute, of a time in Unix seconds. */
const ENDS = [5, 0].map(
  (from) =>
    (seconds: number): string =>
      new Date(seconds * 1000).toISOString().slice(from, from === 0 ? 16 : 10),
);

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
  expect([...namesApart(markets, 30, ENDS)]).toEqual([
    ['a', '… 75 in Q4 2026?'],
    ['b', '… 100 in Q4 2026?'],
  ]);
  expect(namesApart(markets, 60, ENDS).size).toBe(0);
  expect(namesApart([titled('a', 'Twice the same?'), titled('b', 'Twice the same?')], 5, ENDS).size).toBe(0);
});

const ending = (id: string, title: string, trading_end_at: string | null | undefined, yes_sub_title = '') => ({
  id,
  title,
  trading_end_at,
  metadata: { yes_sub_title },
});

const shown = (...markets: Parameters<typeof namesApart>[0]) => Object.fromEntries(namesApart(markets, 30, ENDS));

test('markets of one title and platform have before it when trading ends, or their ids where that is equal', () => {
  const game = 'Pines vs. Mesa';
  const [day, evening, next] = ['2026-11-28T17:00:00Z', '2026-11-28T23:30:00Z', '2026-11-29T17:00:00Z'];
  expect(shown(ending('x:1', game, day), ending('x:2', game, next), ending('x:3', 'Rain?', next))).toEqual({
    'x:1': '11-28',
    'x:2': '11-29',
  });
  expect(shown(ending('x:1', game, day), ending('x:2', game, evening))).toEqual({
    'x:1': '2026-11-28T17:00',
    'x:2': '2026-11-28T23:30',
  });
  expect(shown(ending('x:1', game, day, 'Mesa'), ending('x:2', game, next, 'Mesa'))).toEqual({
    'x:1': 'Mesa, 11-28',
    'x:2': 'Mesa, 11-29',
  });
  expect(shown(ending('x:1', game, null), ending('x:2', game, null))).toEqual({ 'x:1': '1', 'x:2': '2' });
});

test('nothing is put before a title of two platforms, of two sides, of two trades of a market or before it is loaded', () => {
  const game = 'Pines vs. Mesa';
  const [day, next] = ['2026-11-28T17:00:00Z', '2026-11-29T17:00:00Z'];
  expect(namesApart([ending('x:1', game, day), ending('y:1', game, next)], 30, ENDS).size).toBe(0);
  expect(namesApart([ending('x:1', game, day, 'Pines'), ending('x:2', game, next, 'Mesa')], 30, ENDS).size).toBe(0);
  expect(namesApart([ending('x:1', game, day), ending('x:1', game, day)], 30, ENDS).size).toBe(0);
  expect(namesApart([ending('x:1', game, undefined), ending('x:2', game, day)], 30, ENDS).size).toBe(0);
});

test('markets of one event with one name are told apart too', () => {
  const markets = [ending('x:1', 'Mesa at Pines', '2026-11-28T17:00:00Z'), ending('x:2', 'Mesa at Pines', null)];
  expect([...namesWithin(markets, ENDS).values()]).toEqual(['Mesa at Pines · 11-28', 'Mesa at Pines']);
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
