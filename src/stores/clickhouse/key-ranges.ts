/** Market keys are 64-bit hashes: ranges of equal length hold about equally many markets. */
const KEYS = 2n ** 64n;
/** Trades that one statement can compare with a roll-up within its memory limit. */
const TRADES_PER_RANGE = 2_000_000;

/** A range of market keys, both ends inclusive. */
export interface KeyRange {
  low: bigint;
  high: bigint;
}

/** All market keys, in as many ranges as statements over so many trades need. */
export function keyRanges(trades: number, tradesPerRange: number = TRADES_PER_RANGE): KeyRange[] {
  const count = BigInt(Math.max(1, Math.ceil(trades / tradesPerRange)));
  return Array.from({ length: Number(count) }, (_, n) => ({
    low: (KEYS * BigInt(n)) / count,
    high: (KEYS * BigInt(n + 1)) / count - 1n,
  }));
}
