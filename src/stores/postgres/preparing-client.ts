import pg from 'pg';
import { Cache } from '../../core/cache.ts';

/** A text is prepared after this many runs on a connection, as in PostgreSQL's JDBC driver. */
const PREPARE_AFTER = 5;
/** Prepared statements per connection, and texts counted. */
const MAX_PREPARED = 200;
const MAX_COUNTED = 1000;

type Query = (...given: unknown[]) => unknown;

/**
 * A connection that prepares the statements it runs often, because parsing and planning take longer than running them. A prepared
 * statement must not return `*`: PostgreSQL would reject it after a newer release adds a column.
 */
export class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>();
  readonly #runs = new Cache<string, number>({ limit: MAX_COUNTED });

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
      this.#runs.set(text, runs);
      return undefined;
    }
    this.#runs.delete(text);
    const name = `s${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }
}
