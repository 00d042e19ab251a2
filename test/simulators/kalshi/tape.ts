import { Rows } from '../lib/index.ts';

/** One print as it is appended. */
export interface Print {
  timeUs: number;
  yesPrice: number;
  count: number;
  /** The taker bought YES; otherwise the taker bought NO. */
  takerYes: boolean;
  /** Negotiated off the book: counts for volume and open interest, sets no price. */
  block: boolean;
  maker: number;
  taker: number;
}

/** Trades of the world in the order of (time, id); a trade's position never changes. */
export class Tape {
  readonly rows = new Rows(7);
  readonly timeUs = this.rows.column(0);
  /** `SimMarket.index`. */
  readonly market = this.rows.column(1);
  readonly yesPrice = this.rows.column(2);
  readonly count = this.rows.column(3);
  readonly maker = this.rows.column(4);
  readonly taker = this.rows.column(5);
  readonly #flags = this.rows.column(6);
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Trades there ever were. */
  get length(): number {
    return this.rows.length;
  }

  /** Returns the trade's position. */
  append(market: number, { timeUs, yesPrice, count, maker, taker, takerYes, block }: Print): number {
    if (timeUs < this.timeUs.last(0)) throw new RangeError('a trade must not be older than the last one');
    return this.rows.push(timeUs, market, yesPrice, count, maker, taker, (takerYes ? 1 : 0) + (block ? 2 : 0));
  }

  takerYes(position: number): boolean {
    return (this.#flags.at(position) & 1) !== 0;
  }

  block(position: number): boolean {
    return (this.#flags.at(position) & 2) !== 0;
  }

  /** UUID-shaped, unique, and without the version digit a UUID would have. */
  id(position: number): string {
    const word = (salt: number): string =>
      mix32(mix32(this.#seed + salt) + position)
        .toString(16)
        .padStart(8, '0');
    const b = word(1);
    const c = word(2);
    return `${word(0)}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${word(3)}`;
  }
}

/** A bijection of 32-bit integers that scatters neighbours (the finaliser of MurmurHash3). */
export function mix32(value: number): number {
  let hash = value >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
