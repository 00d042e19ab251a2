import type { CursorCodec } from '../cursor.ts';
import type { LogRow } from './read.ts';

const SLICE_BYTES = 64 * 1024;

/** The name of a durable event. */
export type DurableEvent = 'trade' | 'market' | 'match';

/** Durable events sent as one piece, each with its cursor and its JSON data. Many streams may send the same slice. */
export interface EventSlice {
  readonly name: DurableEvent;
  readonly events: readonly { cursor: string; data: string }[];
  /** The position in its partition after sending it. */
  readonly position: number;
}

interface SliceOptions {
  name: DurableEvent;
  /** Index of the rows' partition in `positions`. */
  index: number;
  /** Positions of the stream in its partitions; not modified. */
  positions: readonly number[];
  codec: CursorCodec;
  /** When they are sent, Unix ms. */
  nowMs: number;
  matches: (row: LogRow) => boolean;
}

/** The slices of a partition's rows, without those already sent. */
export function makeSlices(rows: readonly LogRow[], options: SliceOptions): EventSlice[] {
  const { name, index, codec, nowMs, matches } = options;
  const positions = [...options.positions];
  const sentAt = new Date(nowMs).toISOString();
  const slices: EventSlice[] = [];
  let events: { cursor: string; data: string }[] = [];
  let bytes = 0;
  const cut = (): void => {
    slices.push({ name, events, position: positions[index] ?? 0 });
    [events, bytes] = [[], 0];
  };
  for (const row of rows) {
    if (row.sequence <= (positions[index] ?? 0)) continue;
    positions[index] = row.sequence;
    if (!matches(row)) continue;
    const data = `${row.data.slice(0, -1)},"sequence":${row.sequence},"sent_at":"${sentAt}"}`;
    events.push({ cursor: codec.encode(positions), data });
    bytes += data.length;
    if (bytes >= SLICE_BYTES) cut();
  }
  cut();
  return slices;
}
