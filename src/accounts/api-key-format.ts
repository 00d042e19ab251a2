import { hash, randomBytes } from 'node:crypto';

/** `pk_`, 43 base64url characters of 32 random bytes, 6 characters of checksum over what precedes them. */
const FORM = /^pk_[\w-]{43}[\w-]{6}$/;
const CHECKSUM = 6;

export function newApiKey(): string {
  const body = `pk_${randomBytes(32).toString('base64url')}`;
  return body + checksum(body);
}

/** true when the checksum holds: a mistyped or invented key is rejected without asking the store. */
export const isWellFormedKey = (key: string): boolean =>
  FORM.test(key) && key.slice(-CHECKSUM) === checksum(key.slice(0, -CHECKSUM));

/** What is stored of a key. */
export const hashKey = (key: string): string => hash('sha256', key, 'base64url');

/** What a key is recognised by in lists. */
export const keyPrefix = (key: string): string => key.slice(0, 11);

function checksum(body: string): string {
  return hash('sha256', body, 'base64url').slice(0, CHECKSUM);
}
