import { expect, test } from 'vitest';
import { mayRest, recheckOfExpired, recheckOfFailed } from '../../src/orders/recheck.ts';

const HOUR_MS = 3_600_000;
const endMs = Date.UTC(2026, 10, 26);
const expiration = new Date(endMs).toISOString();
const [endedAt, createdAt] = [new Date(endMs), new Date(endMs - HOUR_MS)];
const row = { status: 'expired', expiresAt: endedAt, createdAt, updatedAt: createdAt } as const;

const next = (hours: number) => recheckOfExpired({ endedByClock: true, expiration }, endMs + hours * HOUR_MS);
const mayRestAfter = (hours: number) =>
  mayRest({ status: row.status, recheckAt: recheckOfFailed(row, endMs + hours * HOUR_MS) });

test('an order that has expired by our clock alone is read again for a day, and is over then', () => {
  expect(next(23)).not.toBeNull();
  expect(next(24)).toBeNull();
});

test('an order that expired a day ago is over although it cannot be read, as without its credential', () => {
  expect(mayRestAfter(23)).toBe(true);
  expect(mayRestAfter(24)).toBe(false);
});

test.each(['cancelled', 'filled'] as const)(
  'an order that is %s and cannot be read, as without its credential, is read no more from a day after its end',
  (status) => {
    const after = (hours: number) =>
      recheckOfFailed({ status, expiresAt: null, createdAt, updatedAt: endedAt }, endMs + hours * HOUR_MS);
    expect(after(23)).not.toBeNull();
    expect(after(24)).toBeNull();
  },
);

test('an order that works is read until it can be read', () => {
  const works = { status: 'open', expiresAt: null, createdAt, updatedAt: createdAt } as const;
  expect(recheckOfFailed(works, endMs + 1000 * HOUR_MS)).not.toBeNull();
});
