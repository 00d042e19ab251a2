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
  readonly #resolutions = new Cache<string, string>({ limit: REMEMBERED });

  constructor(now: () => number) {
    this.#ticks = new Cache({ limit: REMEMBERED, ttlMs: COUNTS_MS, now });
  }

  /** Remembers what was stated of the record's market; returns whether the record shows it. */
  take({ info, state }: MarketRecord, { status, tickSize, resolvedAt }: StatedMarket): boolean {
    if (resolvedAt !== undefined) this.#resolutions.set(marketName(info), resolvedAt);
    if (tickSize !== undefined) {
      const tick = decimalNumber(tickSize, PRICE_SCALE);
      // Reads that follow the same statement do not prolong it.
      if (this.#ticks.get(marketName(info)) !== tick) this.#ticks.set(marketName(info), tick);
      if (info.metadata['tick_size'] !== tick) return false;
    }
    return status === undefined || state.status === status;
  }

  /** When a settled market was resolved, ISO-8601; undefined if it was not stated. */
  resolvedAt({ info, state }: MarketRecord): string | undefined {
    return state.status === 'settled' ? this.#resolutions.get(marketName(info)) : undefined;
  }

  /** The record with what was stated of its market. */
  apply(record: MarketRecord): MarketRecord {
    const { info, state } = record;
    const tick = this.#ticks.get(marketName(info));
    const resolvedAt = this.resolvedAt(record);
    const hasOtherTick = tick !== undefined && info.metadata['tick_size'] !== tick;
    if (!hasOtherTick && resolvedAt === undefined) return record;
    return {
      ...record,
      ...(hasOtherTick ? { info: { ...info, metadata: { ...info.metadata, tick_size: tick } } } : {}),
      ...(resolvedAt === undefined ? {} : { state: { ...state, resolvedAt } }),
    };
  }
}
