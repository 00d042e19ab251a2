import { useMemo } from 'preact/hooks';
import { LEFT_MS } from '../parts/lists/listing.ts';

export const BY_DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const MOST_DAYS = 36_500;

/** The time limit for a number of days or a date. Days are rounded up to the hour, because a changed filter reloads the list. */
export function endsBefore(ends: string): string {
  if (BY_DATE.test(ends)) return Number.isNaN(Date.parse(ends)) ? '' : new Date(ends).toISOString();
  const days = Number(ends);
  return days > 0 && days <= MOST_DAYS
    ? new Date(Math.ceil((Date.now() + days * DAY_MS) / 3_600_000) * 3_600_000).toISOString()
    : '';
}

let began = { of: '', at: 0 };

/** When the list with this query was opened, to leave out markets that had ended. Kept for LEFT_MS, for a user who comes back. */
export function useBegan(query: string): string {
  return useMemo(() => {
    if (began.of !== query || Date.now() - began.at > LEFT_MS) began = { of: query, at: Date.now() };
    return new Date(began.at).toISOString();
  }, [query]);
}
