import type { TradeRecord } from '../src/core/model.ts';
import type { TradePage } from '../src/platforms/contract.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import type { TradeWriter } from './trade-writer.ts';

/** Maximum trades buffered during a read. Beyond it they are stored early, and older trades follow newer ones in the event log. */
const BUFFERED = 100_000;
const BATCH_ROWS = 20_000;

/** Buffers the pages of a read, which arrive newest first, so that trades are stored and logged oldest first. */
export class TradeChain {
  readonly #writer: TradeWriter;
  readonly #lease: Lease;
  #newestFirst: TradeRecord[] = [];
  /** New rows stored so far. */
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

  /** Stores the buffered trades. */
  async end(): Promise<void> {
    // Pages may overlap, and trades of one instant may be on two pages: the sort is stable.
    const ordered = this.#newestFirst.toReversed().toSorted((a, b) => a.executedAtUs - b.executedAtUs);
    this.#newestFirst = [];
    let from = 0;
    do {
      this.rows += await this.#writer.write(ordered.slice(from, from + BATCH_ROWS), this.#lease);
      from += BATCH_ROWS;
    } while (from < ordered.length);
  }
}
