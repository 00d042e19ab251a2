import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { MarketDirectory, StoredMarket } from '../platforms/contract.ts';
import { isItemError } from '../platforms/parse-rows.ts';
import { Cache } from '../core/cache.ts';
import { marketKey, marketName } from '../core/market-key.ts';
import type { JsonObject, Platform } from '../core/model.ts';
import { SingleFlight } from '../core/single-flight.ts';
import { type Clock, systemClock } from '../core/time.ts';
import { partsOf } from '../core/parts.ts';

const KEPT = 100_000;
/** How long a look-up is kept unless it is forgotten; a changed status is announced, or found in the log within seconds. */
const KEPT_MS = 60_000;
/** An id that its platform does not know is asked for again after this time. */
export const UNKNOWN_MS = 30_000;
/** Look-ups that were used and are older than this are read again together with new ones: each would expire alone and cost a statement. */
const AGAIN_MS = 30_000;
/** Markets of one statement. */
const READ_TOGETHER = 500;

/** The facts of a stored market. */
export const StoredFacts = z.object({
  platform_id: z.string(),
  slug: z.string(),
  event_id: z.string(),
  series_id: z.string(),
  source_url: z.string(),
  title: z.string(),
  outcome_ids: z.array(z.string()),
  outcome_names: z.array(z.string()),
  trading_start_at: z.string().nullable(),
  trading_end_at: z.string().nullable(),
});
const StoredRow = StoredFacts.extend({
  ref: z.string(),
  token_ids: z.array(z.string()),
  status: z.string(),
  metadata: z.string(),
});

/** A row of sql/queries/market_refs_by_ids.sql. */
const NamesRow = z.object({ ref: z.string(), platform_id: z.string(), slug: z.string() });

/** A look-up, and whether it was used since. */
interface Kept {
  market: StoredMarket;
  isUsed: boolean;
}

/** An id in its platform's stored spelling; null for text that cannot be the id of a market or event there. */
export const normalId = (platform: Platform, id: string): string | null => MANIFESTS[platform].normalizeId(id);

/** An id filter in the stored spelling; '' if there is none. */
export const asStored = (platform: Platform, id: string | undefined): string =>
  id === undefined ? '' : (normalId(platform, id) ?? id);

/** Events of this id on those of the platforms whose ids can look like it, in the stored spelling. */
export const eventsNamed = (platforms: readonly Platform[], id: string): (readonly [Platform, string])[] =>
  platforms.flatMap((one) => {
    const name = normalId(one, id);
    return name === null ? [] : [[one, name] as const];
  });

/** Reads and stores one market of a platform; null if the platform does not know it. Without `user` it is our own work. */
export type FetchMarket = (platform: Platform, id: string, user?: string) => Promise<string | null>;

/** References of the markets that ClickHouse has under these names (references, platform ids, slugs, as stored), by name. */
export async function storedRefs(
  clickhouse: Pick<ClickHouse, 'query'>,
  platform: Platform,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await clickhouse.query('market_refs_by_ids', NamesRow, { platform, ids: names });
  const refs = new Map([
    ...rows.map(({ slug, ref }) => [slug, ref] as const),
    ...rows.map(({ platform_id: id, ref }) => [id, ref] as const),
    ...rows.map(({ ref }) => [ref, ref] as const),
  ]);
  const asked = new Set(names);
  return new Map([...refs].filter(([name]) => asked.has(name)));
}

/**
 * Stored markets by reference, briefly cached, for ingestion: from ClickHouse, so that it goes on while PostgreSQL is away. A market
 * that is not stored is read from the platform through `fetchMarket` and stored.
 */
export class StoredMarkets implements MarketDirectory {
  readonly #clickhouse: ClickHouse;
  readonly #fetchMarket: FetchMarket;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #markets: Cache<string, Kept>;
  /** When markets were read, by the clock's elapsed(), oldest first. */
  readonly #readAtMs = new Map<Platform, Map<string, number>>();
  /** Markets that their platform did not return. Also kept while messages are missed: asking again costs its budget. */
  readonly #unknown: Cache<string, true>;
  /** Reads from platforms in progress, shared by concurrent callers. */
  readonly #fetches = new SingleFlight<string>();

  constructor(clickhouse: ClickHouse, fetchMarket: FetchMarket, clock: Pick<Clock, 'elapsed'> = systemClock) {
    this.#clickhouse = clickhouse;
    this.#fetchMarket = fetchMarket;
    this.#clock = clock;
    this.#markets = new Cache({ limit: KEPT, ttlMs: KEPT_MS, now: clock.elapsed });
    this.#unknown = new Cache({ limit: KEPT, ttlMs: UNKNOWN_MS, now: clock.elapsed });
  }

  async byRef(platform: Platform, refs: string[]): Promise<Map<string, StoredMarket>> {
    const { found, unknown } = await this.#lookUp(platform, refs);
    for (const ref of unknown) {
      if (found.has(ref)) continue;
      // An unreadable market counts as unknown, so that its trades do not delay those of others.
      const fetched = await this.#fetch(platform, ref).catch((error: unknown) => {
        if (isItemError(error)) return undefined;
        throw error;
      });
      if (fetched) found.set(ref, fetched);
      else this.#unknown.set(marketName({ platform, ref }), true);
    }
    return found;
  }

  /** The stored ones of these markets; no platform is asked for the others. */
  async storedByRef(platform: Platform, refs: string[]): Promise<Map<string, StoredMarket>> {
    return (await this.#lookUp(platform, refs)).found;
  }

  /** The stored ones of these markets, and the references that were not cached as found or unknown. */
  async #lookUp(platform: Platform, refs: string[]) {
    const found = new Map<string, StoredMarket>();
    const unknown: string[] = [];
    for (const ref of new Set(refs)) {
      const kept = this.#markets.get(marketName({ platform, ref }));
      if (kept) {
        kept.isUsed = true;
        found.set(ref, kept.market);
      } else if (!this.#unknown.get(marketName({ platform, ref }))) unknown.push(ref);
    }
    for (const market of await this.#stored(platform, unknown)) found.set(market.ref, market);
    return { found, unknown };
  }

  /** Reads a market from its platform, then from the store: a store read that began earlier would miss it. */
  #fetch(platform: Platform, ref: string): Promise<StoredMarket | undefined> {
    return this.#fetches.run(marketName({ platform, ref }), async () => {
      const fetched = await this.#fetchMarket(platform, ref);
      return fetched === null ? undefined : (await this.#stored(platform, [fetched]))[0];
    });
  }

  /** Drops markets from the cache after they were stored again. */
  forget(platform: Platform, refs: readonly string[]): void {
    for (const name of refs.map((ref) => marketName({ platform, ref }))) {
      this.#markets.delete(name);
      this.#unknown.delete(name);
    }
  }

  /** Drops every look-up, after changes may have been missed. */
  forgetAll(): void {
    this.#markets.clear();
  }

  async #stored(platform: Platform, refs: string[]): Promise<StoredMarket[]> {
    const found: StoredMarket[] = [];
    const asked = new Set(refs);
    const all = [...refs, ...this.#renewable(platform, asked)];
    for (const part of partsOf(all, READ_TOGETHER)) {
      const some = part.map((ref) => ({ platform, ref }));
      await this.#markets.readAll(some.map(marketName), async () => {
        const keys = some.map((one) => BigInt(marketKey(one)));
        const rows = await this.#clickhouse.query('stored_markets', StoredRow, { platform, keys });
        const markets = rows.map((row) => toStoredMarket(platform, row));
        found.push(...markets.filter(({ ref }) => asked.has(ref)));
        return markets.filter(isMarketListed).map((market) => [marketName(market), this.#kept(market)]);
      });
    }
    return found;
  }

  #kept(market: StoredMarket): Kept {
    const { platform, ref } = market;
    const times = this.#readAtMs.get(platform) ?? new Map<string, number>();
    this.#readAtMs.set(platform, times);
    times.delete(ref);
    times.set(ref, this.#clock.elapsed());
    return { market, isUsed: false };
  }

  /** References of used look-ups that would expire next, as many as the statement that reads `asked` has room for. */
  #renewable(platform: Platform, asked: ReadonlySet<string>): string[] {
    const due: string[] = [];
    const room = Math.ceil(asked.size / READ_TOGETHER) * READ_TOGETHER - asked.size;
    const times = this.#readAtMs.get(platform);
    const before = this.#clock.elapsed() - AGAIN_MS;
    for (const [ref, readAtMs] of times ?? []) {
      if (due.length >= room || readAtMs > before) break;
      times?.delete(ref);
      if (!asked.has(ref) && this.#markets.peek(marketName({ platform, ref }))?.isUsed) due.push(ref);
    }
    return due;
  }
}

/** A market's state is written last: without one, its listing is still being written or was interrupted by a kill. */
const isMarketListed = ({ status }: Pick<StoredMarket, 'status'>): boolean => status !== '';

/** `metadata`: JSON text. */
export function toStoredMarket(platform: Platform, row: z.infer<typeof StoredRow>): StoredMarket {
  return {
    platform,
    ref: row.ref,
    platformId: row.platform_id,
    slug: row.slug,
    title: row.title,
    eventId: row.event_id,
    sourceUrl: row.source_url,
    seriesId: row.series_id,
    status: row.status,
    outcomes: row.outcome_ids.map((id, index) => ({
      id,
      name: row.outcome_names[index] ?? '',
      tokenId: row.token_ids[index] ?? '',
    })),
    tradingStartAt: row.trading_start_at,
    tradingEndAt: row.trading_end_at,
    metadata: JSON.parse(row.metadata) as JsonObject,
  };
}
