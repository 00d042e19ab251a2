import { z } from 'zod';
import type { ClickHouse } from './clickhouse.ts';
import type { MarketDirectory, MarketKeys } from './platforms/platform.ts';
import { isOfOneThing } from './platforms/rows.ts';
import type { JsonObject, Platform } from './schemas.ts';

const KEPT = 100_000;
const KEPT_MS = 60_000;
const UNKNOWN_MS = 30_000;

const KeysRow = z.object({
  market_key: z.string(),
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

/** An id as the platform spells it: Kalshi in capitals, hex in lower case. */
export const normalId = (platform: Platform, id: string): string =>
  platform === 'kalshi' ? id.toUpperCase() : /^0x/i.test(id) ? id.toLowerCase() : id;

/** The reference that an id is unless it is another name of the market; null when it cannot be one. */
export const likelyRef = (platform: Platform, id: string): string | null =>
  platform === 'polymarket' && !/^0x/i.test(id) ? null : normalId(platform, id);

/** Reads one market from its platform and stores it; null when the platform does not know it. */
export type FetchMarket = (platform: Platform, id: string) => Promise<string | null>;

/**
 * Stored markets by reference, with a short memory, and by any id a user may send. What the store does not know is fetched from
 * the platform through `fetchMarket`, stored, and answered.
 */
export class StoredMarkets implements MarketDirectory {
  readonly #clickhouse: ClickHouse;
  readonly #fetchMarket: FetchMarket;
  readonly #kept = new Map<string, { keys: MarketKeys | null; key: string; until: number }>();
  /** References by platform and whatever id a user wrote; null where nobody knows the market. */
  readonly #aliases = new Map<string, { ref: string | null; until: number }>();
  /** Reads under way: whoever asks for the same meanwhile waits for the one. */
  readonly #reads = new Map<string, Promise<unknown>>();

  constructor(clickhouse: ClickHouse, fetchMarket: FetchMarket) {
    this.#clickhouse = clickhouse;
    this.#fetchMarket = fetchMarket;
  }

  async byRef(platform: Platform, refs: string[]): Promise<Map<string, MarketKeys>> {
    const found = new Map<string, MarketKeys>();
    const unknown: string[] = [];
    const now = Date.now();
    for (const ref of new Set(refs)) {
      const kept = this.#kept.get(`${platform}:${ref}`);
      if (!kept || kept.until < now) unknown.push(ref);
      else if (kept.keys) found.set(ref, kept.keys);
    }
    for (const keys of await this.#stored(platform, unknown)) found.set(keys.ref, keys);
    for (const ref of unknown) {
      if (found.has(ref)) continue;
      // A market that cannot be read is one that is not known: its trades must not keep those of others waiting.
      const fetched = await this.#fetch(platform, ref).catch((error: unknown) => {
        if (isOfOneThing(error)) return null;
        throw error;
      });
      if (fetched?.keys) found.set(ref, fetched.keys);
      else keep(this.#kept, `${platform}:${ref}`, { keys: null, key: '0', until: Date.now() + UNKNOWN_MS });
    }
    return found;
  }

  /** The market a user means by a platform id, condition id, ticker or slug; null when neither store nor platform knows it. */
  async byAnyId(platform: Platform, id: string): Promise<MarketKeys | null> {
    const alias = `${platform}:${normalId(platform, id)}`;
    const known = this.#aliases.get(alias);
    if (known?.ref === null && known.until > Date.now()) return null;
    const stored = await this.storedByAnyId(platform, id);
    if (stored) return stored;
    const fetched = await this.#fetch(platform, normalId(platform, id));
    const until = Date.now() + (fetched === null ? UNKNOWN_MS : KEPT_MS);
    keep(this.#aliases, alias, { ref: fetched?.ref ?? null, until });
    return fetched?.keys && isListed(fetched.keys) ? fetched.keys : null;
  }

  /** The same among the stored markets only. */
  async storedByAnyId(platform: Platform, id: string): Promise<MarketKeys | null> {
    const wanted = normalId(platform, id);
    const alias = `${platform}:${wanted}`;
    const known = this.#aliases.get(alias);
    if (known && known.ref !== null && known.until > Date.now()) return this.#byRef(platform, known.ref);
    const market = (await this.#byRef(platform, wanted)) ?? (await this.#byOtherId(platform, wanted));
    if (market) keep(this.#aliases, alias, { ref: market.ref, until: Date.now() + KEPT_MS });
    return market;
  }

  async #byOtherId(platform: Platform, id: string): Promise<MarketKeys | null> {
    const [row] = await this.#once(`other id ${platform}:${id}`, () =>
      this.#clickhouse.query('market_ref', z.object({ ref: z.string() }), { platform, id }),
    );
    return row ? this.#byRef(platform, row.ref) : null;
  }

  /** A market read from its platform, and what is stored of it then: a read that began before would not find it. */
  #fetch(platform: Platform, id: string): Promise<{ ref: string; keys: MarketKeys | undefined } | null> {
    return this.#once(`fetch ${platform}:${id}`, async () => {
      const ref = await this.#fetchMarket(platform, id);
      return ref === null ? null : { ref, keys: (await this.#stored(platform, [ref]))[0] };
    });
  }

  async #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const running = this.#reads.get(name) as Promise<T> | undefined;
    if (running) return running;
    const made = read().finally(() => this.#reads.delete(name));
    this.#reads.set(name, made);
    return made;
  }

  async #byRef(platform: Platform, ref: string): Promise<MarketKeys | null> {
    const kept = this.#kept.get(`${platform}:${ref}`);
    if (kept?.keys && kept.until > Date.now()) return kept.keys;
    const [keys] = await this.#once(`ref ${platform}:${ref}`, () => this.#stored(platform, [ref]));
    return keys && isListed(keys) ? keys : null;
  }

  /** The key of a market's rows in the store. */
  async keyOf({ platform, ref }: MarketKeys): Promise<string> {
    const kept = this.#kept.get(`${platform}:${ref}`);
    if (kept?.keys) return kept.key;
    await this.#stored(platform, [ref]);
    return this.#kept.get(`${platform}:${ref}`)?.key ?? '0';
  }

  /** Drops what is remembered of a market, after it was stored anew. */
  forget(platform: Platform, ref: string): void {
    this.#kept.delete(`${platform}:${ref}`);
  }

  async #stored(platform: Platform, refs: string[]): Promise<MarketKeys[]> {
    const found: MarketKeys[] = [];
    for (let i = 0; i < refs.length; i += 500) {
      const rows = await this.#clickhouse.query('market_keys', KeysRow, { platform, refs: refs.slice(i, i + 500) });
      found.push(...rows.map((row) => this.#keepRow(platform, row)));
    }
    return found;
  }

  #keepRow(platform: Platform, row: z.infer<typeof KeysRow>): MarketKeys {
    const keys = toMarketKeys(platform, row);
    if (isListed(keys)) {
      keep(this.#kept, `${platform}:${row.ref}`, { keys, key: row.market_key, until: Date.now() + KEPT_MS });
    }
    return keys;
  }
}

/** A market's state is written last: without one its listing is just being written, or was broken off by a kill. */
const isListed = ({ status }: Pick<MarketKeys, 'status'>): boolean => status !== '';

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  if (map.size >= KEPT) map.delete(map.keys().next().value ?? '');
  map.set(key, value);
}

function toMarketKeys(platform: Platform, row: z.infer<typeof KeysRow>): MarketKeys {
  return {
    platform,
    ref: row.ref,
    platformId: row.platform_id,
    slug: row.slug,
    title: row.title,
    eventId: row.event_id,
    eventSlug: /\/event\/([^/]+)\//.exec(row.source_url)?.[1] ?? '',
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
