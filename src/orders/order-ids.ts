import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** What makes an order one: its row, its client id, and the seed of what is signed. */
export interface OrderIdentity {
  clientOrderId: string;
  seed: Uint8Array;
}

/** Any constant will do, as long as it never changes: the namespace of derived client order ids. */
const NAMESPACE = Buffer.from('5f0c6e1d9a3b4c7e8d21f6a90b54c3e7', 'hex');

/** RFC 9562 version 5. */
export function uuidV5(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Ids of an order. With an idempotency key they follow from user and key alone, so that a platform which sees the key
 * twice refuses the second; `previous` is the order that used the key more than a day ago.
 */
export function orderIdentity(
  userId: string,
  key: string | null,
  previous: string | null,
  given: string | null,
): OrderIdentity {
  if (key === null) return { clientOrderId: given ?? randomUUID(), seed: randomBytes(32) };
  const name = JSON.stringify(previous === null ? [userId, key] : [userId, key, previous]);
  return { clientOrderId: given ?? uuidV5(name), seed: createHash('sha256').update(name).digest() };
}

/** Equal for requests that ask for the same, however they are written: it is taken of the values read. */
export function bodyHash(body: Record<string, unknown>): string {
  const entries = Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(entries, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  return createHash('sha256').update(text).digest('base64url');
}
