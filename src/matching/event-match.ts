/** Two markets that ask one question, by their keys. */
export interface PairedMarkets {
  a: string;
  b: string;
  relation: 'identical' | 'complement';
}

/** Two events match by at least this many pairs: one question alone may be part of any event. */
const FEWEST_PAIRS = 2;

/**
 * The pairs by which two events match market by market: each market has one partner, and an identical one counts before an opposite one.
 * Null if there are fewer than FEWEST_PAIRS, or if a market has several partners: one event then asks the same twice.
 */
export function oneByOne<Pair extends PairedMarkets>(pairs: readonly Pair[]): Pair[] | null {
  const hasIdentical = (side: 'a' | 'b'): ReadonlySet<string> =>
    new Set(pairs.flatMap((pair) => (pair.relation === 'identical' ? [pair[side]] : [])));
  const [identicalA, identicalB] = [hasIdentical('a'), hasIdentical('b')];
  const chosen = pairs.filter(
    ({ relation, a, b }) => relation === 'identical' || !(identicalA.has(a) || identicalB.has(b)),
  );
  const isOnce = (side: 'a' | 'b'): boolean => new Set(chosen.map((pair) => pair[side])).size === chosen.length;
  return chosen.length >= FEWEST_PAIRS && isOnce('a') && isOnce('b') ? chosen : null;
}
