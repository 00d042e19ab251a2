import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import { keptFrom } from '../../stores/clickhouse/retention.ts';
import { type EpochEnds, epochOf, isNext, type Partition, placeOf } from './position.ts';
import { readEpochs, readLogEnd, readLogStart } from './read.ts';

/** The stored range of a partition. */
export interface LogExtent {
  /** The position of the oldest event; 0 if there is none. */
  first: number;
  /** The position of the newest event. */
  end: number;
  /** Whether no event was dropped. */
  isWhole: boolean;
  /** The oldest time that can be requested, Unix ms: when the log was opened, or its oldest stored event. */
  oldestMs: number;
  ends: EpochEnds;
}

export async function readExtent(clickhouse: ClickHouse, partition: Partition, nowMs: number): Promise<LogExtent> {
  const end = await readLogEnd(clickhouse, partition);
  const epochs = await readEpochs(clickhouse, partition, 0);
  const { first, first_ms: firstMs } = await readLogStart(clickhouse, partition, 0);
  const ends = new Map(epochs.map((row) => [row.epoch - 1, row.previous_end]));
  const isWhole = first === 0 ? [...ends.values()].every((n) => n === 0) : isNext(0, first, ends);
  const keptMs = async (): Promise<number> => firstMs || (await keptFrom(clickhouse, 'event_log')).getTime();
  return { first, end, isWhole, oldestMs: isWhole ? (epochs[0]?.opened_ms ?? nowMs) : await keptMs(), ends };
}

/** Whether every event after a position is still stored, and the position belongs to this log. */
export function reachesBack({ first, end, ends }: LogExtent, position: number): boolean {
  if (position >= end) return position === end;
  if (first !== 0) return position >= first || isNext(position, first, ends);
  // Nothing follows: only empty epochs were opened since.
  const [own = Infinity, ...later] = [...ends].filter(([epoch]) => epoch >= epochOf(position)).map(([, n]) => n);
  return own <= placeOf(position) && later.every((n) => n === 0);
}
