/** A growing list of integers (exact below 2^53) in one typed array: a million trades cost megabytes, not hundreds of them. */
export class Column {
  length = 0;
  #data = new Float64Array(16);

  push(value: number): void {
    if (this.length === this.#data.length) {
      const next = new Float64Array(this.length * 2);
      next.set(this.#data);
      this.#data = next;
    }
    this.#data[this.length++] = value;
  }

  /** Throws outside the list, so that an index error cannot pass for a zero. */
  at(index: number): number {
    if (index < 0 || index >= this.length) throw new RangeError(`column index ${index} of ${this.length}`);
    return this.#data[index] as number;
  }

  /** The newest value, or `whenEmpty`. */
  last(whenEmpty: number): number {
    return this.length === 0 ? whenEmpty : (this.#data[this.length - 1] as number);
  }

  /** In an ascending column: how many values are ≤ `value`. */
  countUpTo(value: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#data[middle] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
