import { z } from 'zod';
import type { Clock } from '../src/core/time.ts';
import type { ClickHouse, Urgency } from '../src/stores/clickhouse/client.ts';
import { Cache } from '../src/core/cache.ts';
import type { TradeCopier } from '../src/present/trades/copier.ts';
import type { Platform } from '../src/core/model.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';
import { type TradeGap, tradeGaps } from '../src/stores/clickhouse/trade-gaps.ts';
import type { Lease } from '../src/stores/shared/shared.ts';

const COVERAGE_COLUMNS = 'trade_coverage (platform, ref, complete_from, complete_to, marker, version)';

/** A stored span of a feed: every trade executed in [fromUs, toUs] is in the store. Unix µs. */
export interface Coverage {
  fromUs: number;
  toUs: number;
  /** The platform's own volume when it was read; '' for feeds not driven by volume. */
  marker: string;
}

/** The start of a stored span that now holds every trade since `fromUs`, Unix µs. */
export const startOf = (span: Coverage | null, fromUs: number): number => Math.min(span?.fromUs ?? fromUs, fromUs);

const Row = z
  .object({
    ref: z.string(),
    from_us: z.coerce.number(),
    to_us: z.coerce.number(),
    marker: z.string(),
    version_us: z.coerce.number(),
  })
  .transform(({ ref, ...row }) => {
    const span = { fromUs: row.from_us, toUs: row.to_us, marker: row.marker, versionUs: row.version_us };
    return [ref, span] as const;
  });

type StoredCoverage = z.output<typeof Row>[1];
type Spans = Cache<string, StoredCoverage | null>;

/** The stored span of one feed, with its version. */
export async function readCoverage(clickhouse: ClickHouse, platform: Platform, ref: string) {
  return (await readCoverages(clickhouse, platform, [ref])).get(ref) ?? null;
}

const readCoverages = async (clickhouse: ClickHouse, platform: Platform, refs: readonly string[]) =>
  new Map(await clickhouse.query('trade_coverage', Row, { platform, refs }));

/** Maximum spans in memory. */
const KNOWN_SPANS = 10_000;

/**
 * The stored spans of a platform's feeds. Only the lease holder moves them, so spans read or written under a lease are cached.
 * Moves of one feed run one after the other: the poll moves the end while the backfill moves the start.
 */
export class Watermarks {
  readonly #clickhouse: ClickHouse;
  readonly #platform: Platform;
  readonly #clock: Clock;
  readonly #copier: Pick<TradeCopier, 'moved' | 'gapsMoved'>;
  readonly #turns = new Map<string, Promise<unknown>>();
  #lease: Lease | null = null;
  #spans: Spans = new Cache({ limit: KNOWN_SPANS });
  /** Unfilled gaps, oldest first; null until they are read under the lease. */
  #gaps: readonly TradeGap[] | null = null;

  /** `copier` copies stored spans to PostgreSQL and never fails. */
  constructor(
    clickhouse: ClickHouse,
    platform: Platform,
    clock: Clock,
    copier: Pick<TradeCopier, 'moved' | 'gapsMoved'>,
  ) {
    this.#clock = clock;
    this.#copier = copier;
    this.#clickhouse = clickhouse;
    this.#platform = platform;
  }

  /** The span of one feed, null if none is stored; `ref` '' is the platform's global feed. */
  read(ref: string, lease: Lease): Promise<Coverage | null> {
    return this.#inTurn(ref, () => this.#read(ref, this.#spansUnder(lease)));
  }

  /** Reads the spans of several feeds with one statement, so that `read` finds them in memory. */
  async readAll(refs: readonly string[], lease: Lease): Promise<void> {
    const spans = this.#spansUnder(lease);
    // A span whose move is under way is known when the move has ended.
    const unknown = refs.filter((ref) => spans.get(ref) === undefined && !this.#turns.has(ref));
    if (unknown.length === 0) return;
    await spans.readAll(unknown, async () => {
      const stored = await readCoverages(this.#clickhouse, this.#platform, unknown);
      return unknown.map((ref) => [ref, stored.get(ref) ?? null] as const);
    });
  }

  /** Moves the span from its current value; call it only after the rows it covers were acknowledged. */
  move(ref: string, lease: Lease, move: (span: Coverage | null) => Coverage, urgency: Urgency = {}): Promise<void> {
    return this.#inTurn(ref, async () => {
      const spans = this.#spansUnder(lease);
      const stored = await this.#read(ref, spans);
      const { fromUs, toUs, marker } = move(stored);
      // The highest version wins, so it must grow even after the clock was ahead.
      const versionUs = Math.max(this.#clock.now() * 1000, (stored?.versionUs ?? 0) + 1);
      // A failed insert may still have been stored.
      spans.delete(ref);
      const row = {
        platform: this.#platform,
        ref,
        complete_from: microsecondText(fromUs),
        complete_to: microsecondText(toUs),
        marker,
        version: microsecondText(versionUs),
      };
      await this.#clickhouse.insert(COVERAGE_COLUMNS, [row], urgency);
      spans.set(ref, { fromUs, toUs, marker, versionUs });
      await this.#copier.moved({ ref, fromUs, toUs, marker, versionUs });
    });
  }

  /** The gaps that are not filled, oldest first. */
  async gaps(lease: Lease): Promise<readonly TradeGap[]> {
    this.#spansUnder(lease);
    this.#gaps ??= await tradeGaps(this.#clickhouse, this.#platform);
    return this.#gaps;
  }

  recordGap(gap: TradeGap, lease: Lease): Promise<void> {
    return this.#writeGap(gap, 0, lease);
  }

  fillGap(gap: TradeGap, lease: Lease): Promise<void> {
    return this.#writeGap(gap, 1, lease);
  }

  async #writeGap({ fromUs, toUs }: TradeGap, filled: 0 | 1, lease: Lease): Promise<void> {
    this.#spansUnder(lease);
    const [gap_from, gap_to] = [microsecondText(fromUs), microsecondText(toUs)];
    const row = { platform: this.#platform, gap_from, gap_to, filled };
    await this.#clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [row]).finally(() => {
      // Gaps are rare, so all are read again.
      this.#gaps = null;
    });
    await this.#copier.gapsMoved();
  }

  async #read(ref: string, spans: Spans): Promise<StoredCoverage | null> {
    const known = spans.get(ref);
    if (known !== undefined) return known;
    const stored = await readCoverage(this.#clickhouse, this.#platform, ref);
    spans.set(ref, stored);
    return stored;
  }

  /** Spans cached under this lease. A new lease starts empty: another process may have moved them. */
  #spansUnder(lease: Lease): Spans {
    const isHeld = lease.remainingMs() > 0;
    if (this.#lease !== lease || !isHeld) {
      this.#lease = isHeld ? lease : null;
      this.#spans = new Cache({ limit: KNOWN_SPANS });
      this.#gaps = null;
    }
    return this.#spans;
  }

  #inTurn<T>(ref: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(ref) ?? Promise.resolve();
    const turn = before
      .catch(() => {})
      .then(work)
      .finally(() => {
        if (this.#turns.get(ref) === turn) this.#turns.delete(ref);
      });
    this.#turns.set(ref, turn);
    return turn;
  }
}
