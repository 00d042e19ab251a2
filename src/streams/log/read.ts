import { z } from 'zod';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import { type EpochEnds, epochOf, isFenced, isNext, type Partition, placeOf, positionOf } from './position.ts';

const EpochRow = z.object({
  epoch: z.number(),
  previous_end: z.number(),
  openers: z.coerce.number(),
  opened_ms: z.coerce.number(),
});

/** An event as logged: its position, what subscriptions are filtered by, and its JSON without what is known at sending only. */
export interface LogRow {
  sequence: number;
  ref: string;
  eventId: string;
  /** Contracts, and USD; 0 where it is no trade. */
  size: number;
  notional: number;
  data: string;
  loggedMs: number;
}

const EndRow = z.object({ sequence: z.coerce.number() });
const StartRow = z.object({
  first: z.coerce.number(),
  first_ms: z.coerce.number(),
  next: z.coerce.number(),
  since: z.coerce.number(),
});

/** Epochs of a partition from `from` on, oldest first. */
export const readEpochs = (clickhouse: ClickHouse, { feed, platform }: Partition, from: number) =>
  clickhouse.query('log_epochs', EpochRow, { feed, platform, from });

/** Where the epochs from `from` on end. */
async function readEnds(clickhouse: ClickHouse, partition: Partition, from: number): Promise<EpochEnds> {
  const rows = await readEpochs(clickhouse, partition, from + 1);
  return new Map(rows.map((row) => [row.epoch - 1, row.previous_end]));
}

/** The n of the last row of an epoch, 0 while it has none; rows that came too late count. */
export async function readEpochEnd(clickhouse: ClickHouse, partition: Partition, epoch: number): Promise<number> {
  const [row] = await clickhouse.query('log_end', EndRow, {
    ...partition,
    from: positionOf(epoch, 1),
    to: positionOf(epoch + 1, 0),
  });
  return row ? placeOf(row.sequence) : 0;
}

/** The position behind every event logged so far; 0 while the log was never opened. */
export async function readLogEnd(clickhouse: ClickHouse, partition: Partition): Promise<number> {
  const newest = async () => (await readEpochs(clickhouse, partition, 0)).at(-1)?.epoch ?? 0;
  for (let epoch = await newest(); ;) {
    const end = await readEpochEnd(clickhouse, partition, epoch);
    const after = await newest();
    // An epoch that was ended meanwhile may hold rows that do not count.
    if (after === epoch) return positionOf(epoch, end);
    epoch = after;
  }
}

/** What is kept of a partition: `next` behind a position, `since` an instant; 0 = nothing. */
export async function readLogStart(clickhouse: ClickHouse, partition: Partition, after: number, sinceMs: number) {
  const [row] = await clickhouse.query('log_start', StartRow, { ...partition, after, since_ms: sinceMs });
  return row ?? { first: 0, first_ms: 0, next: 0, since: 0 };
}

export interface LogPage {
  rows: LogRow[];
  /** true when there may be more at once. */
  isFull: boolean;
  /** A later row is there and one before it is not yet: its position, else null. */
  holeBefore: LogRow | null;
}

/**
 * The events behind a position, in order and without holes. Ends of epochs are read after the rows: a row that is behind its epoch's
 * end by then never counts, and one that is not can only be followed by rows of an epoch that takes it in. `onFull` is called with the
 * position of the last row of a full page before it is known which rows count.
 */
export async function readLog(
  clickhouse: ClickHouse,
  partition: Partition,
  after: number,
  limit: number,
  onFull: (last: number) => void = () => {},
): Promise<LogPage> {
  let scannedTo = after;
  for (;;) {
    const found = await readRows(clickhouse, partition, scannedTo, limit);
    const last = found.at(-1);
    if (!last) return { rows: [], isFull: false, holeBefore: null };
    if (found.length === limit) onFull(last.sequence);
    const page = inOrder(found, after, await readEnds(clickhouse, partition, epochOf(after)));
    const isFull = found.length === limit;
    if (page.rows.length > 0 || page.holeBefore || !isFull) return { ...page, isFull };
    scannedTo = last.sequence;
  }
}

/** Not as JSON: a client that comes back reads many of these. */
async function readRows(clickhouse: ClickHouse, partition: Partition, after: number, limit: number): Promise<LogRow[]> {
  const values = await clickhouse.rowBinary('log_rows', { ...partition, after, limit });
  const rows: LogRow[] = [];
  for (let before = after; !values.isAtEnd;) {
    // In the order of the columns.
    const row: LogRow = {
      sequence: values.number(),
      ref: values.text(),
      eventId: values.text(),
      size: values.number(),
      notional: values.number(),
      data: values.text(),
      loggedMs: values.number(),
    };
    const isEvent = row.sequence >= before && row.size >= 0 && row.notional >= 0 && row.loggedMs > 0;
    if (!isEvent || !row.data.startsWith('{') || !row.data.endsWith('}'))
      throw new Error(`the event behind ${before} cannot be read`);
    before = row.sequence;
    rows.push(row);
  }
  return rows;
}

/** Of rows sorted by position those that count, each once, up to the first hole. */
export function inOrder(found: readonly LogRow[], after: number, ends: EpochEnds): Omit<LogPage, 'isFull'> {
  const rows: LogRow[] = [];
  let at = after;
  for (const row of found) {
    if (row.sequence <= at || isFenced(row.sequence, ends)) continue;
    if (!isNext(at, row.sequence, ends)) return { rows, holeBefore: row };
    rows.push(row);
    at = row.sequence;
  }
  return { rows, holeBefore: null };
}
