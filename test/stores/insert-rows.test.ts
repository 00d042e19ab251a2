import { describe, expect, test } from 'vitest';
import { microsecondText, packTradeId } from '../../src/stores/clickhouse/insert-rows.ts';

describe('a time in the store', () => {
  test('keeps every microsecond, on both sides of midnight and of the year', () => {
    expect(microsecondText(Date.UTC(2026, 0, 6, 23, 9, 9) * 1000 + 123_456)).toBe('2026-01-06 23:09:09.123456');
    expect(microsecondText(Date.UTC(2026, 0, 1) * 1000 - 1)).toBe('2025-12-31 23:59:59.999999');
    expect(microsecondText(Date.UTC(2026, 0, 1) * 1000)).toBe('2026-01-01 00:00:00.000000');
    expect(microsecondText(0)).toBe('1970-01-01 00:00:00.000000');
  });
});

const hash = `0x${'ab'.repeat(32)}`;
const inTx = (suffix: string, tx = hash): bigint =>
  packTradeId({ tradeId: `${tx}-${suffix}`, transactionHash: tx }).order;
const uuid = (id: string): bigint => packTradeId({ tradeId: id, transactionHash: '' }).order;

describe('a trade id', () => {
  test('packs to a form that spells its text again', () => {
    expect(packTradeId({ tradeId: '072530dc-e0e9-9eec-eac5-06a89c1dc45f', transactionHash: '' }).form).toBe('uuid');
    expect(packTradeId({ tradeId: 'dd400bf672c962b27926e333a6079b83', transactionHash: hash }).form).toBe('hex');
    const packed = packTradeId({ tradeId: `${hash}-08244167-77282dd2`, transactionHash: hash });
    expect([packed.form, packed.text]).toEqual(['tx', '08244167-77282dd2']);
    expect(packTradeId({ tradeId: 'ODD-1', transactionHash: '' })).toMatchObject({ form: 'text', text: 'ODD-1' });
  });

  test('orders like its text, across transactions and within one', () => {
    const ascending = [
      inTx('99999999-ffffffff', `0x${'aa'.repeat(32)}`),
      inTx('08244167-00000000'),
      inTx('08244167-77282dd2'),
      inTx('08244168-00000000'),
      inTx('00000000-00000000', `0x${'ac'.repeat(32)}`),
    ];
    expect(ascending.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ascending);
    expect(uuid('072530dc-e0e9-9eec-eac5-06a89c1dc45f') < uuid('072530dc-e0e9-9eed-0000-000000000000')).toBe(true);
  });
});
