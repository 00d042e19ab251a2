import { decimalNumber, PRICE_SCALE } from '../core/decimal.ts';
import { Cache } from '../core/cache.ts';
import { marketName } from '../core/market-key.ts';
import type { MarketRecord } from '../core/model.ts';
import type { StatedMarket } from '../platforms/sockets/contract.ts';

/** How long a statement outweighs rows, which may come from a cache. */
const COUNTS_MS = 600_000;
const REMEMBERED = 10_000;

/** What sockets stated of markets: it counts at once, while the platform's rows may still be older. */
export class StatedMarkets {
  readonly #ticks: Cache<string, number>;

  constructor(now: () => number) {
    this.#ticks = new Cache({ limit: REMEMBERED, ttlMs: COUNTS_MS, now });
  }

  /** Remembers what was stated of the record's market; returns whether the record shows it. */
  take({ info, state }: MarketRecord, { status, tickSize }: StatedMarket): boolean {
    if (tickSize !== undefined) {
      const tick = decimalNumber(tickSize, PRICE_SCALE);
      // Reads that follow the same statement do not prolong it.
      if (this.#ticks.get(marketName(info)) !== tick) this.#ticks.set(marketName(info), tick);
      if (info.metadata['tick_size'] !== tick) return false;
    }
    return status === undefined || state.status === status;
  }

  /** The record with what was stated of its market. */
  apply(record: MarketRecord): MarketRecord {
    const { info } = record;
    const tick = this.#ticks.get(marketName(info));
    if (tick === undefined || info.metadata['tick_size'] === tick) return record;
    return { ...record, info: { ...info, metadata: { ...info.metadata, tick_size: tick } } };
  }
}
