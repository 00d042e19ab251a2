import { z } from 'zod';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import {
  type EpochEnds,
  epochOf,
  isFenced,
  isNext,
  type Partition,
  placeOf,
  positionOf,
  UNKNOWN_END,
} from './position.ts';

const EpochRow = z.object({
  epoch: z.number(),
  previous_end: z.number(),
  openers: z.coerce.number(),
  opened_ms: z.coerce.number(),
});

/** A logged event: its position, the fields of filters, and its JSON without fields added when sending. */
export interface LogRow {
  sequence: number;
  ref: string;
  eventId: string;
  /** Contracts, and USD; 0 if it is not a trade. */
  size: number;
  notional: number;
  data: string;
  loggedMs: number;
}

const EndRow = z.object({ sequence: z.coerce.number() });
const StartRow = z.object({
  first: z.coerce.number(),
  first_ms: z.coerce.number(),
  since: z.coerce.number(),
});

/** Epochs of a partition from `from` on, oldest first. */
export const readEpochs = (clickhouse: ClickHouse, { feed, platform }: Partition, from: number) =>
  clickhouse.query('log_epochs', EpochRow, { feed, platform, from });

/** The ends of the epochs from `from` on. An unknown end counts as 0, so that no reader waits for rows that retention has dropped. */
async function readEnds(clickhouse: ClickHouse, partition: Partition, from: number): Promise<EpochEnds> {
  const rows = await readEpochs(clickhouse, partition, from + 1);
  return new Map(rows.map(({ epoch, previous_end: end }) => [epoch - 1, end === UNKNOWN_END ? 0 : end]));
}

/** The n of an epoch's last row, 0 if it has none; late rows count. */
export async function readEpochEnd(clickhouse: ClickHouse, partition: Partition, epoch: number): Promise<number> {
  const [row] = await clickhouse.query('log_end', EndRow, {
    ...partition,
    from: positionOf(epoch, 1),
    to: positionOf(epoch + 1, 0),
  });
  return row ? placeOf(row.sequence) : 0;
}

/** The position of the newest event; 0 if the log was never opened. */
export async function readLogEnd(clickhouse: ClickHouse, partition: Partition): Promise<number> {
  const newest = async () => (await readEpochs(clickhouse, partition, 0)).at(-1)?.epoch ?? 0;
  for (let epoch = await newest(); ;) {
    const end = await readEpochEnd(clickhouse, partition, epoch);
    const after = await newest();
    // An epoch that ended during the read may contain rows that do not count.
    if (after === epoch) return positionOf(epoch, end);
    epoch = after;
  }
}

/** Positions of stored events: `first` of all, `since` the first logged at `sinceMs` or later; 0 = none. */
export async function readLogStart(clickhouse: ClickHouse, partition: Partition, sinceMs: number) {
  const [row] = await clickhouse.query('log_start', StartRow, { ...partition, since_ms: sinceMs });
  return row ?? { first: 0, first_ms: 0, since: 0 };
}

export interface LogPage {
  rows: LogRow[];
  isFull: boolean;
  /** The row after a missing one, or null. */
  holeBefore: LogRow | null;
}

/**
 * The events after a position, in order and without holes. Epoch ends are read after the rows: a row beyond the end of its epoch does not
 * count, and an epoch that is opened later includes any other row. `onFull` is called with the position of a full
 * page's last row, before it is known which rows count.
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

/** Reads rows as RowBinary, which is faster than JSON: a client that reconnects reads many. */
async function readRows(clickhouse: ClickHouse, partition: Partition, after: number, limit: number): Promise<LogRow[]> {
  const values = await clickhouse.rowBinary('log_rows', { ...partition, after, limit });
  const rows: LogRow[] = [];
  for (let before = after; !values.isAtEnd;) {
    // In the order of the columns of sql/queries/log_rows.sql.
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
      throw new Error(`the event after ${before} cannot be read`);
    before = row.sequence;
    rows.push(row);
  }
  return rows;
}

/** From rows sorted by position, those that count, each once, up to the first hole. */
function inOrder(found: readonly LogRow[], after: number, ends: EpochEnds): Omit<LogPage, 'isFull'> {
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
