import { expect, test } from 'vitest';
import { textsOf } from '../../src/matching/market.ts';

const MARKET = {
  platform: 'kalshi' as const,
  platform_id: 'KXTEST-27MAR01-AB',
  title: 'Will it be so?',
  outcome_name: 'So',
  outcomes: [
    { id: 'yes', name: 'Yes' },
    { id: 'no', name: 'No' },
  ],
  event_id: 'KXTEST-27MAR01',
  event_name: 'So or not',
  series_id: 'KXTEST',
  slug: 'kxtest-27mar01-ab',
  description: 'If it is so, then the market resolves to Yes.',
  category: 'Sports',
  subcategory: 'Pro Baseball',
  tags: ['Baseball'],
  trading_start_at: '2027-02-01T00:00:00.000Z',
  trading_end_at: '2027-03-01T18:00:00.000Z',
  resolution_date: null,
  resolution_criteria: '',
  resolution_source: '',
  metadata: {},
};

const strike = (more: object) => textsOf({ ...MARKET, metadata: { strike: more } }).strike;

test('the description stands in for rules that are not stated, the end of trading for the resolution', () => {
  expect(textsOf(MARKET)).toMatchObject({
    id: 'KXTEST-27MAR01-AB',
    rules: MARKET.description,
    category: 'Sports Pro Baseball Baseball',
    endsAtMs: Date.parse('2027-03-01T18:00:00Z'),
  });
});

test('the type of a strike says which ends belong to its range', () => {
  expect(strike({ type: 'greater', floor: 4.5 })).toMatchObject({ low: 4.5, high: null, hasLow: false });
  expect(strike({ type: 'less_or_equal', cap: '3' })).toMatchObject({ low: null, high: 3, hasHigh: true });
  expect(strike({ type: 'between', floor: 10, cap: 12 })).toMatchObject({
    low: 10,
    high: 12,
    hasLow: true,
    hasHigh: true,
  });
  expect(strike({ floor: 10 })).toBeNull();
});

test('the start is that of the game; that of trading counts where trading lasts no longer than a day', () => {
  expect(textsOf(MARKET).startsAtMs).toBeNull();
  const short = { ...MARKET, trading_start_at: '2027-03-01T17:45:00.000Z' };
  expect(textsOf(short).startsAtMs).toBe(Date.parse('2027-03-01T17:45:00Z'));
  const game = { ...MARKET, metadata: { game_start_time: '2027-03-01T20:00:00Z' } };
  expect(textsOf(game).startsAtMs).toBe(Date.parse('2027-03-01T20:00:00Z'));
});
