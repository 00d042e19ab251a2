import { expect, test } from 'vitest';
import { rounded } from '../../src/explorer/parts/exact.ts';
import { moveOf, priceDigitsOf } from '../../src/explorer/parts/prices.ts';

test('a price moves only between two known values: to an unknown one, and back from it, is no move', () => {
  expect([moveOf(0.4, 0.5), moveOf(0.5, 0.4)]).toEqual(['up', 'down']);
  expect([moveOf(0.5, null), moveOf(null, 0.5), moveOf(undefined, 0.5), moveOf(0.5, 0.5)]).toEqual(['', '', '', '']);
});

const shown = (value: number, digits?: number): string => rounded(value, priceDigitsOf(value, digits));

test('a price has no zeros at its end beyond two decimals, unless it would look like 0 or 1', () => {
  expect([0.62003, 0.4200012, 0.05, 0.9181, 0.12345].map((value) => shown(value))).toEqual([
    '0.62',
    '0.42',
    '0.05',
    '0.9181',
    '0.1235',
  ]);
  expect([0.99999, 0.00001, 1, 0].map((value) => shown(value))).toEqual(['1.0000', '0.0000', '1.00', '0.00']);
  expect([shown(0.5, 3), shown(0.9985, 2), shown(0.99999, 2)]).toEqual(['0.500', '0.9985', '1.0000']);
});
