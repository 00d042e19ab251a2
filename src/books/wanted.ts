import { z } from 'zod';
import { PLATFORMS, type Platform } from '../core/model.ts';
import type { Shared } from '../stores/shared/shared.ts';

const CHANNEL = 'books_wanted';
/** Who streams says so again and again; who is silent for longer streams no more. */
export const WANTED_EVERY_MS = 10_000;
const WANTED_MS = 3 * WANTED_EVERY_MS;
const MOST_WANTED = 2000;

const Message = z.array(z.tuple([z.enum(PLATFORMS), z.string().max(512)])).max(MOST_WANTED);
type NamedRef = z.infer<typeof Message>[number];

/** Announces to every process that a client streams the books of these markets. */
export async function wantBooks(shared: Pick<Shared, 'publish'>, markets: readonly NamedRef[]): Promise<void> {
  if (markets.length > 0) await shared.publish(CHANNEL, JSON.stringify(markets.slice(0, MOST_WANTED)));
}

/** The markets whose books clients stream, in any process. */
export class StreamedBooks {
  /** By performance.now(). */
  readonly #untilMs = new Map<Platform, Map<string, number>>();

  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(CHANNEL, (text) => {
      const message = Message.safeParse(JSON.parse(text));
      for (const [platform, ref] of message.data ?? []) this.#of(platform).set(ref, performance.now() + WANTED_MS);
    });
  }

  has(platform: Platform, ref: string): boolean {
    return (this.#of(platform).get(ref) ?? 0) >= performance.now();
  }

  refs(platform: Platform): string[] {
    const own = this.#of(platform);
    for (const [ref, untilMs] of own) if (untilMs < performance.now()) own.delete(ref);
    return [...own.keys()].slice(0, MOST_WANTED);
  }

  #of(platform: Platform): Map<string, number> {
    const known = this.#untilMs.get(platform) ?? new Map<string, number>();
    this.#untilMs.set(platform, known);
    return known;
  }
}
