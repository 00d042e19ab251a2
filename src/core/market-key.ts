import type { Platform } from './model.ts';

/** Start of SipHash's four words with a key of zeros. */
const START = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n] as const;
const WORD_BYTES = 8;

const word = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint): bigint => word(value << bits) | (value >> (64n - bits));

/** SipHash-2-4 with a key of zeros, as in Aumasson and Bernstein, "SipHash: a fast short-input PRF". */
function sipHash(bytes: Buffer): bigint {
  let [a, b, c, d]: [bigint, bigint, bigint, bigint] = [...START];
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round += 1) {
      a = word(a + b);
      c = word(c + d);
      b = rotate(b, 13n) ^ a;
      d = rotate(d, 16n) ^ c;
      a = rotate(a, 32n);
      c = word(c + b);
      a = word(a + d);
      b = rotate(b, 17n) ^ c;
      d = rotate(d, 21n) ^ a;
      c = rotate(c, 32n);
    }
  };
  // The last word ends with the length.
  const padded = Buffer.alloc(bytes.length - (bytes.length % WORD_BYTES) + WORD_BYTES);
  bytes.copy(padded);
  padded[padded.length - 1] = bytes.length % 256;
  for (let at = 0; at < padded.length; at += WORD_BYTES) {
    const next = padded.readBigUInt64LE(at);
    d ^= next;
    rounds(2);
    a ^= next;
  }
  c ^= 0xffn;
  rounds(4);
  return a ^ b ^ c ^ d;
}

const ofText = (text: string): bigint => sipHash(Buffer.from(text));

const PLATFORM_HASHES = new Map<Platform, bigint>();

/** A market's name among those of all platforms. */
export const marketName = ({ platform, ref }: { platform: Platform; ref: string }): string => `${platform}:${ref}`;

/**
 * The key of a market's rows, as the store computes `market_key` (sql/schema/002_trades.sql): ClickHouse's sipHash64 of several
 * arguments is the hash of the first one's hash and the next one's, in little-endian order.
 */
export function marketKey({ platform, ref }: { platform: Platform; ref: string }): string {
  const first = PLATFORM_HASHES.get(platform) ?? ofText(platform);
  PLATFORM_HASHES.set(platform, first);
  const both = Buffer.alloc(2 * WORD_BYTES);
  both.writeBigUInt64LE(first);
  both.writeBigUInt64LE(ofText(ref), WORD_BYTES);
  return sipHash(both).toString();
}

/** The key of a match's id; null for text that is none. */
export const matchKey = (id: string): string | null =>
  /^[0-9a-f]{16}$/.test(id) ? BigInt(`0x${id}`).toString() : null;
/** The id of a match, from its key. */
export const matchId = (key: string): string => BigInt(key).toString(16).padStart(16, '0');
