import type { Clock } from '../core/time.ts';
import { Cache } from '../core/cache.ts';
import { parseSize } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';

/** Polled pages may be older than a socket's quote this recent: the polled quote then waits. */
const PUSHED_MS = 10_000;
/** A quote that was received later than it arrived, by more than clocks of machines differ: the clock was set back. */
const CLOCKS_MS = 60_000;
/** Markets whose newest quote of a socket is kept. */
const REMEMBERED = 20_000;

interface Side {
  price: number | null;
  bid: number | null;
  ask: number | null;
}
/** A market's newest quote: its data as JSON, without `sent_at`. */
export interface Quote {
  platform: Platform;
  ref: string;
  eventId: string;
  data: string;
}

/** The part of a quote that is compared. */
interface QuoteValues {
  prices: Record<string, Side>;
  volume_total: number | null;
  received_at: string;
}

interface Pushed {
  quote: Quote;
  /** When a socket's quote arrived, the clock's elapsed(). */
  atMs: number;
  /** When its `received_at` was set: then, or with a newer volume. */
  statedMs: number;
}

/** Decides which quote of a market is the newest: a socket's, or a polled one. */
export class PushedQuotes {
  /** The newest quote of a socket until a polled one replaces it. */
  readonly #pushed = new Cache<string, Pushed>({ limit: REMEMBERED });
  readonly #held = new Map<string, Quote>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  push(name: string, quote: Quote): void {
    const atMs = this.#clock.elapsed();
    this.#pushed.set(name, { quote, atMs, statedMs: atMs });
    this.#held.delete(name);
  }

  /** Whether a polled quote was received before the socket's. */
  isOlder(name: string, quote: Quote): boolean {
    const pushed = this.#pushed.get(name);
    return pushed !== undefined && Date.parse(valuesOf(quote).received_at) <= this.#receivedMs(pushed);
  }

  /** What to send of a polled quote; null if nothing. One too soon after a socket's is held back, and `due` returns it later. */
  admitted(name: string, quote: Quote): Quote | null {
    const pushed = this.#pushed.get(name);
    if (!pushed) return quote;
    const [before, now] = [valuesOf(pushed.quote), valuesOf(quote)];
    if (isSame(before, now)) {
      // Both agree: an older held quote is outdated.
      this.#held.delete(name);
      return isMore(now.volume_total, before.volume_total) ? this.#withVolume(name, pushed, now) : null;
    }
    if (this.#clock.elapsed() - pushed.atMs >= PUSHED_MS) {
      this.#pushed.delete(name);
      return quote;
    }
    if (this.#held.size < REMEMBERED) this.#held.set(name, quote);
    return null;
  }

  /** Held quotes for which no socket brought a newer one. */
  due(): Quote[] {
    const found: Quote[] = [];
    for (const [name, quote] of this.#held) {
      const { atMs = -Infinity } = this.#pushed.get(name) ?? {};
      if (this.#clock.elapsed() - atMs < PUSHED_MS) continue;
      this.#held.delete(name);
      this.#pushed.delete(name);
      found.push(quote);
    }
    return found;
  }

  /** A socket's quote with the volume of a newer polled one: its sizes still count. */
  #withVolume(name: string, { quote, atMs }: Pushed, { volume_total, received_at }: QuoteValues): Quote {
    const data = JSON.stringify({ ...valuesOf(quote), volume_total, received_at });
    const newer = { ...quote, data };
    this.#pushed.set(name, { quote: newer, atMs, statedMs: this.#clock.elapsed() });
    return newer;
  }

  /** The newer of a stored quote and a socket's quote. */
  newest(name: string, stored: Quote): Quote {
    const pushed = this.#pushed.get(name);
    if (!pushed) return stored;
    return Date.parse(valuesOf(stored).received_at) > this.#receivedMs(pushed) ? stored : pushed.quote;
  }

  /** When a socket's quote was received, Unix ms by the clock as it is set now. */
  #receivedMs({ quote, statedMs }: Pushed): number {
    const receivedMs = Date.parse(valuesOf(quote).received_at);
    const arrivedMs = this.#clock.now() - (this.#clock.elapsed() - statedMs);
    return receivedMs - arrivedMs > CLOCKS_MS ? arrivedMs : receivedMs;
  }
}

const valuesOf = ({ data }: Quote): QuoteValues => JSON.parse(data) as QuoteValues;

/** Whether a polled total is larger, and so newer: a total never falls. */
const isMore = (polled: number | null, known: number | null): boolean =>
  polled !== null && (known === null || parseSize(polled) > parseSize(known));

function isSame({ prices: before }: QuoteValues, { prices: now }: QuoteValues): boolean {
  const fields = ['price', 'bid', 'ask'] as const;
  return Object.entries(now).every(([id, side]) => fields.every((field) => before[id]?.[field] === side[field]));
}
