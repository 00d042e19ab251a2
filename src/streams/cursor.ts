import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { epochOf, placeOf, positionOf } from './log/position.ts';

const VERSION = 1;
const FINGERPRINT_BYTES = 7;
const HEAD_BYTES = 1 + FINGERPRINT_BYTES;
const POSITION_BYTES = 8;
const CHECKSUM_BYTES = 4;

/**
 * Encodes and decodes the cursors of one subscription: its position in each partition, bound to its filters. They contain no secrets and
 * are the same in every process: version, fingerprint of the filters, positions, CRC-32, as base64url.
 */
export class CursorCodec {
  readonly #buffer: Buffer;
  readonly #positions: number;

  /** `filters` is equal text for equal filters; `positions` is the number of partitions. */
  constructor(filters: string, positions: number) {
    this.#positions = positions;
    this.#buffer = Buffer.alloc(HEAD_BYTES + positions * POSITION_BYTES + CHECKSUM_BYTES);
    this.#buffer[0] = VERSION;
    createHash('sha256').update(filters).digest().copy(this.#buffer, 1, 0, FINGERPRINT_BYTES);
  }

  encode(positions: readonly number[]): string {
    const bytes = this.#buffer;
    for (let index = 0; index < this.#positions; index += 1) {
      const position = positions[index] ?? 0;
      bytes.writeUInt32BE(epochOf(position), HEAD_BYTES + index * POSITION_BYTES);
      bytes.writeUInt32BE(placeOf(position), HEAD_BYTES + index * POSITION_BYTES + 4);
    }
    const end = bytes.length - CHECKSUM_BYTES;
    bytes.writeUInt32BE(crc32(bytes.subarray(0, end)), end);
    return bytes.toString('base64url');
  }

  /** The positions of a cursor; `damaged`, or `filters` if it belongs to other filters. */
  decode(text: string): number[] | 'damaged' | 'filters' {
    const bytes = Buffer.from(text, 'base64url');
    const end = bytes.length - CHECKSUM_BYTES;
    const isWhole =
      end >= HEAD_BYTES &&
      bytes.toString('base64url') === text &&
      bytes.readUInt32BE(end) === crc32(bytes.subarray(0, end));
    if (!isWhole || bytes[0] !== VERSION) return 'damaged';
    if (bytes.length !== this.#buffer.length || bytes.compare(this.#buffer, 0, HEAD_BYTES, 0, HEAD_BYTES) !== 0)
      return 'filters';
    return Array.from({ length: this.#positions }, (_, index) => {
      const at = HEAD_BYTES + index * POSITION_BYTES;
      return positionOf(bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4));
    });
  }
}
