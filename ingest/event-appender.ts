import { randomUUID } from 'node:crypto';
import type { Log } from '../src/core/log.ts';
import type { Clock } from '../src/core/time.ts';
import type { ClickHouse, Urgency } from '../src/stores/clickhouse/client.ts';
import { keptFrom } from '../src/stores/clickhouse/retention.ts';
import { type Lease, type Shared, requireTime } from '../src/stores/shared/shared.ts';
import { LOG_CHANNEL, nameOf, type Partition, positionOf, UNKNOWN_END } from '../src/streams/log/position.ts';
import { readEpochEnd, readEpochs } from '../src/streams/log/read.ts';

export const LOG_COLUMNS = 'event_log (feed, platform, sequence, ref, event_id, size, notional, item_text, data)';

/** An event to log. Size in contracts, notional in USD; both '0' unless it is a trade. */
export interface NewEvent {
  ref: string;
  eventId: string;
  size: string;
  notional: string;
  /** Id of the trade; '' for other events. */
  item: string;
  /** JSON of the event's data. */
  data: string;
}

export interface AppenderDeps {
  clickhouse: ClickHouse;
  shared: Pick<Shared, 'publish'>;
  log: Log;
  clock: Clock;
  /** Whether somebody waits for new events; default: yes. */
  isUrgent?: () => boolean;
}

/**
 * Assigns positions to events and stores them, one batch at a time. A partition has one appender: opening it ends the epoch of
 * the previous one. Readers ignore late rows of an ended epoch; they are logged again when the log is compared with
 * the store.
 */
export class EventAppender {
  readonly #deps: AppenderDeps;
  readonly #partition: Partition;
  #epoch = 0;
  /** n of the last row of this epoch. */
  #last = 0;
  /** A batch whose result is unknown, with the n of its last row. */
  #unsure: { body: Buffer; last: number } | null = null;

  constructor(deps: AppenderDeps, partition: Partition) {
    this.#deps = deps;
    this.#partition = partition;
  }

  /** Opens a new epoch. Returns when this partition's log was first opened: anything earlier is history, not an event. */
  async open(lease: Lease): Promise<Date> {
    const opener = randomUUID();
    this.#unsure = null;
    for (;;) {
      const epoch = await this.#endPrevious(opener, lease);
      const epochs = await readEpochs(this.#deps.clickhouse, this.#partition, 0);
      // Two appenders that open at once would assign the same positions to different events: both open another epoch.
      if (!isOnlyOpener(epochs, epoch)) continue;
      this.#epoch = epoch;
      this.#last = 0;
      return new Date(epochs[0]?.opened_ms ?? this.#deps.clock.now());
    }
  }

  /** Ends the newest epoch where its rows end, which opens the next one; returns that. */
  async #endPrevious(opener: string, lease: Lease): Promise<number> {
    const { clickhouse } = this.#deps;
    const newest = (await readEpochs(clickhouse, this.#partition, 0)).at(-1);
    const before = newest?.epoch ?? 0;
    const isOld = newest !== undefined && newest.opened_ms < (await keptFrom(clickhouse, 'event_log')).getTime();
    // Read until stable: rows that arrive during the read count, because later readers see the higher end. No row precedes the first epoch.
    const endOf = (): Promise<number> => (before === 0 ? Promise.resolve(0) : this.#endOf(before));
    for (let end = -1, found = await endOf(); found !== end; found = await endOf()) {
      end = found;
      await this.#endEpoch(before, end === 0 && isOld ? UNKNOWN_END : end, opener, lease);
    }
    return before + 1;
  }

  #endOf(epoch: number): Promise<number> {
    return readEpochEnd(this.#deps.clickhouse, this.#partition, epoch);
  }

  async #endEpoch(epoch: number, end: number, opener: string, lease: Lease): Promise<void> {
    requireTime(lease);
    const { feed, platform } = this.#partition;
    const row = { feed, platform, epoch: epoch + 1, opener, previous_end: end };
    await this.#deps.clickhouse.insert('log_epochs (feed, platform, epoch, opener, previous_end)', [row]);
  }

  /** Appends events to the log; resolves with the position of the first one once they are stored. */
  async append(events: readonly NewEvent[], lease: Lease, { isUrgent = false }: Urgency = {}): Promise<number> {
    if (events.length === 0) return positionOf(this.#epoch, this.#last + 1);
    await this.settle(lease);
    requireTime(lease);
    const last = this.#last + events.length;
    const body = Buffer.from(events.map((event, index) => this.#line(event, this.#last + 1 + index)).join(''));
    this.#unsure = { body, last };
    // No deduplication token: the store can drop a batch under one. Readers skip a duplicate row at the same position.
    const isAwaited = isUrgent || (this.#deps.isUrgent?.() ?? true);
    await this.#deps.clickhouse.insert(LOG_COLUMNS, body, { isUrgent: isAwaited });
    this.#landed(last);
    return positionOf(this.#epoch, last - events.length + 1);
  }

  /** Checks whether a failed batch was stored; if not, it is sent again with the same positions. */
  async settle(lease: Lease): Promise<void> {
    const unsure = this.#unsure;
    if (!unsure) return;
    if ((await this.#endOf(this.#epoch)) < unsure.last) {
      requireTime(lease);
      await this.#deps.clickhouse.insert(LOG_COLUMNS, unsure.body);
    }
    this.#landed(unsure.last);
  }

  #landed(last: number): void {
    this.#last = last;
    this.#unsure = null;
    const { log, shared } = this.#deps;
    // Best effort: readers poll as well.
    shared
      .publish(LOG_CHANNEL, nameOf(this.#partition))
      .catch((error: unknown) => log.warn({ err: error }, 'Failed to announce new events'));
  }

  #line(event: NewEvent, n: number): string {
    const { feed, platform } = this.#partition;
    return (
      `{"feed":"${feed}","platform":"${platform}","sequence":"${positionOf(this.#epoch, n)}","ref":${JSON.stringify(event.ref)},` +
      `"event_id":${JSON.stringify(event.eventId)},"size":"${event.size}","notional":"${event.notional}",` +
      `"item_text":${JSON.stringify(event.item)},"data":${JSON.stringify(event.data)}}\n`
    );
  }
}

/** Whether an epoch is the newest one and has one opener. */
const isOnlyOpener = (epochs: Awaited<ReturnType<typeof readEpochs>>, epoch: number): boolean => {
  const newest = epochs.at(-1);
  return newest?.epoch === epoch && newest.openers === 1;
};
