import { expect, test } from 'vitest';
import { drawnBy } from '../../src/explorer/sql/points.ts';

const x = { name: 'price', type: 'Float64' };
const y = { name: 'size', type: 'Nullable(Float64)' };
const platform = { name: 'platform', type: 'String' };

test('every row of a result is drawn, also rows of the same x', () => {
  const rows = [
    [2, 30],
    [1, 10],
    [2, null],
    [2, 31],
    [1, 11],
  ];
  expect(drawnBy({ columns: [x, y], rows }, x, y)).toEqual({
    xs: [1, 1, 2, 2, 2],
    lines: [{ name: 'size', values: [10, 11, 30, null, 31] }],
  });
});

test('lines of several names share an x', () => {
  const rows = [
    [1, 10, 'a'],
    [1, 20, 'b'],
    [2, 21, 'b'],
    [2, 22, 'b'],
    [3, 12, 'a'],
  ];
  expect(drawnBy({ columns: [x, y, platform], rows }, x, y)).toEqual({
    xs: [1, 2, 2, 3],
    lines: [
      { name: 'a', values: [10, null, null, 12] },
      { name: 'b', values: [20, 21, 22, null] },
    ],
  });
});
