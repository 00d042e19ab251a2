/**
 * Protocol V2: positions instead of CTF tokens. From the most significant bit, a position id has module (8 bits), hash (128), arity (16),
 * 64 zero bits, resolution chain (16), condition index (16) and outcome (8); without the last 8 it is the condition id.
 */

const ID = /^(0x[0-9a-f]{64}|\d{1,78})$/i;
const RESERVED_AT = 40n;
const RESERVED = 2n ** 64n - 1n;
const MODULE_AT = 248n;

/** The documented kinds of market of Protocol V2. */
type PositionModule = 'binary' | 'negative_risk' | 'combinatorial' | 'directional';
const MODULES: readonly (PositionModule | undefined)[] = [
  undefined,
  'binary',
  'negative_risk',
  'combinatorial',
  'directional',
];

/** The module of a position id, or of a condition id of 64 digits; null for an undocumented one. */
export function positionModule(id: string): PositionModule | null {
  if (!ID.test(id)) return null;
  const bits = BigInt(id);
  return ((bits >> RESERVED_AT) & RESERVED) === 0n ? (MODULES[Number(bits >> MODULE_AT)] ?? null) : null;
}

/** `0x` and the digits of a condition id without the outcome. */
const SHORT = 64;

/** The spelling of a condition id in CLOB and Data API, used to join rows: 64 digits, in lower case. */
export function conditionRef(id: string): string {
  const lower = id.toLowerCase();
  return lower.length === SHORT ? `${lower}00` : lower;
}

/** Every spelling of a condition id: Gamma writes those of Protocol V2 with 62 digits. */
export function conditionSpellings(id: string): string[] {
  const ref = conditionRef(id);
  return positionModule(ref) === null ? [ref] : [ref.slice(0, SHORT), ref];
}
