import { expect, test } from 'vitest';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import { factsFrom, type OrderRow } from '../../src/orders/order-row.ts';
import type { PlatformOrder } from '../../src/platforms/order-contract.ts';

const row = (change: Partial<OrderRow>): OrderRow =>
  ({
    state: 'placed',
    orderId: 'a',
    outcomeIndex: 0,
    status: 'cancelled',
    size: '10',
    filledSize: '3',
    remainingSize: '0',
    metadata: {},
    ...change,
  }) as OrderRow;
const reportedAs = (
  status: PlatformOrder['status'],
  filled: string,
  change: Partial<PlatformOrder> = {},
): PlatformOrder =>
  ({
    orderId: 'a',
    outcomeIndex: 0,
    status,
    filledSize: parseSize(filled),
    remainingSize: parseSize('10') - parseSize(filled),
    averageFillPrice: parsePrice('0.4'),
    makerFee: null,
    takerFee: null,
    metadata: {},
    updatedAt: null,
    ...change,
  }) as PlatformOrder;

test('an order that is over stays over, whatever a read that lags behind reports', () => {
  expect(factsFrom(row({}), reportedAs('open', '3'), new Date())).toBeNull();
  expect(factsFrom(row({}), reportedAs('pending', '1'), new Date())).toBeNull();
});

test('a fill from before the end of an order that is reported after it is counted, and the order stays over', () => {
  const facts = factsFrom(row({}), reportedAs('pending', '5'), new Date());
  expect(facts).toMatchObject({ status: 'cancelled', filledSize: '5', remainingSize: '0', averageFillPrice: '0.4' });
});

test('fills do not shrink while an order works, unless their settlement failed', () => {
  const works = row({ status: 'partially_filled', remainingSize: '7' });
  expect(factsFrom(works, reportedAs('partially_filled', '2'), new Date())).toBeNull();
  const failed = reportedAs('open', '0', { settlement: 'failed', averageFillPrice: null });
  expect(factsFrom(works, failed, new Date())).toMatchObject({ status: 'open', filledSize: '0', remainingSize: '10' });
});
