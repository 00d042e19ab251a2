import pg from 'pg';

/** A text that was run so often on a connection is prepared there; PostgreSQL's JDBC driver counts the same. */
const PREPARE_AFTER = 5;
/** Statements that a connection keeps prepared, and texts that it counts. */
const MAX_PREPARED = 200;
const MAX_COUNTED = 1000;

type Query = (...given: unknown[]) => unknown;

/**
 * A connection that prepares the statements it runs often: parsing and planning one takes longer than running it. A prepared
 * statement must not end in `*`: a column that a newer release adds would make PostgreSQL refuse it.
 */
export class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>();
  readonly #runs = new Map<string, number>();

  constructor(config?: pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    const preparing: Query = (first, ...rest) => query(this.#prepared(first, rest[0]), ...rest);
    this.query = preparing as pg.Client['query'];
  }

  #prepared(query: unknown, values: unknown): unknown {
    if (typeof query !== 'object' || query === null || !('text' in query) || !Array.isArray(values)) return query;
    const { text, name } = query as pg.QueryConfig;
    return name ? query : { ...query, name: this.#nameOf(text) };
  }

  #nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_PREPARED) return known;
    const runs = (this.#runs.get(text) ?? 0) + 1;
    if (runs <= PREPARE_AFTER) {
      if (this.#runs.size >= MAX_COUNTED) this.#runs.clear();
      this.#runs.set(text, runs);
      return undefined;
    }
    this.#runs.delete(text);
    const name = `s${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }
}
