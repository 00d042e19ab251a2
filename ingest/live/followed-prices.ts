import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../src/core/time.ts';
import type { Platform } from '../../src/core/model.ts';
import { SpacedCall } from '../../src/core/spaced-call.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { FollowedMarket } from './quote-publisher.ts';

const EVERY_MS = 1000;
/** Markets per read. */
const BATCH = 500;

/** Last stored price of the first outcome, and total volume. */
export const StoredPrice = z.object({
  ref: z.string(),
  price: z.string().nullable(),
  volume_total: z.string().nullable(),
});

export interface FollowedPricesDeps {
  platform: Platform;
  clock: Clock;
  clickhouse: Pick<ClickHouse, 'query'>;
  log: FastifyBaseLogger;
  /** The followed markets, by reference; replaced by another map when they are selected again. */
  followed: () => Map<string, FollowedMarket>;
  /** Whether a selection is under way: it may have read values that are older than what is stored by now. */
  isChoosing: () => boolean;
}

/** Reads prices and volumes of followed markets again once others are stored, at most once a second. */
export class FollowedPrices {
  readonly #deps: FollowedPricesDeps;
  readonly #due = new Set<string>();
  readonly #reading: SpacedCall;
  #isReading = false;

  constructor(deps: FollowedPricesDeps) {
    this.#deps = deps;
    this.#reading = new SpacedCall(deps.clock, EVERY_MS, () => void this.#read());
  }

  /** Markets that were stored with another price or volume; those that are not followed are ignored. */
  stored(refs: Iterable<string>): void {
    const followed = this.#deps.followed();
    for (const ref of refs) if (followed.has(ref)) this.#due.add(ref);
    if (this.#due.size > 0 && !this.#isReading) this.#reading.ask();
  }

  stop(): void {
    this.#reading.cancel();
    this.#due.clear();
  }

  async #read(): Promise<void> {
    const { platform, clickhouse, log } = this.#deps;
    if (this.#deps.isChoosing()) return this.#reading.ask();
    const followed = this.#deps.followed();
    const refs = [...this.#due].slice(0, BATCH);
    for (const ref of refs) this.#due.delete(ref);
    this.#isReading = true;
    try {
      const rows = await clickhouse.query('socket_quotes', StoredPrice, { platform, refs });
      // The selection changed during the read: new markets may have newer values than these rows.
      if (followed !== this.#deps.followed()) this.stored(refs);
      else {
        for (const { ref, price, volume_total: volumeTotal } of rows) {
          const known = followed.get(ref);
          if (known) followed.set(ref, { ...known, price, volumeTotal });
        }
      }
    } catch (error) {
      log.warn({ err: error, platform }, 'Failed to read the stored prices of followed markets');
    } finally {
      this.#isReading = false;
    }
    if (this.#due.size > 0) this.#reading.ask();
  }
}
