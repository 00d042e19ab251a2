import { createHash } from 'node:crypto';
import type { MarketRecord, MarketState } from '../core/model.ts';

/** Fingerprints of a record as its platform sent it. */
export interface Print {
  info: bigint;
  state: bigint;
}

/** The fingerprints of records, each computed once. */
export class Prints {
  readonly #known = new WeakMap<MarketRecord, Print>();

  of(record: MarketRecord): Print {
    const known = this.#known.get(record);
    if (known) return known;
    const print = { info: fingerprint(record.info), state: fingerprint(record.state) };
    this.#known.set(record, print);
    return print;
  }
}

/** Fingerprint of what the log of market changes holds of a state. */
export const levelPrint = ({ status, resolvedAt, metadata }: MarketState): bigint =>
  fingerprint([status, resolvedAt, metadata['payouts']]);

/** 64 bits of a hash of the value. */
const fingerprint = (value: object): bigint =>
  createHash('sha1')
    .update(JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)))
    .digest()
    .readBigUInt64LE();
