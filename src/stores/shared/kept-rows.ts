import { LruMap } from '../../core/lru-map.ts';

/**
 * Rows of the store in memory, by name: at most `limit`, each for `keptMs` unless it is forgotten before. A row that was forgotten
 * while it was being read is not kept: it may have been read before the change.
 */
export class KeptRows<Row> {
  readonly #rows: LruMap<string, { row: Row; until: number }>;
  readonly #keptMs: number;
  /** Names forgotten during each read in progress; null if all were. */
  readonly #reads = new Set<{ forgotten: Set<string> | null }>();

  constructor(limit: number, keptMs: number) {
    this.#rows = new LruMap(limit);
    this.#keptMs = keptMs;
  }

  get(name: string): Row | undefined {
    const kept = this.#rows.get(name);
    return kept && kept.until > Date.now() ? kept.row : undefined;
  }

  keep(name: string, row: Row): void {
    this.#rows.set(name, { row, until: Date.now() + this.#keptMs });
  }

  /** Keeps the rows that `load` returns by name. */
  async read(load: () => Promise<[name: string, row: Row][]>): Promise<void> {
    const read: { forgotten: Set<string> | null } = { forgotten: new Set() };
    this.#reads.add(read);
    try {
      for (const [name, row] of await load()) if (read.forgotten?.has(name) === false) this.keep(name, row);
    } finally {
      this.#reads.delete(read);
    }
  }

  forget(names: Iterable<string>): void {
    for (const name of names) {
      this.#rows.delete(name);
      for (const read of this.#reads) read.forgotten?.add(name);
    }
  }

  forgetAll(): void {
    this.#rows.clear();
    for (const read of this.#reads) read.forgotten = null;
  }
}
