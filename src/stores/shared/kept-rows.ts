import { LruMap } from '../../core/lru-map.ts';

/**
 * Rows of the store in memory, by name: at most `limit`, each for `keptMs` unless it is forgotten before. A row that was forgotten
 * while it was being read is not kept: it may have been read before the change.
 */
export class KeptRows<Row> {
  readonly #rows: LruMap<string, { row: Row; until: number }>;
  readonly #keptMs: number;
  /** Names forgotten during each read in progress. */
  readonly #forgottenDuring = new Set<Set<string>>();

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

  /** Keeps the rows that `load` returns by name, and returns them. */
  async read(load: () => Promise<[name: string, row: Row][]>): Promise<[name: string, row: Row][]> {
    const forgotten = new Set<string>();
    this.#forgottenDuring.add(forgotten);
    try {
      const rows = await load();
      for (const [name, row] of rows) if (!forgotten.has(name)) this.keep(name, row);
      return rows;
    } finally {
      this.#forgottenDuring.delete(forgotten);
    }
  }

  forget(names: Iterable<string>): void {
    for (const name of names) {
      this.#rows.delete(name);
      for (const forgotten of this.#forgottenDuring) forgotten.add(name);
    }
  }

  forgetAll(): void {
    this.#rows.clear();
  }
}
