import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../core/time.ts';
import type { BookChange, BookSide, OrderBook, Platform } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Lease } from '../stores/shared/shared.ts';
import { openBookEpoch } from './epoch.ts';
import { PlatformBooks } from './platform-books.ts';
import type { AnnouncedBook } from './announcer.ts';
import type { BookSink } from './sink.ts';

export interface BookRecorderDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  log: FastifyBaseLogger;
}

/**
 * Keeps the books of the wanted markets in memory and stores every change. Books come from polls and live feeds; a poll in
 * flight never replaces newer data of a live feed. Only the holder of the platform's lease records.
 */
export class BookRecorder implements BookSink {
  readonly #deps: BookRecorderDeps;
  readonly #platforms = new Map<Platform, PlatformBooks>();
  #announce: (message: AnnouncedBook) => void = () => {};

  constructor(deps: BookRecorderDeps) {
    this.#deps = deps;
  }

  /** Calls back with every message before it is stored. */
  onMessage(announce: (message: AnnouncedBook) => void): void {
    this.#announce = announce;
  }

  /** Starts recording a platform under a lease, with new books. Does nothing if it is already recorded under this lease. */
  async open(platform: Platform, lease: Lease): Promise<void> {
    const before = this.#platforms.get(platform);
    if (before?.lease === lease) return;
    await before?.close();
    const { clickhouse, log, clock } = this.#deps;
    const { epoch, seenAt } = await openBookEpoch(clickhouse, platform);
    const announce = (message: AnnouncedBook): void => this.#announce(message);
    this.#platforms.set(
      platform,
      new PlatformBooks({ clickhouse, log, clock, platform, lease, epoch, seenAt, announce }),
    );
  }

  /**
   * Sets the markets to record, most wanted first. Other books are dropped: as empty where the market has `ended`, by ref, else as
   * a gap.
   */
  want(platform: Platform, markets: readonly StoredMarket[], ended: ReadonlySet<string> = new Set()): void {
    this.#platforms.get(platform)?.want(markets, ended);
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

  /** A book requested at `askedMs`, the clock's elapsed(). */
  polled(
    platform: Platform,
    ref: string,
    { yes, exchangeAt }: Pick<OrderBook, 'yes' | 'exchangeAt'>,
    receivedAt: string,
    askedMs: number,
  ): void {
    this.#platforms.get(platform)?.polled(ref, yes, { exchangeAt, receivedAt, polled: true }, askedMs);
  }

  /** A book was polled only to compare it with the one of a live feed. */
  compared(platform: Platform, ref: string): void {
    this.#platforms.get(platform)?.compared(ref);
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

  /** Stores buffered rows. */
  async flush(): Promise<void> {
    await Promise.all([...this.#platforms.values()].map((books) => books.flush()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#platforms.values()].map((books) => books.close()));
    this.#platforms.clear();
  }
}
