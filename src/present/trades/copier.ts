import { sql } from 'drizzle-orm';
import PQueue from 'p-queue';
import { Cache } from '../../core/cache.ts';
import { marketKey } from '../../core/market-key.ts';
import type { Platform, TradeRecord } from '../../core/model.ts';
import { type Clock, HOUR_MS, storeTime } from '../../core/time.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import { keptFrom } from '../../stores/clickhouse/retention.ts';
import { tradeGaps } from '../../stores/clickhouse/trade-gaps.ts';
import { rowsOf } from '../../stores/postgres/json-row.ts';
import { ownKey } from '../rows.ts';
import { cutSince, dropOldest, type FillDeps, fillTapes, listTapes, NEVER } from './fill.ts';
import { CopiedName, CopiedSpan, copiedTrade, CopiedTrade, FEED_KEY, tradesByKey } from './rows.ts';
import { type StoredTape, storeNames, storeSpans, storeTrades } from './tapes.ts';
import { partsOf } from '../../core/parts.ts';

/** If a batch is larger, only its trades of the last hour are copied at once: the others would delay a backfill. */
const SMALL_BATCH = 1000;
/** Maximum markets of the two caches: of keys, and of skipped trades. */
const REMEMBERED = 100_000;
/** Maximum trades copied by one catch-up; if there are more, their markets are read again from ClickHouse. */
const CAUGHT_UP = 50_000;
/** A repair begins this long before the failure: longer than any insert and any clock skew. */
export const REPAIR_MARGIN_MS = 10 * 60_000;
/** Time limit of a run for older trades. */
const FILL_MS = 20_000;
/** After this many copied trades, the maximum of a platform is checked again. */
const ROWS_BETWEEN = 100_000;

/** A span as its watermark has stored it in ClickHouse; '' is the platform's feed. Unix microseconds. */
interface MovedSpan {
  ref: string;
  fromUs: number;
  toUs: number;
  marker: string;
  versionUs: number;
}

interface Deps extends FillDeps {
  clickhouse: ClickHouse;
  clock: Clock;
}

const skippedTrades = () => new Cache<string, number>({ limit: REMEMBERED });

/**
 * Copies trades of one platform to PostgreSQL, for the holder of its lease, right after ClickHouse has acknowledged them. A failure is not
 * thrown: it stops the copies until a catch-up has copied what is missing. Until then the span in PostgreSQL does not move, and readers
 * that know a later one read ClickHouse.
 */
export class TradeCopier {
  readonly #deps: Deps;
  readonly #platform: Platform;
  readonly #keys = new Cache<string, string>({ limit: REMEMBERED });
  /** Per market, up to when trades were skipped (Unix µs), as its row has it. Replaced when rows are about to be read from ClickHouse. */
  #skipped = skippedTrades();
  /** `copying`: trades are copied as they are stored. `whole`: PostgreSQL also has all that was stored before. */
  #state: 'stopped' | 'copying' | 'whole' = 'stopped';
  #failures = 0;
  /** What was stored since then may have no copy, Unix ms. */
  #missedSinceMs = Infinity;
  #keptReadMs = -Infinity;
  #rows = Infinity;
  /** Copies of gaps, one after the other. */
  readonly #gapCopies = new PQueue({ concurrency: 1 });

  constructor(deps: Deps, platform: Platform) {
    this.#deps = deps;
    this.#platform = platform;
  }

  /** Copies trades that were just stored. */
  async stored(trades: readonly TradeRecord[]): Promise<void> {
    if (this.#state === 'stopped' || trades.length === 0) return;
    const sinceUs = trades.length > SMALL_BATCH ? (this.#deps.clock.now() - HOUR_MS) * 1000 : 0;
    const skipped = this.#skipped;
    const tapes = new Map<string, StoredTape>();
    const copied: CopiedTrade[] = [];
    for (const trade of trades) {
      const { executedAtUs: us, ref } = trade;
      const isSkipped = us < sinceUs;
      if (isSkipped && us < (skipped.peek(ref) ?? 0)) continue;
      const key = this.#keyOf(ref);
      const tape = tapes.get(ref) ?? { key, skipped_us: 0, last_us: 0 };
      tapes.set(ref, tape);
      tape.last_us = Math.max(tape.last_us, us);
      if (isSkipped) tape.skipped_us = Math.max(tape.skipped_us, us + 1);
      else copied.push(copiedTrade(trade, key));
    }
    if (tapes.size === 0) return;
    await this.#attempt(async () => {
      await storeTrades(this.#deps.postgres, this.#platform, [...tapes.values()], copied);
      for (const [ref, { skipped_us: us }] of tapes) if (us > 0) skipped.set(ref, us);
      this.#rows += copied.length;
    });
  }

  /** Copies names that were just stored. */
  async named(names: readonly CopiedName[]): Promise<void> {
    if (this.#state !== 'stopped') await this.#attempt(() => storeNames(this.#deps.postgres.db, this.#platform, names));
  }

  /** Copies a span that was just stored; all trades in it were copied. */
  async moved({ ref, fromUs, toUs, marker, versionUs }: MovedSpan): Promise<void> {
    if (this.#state !== 'whole') return;
    const key = ref === '' ? FEED_KEY : this.#keyOf(ref);
    const span = { key, from_us: fromUs, to_us: toUs, marker, version_us: versionUs };
    await this.#attempt(() => storeSpans(this.#deps.postgres, this.#platform, [span]));
  }

  /** Copies the gaps of the feed after one of them was stored. */
  async gapsMoved(): Promise<void> {
    if (this.#state !== 'stopped') await this.#attempt(() => this.#copyGaps());
  }

  /** Call it when trades stored since an instant (Unix ms) may have no copy. */
  missed(sinceMs: number): void {
    this.#failures += 1;
    if (this.#state === 'whole') this.#state = 'copying';
    this.#skipped.clear();
    this.#missedSinceMs = Math.min(this.#missedSinceMs, sinceMs);
  }

  /** Copies what was stored since `sinceMs`, or since an earlier copy that may be missing, then reads older trades (`fill`). */
  async catchUp(sinceMs: number): Promise<void> {
    if (this.#state !== 'whole') await this.#copyMissed(Math.min(sinceMs, this.#missedSinceMs));
    await this.#keepBounds();
    await this.fill();
    const startedMs = this.#deps.clock.now();
    while (this.#rows >= ROWS_BETWEEN && this.#deps.clock.now() - startedMs < FILL_MS) {
      if ((await dropOldest(this.#deps, this.#platform)) === 0) this.#rows = 0;
    }
  }

  /** Reads older trades of markets that wait for them, for at most FILL_MS. Returns the number of markets. */
  fill(): Promise<number> {
    return fillTapes(this.#deps, this.#platform, {
      clock: this.#deps.clock,
      withinMs: FILL_MS,
      // This read may miss trades that are skipped from now on: their markets must be marked again.
      onLocked: () => void (this.#skipped = skippedTrades()),
    });
  }

  async #copyMissed(sinceMs: number): Promise<void> {
    const platform = this.#platform;
    const { clickhouse, postgres } = this.#deps;
    const before = this.#failures;
    // Set before ClickHouse is read: `stored` copies what is stored from now on.
    this.#state = 'copying';
    const [feed] = rowsOf(
      await postgres.db.execute(sql`SELECT FROM present_feeds WHERE platform = ${platform} AND is_listed`),
    );
    if (!feed) await listTapes(this.#deps, platform);
    const since = storeTime(feed ? sinceMs : 0);
    const names = await clickhouse.query('present_traders', CopiedName, {
      platform,
      since: feed ? since : NEVER,
      wallets: [],
    });
    await storeNames(postgres.db, platform, names);
    if (feed) await this.#copyTrades(since);
    await this.#copyGaps();
    if (this.#failures !== before) throw new Error('copies of trades failed while missed ones were looked for');
    // Set before spans are read: `moved` copies those that move from now on.
    this.#state = 'whole';
    this.#missedSinceMs = Infinity;
    try {
      await storeSpans(postgres, platform, await clickhouse.query('present_spans', CopiedSpan, { platform, since }));
    } catch (error) {
      this.missed(sinceMs);
      throw error;
    }
  }

  async #copyTrades(since: string): Promise<void> {
    const platform = this.#platform;
    const { clickhouse, postgres } = this.#deps;
    const late = await clickhouse.query('present_trades', CopiedTrade, { platform, since, limit: CAUGHT_UP + 1 });
    if (late.length > CAUGHT_UP) return cutSince(this.#deps, platform, since);
    for (const trades of partsOf(late, SMALL_BATCH)) {
      const tapes = Array.from(tradesByKey(trades), ([key, own]) => ({
        key,
        skipped_us: 0,
        last_us: Math.max(...own.map(({ executed_us: us }) => us)),
      }));
      await storeTrades(postgres, platform, tapes, trades);
    }
  }

  /** Copies gaps, one copy after the other: older gaps must not replace newer ones. */
  #copyGaps(): Promise<void> {
    return this.#gapCopies.add(() => this.#copyStoredGaps());
  }

  async #copyStoredGaps(): Promise<void> {
    const platform = this.#platform;
    const gaps = await tradeGaps(this.#deps.clickhouse, platform);
    const text = JSON.stringify(gaps.map(({ fromUs, toUs }) => [fromUs, toUs]));
    await this.#deps.postgres.db.execute(sql`
      UPDATE present_feeds SET gaps = ${text}::jsonb WHERE platform = ${platform} AND gaps <> ${text}::jsonb`);
  }

  /** Copies the time from which retention keeps trades, once an hour: it changes at midnight. */
  async #keepBounds(): Promise<void> {
    const { clickhouse, postgres, clock } = this.#deps;
    if (clock.now() - this.#keptReadMs < HOUR_MS) return;
    const us = (await keptFrom(clickhouse, 'trades')).getTime() * 1000;
    await postgres.db.execute(sql`UPDATE present_feeds SET kept_us = ${us}::bigint WHERE platform = ${this.#platform}`);
    this.#keptReadMs = clock.now();
  }

  async #attempt(copy: () => Promise<void>): Promise<void> {
    try {
      await copy();
    } catch (error) {
      const { clock, log } = this.#deps;
      if (this.#state !== 'stopped')
        log.warn({ err: error, platform: this.#platform }, 'Failed to copy trades to PostgreSQL');
      this.#state = 'stopped';
      this.missed(clock.now() - REPAIR_MARGIN_MS);
    }
  }

  #keyOf(ref: string): string {
    const known = this.#keys.get(ref);
    if (known !== undefined) return known;
    const key = ownKey(marketKey({ platform: this.#platform, ref }));
    this.#keys.set(ref, key);
    return key;
  }
}
