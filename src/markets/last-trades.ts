import PQueue from 'p-queue';
import { GatheredCalls } from '../core/gathered-calls.ts';
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

type Named = [platform: Platform, ref: string];

/**
 * Prices markets by their newest stored trade if it is newer than the listing's last trade, and adjusts their price changes: markets of all
 * platforms together, every two seconds. The rows keep the listing's times: sort keys of lists do not change.
 */
export class LastTradePrices {
  readonly #clickhouse: ClickHouse;
  readonly #prices: GatheredCalls<Named[], void>;
  /** One statement after the other: of two at once, the one that saw fewer trades could come last. */
  readonly #statements = new PQueue({ concurrency: 1 });

  constructor(clickhouse: ClickHouse, clock: Clock) {
    this.#clickhouse = clickhouse;
    this.#prices = new GatheredCalls({
      clock,
      everyMs: EVERY_MS,
      burst: BURST,
      full: REFS_AT_ONCE,
      sizeOf: (markets) => markets.length,
      run: async (lists) => {
        await this.#statements.add(() => this.#price(lists.flat()));
        return () => {};
      },
    });
  }

  /** Resolves once these markets are priced; urgent ones are priced at once, with those that wait. */
  async price(platform: Platform, refs: readonly string[], { isUrgent }: Urgency = {}): Promise<void> {
    if (refs.length > 0)
      await this.#prices.add(
        refs.map((ref) => [platform, ref]),
        isUrgent,
      );
  }

  async #price(markets: readonly Named[]): Promise<void> {
    for (const part of partsOf(markets, REFS_AT_ONCE)) {
      const params = { platforms: part.map(([platform]) => platform), refs: part.map(([, ref]) => ref) };
      await this.#clickhouse.run('price_by_last_trades', { ...params, listed: LISTED });
    }
  }
}
