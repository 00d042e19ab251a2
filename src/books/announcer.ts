import { z } from 'zod';
import { PLATFORMS } from '../core/model.ts';
import { SpacedCall } from '../core/spaced-call.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { StreamedBooks } from './wanted.ts';

const CHANNEL = 'book_messages';
/** Messages that come closer together are sent as one. */
const EVERY_MS = 5;
/** Messages of one sending to other processes. */
const BATCH = 500;

/** A message of a recorded book as it came, not yet stored: changed levels, the whole book where `begins`, or that it is lost; times ISO-8601. */
const AnnouncedBook = z.object({
  platform: z.enum(PLATFORMS),
  ref: z.string(),
  sequence: z.number(),
  begins: z.boolean(),
  exchange_at: z.string().nullable(),
  received_at: z.string(),
  levels: z.array(z.tuple([z.enum(['bid', 'ask']), z.string(), z.string()])),
  /** The book is not known any more: since when, up to when it is certain, `received_at`, and why. */
  gap: z.object({ from: z.string(), reason: z.string() }).optional(),
});
export type AnnouncedBook = z.infer<typeof AnnouncedBook>;
const AnnouncedBooks = z.array(AnnouncedBook);

/** Sends messages of the books that clients stream to every process. One that misses some finds them in the store. */
class BookAnnouncer {
  readonly #shared: Pick<Shared, 'publish'>;
  readonly #streamed: Pick<StreamedBooks, 'has'>;
  readonly #sending = new SpacedCall(EVERY_MS, () => this.#flush());
  #waiting: AnnouncedBook[] = [];

  constructor(shared: Pick<Shared, 'publish'>, streamed: Pick<StreamedBooks, 'has'>) {
    this.#shared = shared;
    this.#streamed = streamed;
  }

  take(message: AnnouncedBook): void {
    if (!this.#streamed.has(message.platform, message.ref)) return;
    this.#waiting.push(message);
    this.#sending.ask();
  }

  #flush(): void {
    const messages = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < messages.length; from += BATCH) {
      this.#shared.publish(CHANNEL, JSON.stringify(messages.slice(from, from + BATCH))).catch(() => {});
    }
  }
}

/** Announces what a recorder takes of the books that clients stream. Returns which those are. */
export async function announceBooks(
  shared: Pick<Shared, 'publish' | 'subscribe'>,
  recorder: { onMessage(listener: (message: AnnouncedBook) => void): void },
): Promise<StreamedBooks> {
  const streamed = new StreamedBooks();
  await streamed.listen(shared);
  const announcer = new BookAnnouncer(shared, streamed);
  recorder.onMessage((message) => announcer.take(message));
  return streamed;
}

/** Calls back with the messages of any process, those of one book in their order. */
export const listenToBooks = (
  shared: Pick<Shared, 'subscribe'>,
  listener: (messages: readonly AnnouncedBook[]) => void,
): Promise<void> => shared.subscribe(CHANNEL, (text) => listener(AnnouncedBooks.parse(JSON.parse(text))));
