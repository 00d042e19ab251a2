import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import type { MarketDirectory, StoredMarket } from '../platforms/contract.ts';
import { isItemError } from '../platforms/parse-rows.ts';
import type { Projector } from '../present/projector.ts';
import { idsOfEvent, marketsNamed, marketsOnPlatforms, type PresentMarket } from '../present/read.ts';
import { type HeldHistory, type HeldRange, historiesNamed } from '../present/trades/bars.ts';
import { type HeldTape, heldTape, type PricedMarket, pricedNamed, type TapePage } from '../present/trades/read.ts';
import { type SpannedMarket, spannedMarket } from '../present/trades/spanned.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { type FetchMarket, normalId, StoredFacts, toStoredMarket, storedRefs, UNKNOWN_MS } from './directory.ts';

/** What is read of the facts of a market in `present/rows.ts`. */
const Facts = StoredFacts.extend({ info_metadata: z.string() });
const State = z.object({
  status: z.string(),
  volume_total: z.string().nullable(),
  resolved_at: z.string().nullable(),
  last_synced_at: z.string(),
});

/** A stored market, with the volume that its platform reports, when it was settled and when it was last read. */
export interface CurrentMarket extends StoredMarket {
  volumeTotal: string | null;
  resolvedAt: string | null;
  syncedAt: string;
  /** Number of its stored trades. */
  storedTrades: number;
}

const PriceState = z.object({ prices: z.array(z.string().nullable()) });

/** A market with its payouts, if it is settled, and its last trades. */
export type CurrentPrices = CurrentMarket & Pick<PricedMarket, 'last' | 'copiedToUs'> & z.output<typeof PriceState>;

/** A market with its newest trades. */
export type CurrentTape = Omit<HeldTape, 'market'> & { market: CurrentMarket };

/** A market with what PostgreSQL has of its history. */
type CurrentHistory = Omit<HeldHistory, 'market'> & { market: CurrentMarket };

interface Deps {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
  present: Pick<Projector, 'copyNow'>;
  fetchMarket: FetchMarket;
  shared: Pick<Shared, 'cached'>;
}

/**
 * Markets by any id that a caller may send: one statement to PostgreSQL. What is not there is looked for in ClickHouse, then at the
 * platform, and copied before it is answered.
 */
export class PresentMarkets implements MarketDirectory {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The stored markets of ids, by id; the others are left out. */
  named(platform: Platform, ids: readonly string[]): Promise<Map<string, PresentMarket>> {
    return this.#named(platform, ids, (names) => marketsNamed(this.#deps.postgres, platform, names));
  }

  async #named<T>(
    platform: Platform,
    ids: readonly string[],
    read: (names: readonly string[]) => Promise<Map<string, T>>,
  ): Promise<Map<string, T>> {
    const names = new Map(ids.flatMap((id) => pairOf(id, normalId(platform, id))));
    const wanted = [...new Set(names.values())];
    if (wanted.length === 0) return new Map();
    const found = await read(wanted);
    const missing = wanted.filter((name) => !found.has(name));
    const refs = await storedRefs(this.#deps.clickhouse, platform, missing);
    if (refs.size > 0) {
      await this.#deps.present.copyNow(platform, [...new Set(refs.values())]);
      for (const [name, market] of await read([...refs.keys()])) found.set(name, market);
    }
    return new Map([...names].flatMap(([id, name]) => pairOf(id, found.get(name))));
  }

  /** The market of an id; one that is not stored is read from its platform. null if neither knows it. */
  async find(platform: Platform, id: string, user?: string): Promise<PresentMarket | null> {
    const name = normalId(platform, id);
    if (name === null) return null;
    return (await this.named(platform, [name])).get(name) ?? this.#fetched(platform, name, user);
  }

  /** The market of an id, found as in `find`, in the form that adapters, books and orders need. */
  async byAnyId(platform: Platform, id: string, user?: string): Promise<CurrentMarket | null> {
    const market = await this.find(platform, id, user);
    return market && toCurrentMarket(platform, market);
  }

  /** The copied market of an id with a page of its newest trades; null if it is not copied. One statement. */
  async tape(platform: Platform, id: string, page: TapePage): Promise<CurrentTape | null> {
    const name = normalId(platform, id);
    const found = name === null ? null : await heldTape(this.#deps.postgres, platform, name, page);
    return found && { ...found, market: toCurrentMarket(platform, found.market) };
  }

  /** The market of an id, found as in `find`, with the spans of its trades and their volumes at an instant. One statement. */
  async spanned(platform: Platform, id: string, atMs: number, user?: string): Promise<SpannedMarket | null> {
    const name = normalId(platform, id);
    if (name === null) return null;
    const read = () => spannedMarket(this.#deps.postgres, platform, name, atMs);
    return (await read()) ?? ((await this.find(platform, id, user)) && read());
  }

  /** The stored markets of ids, by id. No platform is asked. */
  async storedByAnyIds(platform: Platform, ids: readonly string[]): Promise<Map<string, CurrentMarket>> {
    const found = await this.named(platform, ids);
    return new Map(Array.from(found, ([id, market]) => [id, toCurrentMarket(platform, market)]));
  }

  /** The stored markets of ids, by id, with what PostgreSQL has of their histories over a range. One statement. */
  async historiesByAnyIds(
    platform: Platform,
    ids: readonly string[],
    range: HeldRange,
  ): Promise<Map<string, CurrentHistory>> {
    const found = await this.#named(platform, ids, (names) =>
      historiesNamed(this.#deps.postgres, platform, names, range),
    );
    return new Map(
      Array.from(found, ([id, held]) => [id, { ...held, market: toCurrentMarket(platform, held.market) }]),
    );
  }

  /** The stored markets of ids, by id, with their last trades up to an instant. One statement. */
  async pricedByAnyIds(platform: Platform, ids: readonly string[], atMs: number): Promise<Map<string, CurrentPrices>> {
    const found = await this.#named(platform, ids, (names) =>
      pricedNamed(this.#deps.postgres, platform, names, atMs * 1000),
    );
    return new Map(
      Array.from(found, ([id, market]) => {
        const { last, copiedToUs } = market;
        return [
          id,
          { ...toCurrentMarket(platform, market), last, copiedToUs, ...PriceState.parse(JSON.parse(market.state)) },
        ];
      }),
    );
  }

  async byRef(platform: Platform, refs: string[]): Promise<Map<string, CurrentMarket>> {
    const found = await this.named(platform, refs);
    for (const ref of new Set(refs)) {
      if (found.has(ref)) continue;
      // An unreadable market counts as unknown, so that it does not fail the others.
      const market = await this.#fetched(platform, ref).catch((error: unknown) => {
        if (isItemError(error)) return null;
        throw error;
      });
      if (market) found.set(ref, market);
    }
    // A reference may be another market's slug.
    const own = [...found].filter(([ref, market]) => market.ref === ref);
    return new Map(own.map(([ref, market]) => [ref, toCurrentMarket(platform, market)]));
  }

  /** The stored market that has this id on each platform; one that is not copied yet is left out. One statement. */
  async onPlatforms(platforms: readonly Platform[], id: string): Promise<Map<Platform, CurrentMarket>> {
    const names = new Map(platforms.flatMap((platform) => pairOf(platform, normalId(platform, id))));
    const found = await marketsOnPlatforms(this.#deps.postgres, names);
    return new Map(Array.from(found, ([platform, market]) => [platform, toCurrentMarket(platform, market)]));
  }

  /** The platform ids of the copied markets of an event, given by its id or slug, at most `limit`. */
  async idsOfEvent(platform: Platform, id: string, limit: number): Promise<string[]> {
    const name = normalId(platform, id);
    return name === null ? [] : idsOfEvent(this.#deps.postgres, platform, name, limit);
  }

  /** A market that its platform knows. No process asks for an unknown one again for a while. */
  async #fetched(platform: Platform, name: string, user?: string): Promise<PresentMarket | null> {
    const { shared, fetchMarket, present, postgres } = this.#deps;
    const key = `looked_up:${platform}:${name}`;
    const { value: ref } = await shared.cached(key, UNKNOWN_MS, () => fetchMarket(platform, name, user));
    if (ref === null) return null;
    await present.copyNow(platform, [ref]);
    return (await marketsNamed(postgres, platform, [ref])).get(ref) ?? null;
  }
}

/** [[id, found]], or [] where nothing was found. */
const pairOf = <K, T>(id: K, found: T | null | undefined): [K, T][] => (found == null ? [] : [[id, found]]);

function toCurrentMarket(platform: Platform, { ref, tokenIds, info, state, trades }: PresentMarket): CurrentMarket {
  const facts = Facts.parse(JSON.parse(info));
  const {
    status,
    volume_total: volumeTotal,
    resolved_at: resolvedAt,
    last_synced_at: syncedAt,
  } = State.parse(JSON.parse(state));
  return {
    ...toStoredMarket(platform, { ...facts, ref, status, token_ids: tokenIds, metadata: facts.info_metadata }),
    volumeTotal,
    resolvedAt,
    syncedAt,
    storedTrades: trades,
  };
}
