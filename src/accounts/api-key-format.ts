import { hash, randomBytes } from 'node:crypto';

/** `pk_`, 32 random bytes as 43 base64url characters, and a checksum of 6 characters. */
const FORM = /^pk_[\w-]{43}[\w-]{6}$/;
const CHECKSUM = 6;

export function newApiKey(): string {
  const body = `pk_${randomBytes(32).toString('base64url')}`;
  return body + checksum(body);
}

/** true if the checksum matches: a mistyped or invented key is rejected without a look-up. */
export const isWellFormedKey = (key: string): boolean =>
  FORM.test(key) && key.slice(-CHECKSUM) === checksum(key.slice(0, -CHECKSUM));

/** Only this hash of a key is stored. */
export const hashKey = (key: string): string => hash('sha256', key, 'base64url');

/** Identifies a key in lists. */
export const keyPrefix = (key: string): string => key.slice(0, 11);

function checksum(body: string): string {
  return hash('sha256', body, 'base64url').slice(0, CHECKSUM);
}
