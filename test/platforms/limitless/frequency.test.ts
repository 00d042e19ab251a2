import { expect, test } from 'vitest';
import { mapLimitlessSeries } from '../../../src/platforms/limitless/event.ts';
import { LimitlessMarket } from '../../../src/platforms/limitless/wire.ts';
import { marketRow } from '../../fixtures/limitless/rows.ts';

const duration = (...value: unknown[]) => ({ properties: [{ propertyKeySlug: 'duration', value }] });

test.each([
  ['its duration', { ...duration('5-min'), metadata: { frequencySubType: 'minutes_15' } }, '5m'],
  ['the sub-type of its metadata', { metadata: { frequencySubType: 'minutes_15', minutesDeadline: 30 } }, '15m'],
  ['the sub-type of its detail', { subFrequency: 'hours_4' }, '4h'],
  ['the minutes of its metadata', { metadata: { minutesDeadline: 240 } }, '4h'],
  ['the minutes of an hour', { metadata: { minutesDeadline: '60' } }, 'hourly'],
  ['its categories', { categories: ['Minutely', '10 min'] }, '10m'],
  ['its frequency', { frequency: 'weekly' }, 'weekly'],
  ['a number before a word', { frequency: 'minutely', subFrequency: 'minutes_5' }, '5m'],
  ['a word of its categories', { categories: ['Crypto', 'Annually'] }, 'annual'],
  ['short words in the plural', { categories: ['Minutely', '15 mins'] }, '15m'],
  ['half an hour', { categories: ['Half-hourly'] }, '30m'],
  ['a day', duration('1-day'), 'daily'],
  ['a day of hours', duration('24 hours'), 'daily'],
  ['a week of days', { subFrequency: 'days_7' }, 'weekly'],
  ['three months', duration('3 months'), 'quarterly'],
  ['a year', duration('1y'), 'annual'],
  ['two days', duration('2d'), '2d'],
  ['minutes of no number, which are unknown', { frequency: 'minutely', categories: ['Minutely'] }, null],
  ['words that are no period', { ...duration('soon', '0-min'), categories: ['Crypto'] }, null],
])('a series recurs by %s', (_, change, frequency) => {
  const row = LimitlessMarket.parse(marketRow({ categories: ['Minutely'], stableSlug: 'btc-price', ...change }));
  expect(mapLimitlessSeries(row)).toMatchObject({ seriesId: 'btc-price', frequency });
});
