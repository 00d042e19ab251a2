import { badRequest } from '../core/errors.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { CursorCodec } from './cursor.ts';
import { filterText, partitionsOf, type StreamFilter } from './filter.ts';
import type { Hub } from './hub.ts';
import { epochOf, isNext, type Partition, placeOf } from './log-position.ts';
import { readEpochs, readLogEnd, readLogStart } from './read-log.ts';

/** Where a subscription begins: a cursor, a time in Unix ms, or null for what comes from now on; `field` is what it was given in. */
export interface Since {
  field: string;
  from: { cursor: string } | { timeMs: number } | null;
}

/** The positions that a subscription begins behind; 400 for a cursor that is damaged or of other filters, or reaches back too far. */
export async function startPositions(hub: Hub, filter: StreamFilter, { field, from }: Since): Promise<number[]> {
  const partitions = partitionsOf(filter);
  if (from === null) return Promise.all(partitions.map((partition) => hub.follower(partition).end()));
  if ('timeMs' in from) return fromTime(hub.clickhouse, partitions, field, from.timeMs);
  const { cursor } = from;
  const positions = new CursorCodec(filterText(filter), partitions.length).decode(cursor);
  const received = JSON.stringify(cursor.slice(0, 80));
  if (typeof positions === 'string') {
    const expected =
      positions === 'damaged'
        ? 'a time, or the id of an event of a stream'
        : 'a cursor of a stream with the same filters';
    throw await refusal(hub.clickhouse, partitions, { field, expected, received });
  }
  const kept = await Promise.all(
    partitions.map((partition, index) => {
      const position = positions[index] ?? 0;
      return hub.follower(partition).holds(position) || isKept(hub.clickhouse, partition, position);
    }),
  );
  if (kept.every(Boolean)) return positions;
  throw await refusal(hub.clickhouse, partitions, {
    field,
    expected: 'a cursor of events that are still kept',
    received,
  });
}

async function fromTime(clickhouse: ClickHouse, partitions: Partition[], field: string, timeMs: number) {
  const oldestMs = await oldestTime(clickhouse, partitions);
  if (timeMs < oldestMs) {
    const received = new Date(timeMs).toISOString();
    throw await refusal(clickhouse, partitions, { field, expected: 'a time of which events are kept', received });
  }
  return Promise.all(
    partitions.map(async (partition) => {
      const end = await readLogEnd(clickhouse, partition);
      const { since } = await readLogStart(clickhouse, partition, 0, timeMs);
      return since === 0 ? end : Math.min(since - 1, end);
    }),
  );
}

/** Whether every event behind a position is still there, and the position is one of this log. */
async function isKept(clickhouse: ClickHouse, partition: Partition, position: number): Promise<boolean> {
  const end = await readLogEnd(clickhouse, partition);
  if (position >= end) return position === end;
  const { next } = await readLogStart(clickhouse, partition, position, 0);
  const epochs = await readEpochs(clickhouse, partition, epochOf(position) + 1);
  const ends = new Map(epochs.map((row) => [row.epoch - 1, row.previous_end]));
  if (next !== 0) return isNext(position, next, ends);
  // Nothing follows: epochs were opened since, in which nothing happened.
  const [own = Infinity, ...later] = ends.values();
  return own <= placeOf(position) && later.every((n) => n === 0);
}

/** The oldest time that can be asked for, Unix ms: when the log was opened, or its oldest event that is kept. */
async function oldestTime(clickhouse: ClickHouse, partitions: readonly Partition[]): Promise<number> {
  const times = await Promise.all(
    partitions.map(async (partition) => {
      const epochs = await readEpochs(clickhouse, partition, 0);
      const { first, first_ms: firstMs } = await readLogStart(clickhouse, partition, 0, 0);
      const ends = new Map(epochs.map((row) => [row.epoch - 1, row.previous_end]));
      const isWhole = first === 0 ? [...ends.values()].every((n) => n === 0) : isNext(0, first, ends);
      return (isWhole ? epochs[0]?.opened_ms : firstMs) || Date.now();
    }),
  );
  return Math.min(...times, Date.now());
}

async function refusal(
  clickhouse: ClickHouse,
  partitions: readonly Partition[],
  issue: { field: string; expected: string; received: string },
) {
  const oldest = new Date(await oldestTime(clickhouse, partitions)).toISOString();
  return badRequest([issue], `Ask for events since ${oldest} or later, or leave ${issue.field} out to begin now.`);
}
