import { z } from 'zod';
import { Cache } from '../../src/core/cache.ts';
import { PlatformError } from '../../src/core/errors.ts';
import { eventImage } from '../../src/markets/event-images.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import type { Projector } from '../../src/present/projector.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { ItemReads } from '../failure-backoff.ts';
import type { JobResult, JobRun } from '../job-runner.ts';
import type { KeptLists } from './kept-lists.ts';
import { type Clock, DAY_MS } from '../../src/core/time.ts';

/** Events requested per run, one request each, at the lowest priority. */
const EVENTS_PER_RUN = 30;
const ASKED_AGAIN_MS = DAY_MS;
const REMEMBERED = 50_000;

const Row = z.object({ event_id: z.string() });

interface EventImageDeps {
  clickhouse: ClickHouse;
  lists: Pick<KeptLists, 'query' | 'forget'>;
  shared: Shared;
  present: Pick<Projector, 'copyNow'>;
  data: PlatformData;
  clock: Pick<Clock, 'now'>;
}

/** Reads the images of the busiest open events, for platforms whose listing has none. */
export class EventImageReader {
  readonly #deps: EventImageDeps;
  /** Events that turned out to have no image, or to be unreadable. */
  readonly #without: Cache<string, true>;

  constructor(deps: EventImageDeps) {
    this.#deps = deps;
    this.#without = new Cache({ limit: REMEMBERED, ttlMs: ASKED_AGAIN_MS, now: deps.clock.now });
  }

  async read(run: JobRun): Promise<JobResult | null> {
    const { lists, data, clock } = this.#deps;
    if (!data.eventImage) return null;
    const events = await lists.query('events_without_image', Row, { platform: data.platform });
    const due = events.filter(({ event_id: id }) => !this.#without.has(id)).slice(0, EVENTS_PER_RUN);
    if (due.length === 0) return null;
    const startedAt = new Date(clock.now());
    const reads = new ItemReads(run.signal);
    let rows = 0;
    for (const { event_id: id } of due) {
      if (run.signal.aborted) break;
      const image = await reads.attempt(() => eventImage(this.#deps, data, id, run.context('backfill')));
      if (image === '' || image instanceof PlatformError) this.#without.set(id, true);
      else rows += 1;
    }
    // The list is read again, so that events with an image are no longer in it.
    if (rows > 0) lists.forget();
    return { freshTo: startedAt, rows };
  }
}
