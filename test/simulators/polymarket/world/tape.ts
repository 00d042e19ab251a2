import { divideHalfEven, notionalUsd } from '../../../../src/core/decimal.ts';
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
  /** Σ notional of its market's trades before it, ×10^6. */
  volumeBefore: number;
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
const [TIME, MARKET, WALLET, FORM, PRICE, SIZE, TRANSACTION, MID, VISIBLE, FIRST, VOLUME] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
];
const PART = 4;
const ONE = 1e10;
/** Prices on a tick grid have at most four decimals; times fewer than 9·10^11 share units that stays below 2^53. */
const GRID = 1e6;

/** Every trade of the world, oldest first, flat in memory so that a million of them build in a second or two. */
export class Tape {
  count = 0;
  private rows = new Float64Array(ROW * 1024);
  private parts = new Float64Array(PART * 2048);
  private partCount = 0;
  private committed = 0;

  /** A fill of the trade that the next commit prints. Price ×10^10 in the maker's own token, size ×10^6. */
  fill(wallet: number, form: Form, price: number, size: number): void {
    const at = this.partCount * PART;
    if (at + PART > this.parts.length) this.parts = larger(this.parts);
    this.parts[at] = wallet;
    this.parts[at + 1] = form;
    this.parts[at + 2] = price;
    this.parts[at + 3] = size;
    this.partCount += 1;
  }

  /** Prints a trade not older than the last one: size is the fills' sum, price their size-weighted mean in the taker's token. */
  commit(entry: TapeEntry): { size: number; notional: number } {
    let size = 0;
    let price = -1;
    let cost: bigint | null = null;
    for (let part = this.committed; part < this.partCount; part++) {
      const at = part * PART;
      const own = this.parts[at + 2] as number;
      const partSize = this.parts[at + 3] as number;
      const mine = ((this.parts[at + 1] as number) ^ entry.form) & 1 ? ONE - own : own;
      if (cost === null && price !== -1 && mine !== price) cost = BigInt(price) * BigInt(size);
      if (cost !== null) cost += BigInt(mine) * BigInt(partSize);
      price = mine;
      size += partSize;
    }
    if (cost !== null) price = Number(divideHalfEven(cost, BigInt(size)));
    const at = this.count * ROW;
    if (at + ROW > this.rows.length) this.rows = larger(this.rows);
    const { rows } = this;
    rows[at + TIME] = entry.timestamp;
    rows[at + MARKET] = entry.market;
    rows[at + WALLET] = entry.wallet;
    rows[at + FORM] = entry.form;
    rows[at + PRICE] = price;
    rows[at + SIZE] = size;
    rows[at + TRANSACTION] = entry.transaction;
    rows[at + MID] = entry.midAfter;
    rows[at + VISIBLE] = entry.visibleMs;
    rows[at + FIRST] = this.committed;
    rows[at + VOLUME] = entry.volumeBefore;
    this.count += 1;
    this.committed = this.partCount;
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
      volumeBefore: this.volumeBefore(index),
    };
  }

  fills(index: number): TapeFill[] {
    const fills: TapeFill[] = [];
    for (let part = this.firstFill(index); part < this.endFill(index); part++) {
      const [wallet = 0, form = 0, price = 0, size = 0] = this.parts.subarray(part * PART, part * PART + PART);
      fills.push({ wallet, form: form as Form, price: BigInt(price), size: BigInt(size) });
    }
    return fills;
  }

  timestamp = (index: number): number => this.cell(index, TIME);
  market = (index: number): number => this.cell(index, MARKET);
  wallet = (index: number): number => this.cell(index, WALLET);
  midAfter = (index: number): bigint => BigInt(this.cell(index, MID));
  visibleMs = (index: number): number => this.cell(index, VISIBLE);
  volumeBefore = (index: number): number => this.cell(index, VOLUME);
  /** Fills of a trade are numbered firstFill … endFill − 1 over the whole tape. */
  firstFill = (index: number): number => this.cell(index, FIRST);
  endFill = (index: number): number => (index + 1 < this.count ? this.cell(index + 1, FIRST) : this.committed);
  fillWallet = (part: number): number => this.parts[part * PART] ?? -1;

  private cell(index: number, column: number | undefined): number {
    if (index < 0 || index >= this.count) throw new RangeError(`no trade ${index} in ${this.count}`);
    return this.rows[index * ROW + (column ?? 0)] ?? 0;
  }
}

function larger(table: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const copy = new Float64Array(table.length * 2);
  copy.set(table);
  return copy;
}
