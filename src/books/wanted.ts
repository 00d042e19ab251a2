import { z } from 'zod';
import { PLATFORMS, type Platform } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';

const CHANNEL = 'books_wanted';
/** Streaming processes renew their interest at this interval; without renewal it expires. */
export const WANTED_EVERY_MS = 10_000;
const WANTED_MS = 3 * WANTED_EVERY_MS;
const MOST_WANTED = 2000;
/** Polling interval of the store; a result counts a little longer. */
const LOOK_MS = 2000;
const STORED_MS = 3 * LOOK_MS;

const WantedRow = z.object({ platform: z.enum(PLATFORMS), ref: z.string() });

const Message = z.array(z.tuple([z.enum(PLATFORMS), z.string().max(512)])).max(MOST_WANTED);
type NamedRef = z.infer<typeof Message>[number];

/** Announces to every process that a client streams the books of these markets. */
export async function wantBooks(shared: Pick<Shared, 'publish'>, markets: readonly NamedRef[]): Promise<void> {
  if (markets.length > 0) await shared.publish(CHANNEL, JSON.stringify(markets.slice(0, MOST_WANTED)));
}

/** The same through the store, for processes that share nothing else. */
export async function storeWanted(clickhouse: ClickHouse, markets: readonly NamedRef[]): Promise<void> {
  const rows = markets.slice(0, MOST_WANTED).map(([platform, ref]) => ({ platform, ref }));
  if (rows.length > 0) await clickhouse.insert('books_wanted (platform, ref)', rows);
}

/** The markets whose books clients stream, in any process. */
export class StreamedBooks {
  /** Expiry times, performance.now(). */
  readonly #untilMs = new Map<Platform, Map<string, number>>();

  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(CHANNEL, (text) => {
      const message = Message.safeParse(JSON.parse(text));
      for (const [platform, ref] of message.data ?? []) this.#of(platform).set(ref, performance.now() + WANTED_MS);
    });
  }

  /** Reads interest of other processes from the store until the returned function is called. */
  follow(clickhouse: ClickHouse, onError: (error: unknown) => void): () => void {
    const read = async (): Promise<void> => {
      const within = { within_ms: WANTED_MS, limit: MOST_WANTED };
      const rows = await clickhouse.query('books_wanted', WantedRow, within);
      const untilMs = performance.now() + STORED_MS;
      for (const { platform, ref } of rows) {
        const own = this.#of(platform);
        own.set(ref, Math.max(own.get(ref) ?? 0, untilMs));
      }
    };
    const timer = setInterval(() => void read().catch(onError), LOOK_MS).unref();
    return () => clearInterval(timer);
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
