import { z } from 'zod';
import { priceText, sizeText } from '../core/decimal.ts';
import type { Clock } from '../core/time.ts';
import { type BookChange, PLATFORMS } from '../core/model.ts';
import { BatchPublisher } from '../stores/shared/batch-publisher.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { MessageFacts } from './rows.ts';
import { StreamedBooks } from './wanted.ts';

const CHANNEL = 'book_messages';

/** A message of a recorded book before it is stored: changed levels, the whole book if `begins`, or a gap; times ISO-8601. */
const AnnouncedBook = z.object({
  platform: z.enum(PLATFORMS),
  ref: z.string(),
  sequence: z.number(),
  begins: z.boolean(),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
  levels: z.array(z.tuple([z.enum(['bid', 'ask']), z.string(), z.string()])),
  /** The book is unknown: since when, up to when that is certain (`received_at`), and why. */
  gap: z.object({ from: z.string(), reason: z.string() }).optional(),
  /** The gap that a book which `begins` ends. */
  ends_gap: z.object({ from: z.string(), reason: z.string() }).optional(),
});
export type AnnouncedBook = z.infer<typeof AnnouncedBook>;
const AnnouncedBooks = z.array(AnnouncedBook);

/** The message of changed levels, or of the whole book if it `begins`. */
export function announcedBook(facts: MessageFacts, begins: boolean, changes: readonly BookChange[]): AnnouncedBook {
  const { platform, ref, sequence, exchangeAt: exchange_at, receivedAt: received_at } = facts;
  const levels = changes.map(({ side, price, size }): AnnouncedBook['levels'][number] => [
    side,
    priceText(price),
    sizeText(size),
  ]);
  return { platform, ref, sequence, begins, exchange_at, received_at, levels };
}

/** Announces recorded messages of the books that clients stream. `streamed`: which books those are. */
export async function announceBooks(
  shared: Pick<Shared, 'publish' | 'subscribe'>,
  clock: Clock,
): Promise<{ streamed: StreamedBooks; announce: (message: AnnouncedBook) => void }> {
  const streamed = new StreamedBooks(clock);
  await streamed.listen(shared);
  const publisher = new BatchPublisher<AnnouncedBook>(shared, CHANNEL, clock);
  return {
    streamed,
    announce(message) {
      if (streamed.has(message.platform, message.ref)) publisher.add(message);
    },
  };
}

/** Calls back with the messages of every process, in order for each book. */
export const listenToBooks = (
  shared: Pick<Shared, 'subscribe'>,
  listener: (messages: readonly AnnouncedBook[]) => void,
): Promise<void> => shared.subscribe(CHANNEL, (text) => listener(AnnouncedBooks.parse(JSON.parse(text))));
