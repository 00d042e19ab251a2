/** What is left of forgotten rows: the last one of each `every` of the first value, the newest `most` of them. */
export interface Thinned {
  every: number;
  most: number;
}

/**
 * A growing list of rows of integers (exact below 2^53) in typed arrays: a million trades cost megabytes, not hundreds of them.
 * The first value of a row is never less than the one before it. Numbers of rows never change. Rows up to `settle` stay; of later
 * ones the oldest can be forgotten.
 */
export class Rows {
  /** Rows there ever were. */
  length = 0;
  readonly #width: number;
  readonly #thinned: Thinned;
  #settled: Table;
  #newest: Table;
  /** Forgotten rows of which something is left, each with its number behind its values. */
  readonly #left: Table;
  readonly #last: Float64Array;
  /** Number of the oldest row in #newest. */
  #first = 0;
  #forgotten: { from: number; to: number } | null = null;

  constructor(width: number, thinned: Thinned = { every: 1, most: 0 }) {
    this.#width = width;
    this.#thinned = thinned;
    this.#settled = new Table(width);
    this.#newest = new Table(width);
    this.#left = new Table(width + 1);
    this.#last = new Float64Array(width);
  }

  /** Returns the row's number. */
  push(...values: number[]): number {
    this.#newest.push(values);
    this.#last.set(values);
    return this.length++;
  }

  /** Every row so far stays. */
  settle(): void {
    if (this.#first > 0) throw new Error('settled already');
    this.#settled = this.#newest;
    this.#newest = new Table(this.#width);
    this.#first = this.length;
  }

  /** Rows that are not forgotten. */
  get size(): number {
    return this.#settled.length + this.#newest.length;
  }

  /** Rows pushed since `settle` that are not forgotten. */
  get fresh(): number {
    return this.#newest.length;
  }

  /** Number of the oldest of them. */
  get firstFresh(): number {
    return this.#first;
  }

  /** First values of the first and the last forgotten row. */
  get forgotten(): { from: number; to: number } | null {
    return this.#forgotten;
  }

  /** Forgets the oldest row since `settle`. */
  forget(): void {
    const values = this.#newest.shift();
    const [at = 0] = values;
    this.#forgotten = { from: this.#forgotten?.from ?? at, to: at };
    const number = this.#first++;
    const { every, most } = this.#thinned;
    if (most === 0) return;
    const before = this.#left.length - 1;
    if (before >= 0 && Math.floor(this.#left.cell(before, 0) / every) === Math.floor(at / every)) this.#left.pop();
    this.#left.push([...values, number]);
    if (this.#left.length > most) this.#left.shift();
  }

  /** Whether the row is not forgotten. */
  keeps(index: number): boolean {
    return index >= 0 && index < this.length && (index < this.#settled.length || index >= this.#first);
  }

  /** The newest row before `index` that is not forgotten; −1 if there is none. */
  before(index: number): number {
    return index > this.#first ? index - 1 : Math.min(index, this.#settled.length) - 1;
  }

  /** Numbers of the rows that are not forgotten, oldest first. */
  *kept(): Generator<number> {
    for (let index = 0; index < this.#settled.length; index++) yield index;
    for (let index = this.#first; index < this.length; index++) yield index;
  }

  /** Throws for a row of which nothing is left. */
  cell(index: number, column: number): number {
    if (index >= this.#first && index < this.length) return this.#newest.cell(index - this.#first, column);
    if (index >= 0 && index < this.#settled.length) return this.#settled.cell(index, column);
    const place = this.#left.countUpTo(index, this.#width) - 1;
    if (place < 0 || this.#left.cell(place, this.#width) !== index) {
      throw new RangeError(`row ${index} of ${this.length} is not there`);
    }
    return this.#left.cell(place, column);
  }

  /** Number behind the last row whose first value is ≤ `value`, among those of which something is left; 0 if there is none. */
  countUpTo(value: number): number {
    const fresh = this.#newest.countUpTo(value, 0);
    if (fresh > 0) return this.#first + fresh;
    const left = this.#left.countUpTo(value, 0);
    return left > 0 ? this.#left.cell(left - 1, this.#width) + 1 : this.#settled.countUpTo(value, 0);
  }

  /** The value of the newest row there ever was, or `whenEmpty`. */
  last(column: number, whenEmpty: number): number {
    return this.length === 0 ? whenEmpty : (this.#last[column] as number);
  }

  column(column: number): Column {
    return new Column(this, column);
  }
}

/** Rows without numbers of their own, added behind and taken off at both ends. */
class Table {
  length = 0;
  readonly #width: number;
  #data: Float64Array;
  /** Rows taken off in front, whose place is not used again yet. */
  #gone = 0;

  constructor(width: number) {
    this.#width = width;
    this.#data = new Float64Array(0);
  }

  push(values: ArrayLike<number>): void {
    if (values.length !== this.#width) throw new RangeError(`${values.length} values for ${this.#width}`);
    const end = (this.#gone + this.length) * this.#width;
    if (end === this.#data.length) this.#makeRoom();
    this.#data.set(values, (this.#gone + this.length++) * this.#width);
  }

  shift(): Float64Array {
    if (this.length === 0) throw new RangeError('no row');
    const start = this.#gone * this.#width;
    this.#gone += 1;
    this.length -= 1;
    return this.#data.slice(start, start + this.#width);
  }

  pop(): void {
    this.length -= 1;
  }

  cell(place: number, column: number): number {
    return this.#data[(this.#gone + place) * this.#width + column] as number;
  }

  /** In an ascending column: how many values are ≤ `value`. */
  countUpTo(value: number, column: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.cell(middle, column) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Uses again what was taken off, or doubles. */
  #makeRoom(): void {
    const start = this.#gone * this.#width;
    const used = this.#data.subarray(start);
    const isSparse = this.#gone > this.length;
    const next = isSparse ? this.#data : new Float64Array(Math.max(8, this.length * 2) * this.#width);
    if (isSparse) this.#data.copyWithin(0, start);
    else next.set(used);
    this.#data = next;
    this.#gone = 0;
  }
}

/** One value of each row; the rows are numbered as in the whole. */
export class Column {
  readonly #rows: Rows;
  readonly #column: number;

  constructor(rows: Rows, column: number) {
    this.#rows = rows;
    this.#column = column;
  }

  get length(): number {
    return this.#rows.length;
  }

  /** Throws outside the list and for a forgotten row, so that an index error cannot pass for a zero. */
  at(index: number): number {
    return this.#rows.cell(index, this.#column);
  }

  last(whenEmpty: number): number {
    return this.#rows.last(this.#column, whenEmpty);
  }
}
