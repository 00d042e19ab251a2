import { Cache } from '../core/cache.ts';
import type { Price } from '../core/decimal.ts';
import type { RestingFigures } from '../platforms/book-sides.ts';
import type { ReadInterest } from '../platforms/contract.ts';

/** Settled markets that are remembered: those seen last. */
export const OTHERS_KEPT = 300_000;

/** What was last written of a market. */
interface Written {
  /** Fingerprints of the record as the platform sent it. */
  info: bigint;
  state: bigint;
  status: string;
  isCombo: boolean;
  /** Fingerprint of status and result, as the log of market changes compares them; null if an earlier process wrote it. */
  level: bigint | null;
  stateAtMs: number;
  /** When the platform's own object was written. */
  rawAtMs: number;
  hasTraded: boolean;
  /** Whether some of its figures come from stored trades. */
  fromTrades: boolean;
}

/** What this process knows of a market: what it wrote, and facts that the listing lacks. */
export class KnownMarket {
  written: Written | null = null;
  /** null if the platform answers without a figure for it. */
  openInterest?: ReadInterest | null;
  /** What rests in its book; null if that is not known any more. */
  resting?: RestingFigures | null;
  /** The last trade according to a book. */
  lastTrade?: Price;
  /** Numbers of the newest fact, and of the newest one that is written. */
  fact = 0;
  writtenFact = 0;
}

/** Known markets by name. Unsettled ones always stay: a sweep would write a dropped one again, and not look for its result. */
export class KnownMarkets {
  readonly #unsettled = new Map<string, KnownMarket>();
  readonly #others: Cache<string, KnownMarket>;
  #facts = 0;

  constructor(limit = OTHERS_KEPT) {
    this.#others = new Cache({ limit });
  }

  get(name: string): KnownMarket | undefined {
    return this.#unsettled.get(name) ?? this.#others.get(name);
  }

  /** Adds facts: the market is due to be written. */
  learn(name: string, facts: Partial<KnownMarket> = {}): void {
    const market = this.get(name) ?? new KnownMarket();
    if (!this.#unsettled.has(name)) this.#others.set(name, market);
    Object.assign(market, facts);
    market.fact = this.#facts += 1;
  }

  /** Remembers what was written, with every fact up to the number `fact`. */
  wrote(name: string, written: Written, fact: number): void {
    const market = this.get(name) ?? new KnownMarket();
    this.delete(name);
    if (written.status !== 'settled') this.#unsettled.set(name, market);
    else this.#others.set(name, market);
    Object.assign(market, { written, writtenFact: fact });
  }

  delete(name: string): void {
    this.#unsettled.delete(name);
    this.#others.delete(name);
  }

  entries(): [name: string, market: KnownMarket][] {
    return [...this.#unsettled, ...this.#others.entries()];
  }

  /** Markets whose last written status is not settled. */
  unsettled(): Iterable<[name: string, market: KnownMarket]> {
    return this.#unsettled;
  }
}
