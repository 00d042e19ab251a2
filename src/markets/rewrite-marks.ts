/** Marked keys, each with the number of its newest mark. Beyond the bound the oldest are dropped. */
export class RewriteMarks {
  readonly #marks = new Map<string, number>();
  readonly #bound: number;
  #last = 0;

  constructor(bound: number) {
    this.#bound = bound;
  }

  add(key: string): void {
    if (this.#marks.size >= this.#bound) this.#marks.delete(this.#marks.keys().next().value ?? '');
    this.#last += 1;
    this.#marks.set(key, this.#last);
  }

  /** The marks of these keys now. */
  of(keys: readonly string[]): Map<string, number> {
    return new Map(
      keys.flatMap((key) => {
        const mark = this.#marks.get(key);
        return mark === undefined ? [] : [[key, mark] as const];
      }),
    );
  }

  /** Removes a mark, unless the key was marked again since. */
  remove(key: string, mark: number | undefined): void {
    if (this.#marks.get(key) === mark) this.#marks.delete(key);
  }

  delete(key: string): void {
    this.#marks.delete(key);
  }
}
