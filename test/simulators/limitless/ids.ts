import { getAddress } from 'viem';
import type { Rng } from '../lib/index.ts';
import type { Account } from './model.ts';

/** Hands out the ids of one world: sequences where the platform counts, randomness where it hashes. */
export class Ids {
  private readonly rng: Rng;
  private readonly txSalt: string;
  private nextMarket = 405_118;
  private nextGroup = 10_013_204;
  private nextAccount = 190_411;
  private nextTx = 0;

  constructor(rng: Rng) {
    this.rng = rng;
    this.txSalt = rng.hex(48);
  }

  market = (): number => (this.nextMarket += this.rng.int(1, 3));
  group = (): number => (this.nextGroup += this.rng.int(1, 3));
  account = (): number => (this.nextAccount += this.rng.int(1, 400));
  bytes32 = (): `0x${string}` => `0x${this.rng.hex(64)}`;
  address = (): `0x${string}` => getAddress(`0x${this.rng.hex(40)}`);
  /** An ERC-1155 id: a uint256 in decimal, 75 to 78 digits. */
  token = (): string => BigInt(`0x${(this.rng.int(1, 14) + 1).toString(16)}${this.rng.hex(63)}`).toString();

  /** Version 4, as the platform checks. */
  uuid(): string {
    const digits = this.rng.hex(32);
    const variant = '89ab'[parseInt(digits.charAt(16), 16) % 4] ?? '8';
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
  }

  /** A transaction not used before. Cheap, because half a million trades may be made at start. */
  txHash(): string {
    const serial = ++this.nextTx;
    const mixed = Math.imul(serial ^ (serial >>> 7), 0x9e3779b1) >>> 0;
    return `0x${eightHex(mixed)}${this.txSalt}${eightHex(serial)}`;
  }

  person(isPublic: boolean): Account {
    const address = this.address();
    const username = this.rng.chance(0.6) ? `${this.rng.pick(NAMES)}${this.rng.int(1, 99)}` : null;
    return { id: this.account(), address, username, displayName: username ?? address, isPublic };
  }
}

const eightHex = (value: number): string => value.toString(16).padStart(8, '0');

const NAMES = ['maple', 'quartz', 'tern', 'harbor', 'ember', 'ludo', 'sable', 'cobalt', 'fjord', 'pike'];

/** `Will X happen?` → `will-x-happen-1790108004599`, the platform's slug of a market created at that moment. */
export function slugOf(title: string, createdAt: number): string {
  const words = title
    .toLowerCase()
    .replace(/\$/g, 'dollar')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return `${words === '' ? 'market' : words}-${createdAt}`;
}
