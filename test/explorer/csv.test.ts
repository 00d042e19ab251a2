import { expect, test } from 'vitest';
import { csvOf } from '../../src/explorer/market/csv.ts';
import type { Bar } from '../../src/explorer/parts/answers.ts';

test('the CSV of a chart has each bucket with all digits, and nothing where a value is unknown', () => {
  const bar = {
    timestamp: 1_795_737_600,
    price: { open: 0.1, high: 0.0000001, low: 0, close: null },
    liquidity: { best_bid: 0.39, best_ask: null },
    volume: 12.5,
    trade_count: 0,
    open_interest: null,
  } as Bar;
  expect(csvOf([bar])).toBe(
    'time,open,high,low,close,bid,ask,volume,trades,open_interest\n2026-11-27T00:00:00.000Z,0.1,0.0000001,0,,0.39,,12.5,0,\n',
  );
});
