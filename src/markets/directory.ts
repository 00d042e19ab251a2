import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { MarketDirectory, StoredMarket } from '../platforms/contract.ts';
import { isItemError } from '../platforms/parse-rows.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { Cache } from '../core/cache.ts';
import { marketKey, marketName } from '../core/market-key.ts';
import type { JsonObject, Platform } from '../core/model.ts';
import { SingleFlight } from '../core/single-flight.ts';
import { cacheThrough, localTexts } from '../stores/shared/cache.ts';

const KEPT = 100_000;
/** How long a look-up is kept unless it is forgotten; a changed status is announced, or found in the log within seconds. */
const KEPT_MS = 60_000;
/** An id keeps its market, except that a market may take over the slug of a dropped one. */
const ALIAS_MS = 60_000;
const UNKNOWN_MS = 30_000;

const StoredRow = z.object({
  ref: z.string(),
  platform_id: z.string(),
  slug: z.string(),
  event_id: z.string(),
  series_id: z.string(),
  source_url: z.string(),
  title: z.string(),
  outcome_ids: z.array(z.string()),
  outcome_names: z.array(z.string()),
  token_ids: z.array(z.string()),
  status: z.string(),
  trading_start_at: z.string().nullable(),
  trading_end_at: z.string().nullable(),
  metadata: z.string(),
});

/** A row of sql/queries/market_refs_by_ids.sql. */
const NamesRow = z.object({ ref: z.string(), platform_id: z.string(), slug: z.string() });

/** An id in its platform's stored spelling; null for text that cannot be the id of a market or event there. */
export const normalId = (platform: Platform, id: string): string | null => MANIFESTS[platform].normalizeId(id);

/** An id filter in the stored spelling; '' if there is none. */
export const asStored = (platform: Platform, id: string | undefined): string =>
  id === undefined ? '' : (normalId(platform, id) ?? id);

/** The reference, assuming that the id is one and not an alias; null if it cannot be one. */
export const likelyRef = (platform: Platform, id: string): string | null => MANIFESTS[platform].likelyRef(id);

/**
 * Reads one market from its platform and stores it; null if the platform does not know it. Without `user` it counts as our own
 * work.
 */
export type FetchMarket = (platform: Platform, id: string, user?: string) => Promise<string | null>;

/**
 * Stored markets by reference, briefly cached, and by any id that a user may send. A market that is not stored is read from the
 * platform through `fetchMarket` and stored.
 */
export class StoredMarkets implements MarketDirectory {
  readonly #clickhouse: ClickHouse;
  readonly #fetchMarket: FetchMarket;
  readonly #cached: Shared['cached'];
  readonly #markets = new Cache<string, StoredMarket>({ limit: KEPT, ttlMs: KEPT_MS });
  /** Markets that their platform did not return to ingestion. Also kept while messages are missed: asking again costs its budget. */
  readonly #unknown = new Cache<string, true>({ limit: KEPT, ttlMs: UNKNOWN_MS });
  /** References by platform and any id that a user sent. */
  readonly #aliases = new Cache<string, string>({ limit: KEPT, ttlMs: ALIAS_MS });
  /** Reads in progress, shared by concurrent callers. */
  readonly #reads = new SingleFlight<string>();

  /** Without `cached`, unknown ids are cached in this process only. */
  constructor(clickhouse: ClickHouse, fetchMarket: FetchMarket, cached: Shared['cached'] = cacheThrough(localTexts())) {
    this.#clickhouse = clickhouse;
    this.#fetchMarket = fetchMarket;
    this.#cached = cached;
  }

  async byRef(platform: Platform, refs: string[]): Promise<Map<string, StoredMarket>> {
    const { found, unknown } = await this.#lookUp(platform, refs);
    for (const ref of unknown) {
      if (found.has(ref)) continue;
      // An unreadable market counts as unknown, so that its trades do not delay those of others.
      const fetched = await this.#fetch(platform, ref).catch((error: unknown) => {
        if (isItemError(error)) return null;
        throw error;
      });
      if (fetched?.market) found.set(ref, fetched.market);
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
      if (kept) found.set(ref, kept);
      else if (!this.#unknown.get(marketName({ platform, ref }))) unknown.push(ref);
    }
    for (const market of await this.#stored(platform, unknown)) found.set(market.ref, market);
    return { found, unknown };
  }

  /**
   * The market of a platform id, condition id, ticker or slug; null if neither store nor platform knows it. No process asks again for
   * an unknown id for a while; ingestion (byRef) has its own cache.
   */
  async byAnyId(platform: Platform, id: string, user?: string): Promise<StoredMarket | null> {
    const wanted = normalId(platform, id);
    if (wanted === null) return null;
    const stored = await this.storedByAnyId(platform, id);
    if (stored) return stored;
    const fetched = await this.#cached(`looked_up:${platform}:${wanted}`, UNKNOWN_MS, async () => {
      const found = await this.#fetch(platform, wanted, user);
      return found?.ref ?? null;
    });
    return fetched.value === null ? null : this.#byRef(platform, fetched.value);
  }

  /** The same among the stored markets only. */
  async storedByAnyId(platform: Platform, id: string): Promise<StoredMarket | null> {
    const wanted = normalId(platform, id);
    if (wanted === null) return null;
    const alias = `${platform}:${wanted}`;
    const known = this.#aliases.get(alias);
    if (known !== undefined) return this.#byRef(platform, known);
    const market = (await this.#byRef(platform, wanted)) ?? (await this.#byOtherId(platform, wanted));
    if (market) this.#aliases.set(alias, market.ref);
    return market;
  }

  /** The stored markets of many ids, by id, in two statements; unknown ids are left out. */
  async storedByAnyIds(platform: Platform, ids: readonly string[]): Promise<Map<string, StoredMarket>> {
    const wanted = new Map(ids.map((id) => [id, normalId(platform, id)]));
    const refs = [...new Set([...wanted.values()].filter((one) => one !== null))];
    const found = await this.#listedByRefs(platform, refs);
    const others = refs.filter((ref) => !found.has(ref));
    if (others.length > 0) {
      const rows = await this.#clickhouse.query('market_refs_by_ids', NamesRow, { platform, ids: others });
      const known = await this.#listedByRefs(
        platform,
        rows.map(({ ref }) => ref),
      );
      const names = new Map([
        ...rows.map(({ slug, ref }) => [slug, ref] as const),
        ...rows.map(({ platform_id: id, ref }) => [id, ref] as const),
      ]);
      for (const id of others) {
        const market = known.get(names.get(id) ?? '');
        if (market) found.set(id, market);
      }
    }
    const named = new Map<string, StoredMarket>();
    for (const [id, one] of wanted) {
      const market = found.get(one ?? '');
      if (market) named.set(id, market);
    }
    return named;
  }

  async #listedByRefs(platform: Platform, refs: readonly string[]): Promise<Map<string, StoredMarket>> {
    const kept = refs.flatMap((ref) => this.#markets.get(marketName({ platform, ref })) ?? []);
    const have = new Set(kept.map(({ ref }) => ref));
    const read = await this.#stored(
      platform,
      refs.filter((ref) => !have.has(ref)),
    );
    return new Map([...kept, ...read.filter(isListed)].map((market) => [market.ref, market]));
  }

  async #byOtherId(platform: Platform, id: string): Promise<StoredMarket | null> {
    const [row] = await this.#reads.run(`other id ${platform}:${id}`, () =>
      this.#clickhouse.query('market_ref', z.object({ ref: z.string() }), { platform, id }),
    );
    return row ? this.#byRef(platform, row.ref) : null;
  }

  /** Reads a market from its platform, then from the store: a store read that began earlier would miss it. */
  #fetch(
    platform: Platform,
    id: string,
    user?: string,
  ): Promise<{ ref: string; market: StoredMarket | undefined } | null> {
    return this.#reads.run(`fetch ${platform}:${id}`, async () => {
      const ref = await this.#fetchMarket(platform, id, user);
      return ref === null ? null : { ref, market: (await this.#stored(platform, [ref]))[0] };
    });
  }

  async #byRef(platform: Platform, ref: string): Promise<StoredMarket | null> {
    const kept = this.#markets.get(marketName({ platform, ref }));
    if (kept) return kept;
    const [market] = await this.#reads.run(`ref ${platform}:${ref}`, () => this.#stored(platform, [ref]));
    return market && isListed(market) ? market : null;
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
    for (let i = 0; i < refs.length; i += 500) {
      const some = refs.slice(i, i + 500).map((ref) => ({ platform, ref }));
      await this.#markets.readAll(some.map(marketName), async () => {
        const keys = some.map((one) => BigInt(marketKey(one)));
        const rows = await this.#clickhouse.query('stored_markets', StoredRow, { platform, keys });
        const markets = rows.map((row) => toStoredMarket(platform, row));
        found.push(...markets);
        return markets.filter(isListed).map((market) => [marketName(market), market]);
      });
    }
    return found;
  }
}

/** A market's state is written last: without one, its listing is still being written or was interrupted by a kill. */
const isListed = ({ status }: Pick<StoredMarket, 'status'>): boolean => status !== '';

function toStoredMarket(platform: Platform, row: z.infer<typeof StoredRow>): StoredMarket {
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
