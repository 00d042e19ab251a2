import { SpacedCall } from '../core/spaced-call.ts';
import type { Clock } from '../core/time.ts';
import type { ClickHouse, Urgency } from '../stores/clickhouse/client.ts';
import type { Platform } from '../core/model.ts';
import { PLATFORMS } from '../core/model.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import { partsOf } from '../core/parts.ts';

/** Markets priced by one statement. */
const REFS_AT_ONCE = 1000;
/** Statements are at least this far apart, apart from bursts. */
const EVERY_MS = 2000;
const BURST = 10;

const LISTED = PLATFORMS.filter((platform) => MANIFESTS[platform].lastTradeFrom === 'listing');

interface Waiting {
  markets: [Platform, string][];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Prices markets by their newest stored trade if it is newer than the listing's last trade, and adjusts their price changes: markets of all
 * platforms together, every two seconds. The rows keep the listing's times: sort keys of lists do not change.
 */
export class LastTradePrices {
  readonly #clickhouse: ClickHouse;
  readonly #sending: SpacedCall;
  #waiting: Waiting[] = [];
  #size = 0;
  /** One statement after the other: of two at once, the one that saw fewer trades could come last. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(clickhouse: ClickHouse, clock: Clock) {
    this.#clickhouse = clickhouse;
    this.#sending = new SpacedCall(clock, EVERY_MS, () => this.#send(), BURST);
  }

  /** Resolves once these markets are priced; urgent ones are priced at once, with those that wait. */
  price(platform: Platform, refs: readonly string[], { isUrgent = false }: Urgency = {}): Promise<void> {
    if (refs.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ markets: refs.map((ref) => [platform, ref]), resolve, reject });
      this.#size += refs.length;
      if (isUrgent || this.#size >= REFS_AT_ONCE) this.#send();
      else this.#sending.ask();
    });
  }

  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    if (waiting.length === 0) return;
    const priced = this.#last.then(() => this.#price(waiting.flatMap(({ markets }) => markets)));
    this.#last = priced.catch(() => {});
    for (const { resolve, reject } of waiting) priced.then(resolve, reject);
  }

  async #price(markets: readonly [Platform, string][]): Promise<void> {
    for (const part of partsOf(markets, REFS_AT_ONCE)) {
      const params = { platforms: part.map(([platform]) => platform), refs: part.map(([, ref]) => ref) };
      await this.#clickhouse.run('price_by_last_trades', { ...params, listed: LISTED });
    }
  }
}
