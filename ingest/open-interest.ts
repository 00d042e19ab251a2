import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { MarketWriter } from '../src/market-writer.ts';
import type { PlatformData } from '../src/platforms/platform.ts';
import type { JobResult, JobRun } from './jobs.ts';

/** Markets asked for in one run: the platform takes a list of ids, of a size it does not publish. */
const MARKETS_PER_RUN = 50;
const REMEMBERED = 100_000;

const Row = z.object({ ref: z.string(), volume: z.string() });

/** Reads the open interest of markets that traded since it was last read, busiest first; for platforms whose listing lacks it. */
export class OpenInterestReader {
  readonly #clickhouse: ClickHouse;
  readonly #writer: MarketWriter;
  readonly #data: PlatformData;
  readonly #readAtVolume = new Map<string, string>();

  constructor(deps: { clickhouse: ClickHouse; writer: MarketWriter; data: PlatformData }) {
    this.#clickhouse = deps.clickhouse;
    this.#writer = deps.writer;
    this.#data = deps.data;
  }

  async read(run: JobRun): Promise<JobResult | null> {
    if (!this.#data.openInterest) return null;
    const open = await this.#clickhouse.query('open_markets_by_volume', Row, { platform: this.#data.platform });
    const due = open.filter((row) => this.#readAtVolume.get(row.ref) !== row.volume).slice(0, MARKETS_PER_RUN);
    if (due.length === 0) return null;
    const startedAt = new Date();
    const values = await this.#data.openInterest(
      due.map((row) => row.ref),
      run.context('poll'),
    );
    for (const [ref, value] of values) this.#writer.setOpenInterest(ref, value);
    if (this.#readAtVolume.size > REMEMBERED) this.#readAtVolume.clear();
    for (const row of due) this.#readAtVolume.set(row.ref, row.volume);
    return { freshTo: startedAt, rows: values.size };
  }
}
