import { badRequest } from '../core/errors.ts';
import { CursorCodec } from './cursor.ts';
import { filterText, partitionsOf, type StreamFilter } from './filter.ts';
import type { Hub } from './hub.ts';
import { reachesBack, readExtent } from './log/extent.ts';
import type { Partition } from './log/position.ts';
import { readLogEnd, readLogStart } from './log/read.ts';

/** Where a subscription starts: a cursor, a time in Unix ms, or null for now; `field` is the parameter that contained it. */
interface Since {
  field: string;
  from: { cursor: string } | { timeMs: number } | null;
}

/** The positions after which a subscription starts; 400 for a cursor that is damaged, has other filters, or is too old. */
export async function startPositions(hub: Hub, filter: StreamFilter, { field, from }: Since): Promise<number[]> {
  const partitions = partitionsOf(filter);
  // Quotes and books start with the newest state, whatever time is given.
  if (partitions.length === 0 && from !== null && 'timeMs' in from) return [];
  if (from === null) return Promise.all(partitions.map((partition) => hub.follower(partition).end()));
  if ('timeMs' in from) return fromTime(hub, partitions, field, from.timeMs);
  const { cursor } = from;
  const positions = new CursorCodec(filterText(filter), partitions.length).decode(cursor);
  const received = JSON.stringify(cursor.slice(0, 80));
  if (typeof positions === 'string') {
    const expected =
      positions === 'damaged' ? 'a time, or the id of a stream event' : 'a cursor of a stream with the same filters';
    throw await refusal(hub, partitions, { field, expected, received });
  }
  const kept = await Promise.all(
    partitions.map(async (partition, index) => {
      const position = positions[index] ?? 0;
      const follower = hub.follower(partition);
      // Opens it: positions are compared with its memory.
      await follower.end();
      return follower.holds(position) || isKept(hub, partition, position);
    }),
  );
  if (kept.every(Boolean)) return positions;
  throw await refusal(hub, partitions, {
    field,
    expected: 'a cursor whose events are still stored',
    received,
  });
}

async function fromTime(hub: Hub, partitions: Partition[], field: string, timeMs: number) {
  const oldestMs = await oldestTime(hub, partitions);
  if (timeMs < oldestMs) {
    const received = new Date(timeMs).toISOString();
    throw await refusal(hub, partitions, { field, expected: 'a time from which events are stored', received });
  }
  return Promise.all(
    partitions.map(async (partition) => {
      const end = await readLogEnd(hub.clickhouse, partition);
      const { since } = await readLogStart(hub.clickhouse, partition, timeMs);
      return since === 0 ? end : Math.min(since - 1, end);
    }),
  );
}

async function isKept(hub: Hub, partition: Partition, position: number): Promise<boolean> {
  const known = await hub.extent(partition);
  // Another process may have sent events logged since.
  return reachesBack(
    position > known.end ? await readExtent(hub.clickhouse, partition, hub.clock.now()) : known,
    position,
  );
}

/** From this time on every partition has all its events: before a log was opened it had none. */
async function oldestTime(hub: Hub, partitions: readonly Partition[]): Promise<number> {
  const extents = await Promise.all(partitions.map((partition) => hub.extent(partition)));
  const shortened = extents.filter(({ isWhole }) => !isWhole);
  if (shortened.length > 0) return Math.max(...shortened.map(({ oldestMs }) => oldestMs));
  return Math.min(...extents.map(({ oldestMs }) => oldestMs), hub.clock.now());
}

async function refusal(
  hub: Hub,
  partitions: readonly Partition[],
  issue: { field: string; expected: string; received: string },
) {
  const oldest = new Date(await oldestTime(hub, partitions)).toISOString();
  return badRequest([issue], `Request events since ${oldest} or later, or omit ${issue.field} to start now.`);
}
