import { expect, test } from 'vitest';
import { nameOf } from '../../src/explorer/parts/names.ts';

const named = (title: string, yes_sub_title: string): string => nameOf({ title, metadata: { yes_sub_title } });

test('a market has its own name before a title that it shares, or that ends with it', () => {
  expect(named('Pines at Mesa Winner?', 'Mesa')).toBe('Mesa · Pines at Mesa Winner?');
  expect(named('Pines vs. Mesa', 'pines')).toBe('pines · Pines vs. Mesa');
  expect(named('Who will win the race? (Ada Reyes)', 'Ada Reyes')).toBe('Ada Reyes · Who will win the race?');
  expect(named('Which party will lead?: Green List', 'Green List')).toBe('Green List · Which party will lead?');
  expect(named('Rates unchanged last month?', 'No change')).toBe('No change · Rates unchanged last month?');
});

test('a title that says what the market is about stands alone', () => {
  expect(named('Will bills passed be over 20?', '20')).toBe('Will bills passed be over 20?');
  expect(named('Will it be 22°C or above tomorrow?', '22°C or above')).toBe('Will it be 22°C or above tomorrow?');
  expect(named('Ada Reyes', 'Ada Reyes')).toBe('Ada Reyes');
  expect(nameOf({ title: 'BTC Up or Down', metadata: undefined })).toBe('BTC Up or Down');
});
