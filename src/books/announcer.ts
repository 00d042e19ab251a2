import { z } from 'zod';
import type { Clock } from '../core/time.ts';
import { PLATFORMS } from '../core/model.ts';
import { SpacedCall } from '../core/spaced-call.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { StreamedBooks } from './wanted.ts';
import { partsOf } from '../core/parts.ts';

const CHANNEL = 'book_messages';
/** Messages within this interval are sent together. */
const EVERY_MS = 5;
/** Messages per publication to other processes. */
const BATCH = 500;

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
});
export type AnnouncedBook = z.infer<typeof AnnouncedBook>;
const AnnouncedBooks = z.array(AnnouncedBook);

/** Publishes messages of streamed books to every process. A process that misses some finds them in the store. */
class BookAnnouncer {
  readonly #shared: Pick<Shared, 'publish'>;
  readonly #streamed: Pick<StreamedBooks, 'has'>;
  readonly #sending: SpacedCall;
  #waiting: AnnouncedBook[] = [];

  constructor(shared: Pick<Shared, 'publish'>, streamed: Pick<StreamedBooks, 'has'>, clock: Clock) {
    this.#sending = new SpacedCall(clock, EVERY_MS, () => this.#flush());
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
    for (const part of partsOf(messages, BATCH)) {
      this.#shared.publish(CHANNEL, JSON.stringify(part)).catch(() => {});
    }
  }
}

/** Announces recorded messages of the books that clients stream. `streamed`: which books those are. */
export async function announceBooks(
  shared: Pick<Shared, 'publish' | 'subscribe'>,
  clock: Clock,
): Promise<{ streamed: StreamedBooks; announce: (message: AnnouncedBook) => void }> {
  const streamed = new StreamedBooks(clock);
  await streamed.listen(shared);
  const announcer = new BookAnnouncer(shared, streamed, clock);
  return { streamed, announce: (message) => announcer.take(message) };
}

/** Calls back with the messages of every process, in order for each book. */
export const listenToBooks = (
  shared: Pick<Shared, 'subscribe'>,
  listener: (messages: readonly AnnouncedBook[]) => void,
): Promise<void> => shared.subscribe(CHANNEL, (text) => listener(AnnouncedBooks.parse(JSON.parse(text))));
