/** Two markets that ask one question, by their keys. */
export interface PairedMarkets {
  a: string;
  b: string;
  relation: 'identical' | 'complement';
}

/** Fewer pairs make no match of two events: a single question may stand in any event. */
const FEWEST_PAIRS = 2;

/**
 * The pairs by which two events match market by market: each market with its one partner, an identical one before an opposite one. Null
 * unless there are two; null also where a market has several partners, because the events then ask something twice.
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
