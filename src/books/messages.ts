import { z } from 'zod';
import type { StoredMarket } from '../platforms/contract.ts';
import type { BookChangeAnswer } from '../schemas/books.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

const MessageRow = z.object({
  sequence: z.coerce.number(),
  is_snapshot: z.boolean(),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
  polled: z.boolean(),
  levels: z.array(z.tuple([z.enum(['bid', 'ask']), z.string(), z.string()])),
});
const CountRow = z.object({ messages: z.coerce.number() });

/** The last message of a page; the next page begins after it. */
export const MessagePosition = z.object({ sequence: z.number(), total: z.number() });
type MessagePosition = z.infer<typeof MessagePosition>;

export type BookMessage = z.infer<typeof BookChangeAnswer>;

/** A page of the messages of a market's recorded book, oldest first, received in [startMs, endMs). */
export async function messagePage(
  clickhouse: ClickHouse,
  market: StoredMarket,
  { startMs, endMs }: { startMs: number; endMs: number },
  after: MessagePosition | null,
  limit: number,
): Promise<{ messages: BookMessage[]; total: number; next: MessagePosition | null }> {
  const { platform, ref, platformId } = market;
  const span = { platform, ref, start_ms: startMs, end_ms: endMs };
  const [rows, counted] = await Promise.all([
    clickhouse.query('book_messages', MessageRow, { ...span, after: after?.sequence ?? 0, limit: limit + 1 }),
    after ? after.total : clickhouse.query('book_messages_count', CountRow, span),
  ]);
  const total = typeof counted === 'number' ? counted : (counted[0]?.messages ?? 0);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const outcome = market.outcomes[0]?.id ?? '';
  return {
    messages: page.map((row) => ({
      platform,
      market_id: platformId,
      sequence: row.sequence,
      outcome,
      is_snapshot: row.is_snapshot,
      changes: row.levels.map(([side, price, size]) => ({ side, price: Number(price), size: Number(size) })),
      exchange_at: row.exchange_at,
      received_at: row.received_at,
      polled: row.polled,
    })),
    total,
    next: rows.length > limit && last ? { sequence: last.sequence, total } : null,
  };
}

/** A message as tardis.dev writes normalized `book_change` messages. */
export function tardisMessage(message: BookMessage): object {
  const side = (which: 'bid' | 'ask') =>
    message.changes.flatMap(({ side: one, price, size }) => (one === which ? [{ price, amount: size }] : []));
  return {
    type: 'book_change',
    symbol: message.market_id,
    exchange: message.platform,
    isSnapshot: message.is_snapshot,
    bids: side('bid'),
    asks: side('ask'),
    timestamp: message.exchange_at ?? message.received_at,
    localTimestamp: message.received_at,
  };
}
