/** A seeded source of randomness: the same seed gives the same sequence on every machine. */
export interface Rng {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [min, max], both included. */
  int(min: number, max: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** `length` lower-case hex digits. */
  hex(length: number): string;
  /** A UUID-shaped id whose version and variant digits are random, as some platforms print them. */
  uuid(): string;
  /** An independent sequence, so that drawing more here does not shift what is drawn there. */
  fork(label: string): Rng;
}

/** mulberry32: 32 bits of state, fast, good enough for test data (not for secrets). */
export function createRng(seed: number): Rng {
  let state = seed >>> 0;
  const next32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const next = (): number => next32() / 4_294_967_296;
  const hex = (length: number): string => {
    let text = '';
    while (text.length < length) text += next32().toString(16).padStart(8, '0');
    return text.slice(0, length);
  };
  return {
    next,
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('pick: items must not be empty');
      return items[Math.floor(next() * items.length)] as T;
    },
    hex,
    uuid() {
      const digits = hex(32);
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
    },
    fork: (label) => createRng(hash32(label, seed)),
  };
}

/** FNV-1a over a text, started from a seed. */
function hash32(text: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
