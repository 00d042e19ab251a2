import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../core/time.ts';
import { Cache } from '../core/cache.ts';
import { numberOfText } from '../core/decimal.ts';
import { marketName } from '../core/market-key.ts';
import { PLATFORMS } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { eventMatcherOf, type StreamFilter } from './filter.ts';
import { Outbox } from './outbox.ts';
import { PushedQuotes, type Quote } from './pushed-quotes.ts';
import type { EventSink } from './sink.ts';
import { Watchers } from './watchers.ts';
import { partsOf } from '../core/parts.ts';
import { LATE_ROW_MS, storeClock } from '../stores/clickhouse/store-clock.ts';

/** Quotes from sockets of any process: a JSON array of Quote. */
export const QUOTES_CHANNEL = 'quotes';
/** Polled quotes are in the store, which is read at this interval while a client streams them. */
const LOOK_MS = 1000;
const REMEMBERED = 300_000;

const prices = z.array(z.string().nullable());
const QuoteRow = z.object({
  platform: z.enum(PLATFORMS),
  ref: z.string(),
  platform_id: z.string(),
  event_id: z.string(),
  outcome_ids: z.array(z.string()),
  prices,
  bids: prices,
  asks: prices,
  volume_total: z.string().nullable(),
  synced_at: z.string(),
  written_ms: z.coerce.number(),
});
type QuoteRow = z.output<typeof QuoteRow>;
const MOST_REFS = 500;

/** The data of a polled `quote` event. Sizes at the best prices are not polled: null. */
function quoteOf(row: QuoteRow): { values: string; quote: Quote } {
  const sides = row.outcome_ids.map((id, index) => [
    id,
    {
      price: numberOfText(row.prices[index]),
      bid: numberOfText(row.bids[index]),
      ask: numberOfText(row.asks[index]),
      bid_size: null,
      ask_size: null,
    },
  ]);
  const values = { prices: Object.fromEntries(sides) as object, volume_total: numberOfText(row.volume_total) };
  const names = { platform: row.platform, market_id: row.platform_id };
  const data = JSON.stringify({ ...names, ...values, exchange_at: null, received_at: row.synced_at });
  const quote = { platform: row.platform, ref: row.ref, eventId: row.event_id, data };
  return { values: JSON.stringify(values), quote };
}

/** Finds changed quotes, once for all streams of this process. */
export class QuoteFollower {
  readonly clock: Clock;
  readonly #deps: { clickhouse: ClickHouse; log: FastifyBaseLogger; clock: Clock };
  readonly #watchers: Watchers<(quotes: readonly Quote[]) => void>;
  readonly #known = new Cache<string, string>({ limit: REMEMBERED });
  readonly #pushed: PushedQuotes;
  /** Unix ms by the store's clock, because this machine's may differ; null before the first read. */
  #sinceMs: number | null = null;

  constructor(deps: { clickhouse: ClickHouse; log: FastifyBaseLogger; clock: Clock }) {
    this.#deps = deps;
    this.clock = deps.clock;
    this.#watchers = new Watchers({ clock: deps.clock, everyMs: LOOK_MS, look: () => this.#look() });
    this.#pushed = new PushedQuotes(deps.clock);
  }

  /** Receives quotes from sockets, even without listeners: a listener that comes later begins with the newest. */
  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(QUOTES_CHANNEL, (message) => {
      const quotes = JSON.parse(message) as Quote[];
      for (const quote of quotes) {
        this.#pushed.push(marketName(quote), quote);
        // Polled values count as a change again, even if they are the same as before.
        this.#known.delete(marketName(quote));
      }
      this.#watchers.each((listener) => listener(quotes));
    });
  }

  /** Calls back with changed quotes until the returned function is called. */
  watch(listener: (quotes: readonly Quote[]) => void): () => void {
    return this.#watchers.add(listener, () => {
      this.#sinceMs = null;
      // Changes since the last listener left are not known: a value from before them may be new again.
      this.#known.clear();
      void this.#watchers.look();
    });
  }

  /** The newest known quotes of some markets, without those that cannot be read. */
  async newest(markets: NonNullable<StreamFilter['markets']>): Promise<Quote[]> {
    const found: Quote[] = [];
    try {
      for (const [platform, all] of markets) {
        for (const refs of partsOf(all, MOST_REFS)) {
          const rows = await this.#deps.clickhouse.query('quotes_of', QuoteRow, { platform, refs });
          found.push(...rows.map((row) => this.#pushed.newest(marketName(row), quoteOf(row).quote)));
        }
      }
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'Failed to read the first quotes of a stream');
    }
    return found;
  }

  close(): void {
    this.#watchers.close();
  }

  async #look(): Promise<void> {
    try {
      const { clickhouse } = this.#deps;
      const nowMs = await storeClock(clickhouse);
      // The store's clock may have been set back: rows ahead of it must not hide the ones to come.
      let sinceMs = Math.min(this.#sinceMs ?? nowMs, nowMs);
      const rows = await clickhouse.query('quotes', QuoteRow, { since_ms: sinceMs - LATE_ROW_MS });
      const changed = [...rows.flatMap((row) => this.#changed(row)), ...this.#pushed.due()];
      for (const { written_ms: writtenMs } of rows) sinceMs = Math.max(sinceMs, writtenMs);
      this.#sinceMs = sinceMs;
      if (changed.length > 0) this.#watchers.each((listener) => listener(changed));
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'Failed to read quotes');
    }
  }

  #changed(row: QuoteRow): Quote | Quote[] {
    const { values, quote } = quoteOf(row);
    const name = marketName(row);
    // Polling may read a row again that is older than the socket's quote.
    if (this.#known.get(name) === values || this.#pushed.isOlder(name, quote)) return [];
    this.#known.set(name, values);
    return this.#pushed.admitted(name, quote) ?? [];
  }
}

/** The quotes of one subscription. While the reader is behind, each market's newest quote waits and replaces the previous one. */
export class QuoteFeed {
  /** Quotes replaced before they were sent. */
  dropped = 0;
  readonly #filter: StreamFilter;
  readonly #isOfEvent: ReturnType<typeof eventMatcherOf>;
  readonly #outbox: Outbox<string>;
  /** Markets with a quote before the initial ones were read; null afterwards. */
  #came: Set<string> | null = null;
  #isClosed = false;
  readonly #unwatch: () => void;

  constructor(follower: QuoteFollower, filter: StreamFilter, sink: EventSink) {
    this.#filter = filter;
    this.#isOfEvent = eventMatcherOf(filter);
    this.#outbox = new Outbox(sink, follower.clock, (_name, data, sentAt) =>
      sink.event('quote', `${data.slice(0, -1)},"sent_at":${sentAt}}`),
    );
    const isAsked = filter.channels.includes('quotes');
    this.#unwatch = isAsked ? follower.watch((quotes) => this.#take(quotes)) : () => {};
    if (isAsked && filter.markets) void this.#begin(follower, filter.markets);
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#outbox.close();
  }

  /** Listed markets start with the known quote, because a quiet one may not change for hours. */
  async #begin(follower: QuoteFollower, markets: NonNullable<StreamFilter['markets']>): Promise<void> {
    const came = new Set<string>();
    this.#came = came;
    const newest = await follower.newest(markets);
    this.#came = null;
    if (!this.#isClosed) this.#take(newest.filter((quote) => !came.has(marketName(quote))));
  }

  #take(quotes: readonly Quote[]): void {
    const { platforms, markets } = this.#filter;
    for (const { platform, ref, eventId, data } of quotes) {
      if (!platforms.includes(platform) || (markets && !markets.get(platform)?.has(ref))) continue;
      if (!this.#isOfEvent(platform, eventId)) continue;
      const name = marketName({ platform, ref });
      this.#came?.add(name);
      if (this.#outbox.put(name, data)) this.dropped += 1;
    }
    this.#outbox.send();
  }
}
