import { LruMap } from '../core/lru-map.ts';

/** Polling reads pages that may be older than what a socket brought so recently: what it found then waits. */
const PUSHED_MS = 10_000;
/** Markets that sockets bring, and that changed in the last seconds. */
const REMEMBERED = 20_000;

interface Side {
  price: number | null;
  bid: number | null;
  ask: number | null;
}
/** The part of a quote by which two are compared. */
export interface QuoteValues {
  prices: Record<string, Side>;
  received_at: string;
}

/** Decides which of a market's quotes is the newest: what sockets brought, or what was polled. */
export class PushedQuotes<Quote extends { data: string }> {
  /** With when it came, by performance.now(). */
  readonly #pushed = new LruMap<string, { quote: Quote; atMs: number }>(REMEMBERED);
  readonly #held = new Map<string, Quote>();

  push(name: string, quote: Quote): void {
    this.#pushed.set(name, { quote, atMs: performance.now() });
    this.#held.delete(name);
  }

  /** Whether a polled quote may be sent now; one that comes too close behind a socket's is held back, and `due` gives it later. */
  admits(name: string, quote: Quote): boolean {
    const pushed = this.#pushed.get(name);
    if (!pushed) return true;
    const [before, now] = [valuesOf(pushed.quote), valuesOf(quote)];
    if (Date.parse(now.received_at) <= Date.parse(before.received_at) || isSame(before, now)) return false;
    if (performance.now() - pushed.atMs >= PUSHED_MS) return true;
    if (this.#held.size < REMEMBERED) this.#held.set(name, quote);
    return false;
  }

  /** What was held back, as no socket brought anything newer meanwhile. */
  due(): Quote[] {
    const found: Quote[] = [];
    for (const [name, quote] of this.#held) {
      const { atMs = -Infinity } = this.#pushed.get(name) ?? {};
      if (performance.now() - atMs < PUSHED_MS) continue;
      this.#held.delete(name);
      found.push(quote);
    }
    return found;
  }

  /** The newer one of a stored quote and what a socket brought. */
  newest(name: string, stored: Quote): Quote {
    const pushed = this.#pushed.get(name)?.quote;
    if (!pushed) return stored;
    return Date.parse(valuesOf(stored).received_at) > Date.parse(valuesOf(pushed).received_at) ? stored : pushed;
  }
}

const valuesOf = ({ data }: { data: string }): QuoteValues => JSON.parse(data) as QuoteValues;

function isSame({ prices: before }: QuoteValues, { prices: now }: QuoteValues): boolean {
  const fields = ['price', 'bid', 'ask'] as const;
  return Object.entries(now).every(([id, side]) => fields.every((field) => before[id]?.[field] === side[field]));
}
