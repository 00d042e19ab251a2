import type { z } from 'zod';
import { Cache } from '../../src/core/cache.ts';
import type { Clock } from '../../src/core/time.ts';
import type { ClickHouse, QueryParams } from '../../src/stores/clickhouse/client.ts';

/** Lists by volume change without a message: they are read again after this time. */
const KEPT_MS = 60_000;
const LISTS = 20;

/** Lists of a platform's stored markets. They are read again once markets were stored with other facts or status, and once a minute. */
export class KeptLists implements Pick<ClickHouse, 'query'> {
  readonly #clickhouse: Pick<ClickHouse, 'query'>;
  readonly #rows: Cache<string, unknown[]>;

  constructor(clickhouse: Pick<ClickHouse, 'query'>, clock: Clock) {
    this.#clickhouse = clickhouse;
    this.#rows = new Cache({ limit: LISTS, ttlMs: KEPT_MS, now: clock.elapsed });
  }

  /** The rows of sql/queries/<name>.sql, kept by name and parameters; callers must not change them. */
  async query<Row>(name: string, row: z.ZodType<Row>, params: QueryParams = {}): Promise<Row[]> {
    const rows = await this.#rows.read(`${name} ${JSON.stringify(params)}`, () =>
      this.#clickhouse.query(name, row, params),
    );
    return rows as Row[];
  }

  /** Call it when a process has stored markets with other facts or another status. */
  forget(): void {
    this.#rows.clear();
  }
}
