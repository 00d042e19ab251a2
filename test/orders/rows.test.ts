import { describe, expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd } from '../../src/core/decimal.ts';
import { factsFrom, type OrderRow } from '../../src/orders/order-row.ts';
import { toOrderAnswer } from '../../src/orders/to-answer.ts';
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
    receivedSize: null,
    receivedUsd: null,
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

test('an average that may be in prices of the other outcome counts only until a sure one of the same fills is known', () => {
  const unsure = { averageFillPrice: parsePrice('0.6'), isAverageUnsure: true } as const;
  const averageAfter = (known: string | null, filled: string) =>
    factsFrom(
      row({ averageFillPrice: known }),
      reportedAs('cancelled', filled, { ...unsure, makerFee: 0n }),
      new Date(),
    )?.averageFillPrice;
  expect(averageAfter('0.4', '3')).toBe('0.4');
  expect(averageAfter(null, '3')).toBe('0.6');
  expect(averageAfter('0.4', '5')).toBe('0.6');
});

const over = (status: PlatformOrder['status'], filled: string): OrderRow => row({ status, filledSize: filled });

describe('a final state', () => {
  test.each([
    ['cancelled', 'filled'],
    ['cancelled', 'expired'],
    ['expired', 'cancelled'],
    ['expired', 'filled'],
    ['filled', 'cancelled'],
  ] as const)('%s does not become %s without a higher filled size', (before, after) => {
    const facts = factsFrom(over(before, '7'), reportedAs(after, '7', { makerFee: 0n }), new Date());
    expect(facts).toMatchObject({ status: before, filledSize: '7', remainingSize: '0', makerFee: '0' });
    expect(factsFrom(over(before, '7'), reportedAs(after, '6.99'), new Date())).toBeNull();
  });

  test.each([
    ['cancelled', 'filled', 'filled'],
    ['expired', 'filled', 'filled'],
    ['cancelled', 'expired', 'cancelled'],
  ] as const)('%s that is reported as %s with a higher filled size becomes %s', (before, after, expected) => {
    const report = reportedAs(after, '9.997714', { remainingSize: 0n });
    const facts = factsFrom(over(before, '7'), report, new Date());
    expect(facts).toMatchObject({ status: expected, filledSize: '9.997714', remainingSize: '0' });
  });

  test.each(['cancelled', 'expired', 'filled'] as const)('%s in a list of working orders', (before) => {
    const ended = { ...over(before, '3'), askedAt: new Date(0) };
    const listed = reportedAs('partially_filled', '3');
    const works = { status: 'partially_filled', filledSize: '3', remainingSize: '7' };
    const changed = factsFrom(ended, listed, new Date(60_000), true);
    if (before === 'filled') expect(changed).toBeNull();
    else expect(changed).toMatchObject(works);
    // A list may be late, and a look-up of one order proves less than a list.
    expect(factsFrom(ended, listed, new Date(59_999), true)).toBeNull();
    expect(factsFrom(ended, listed, new Date(60_000))).toBeNull();
    expect(factsFrom(ended, reportedAs('pending', '3'), new Date(60_000), true)).toBeNull();
  });

  test('changes when its settlement failed', () => {
    const undone = reportedAs('cancelled', '2', { settlement: 'failed', remainingSize: 0n });
    expect(factsFrom(over('filled', '10'), undone, new Date())).toMatchObject({ status: 'cancelled', filledSize: '2' });
  });
});

test('what an order brought is kept while its filled size is, and unknown after more was filled', () => {
  const known = row({ status: 'partially_filled', remainingSize: '7', receivedSize: '2.97' });
  expect(factsFrom(known, reportedAs('cancelled', '3'), new Date())).toMatchObject({ receivedSize: '2.97' });
  expect(factsFrom(known, reportedAs('filled', '10'), new Date())).toMatchObject({ receivedSize: null });
  const brought = { receivedSize: parseSize('9.9'), receivedUsd: null };
  expect(factsFrom(known, reportedAs('filled', '10', brought), new Date())).toMatchObject({ receivedSize: '9.9' });
  const sold = { receivedSize: null, receivedUsd: parseUsd('3.93') };
  expect(factsFrom(known, reportedAs('filled', '10', sold), new Date())).toMatchObject({ receivedUsd: '3.93' });
});

test('fills do not shrink while an order works, unless their settlement failed', () => {
  const works = row({ status: 'partially_filled', remainingSize: '7' });
  expect(factsFrom(works, reportedAs('partially_filled', '2'), new Date())).toBeNull();
  const failed = reportedAs('open', '0', { settlement: 'failed', averageFillPrice: null });
  expect(factsFrom(works, failed, new Date())).toMatchObject({ status: 'open', filledSize: '0', remainingSize: '10' });
});

test('a match that a report lacks is counted until it fails', () => {
  const counts = row({ status: 'partially_filled', averageFillPrice: '0.4', metadata: { trade_ids: ['a', 'b'] } });
  const change = { averageFillPrice: null, makerFee: 0n, metadata: { trade_ids: ['a'] } };
  const lagging = factsFrom(counts, reportedAs('partially_filled', '3', change), new Date());
  expect(lagging).toMatchObject({ filledSize: '3', averageFillPrice: '0.4' });
  const failed = { settlement: 'failed', undoneTrades: ['b'], metadata: { trade_ids: ['a'] } } as const;
  const facts = factsFrom({ ...counts, ...lagging }, reportedAs('partially_filled', '2', failed), new Date());
  expect(facts).toMatchObject({ filledSize: '2', metadata: { trade_ids: ['a'] } });
});

test('a match that failed before takes nothing from the fills after it', () => {
  const change = { averageFillPrice: '0.4', metadata: { trade_ids: ['b'] } };
  const failed = { settlement: 'failed', undoneTrades: ['a'], metadata: { trade_ids: [] } } as const;
  const works = row({ status: 'partially_filled', remainingSize: '7', ...change });
  expect(factsFrom(works, reportedAs('open', '0', failed), new Date())).toBeNull();
  expect(factsFrom(row(change), reportedAs('partially_filled', '3', failed), new Date())).toBeNull();
  const gone = { ...failed, undoneTrades: ['a', 'b'] };
  expect(factsFrom(works, reportedAs('open', '0', gone), new Date())).toMatchObject({
    status: 'open',
    filledSize: '0',
  });
  // Which matches an unknown cost is of is not known.
  const unclear = { ...works, averageFillPrice: null };
  expect(factsFrom(unclear, reportedAs('open', '0', failed), new Date())).toMatchObject({ filledSize: '0' });
});

test('an order ends with the fills that are known, also if the read that shows its end has fewer', () => {
  const known = row({ status: 'partially_filled', remainingSize: '7', averageFillPrice: '0.35', receivedSize: '2.97' });
  const emptied = { remainingSize: 0n, averageFillPrice: null, receivedSize: 0n, makerFee: 0n, takerFee: 0n };
  const facts = factsFrom({ ...known, takerFee: '0.01' }, reportedAs('cancelled', '0', emptied), new Date());
  expect(facts).toMatchObject({ status: 'cancelled', filledSize: '3', remainingSize: '0' });
  expect(facts).toMatchObject({ averageFillPrice: '0.35', receivedSize: '2.97', takerFee: '0.01' });
  const failed = reportedAs('rejected', '0', { ...emptied, settlement: 'failed' });
  expect(factsFrom(known, failed, new Date())).toMatchObject({ status: 'rejected', filledSize: '0' });
});

test('an order that its platform has in a state that nobody knows is not said to be on its way', () => {
  const at = new Date('2026-11-27T12:00:00Z');
  const held = {
    platform: 'kalshi',
    status: 'unknown',
    createdAt: at,
    updatedAt: at,
    wire: {},
    makerFee: null,
    takerFee: null,
  } as const;
  const answer = toOrderAnswer(row({ ...held, unknownReason: 'no answer of Kalshi' }));
  const unknown_reason = 'the platform has the order, in a state that this service does not know';
  expect(answer).toMatchObject({ status: 'unknown', resolves_at: null, unknown_reason });
  expect(toOrderAnswer(row({ ...held, state: 'unknown', unknownReason: 'no answer of Kalshi' }))).toMatchObject({
    resolves_at: '2026-11-27T12:02:00.000Z',
    unknown_reason: 'no answer of Kalshi',
  });
});
