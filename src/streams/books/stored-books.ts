import { z } from 'zod';
import { bookOf, SnapshotRow } from '../../books/book-at.ts';
import { UNSEEN_MS } from '../../books/recorder.ts';
import type { BookSide } from '../../core/model.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';

/** Maximum difference between the clocks of the machines that receive, store and serve. */
const CLOCKS_MS = 60_000;

const UpdateRow = z.object({
  market_key: z.string(),
  sequence: z.coerce.number(),
  begins: z.boolean(),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
  levels: z.array(z.tuple([z.enum(['bid', 'ask']), z.string(), z.string()])),
  gap_from: z.string().nullable(),
  /** For gaps; '' for messages. */
  reason: z.string(),
});

/** A book message: changed levels, or the whole book if `begins`; times ISO-8601. */
export interface BookMessage {
  sequence: number;
  begins: boolean;
  exchange_at: string | null;
  received_at: string;
  levels: z.output<typeof UpdateRow>['levels'];
  /** The gap that a book which `begins` ends, if one is known. */
  ends_gap?: Pick<BookLoss, 'from' | 'reason'> | undefined;
}

/** A period in which a book was unknown, ISO-8601. */
export interface BookLoss {
  from: string;
  to: string;
  reason: string;
}

/** Messages in the order of their sequences, and gaps, each with its market's key. */
interface BookUpdates {
  messages: [key: string, message: BookMessage][];
  losses: [key: string, loss: BookLoss][];
}

/** Markets, and the sequence after which messages are new. */
type KnownBooks = readonly { key: string; sequence: number }[];

/** A whole stored book. */
interface StoredBook {
  sequence: number;
  /** Whether it starts a recorded period. */
  begins: boolean;
  book: BookSide;
  exchangeAt: string | null;
  receivedAt: string;
}

/** The newest recorded book of a market; null if none was seen recently. */
export async function newestBook(
  clickhouse: ClickHouse,
  { platform, ref }: Pick<StoredMarket, 'platform' | 'ref'>,
  nowMs: number,
): Promise<StoredBook | null> {
  const span = { platform, ref, at_ms: nowMs + CLOCKS_MS, after_ms: nowMs - UNSEEN_MS - CLOCKS_MS };
  const [row] = await clickhouse.query('book_snapshot_at', SnapshotRow, span);
  if (!row) return null;
  const { begins, exchange_at: exchangeAt, received_at: receivedAt } = row;
  return { sequence: Number(row.sequence), begins, book: bookOf(row), exchangeAt, receivedAt };
}

/** What was stored after a book. */
export const updatesBehind = (clickhouse: ClickHouse, key: string, stored: StoredBook): Promise<BookUpdates> =>
  readUpdates(clickhouse, [{ key, sequence: stored.sequence }], Date.parse(stored.receivedAt) - CLOCKS_MS);

/** New messages of some markets, written at `sinceMs` or later, Unix ms by the store's clock. */
export async function readUpdates(clickhouse: ClickHouse, known: KnownBooks, sinceMs: number): Promise<BookUpdates> {
  const params = {
    keys: known.map(({ key }) => BigInt(key)),
    sequences: known.map(({ sequence }) => sequence),
    since_ms: sinceMs,
  };
  const updates: BookUpdates = { messages: [], losses: [] };
  for (const row of await clickhouse.query('book_updates', UpdateRow, params)) {
    const { market_key: key, gap_from: from, reason, ...message } = row;
    if (reason === '') updates.messages.push([key, message]);
    else updates.losses.push([key, { from: from ?? message.received_at, to: message.received_at, reason }]);
  }
  for (const [key, message] of updates.messages) {
    if (!message.begins) continue;
    message.ends_gap = updates.losses.find(([lost, { to }]) => lost === key && to === message.received_at)?.[1];
  }
  return updates;
}
