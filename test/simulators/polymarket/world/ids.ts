import { hash } from 'node:crypto';

/** The ids of a world. Each is a digest of the seed, a kind and a number, so it never depends on what was drawn before. */
export interface Ids {
  /** `digits` lower-case hex digits after 0x, at most 64. */
  hex(kind: string, n: number | string, digits?: number): string;
  /** A uint256 as decimal text of up to 78 digits. */
  token(condition: string, outcome: number): string;
  /** A condition of Protocol V2 as the CLOB spells it: module, 16 bytes of hash, nothing behind them. */
  condition(module: 'binary' | 'negRisk', n: number | string): string;
  uuid(kind: string, n: number | string): string;
  /** A small number that looks random, 0 … below − 1. */
  small(kind: string, n: number | string, below: number): number;
}

export function createIds(seed: number): Ids {
  const digest = (kind: string, n: number | string): string => hash('sha256', `${seed}:${kind}:${n}`);
  return {
    hex: (kind, n, digits = 64) => `0x${digest(kind, n).slice(0, digits)}`,
    token: (condition, outcome) => BigInt(`0x${digest(`token${outcome}`, condition)}`).toString(),
    condition: (module, n) =>
      `0x${module === 'binary' ? '01' : '02'}${digest('condition v2', n).slice(0, 32)}${'0'.repeat(30)}`,
    uuid(kind, n) {
      const d = digest(kind, n);
      return `${d.slice(0, 8)}-${d.slice(8, 12)}-7${d.slice(13, 16)}-8${d.slice(17, 20)}-${d.slice(20, 32)}`;
    },
    small: (kind, n, below) => Number.parseInt(digest(kind, n).slice(0, 8), 16) % below,
  };
}

/** The two positions of a Protocol V2 condition: its number with the outcome in the last byte. */
export const positionIds = (condition: string): string[] => [0n, 1n].map((index) => String(BigInt(condition) + index));

/** Lower-case kebab text of a question or title. */
export const kebab = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
