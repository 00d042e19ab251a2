import { Cache } from '../../src/core/cache.ts';
import type { Clock } from '../../src/core/time.ts';

/** Minimum interval of reads of whether a first listing is stored: until then every run for trades asks. */
const LISTED_MS = 2000;

/** Whether the markets of a platform have been listed once, by this process or another. */
export class FirstListing {
  readonly #listing: Cache<'markets', Date | null>;
  readonly #lastListed: () => Promise<Date | null>;
  #isKnown = false;

  /** `lastListed`: when markets were last listed, as stored. */
  constructor(clock: Clock, lastListed: () => Promise<Date | null>) {
    this.#listing = new Cache({ limit: 1, ttlMs: LISTED_MS, now: clock.elapsed });
    this.#lastListed = lastListed;
  }

  /** Call it when this process has listed them. */
  listed(): void {
    this.#isKnown = true;
  }

  async isStored(): Promise<boolean> {
    this.#isKnown ||= (await this.#listing.read('markets', this.#lastListed)) !== null;
    return this.#isKnown;
  }
}
