import { expect, test } from 'vitest';
import { axisTexts } from '../../src/explorer/parts/axis.ts';

test('labels of an axis are short, and have more digits where two would be the same', () => {
  expect(axisTexts([0, 0.25, 0.5])).toEqual(['0.00', '0.25', '0.50']);
  expect(axisTexts([0, 50_000, 100_000])).toEqual(['0', '50K', '100K']);
  expect(axisTexts([9_500, 10_000, 10_500])).toEqual(['9.5K', '10K', '10.5K']);
  expect(axisTexts([125_001, 125_002, 125_003])).toEqual(['125.001K', '125.002K', '125.003K']);
  expect(axisTexts([1_234_567.25, 1_234_567.5])).toEqual(['1.234567M', '1.234568M']);
  expect(axisTexts([100.01, 100.02])).toEqual(['100.01', '100.02']);
  expect(axisTexts([1e-8, 2e-8])).toEqual(['0.00000001', '0.00000002']);
});

test('an axis without a label, and one whose labels are one value, are written all the same', () => {
  expect(axisTexts([])).toEqual([]);
  expect(axisTexts([12_345.6, 12_345.6])).toEqual(['12.35K', '12.35K']);
});
