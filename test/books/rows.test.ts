import { expect, test } from 'vitest';
import { depthRow } from '../../src/books/rows.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';

const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });

test('a depth that is larger than the store can hold is unknown, and the others of its row stay', () => {
  const facts = { platform: 'kalshi', ref: 'KXHUGE', receivedAt: '2026-11-23T10:00:00.000Z' } as const;
  const bids = [level('0.49', '7'), level('0.46', '999999999999'), level('0.45', '1')];
  const row = depthRow(facts as Parameters<typeof depthRow>[0], { bids, asks: [level('0.5', '3')] });
  expect(row).toMatchObject({ bid_1c: '7', bid_5c: null, bid_10c: null, ask_10c: '3' });
});
