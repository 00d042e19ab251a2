import { z } from 'zod';
import type { Clock } from '../../src/core/time.ts';
import { Cache } from '../../src/core/cache.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { MarketWriter } from '../../src/markets/writer.ts';
import type { BadRow, PlatformData } from '../../src/platforms/contract.ts';
import type { JobResult, JobRun } from '../job-runner.ts';

/** Markets per run: three calls. */
const MARKETS_PER_RUN = 60;
const REMEMBERED = 50_000;

const Row = z.object({ ref: z.string(), volume: z.string() });

interface OpenInterestDeps {
  lists: Pick<ClickHouse, 'query'>;
  writer: MarketWriter;
  data: PlatformData;
  clock: Pick<Clock, 'now'>;
}

/** Reads the open interest of markets that traded since it was last read, busiest first; for platforms whose listing lacks it. */
export class OpenInterestReader {
  readonly #deps: OpenInterestDeps;
  /** The volume of a market when its open interest was read, and when that was. */
  readonly #read = new Cache<string, { volume: string; atMs: number }>({ limit: REMEMBERED });

  constructor(deps: OpenInterestDeps) {
    this.#deps = deps;
  }

  async read(run: JobRun): Promise<JobResult | null> {
    const { lists, writer, data, clock } = this.#deps;
    if (!data.openInterest) return null;
    const open = await lists.query('open_markets_by_volume', Row, { platform: data.platform });
    const moved = open.filter((row) => this.#read.get(row.ref)?.volume !== row.volume);
    // Half of each batch by volume, half by age: the busiest markets alone would fill every batch.
    const half = MARKETS_PER_RUN / 2;
    const readAt = ({ ref }: { ref: string }): number => this.#read.get(ref)?.atMs ?? 0;
    const waiting = moved.slice(half).toSorted((a, b) => readAt(a) - readAt(b));
    const due = [...moved.slice(0, half), ...waiting.slice(0, half)];
    if (due.length === 0) return null;
    const startedAt = new Date(clock.now());
    const context = run.context('poll');
    const unread = new Set<string>();
    const onBadRow = (row: BadRow): void => {
      unread.add(row.id);
      context.onBadRow(row);
    };
    const values = await data.openInterest(
      due.map((row) => row.ref),
      { ...context, onBadRow },
    );
    for (const { ref, volume } of due) {
      // A market that the answer leaves out has no figure. A market that could not be read keeps its last one.
      if (!unread.has(ref)) writer.setOpenInterest(data.platform, ref, values.get(ref) ?? null);
      this.#read.set(ref, { volume, atMs: startedAt.getTime() });
    }
    const freshMs = Math.min(startedAt.getTime(), ...[...values.values()].map(({ at }) => Date.parse(at)));
    return { freshTo: new Date(freshMs), rows: values.size };
  }
}
