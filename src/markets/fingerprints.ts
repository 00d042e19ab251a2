import { hash } from 'node:crypto';
import type { MarketRecord, MarketState } from '../core/model.ts';

/** Fingerprints of a record as its platform sent it. */
export interface RecordFingerprints {
  info: bigint;
  state: bigint;
}

/** The fingerprints of records, each computed once. */
export class Fingerprints {
  readonly #known = new WeakMap<MarketRecord, RecordFingerprints>();

  of(record: MarketRecord): RecordFingerprints {
    const known = this.#known.get(record);
    if (known) return known;
    const print = { info: fingerprint(record.info), state: fingerprint(inTexts(record.state)) };
    this.#known.set(record, print);
    return print;
  }
}

/** Fingerprint of what the log of market changes holds of a state. */
export const levelFingerprint = ({ status, resolvedAt, metadata }: MarketState): bigint =>
  fingerprint([status, resolvedAt, metadata['payouts']]);

/** undefined stays: JSON leaves its key out. */
const textOf = (value: bigint | null | undefined): string | null | undefined =>
  typeof value === 'bigint' ? String(value) : value;

/** The state with texts for its decimals, which JSON does not have. A replacer of JSON.stringify would take three times as long. */
const inTexts = (state: MarketState): object => ({
  ...state,
  quotes: state.quotes.map(({ price, bid, ask }) => ({ price: textOf(price), bid: textOf(bid), ask: textOf(ask) })),
  volume24h: textOf(state.volume24h),
  volume7d: textOf(state.volume7d),
  volume30d: textOf(state.volume30d),
  volume1y: textOf(state.volume1y),
  volumeTotal: textOf(state.volumeTotal),
  liquidity: textOf(state.liquidity),
  bestLevel: textOf(state.bestLevel),
  openInterest: textOf(state.openInterest),
  priceChange24h: textOf(state.priceChange24h),
  priceChange7d: textOf(state.priceChange7d),
});

const HASHED = Buffer.alloc(8);

/** 64 bits of a hash of the value. Node makes a buffer of its own for a hash in twice the time of a text. */
function fingerprint(value: object): bigint {
  HASHED.write(hash('sha1', JSON.stringify(value), 'binary'), 'binary');
  return HASHED.readBigUInt64LE();
}
