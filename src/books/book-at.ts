import { z } from 'zod';
import { parsePrice, parseSize } from '../core/decimal.ts';
import { ApiError } from '../core/errors.ts';
import type { BookLevel, BookSide } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { BookAnswer } from '../queries/order-book.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { recordedAnswer } from './answer.ts';
import { applyChanges } from './book.ts';
import { UNSEEN_MS } from './recorder.ts';

/** A book from a socket is seen more often than this. */
const LIVE_UNSEEN_MS = 90_000;

/** A row of sql/queries/book_snapshot_at.sql; levels best first, times ISO-8601, `sequence` digits. */
export const SnapshotRow = z.object({
  sequence: z.string(),
  begins: z.boolean(),
  bid_prices: z.array(z.string()),
  bid_sizes: z.array(z.string()),
  ask_prices: z.array(z.string()),
  ask_sizes: z.array(z.string()),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
  polled: z.boolean(),
});
const ChangeRow = z.object({
  side: z.enum(['bid', 'ask']),
  price: z.string(),
  size: z.string(),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
});
const RecordedRow = z.object({
  from_at: z.string(),
  to_at: z.string(),
  next_at: z.string().nullable(),
  rows: z.coerce.number(),
  gaps: z.array(z.tuple([z.string(), z.string(), z.string()])),
});

/** The recorded periods of a market, ISO-8601; `gap` is the gap that contains the instant. */
interface Recorded {
  from: string;
  to: string;
  gap: { from: string; to: string; reason: string } | null;
}

const levels = (prices: readonly string[], sizes: readonly string[]): BookLevel[] =>
  prices.map((price, index) => ({ price: parsePrice(price), size: parseSize(sizes[index] ?? '0') }));

/** The book of a snapshot. */
export const bookOf = (row: z.output<typeof SnapshotRow>): BookSide => ({
  bids: levels(row.bid_prices, row.bid_sizes),
  asks: levels(row.ask_prices, row.ask_sizes),
});

/** A market's recorded book at an instant, Unix ms, at most ten minutes old; else a 404 that names the recorded periods. */
export async function bookAt(
  clickhouse: ClickHouse,
  market: StoredMarket,
  atMs: number,
): Promise<{ book: BookAnswer; recorded: Recorded }> {
  const { platform, ref } = market;
  const span = { platform, ref, at_ms: atMs, after_ms: atMs - UNSEEN_MS };
  const [[snapshot], [recorded]] = await Promise.all([
    clickhouse.query('book_snapshot_at', SnapshotRow, span),
    clickhouse.query('book_recorded', RecordedRow, { platform, ref, at_ms: atMs }),
  ]);
  if (!snapshot || !recorded) throw notRecorded(recorded, atMs);
  const yes = bookOf(snapshot);
  const rows = await clickhouse.query('book_changes_after', ChangeRow, { ...span, sequence: snapshot.sequence });
  applyChanges(
    yes,
    rows.map(({ side, price, size }) => ({ side, price: parsePrice(price), size: parseSize(size) })),
  );
  const last = rows.at(-1) ?? snapshot;
  const [gap] = recorded.gaps;
  const unseen = atMs - Date.parse(last.received_at);
  // Books from sockets have a snapshot each minute; without one, recording has just ended.
  const isSeen = snapshot.polled || unseen <= LIVE_UNSEEN_MS;
  const unknown = isSeen
    ? null
    : { from: last.received_at, to: recorded.next_at ?? new Date(atMs).toISOString(), reason: 'not recorded' };
  const answer = recordedAnswer(market, yes, last.exchange_at ?? last.received_at);
  return {
    // Limits for orders are not recorded, and those of now may differ.
    book: { ...answer, metadata: { ...answer.metadata, min_order_size: null, tick_size: null } },
    recorded: {
      from: recorded.from_at,
      to: recorded.to_at,
      gap: gap ? { from: iso(gap[0]), to: iso(gap[1]), reason: gap[2] } : unknown,
    },
  };
}

/** ClickHouse does not format times inside arrays as ISO-8601. */
const iso = (text: string): string => (text.endsWith('Z') ? text : `${text.replace(' ', 'T')}Z`);

function notRecorded(recorded: z.output<typeof RecordedRow> | undefined, atMs: number): ApiError {
  const at = new Date(atMs).toISOString();
  if (!recorded || recorded.rows === 0) {
    return new ApiError(404, 'Order book not recorded', {
      resolution: 'Add the market to BOOKS_MARKETS, or stream its books: they are recorded from then on.',
      errorText: `no order book of this market was recorded, at ${at} or at any other time`,
    });
  }
  const { from_at: from, to_at: to, next_at: next } = recorded;
  return new ApiError(404, 'Order book not recorded', {
    resolution: next === null ? `Use a time up to ${to}.` : `Use a time from ${next} on.`,
    errorText: `recorded from ${from} to ${to}, not at ${at}`,
  });
}
