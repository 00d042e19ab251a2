import { expect, test } from 'vitest';
import { LeftOut } from '../../src/platforms/left-out.ts';
import type { BadRow } from '../../src/platforms/contract.ts';

const row = (id: string, over: Partial<BadRow> = {}): BadRow => ({
  platform: 'kalshi',
  kind: 'market',
  id,
  reason: 'ticker: missing',
  ...over,
});

test('rows and fields are counted apart, the first five of each reason are named, rows first', () => {
  const leftOut = new LeftOut();
  for (const id of ['A', 'B', 'C']) leftOut.add(row(id, { field: 'icon', reason: 'not a text' }));
  leftOut.add(row('D'));
  leftOut.add(row('E', { kind: 'event', field: 'icon', reason: 'not a text' }));
  expect([leftOut.rows, leftOut.fields]).toEqual([1, 4]);
  expect(leftOut.words()).toBe(
    'market D: ticker: missing (1 row); market A, B, C: icon: not a text (3 fields); event E: icon: not a text (1 field)',
  );
});

test('a run that left nothing out says nothing; one with many reasons keeps a bounded number', () => {
  const leftOut = new LeftOut();
  expect(leftOut.words()).toBe('');
  for (let n = 0; n < 5000; n += 1) leftOut.add(row(`M${n}`, { reason: `field ${n}: odd` }));
  expect(leftOut.rows).toBe(5000);
  expect(leftOut.examples).toHaveLength(5);
  expect(leftOut.words().length).toBeLessThan(1000);
});

test('of many rows with one reason five are named', () => {
  const leftOut = new LeftOut();
  for (let n = 0; n < 40; n += 1) leftOut.add(row(`M${n % 20}`));
  expect(leftOut.words()).toBe('market M0, M1, M2, M3, M4: ticker: missing (40 rows)');
});
