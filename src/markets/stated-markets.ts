import { decimalNumber, PRICE_SCALE } from '../core/decimal.ts';
import { LruMap } from '../core/lru-map.ts';
import type { MarketRecord } from '../core/model.ts';
import type { StatedMarket } from '../platforms/sockets/contract.ts';

/** How long a statement outweighs rows, which may come from a cache. */
const COUNTS_MS = 600_000;
const REMEMBERED = 10_000;

/** What sockets stated of markets: it counts at once, while the platform's rows may still be older. */
export class StatedMarkets {
  readonly #ticks = new LruMap<string, { tickSize: number; untilMs: number }>(REMEMBERED);
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Remembers what was stated of the record's market; returns whether the record shows it. */
  take({ info, state }: MarketRecord, { status, tickSize }: StatedMarket): boolean {
    if (tickSize !== undefined) {
      const entry = { tickSize: decimalNumber(tickSize, PRICE_SCALE), untilMs: this.#now() + COUNTS_MS };
      // Reads that follow the same statement do not prolong it.
      if (this.#tick(info)?.tickSize !== entry.tickSize) this.#ticks.set(keyOf(info), entry);
      if (info.metadata['tick_size'] !== entry.tickSize) return false;
    }
    return status === undefined || state.status === status;
  }

  /** The record with what was stated of its market. */
  apply(record: MarketRecord): MarketRecord {
    const { info } = record;
    const tick = this.#tick(info);
    if (!tick || info.metadata['tick_size'] === tick.tickSize) return record;
    return { ...record, info: { ...info, metadata: { ...info.metadata, tick_size: tick.tickSize } } };
  }

  #tick(info: MarketRecord['info']): { tickSize: number } | null {
    const tick = this.#ticks.get(keyOf(info));
    return tick && this.#now() < tick.untilMs ? tick : null;
  }
}

const keyOf = ({ platform, ref }: MarketRecord['info']): string => `${platform}:${ref}`;
