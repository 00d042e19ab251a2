import type { FastifyBaseLogger } from 'fastify';
import type { BookChange, BookSide, OrderBook, Platform } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Lease } from '../stores/shared/shared.ts';
import { openBookEpoch } from './epoch.ts';
import { PlatformBooks } from './platform-books.ts';
import type { AnnouncedBook } from './announcer.ts';
import type { BookSink } from './sink.ts';

export interface BookRecorderDeps {
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
}

/**
 * Keeps the books of the wanted markets in memory and stores every change. Books come by polling and from live feeds; what a live feed
 * sent is never replaced by a poll that was under way meanwhile. Only a process that holds the platform's lease records it.
 */
export class BookRecorder implements BookSink {
  readonly #deps: BookRecorderDeps;
  readonly #platforms = new Map<Platform, PlatformBooks>();
  #announce: (message: AnnouncedBook) => void = () => {};

  constructor(deps: BookRecorderDeps) {
    this.#deps = deps;
  }

  /** Calls back with every message of a book as it comes, before it is stored. */
  onMessage(announce: (message: AnnouncedBook) => void): void {
    this.#announce = announce;
  }

  /** Begins to record a platform under a lease; books begin again. Does nothing where it is recorded under this lease already. */
  async open(platform: Platform, lease: Lease): Promise<void> {
    const before = this.#platforms.get(platform);
    if (before?.lease === lease) return;
    await before?.close();
    const { clickhouse, log } = this.#deps;
    const { epoch, seenAt } = await openBookEpoch(clickhouse, platform);
    const announce = (message: AnnouncedBook): void => this.#announce(message);
    this.#platforms.set(platform, new PlatformBooks({ clickhouse, log, platform, lease, epoch, seenAt, announce }));
  }

  /** Which markets are recorded from now on, the most wanted first; books of others are forgotten. */
  want(platform: Platform, markets: readonly StoredMarket[]): void {
    this.#platforms.get(platform)?.want(markets);
  }

  wanted(platform: Platform): readonly string[] {
    const books = this.#platforms.get(platform);
    return books && books.lease.remainingMs() > 0 ? books.wanted() : [];
  }

  /** Whether a market's book is known now. */
  has(platform: Platform, ref: string): boolean {
    return this.#platforms.get(platform)?.has(ref) ?? false;
  }

  /** When a market's book was last polled, Unix ms; 0 for never. */
  polledAtMs(platform: Platform, ref: string): number {
    return this.#platforms.get(platform)?.polledAtMs(ref) ?? 0;
  }

  /** A book that was asked for at `askedMs`, performance.now(). */
  polled(
    platform: Platform,
    ref: string,
    { yes, exchangeAt }: Pick<OrderBook, 'yes' | 'exchangeAt'>,
    receivedAt: string,
    askedMs: number,
  ): void {
    this.#platforms.get(platform)?.polled(ref, yes, { exchangeAt, receivedAt, polled: true }, askedMs);
  }

  snapshot(platform: Platform, ref: string, book: BookSide, exchangeAt: string | null, receivedAt: string): void {
    this.#platforms.get(platform)?.snapshot(ref, book, exchangeAt, receivedAt);
  }

  change(
    platform: Platform,
    ref: string,
    changes: readonly BookChange[],
    exchangeAt: string | null,
    receivedAt: string,
  ): boolean {
    return this.#platforms.get(platform)?.change(ref, changes, exchangeAt, receivedAt) ?? false;
  }

  gap(platform: Platform, ref: string, from: string, to: string, reason: string): void {
    this.#platforms.get(platform)?.gap(ref, from, to, reason);
  }

  /** Stores what waits. */
  async flush(): Promise<void> {
    await Promise.all([...this.#platforms.values()].map((books) => books.flush()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#platforms.values()].map((books) => books.close()));
    this.#platforms.clear();
  }
}
