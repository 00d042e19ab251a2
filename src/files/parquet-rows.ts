import { open } from 'node:fs/promises';

/** Thrift compact types that a footer holds. */
const [TRUE, FALSE, BYTE, I64, DOUBLE, BINARY, LIST, SET, STRUCT] = [1, 2, 3, 6, 7, 8, 9, 10, 12];
const NUM_ROWS_FIELD = 3;
const TAIL_BYTES = 8;

/** The number of rows according to a Parquet file's footer. Throws if it is not a complete Parquet file. */
export async function parquetRows(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(TAIL_BYTES);
    await handle.read(tail, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
    const length = tail.readUInt32LE(0);
    if (tail.toString('latin1', 4) !== 'PAR1' || length + TAIL_BYTES > size)
      throw new Error(`${path}: not a Parquet file`);
    const footer = Buffer.alloc(length);
    await handle.read(footer, 0, length, size - TAIL_BYTES - length);
    return new Footer(footer).numRows();
  } finally {
    await handle.close();
  }
}

/** FileMetaData in Thrift's compact protocol (parquet.thrift), parsed as far as its number of rows. */
class Footer {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  numRows(): number {
    for (let field = 0; ;) {
      const header = this.#byte();
      if (header === 0) throw new Error('a Parquet footer without a number of rows');
      field = header >> 4 === 0 ? this.#zigzag() : field + (header >> 4);
      if (field === NUM_ROWS_FIELD) return this.#zigzag();
      this.#skip(header & 15);
    }
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  #zigzag(): number {
    const value = this.#varint();
    return Number((value >> 1n) ^ -(value & 1n));
  }

  #skip(type: number): void {
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.#skipBytes(1);
    else if (type <= I64) this.#varint();
    else if (type === DOUBLE) this.#skipBytes(8);
    else if (type === BINARY) this.#skipBytes(Number(this.#varint()));
    else if (type === LIST || type === SET) this.#skipList();
    else if (type === STRUCT) this.#skipStruct();
    else throw new Error(`a Parquet footer with a field of type ${type}`);
  }

  #skipBytes(count: number): void {
    this.#at += count;
  }

  #skipList(): void {
    const header = this.#byte();
    const size = header >> 4 === 15 ? Number(this.#varint()) : header >> 4;
    const type = header & 15;
    // A boolean in a list takes a byte.
    for (let i = 0; i < size; i += 1) this.#skip(type === TRUE || type === FALSE ? BYTE : type);
  }

  #skipStruct(): void {
    for (let header = this.#byte(); header !== 0; header = this.#byte()) {
      if (header >> 4 === 0) this.#zigzag();
      this.#skip(header & 15);
    }
  }
}
