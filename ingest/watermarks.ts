import { z } from 'zod';
import type { ClickHouse } from '../src/stores/clickhouse/client.ts';
import { LruMap } from '../src/core/lru-map.ts';
import type { Platform } from '../src/core/model.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';
import type { Lease } from '../src/stores/shared/shared.ts';

/** A stored span of a feed: every trade executed in [fromUs, toUs] is in the store. Unix µs. */
export interface Coverage {
  fromUs: number;
  toUs: number;
  /** The platform's own volume at the time of reading; '' where the feed is not driven by it. */
  marker: string;
}

const Row = z
  .object({ from_us: z.coerce.number(), to_us: z.coerce.number(), marker: z.string(), version_us: z.coerce.number() })
  .transform((row) => ({ fromUs: row.from_us, toUs: row.to_us, marker: row.marker, versionUs: row.version_us }));

type StoredCoverage = z.output<typeof Row>;
type Spans = LruMap<string, StoredCoverage | null>;

/** The span of one feed as it is in the store, with its version. */
export async function readCoverage(clickhouse: ClickHouse, platform: Platform, ref: string) {
  const [row] = await clickhouse.query('trade_coverage', Row, { platform, ref });
  return row ?? null;
}

/** Spans kept in memory; of further markets they are read again. */
const KNOWN_SPANS = 10_000;

/**
 * The stored spans of a platform's feeds. Only the holder of the lease moves them, so what was read or written under a lease is not
 * read again under it. Moves of one feed follow one another: the poll moves the end while the backfill moves the start.
 */
export class Watermarks {
  readonly #clickhouse: ClickHouse;
  readonly #platform: Platform;
  readonly #turns = new Map<string, Promise<unknown>>();
  #lease: Lease | null = null;
  #spans: Spans = new LruMap(KNOWN_SPANS);

  constructor(clickhouse: ClickHouse, platform: Platform) {
    this.#clickhouse = clickhouse;
    this.#platform = platform;
  }

  /** The span of one feed, null where nothing of it is stored; `ref` '' is the feed over all markets of the platform. */
  read(ref: string, lease: Lease): Promise<Coverage | null> {
    return this.#inTurn(ref, () => this.#read(ref, this.#spansUnder(lease)));
  }

  /** Moves the span from what it is at this moment; to be called only after the rows it covers were acknowledged. */
  move(ref: string, lease: Lease, move: (span: Coverage | null) => Coverage): Promise<void> {
    return this.#inTurn(ref, async () => {
      const spans = this.#spansUnder(lease);
      const stored = await this.#read(ref, spans);
      const { fromUs, toUs, marker } = move(stored);
      // The highest version counts: after a clock that was ahead, the next one is still higher.
      const versionUs = Math.max(Date.now() * 1000, (stored?.versionUs ?? 0) + 1);
      // An insert that fails may still have been stored.
      spans.delete(ref);
      await this.#clickhouse.insert('trade_coverage (platform, ref, complete_from, complete_to, marker, version)', [
        {
          platform: this.#platform,
          ref,
          complete_from: microsecondText(fromUs),
          complete_to: microsecondText(toUs),
          marker,
          version: microsecondText(versionUs),
        },
      ]);
      spans.set(ref, { fromUs, toUs, marker, versionUs });
    });
  }

  async #read(ref: string, spans: Spans): Promise<StoredCoverage | null> {
    const known = spans.get(ref);
    if (known !== undefined) return known;
    const stored = await readCoverage(this.#clickhouse, this.#platform, ref);
    spans.set(ref, stored);
    return stored;
  }

  /** What is known under this lease; nothing once it ended, because another process may move the spans. */
  #spansUnder(lease: Lease): Spans {
    const isHeld = lease.remainingMs() > 0;
    if (this.#lease !== lease || !isHeld) {
      this.#lease = isHeld ? lease : null;
      this.#spans = new LruMap(KNOWN_SPANS);
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
