import { expect, test } from 'vitest';
import { moveOf } from '../../src/explorer/parts/prices.ts';

test('a price moves only between two known values: to an unknown one, and back from it, is no move', () => {
  expect([moveOf(0.4, 0.5), moveOf(0.5, 0.4)]).toEqual(['up', 'down']);
  expect([moveOf(0.5, null), moveOf(null, 0.5), moveOf(undefined, 0.5), moveOf(0.5, 0.5)]).toEqual(['', '', '', '']);
});
