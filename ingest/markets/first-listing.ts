import { z } from 'zod';
import { Cache } from '../../src/core/cache.ts';
import type { Platform } from '../../src/core/model.ts';
import type { Clock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** Minimum interval of reads of whether a first listing has ended: until then every run for trades asks. */
const LISTED_MS = 2000;

/** A row of sql/queries/listing_runs.sql. */
const Row = z.object({ is_over: z.coerce.boolean(), is_stored: z.coerce.boolean() });
type Runs = z.infer<typeof Row>;

interface FirstListingDeps {
  clickhouse: Pick<ClickHouse, 'query'>;
  clock: Pick<Clock, 'elapsed'>;
  platform: Platform;
  /** Called when a listing of this process has ended before one was complete. */
  onOver: () => void;
}

/** Whether the markets of a platform have been listed once, by this process or another. */
export class FirstListing {
  readonly #deps: FirstListingDeps;
  readonly #read: Cache<'runs', Runs>;
  #known: Runs = { is_over: false, is_stored: false };

  constructor(deps: FirstListingDeps) {
    this.#deps = deps;
    this.#read = new Cache({ limit: 1, ttlMs: LISTED_MS, now: deps.clock.elapsed });
  }

  /** Makes a listing, and remembers that it has ended. */
  async during<T>(list: () => Promise<T>): Promise<T> {
    const isFirst = !this.#known.is_stored;
    try {
      const result = await list();
      this.#known = { is_over: true, is_stored: true };
      return result;
    } finally {
      this.#known = { ...this.#known, is_over: true };
      if (isFirst) this.#deps.onOver();
    }
  }

  /** Whether every market was listed. */
  async isStored(): Promise<boolean> {
    return this.#known.is_stored || (await this.#runs()).is_stored;
  }

  /** Whether a listing has ended, also by a failure: the next one may be far, and the markets before the failure are stored. */
  async isOver(): Promise<boolean> {
    return this.#known.is_over || (await this.#runs()).is_over;
  }

  async #runs(): Promise<Runs> {
    const { clickhouse, platform } = this.#deps;
    const stored = await this.#read.read('runs', async () => {
      const [row] = await clickhouse.query('listing_runs', Row, { platform });
      return row ?? { is_over: false, is_stored: false };
    });
    this.#known = {
      is_over: this.#known.is_over || stored.is_over,
      is_stored: this.#known.is_stored || stored.is_stored,
    };
    return this.#known;
  }
}
