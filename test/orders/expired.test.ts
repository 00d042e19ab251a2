import { expect, test } from 'vitest';
import { mayRest, recheckOfExpired, recheckOfFailed } from '../../src/orders/recheck.ts';

const HOUR_MS = 3_600_000;
const endMs = Date.UTC(2026, 10, 26);
const expiration = new Date(endMs).toISOString();
const row = { status: 'expired', expiresAt: new Date(endMs), createdAt: new Date(endMs - HOUR_MS) } as const;

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
