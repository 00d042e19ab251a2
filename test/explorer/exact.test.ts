import { expect, test } from 'vitest';
import { rounded } from '../../src/explorer/parts/exact.ts';

test('a number is rounded by its decimal text, not by the double nearest to it', () => {
  expect([1.005, 8.345, 0.615, 1.115].map((value) => rounded(value, 2))).toEqual(['1.01', '8.35', '0.62', '1.12']);
  expect([0.00005, 0.99995].map((value) => rounded(value, 4))).toEqual(['0.0001', '1.0000']);
  expect([0.5, 1.49, 1e21].map((value) => rounded(value, 0))).toEqual(['1', '1', '1000000000000000000000']);
  expect([3, 1e-9, 0.1 + 0.2].map((value) => rounded(value, 2))).toEqual(['3.00', '0.00', '0.30']);
});

test('a rounded number has the sign of the value, and zero has none', () => {
  expect([-1.005, -0.004, 0].map((value) => rounded(value, 2))).toEqual(['-1.01', '0.00', '0.00']);
});
