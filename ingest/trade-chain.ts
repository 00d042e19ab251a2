import type { TradeRecord } from '../src/core/model.ts';
import type { TradePage } from '../src/platforms/contract.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import type { TradeWriter } from './trade-writer.ts';

/** Trades kept back until their reading ends; beyond them it stores what it has, and older ones follow newer ones in the log. */
const BUFFERED = 100_000;
const BATCH_ROWS = 20_000;

/** Pages of a reading come newest first. Kept back until it ends, so that trades are stored and logged oldest first. */
export class TradeChain {
  readonly #writer: TradeWriter;
  readonly #lease: Lease;
  #newestFirst: TradeRecord[] = [];
  /** Rows that were new, so far. */
  rows = 0;

  constructor(writer: TradeWriter, lease: Lease) {
    this.#writer = writer;
    this.#lease = lease;
  }

  async add({ trades, receivedAt }: TradePage): Promise<void> {
    if (receivedAt !== undefined) for (const trade of trades) trade.receivedAt = receivedAt;
    this.#newestFirst = this.#newestFirst.concat(trades);
    if (this.#newestFirst.length >= BUFFERED) await this.end();
  }

  /** Stores what is kept back. */
  async end(): Promise<void> {
    // Later pages may repeat what newer ones had, and one instant may lie on two of them: the sort is stable.
    const ordered = this.#newestFirst.toReversed().toSorted((a, b) => a.executedAtUs - b.executedAtUs);
    this.#newestFirst = [];
    let from = 0;
    do {
      this.rows += await this.#writer.write(ordered.slice(from, from + BATCH_ROWS), this.#lease);
      from += BATCH_ROWS;
    } while (from < ordered.length);
  }
}
