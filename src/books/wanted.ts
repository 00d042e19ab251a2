import { z } from 'zod';
import { Cache } from '../core/cache.ts';
import type { Clock } from '../core/time.ts';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { partsOf } from '../core/parts.ts';
import { FOLLOWED_MS, type Shared } from '../stores/shared/shared.ts';

const CHANNEL = 'books_wanted';
const MOST_A_MESSAGE = 2000;
/** Streamed books of a platform, of all users and processes: as many markets as one user may name. */
export const MOST_STREAMED = 5000;

const Message = z.array(z.tuple([z.enum(PLATFORMS), z.string().max(512)])).max(MOST_A_MESSAGE);
type NamedRef = z.infer<typeof Message>[number];

/** Announces to every process that a client streams the books of these markets. */
export async function wantBooks(shared: Pick<Shared, 'publish'>, markets: readonly NamedRef[]): Promise<void> {
  for (const part of partsOf(markets, MOST_A_MESSAGE)) await shared.publish(CHANNEL, JSON.stringify(part));
}

/** The markets whose books clients stream, in any process. */
export class StreamedBooks {
  readonly #refs = new Map<Platform, Cache<string, true>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(CHANNEL, (text) => {
      const message = Message.safeParse(JSON.parse(text));
      for (const [platform, ref] of message.data ?? []) this.#of(platform).set(ref, true);
    });
  }

  has(platform: Platform, ref: string): boolean {
    return this.#of(platform).has(ref);
  }

  refs(platform: Platform): string[] {
    return this.#of(platform)
      .entries()
      .map(([ref]) => ref);
  }

  /** Whether these books can be streamed beside the others. */
  hasRoom(platform: Platform, refs: readonly string[]): boolean {
    return new Set([...this.refs(platform), ...refs]).size <= MOST_STREAMED;
  }

  #of(platform: Platform): Cache<string, true> {
    const known =
      this.#refs.get(platform) ??
      new Cache<string, true>({ limit: MOST_STREAMED, ttlMs: FOLLOWED_MS, now: this.#clock.elapsed });
    this.#refs.set(platform, known);
    return known;
  }
}
