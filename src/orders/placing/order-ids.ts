import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** Namespace of derived client order ids: an arbitrary constant that must never change. */
const NAMESPACE = Buffer.from('5f0c6e1d9a3b4c7e8d21f6a90b54c3e7', 'hex');

/** RFC 9562 version 5. */
export function uuidV5(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * What makes an order unique: its client order id, and the seed of signed salts. With an idempotency key both are derived from user and
 * key, so that a platform rejects a second order with the same key.
 */
export function orderIds(
  userId: string,
  key: string | null,
  given: string | null,
): { clientOrderId: string; seed: Uint8Array } {
  if (key === null) return { clientOrderId: given ?? randomUUID(), seed: randomBytes(32) };
  const name = JSON.stringify([userId, key]);
  return { clientOrderId: given ?? uuidV5(name), seed: createHash('sha256').update(name).digest() };
}

/** Hash of the parsed values, so equivalent requests have the same hash however they are written. */
export function bodyHash(body: Record<string, unknown>): string {
  const entries = Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(entries, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  return createHash('sha256').update(text).digest('base64url');
}
