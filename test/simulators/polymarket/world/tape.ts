import { divideHalfEven, notionalUsd } from '../../../../src/core/decimal.ts';
import { Rows } from '../../lib/index.ts';
import type { OutcomeIndex, WireSide } from './model.ts';

/** One side of a trade in a number: 1 for the second outcome, plus 2 for SELL. */
export type Form = 0 | 1 | 2 | 3;
export const formOf = (outcome: OutcomeIndex, side: WireSide): Form => (outcome + (side === 'SELL' ? 2 : 0)) as Form;
export const outcomeOf = (form: number): OutcomeIndex => (form & 1) as OutcomeIndex;
export const sideOf = (form: number): WireSide => (form & 2 ? 'SELL' : 'BUY');

/** What a trade row holds beside its price and size, which follow from its fills. */
export interface TapeEntry {
  /** Unix seconds. */
  timestamp: number;
  market: number;
  wallet: number;
  form: Form;
  /** Number of the transaction; rows may share one. */
  transaction: number;
  /** First-outcome midpoint after the trade, ×10^10. */
  midAfter: number;
  /** When the Data API shows it, Unix ms. */
  visibleMs: number;
}

export interface TapeRow extends TapeEntry {
  price: bigint;
  size: bigint;
  /** price × size, half-even to 6 decimals. */
  notional: bigint;
}

/** A maker's part; the price is in terms of the maker's own token. */
export interface TapeFill {
  wallet: number;
  form: Form;
  price: bigint;
  size: bigint;
}

// Columns of the two tables. Scaled integers are held as doubles: all stay below 2^53.
const ROW = 11;
const [TIME, MARKET, WALLET, FORM, PRICE, SIZE, TRANSACTION, MID, VISIBLE, FIRST, PARTS] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
];
const PART = 4;
const ONE = 1e10;
/** Prices on a tick grid have at most four decimals; times fewer than 9·10^11 share units that stays below 2^53. */
const GRID = 1e6;

/** Trades of the world, oldest first, flat in memory so that a million of them build in a second or two. */
export class Tape {
  readonly rows = new Rows(ROW);
  private readonly parts = new Rows(PART);
  private committed = 0;

  /** Trades there ever were. */
  get count(): number {
    return this.rows.length;
  }

  /** Every trade so far stays. */
  settle(): void {
    this.rows.settle();
    this.parts.settle();
  }

  /** Forgets the oldest trade since `settle`. */
  forget(): void {
    for (let parts = this.cell(this.rows.firstFresh, PARTS); parts > 0; parts--) this.parts.forget();
    this.rows.forget();
  }

  /** A fill of the trade that the next commit prints. Price ×10^10 in the maker's own token, size ×10^6. */
  fill(wallet: number, form: Form, price: number, size: number): void {
    this.parts.push(wallet, form, price, size);
  }

  /** Prints a trade not older than the last one: size is the fills' sum, price their size-weighted mean in the taker's token. */
  commit(entry: TapeEntry): { size: number; notional: number } {
    const { parts } = this;
    let size = 0;
    let price = -1;
    let cost: bigint | null = null;
    for (let part = this.committed; part < parts.length; part++) {
      const own = parts.cell(part, 2);
      const partSize = parts.cell(part, 3);
      const mine = (parts.cell(part, 1) ^ entry.form) & 1 ? ONE - own : own;
      if (cost === null && price !== -1 && mine !== price) cost = BigInt(price) * BigInt(size);
      if (cost !== null) cost += BigInt(mine) * BigInt(partSize);
      price = mine;
      size += partSize;
    }
    if (cost !== null) price = Number(divideHalfEven(cost, BigInt(size)));
    const { timestamp, market, wallet, form, transaction, midAfter, visibleMs } = entry;
    const [first, count] = [this.committed, parts.length - this.committed];
    this.rows.push(timestamp, market, wallet, form, price, size, transaction, midAfter, visibleMs, first, count);
    this.committed = parts.length;
    const product = (price / GRID) * size;
    const exact = price % GRID === 0 && product % 1e4 === 0 && product < Number.MAX_SAFE_INTEGER;
    return { size, notional: exact ? product / 1e4 : Number(notionalUsd(BigInt(price), BigInt(size))) };
  }

  row(index: number): TapeRow {
    const price = BigInt(this.cell(index, PRICE));
    const size = BigInt(this.cell(index, SIZE));
    return {
      timestamp: this.timestamp(index),
      market: this.market(index),
      wallet: this.wallet(index),
      form: this.cell(index, FORM) as Form,
      price,
      size,
      notional: notionalUsd(price, size),
      transaction: this.cell(index, TRANSACTION),
      midAfter: this.cell(index, MID),
      visibleMs: this.visibleMs(index),
    };
  }

  fills(index: number): TapeFill[] {
    const fills: TapeFill[] = [];
    for (let part = this.firstFill(index); part < this.endFill(index); part++) {
      const [wallet, form] = [this.parts.cell(part, 0), this.parts.cell(part, 1) as Form];
      fills.push({ wallet, form, price: BigInt(this.parts.cell(part, 2)), size: BigInt(this.parts.cell(part, 3)) });
    }
    return fills;
  }

  timestamp = (index: number): number => this.cell(index, TIME);
  market = (index: number): number => this.cell(index, MARKET);
  wallet = (index: number): number => this.cell(index, WALLET);
  visibleMs = (index: number): number => this.cell(index, VISIBLE);
  /** Fills of a trade are numbered firstFill … endFill − 1 over the whole tape. */
  firstFill = (index: number): number => this.cell(index, FIRST);
  endFill = (index: number): number => this.cell(index, FIRST) + this.cell(index, PARTS);
  fillWallet = (part: number): number => this.parts.cell(part, 0);

  private cell(index: number, column: number | undefined): number {
    return this.rows.cell(index, column ?? 0);
  }
}
