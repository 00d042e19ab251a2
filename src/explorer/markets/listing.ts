import { useEffect, useRef, useState } from 'preact/hooks';
import type { Market } from '../parts/answers.ts';
import { ApiFailure, get, type Params } from '../parts/api.ts';

export const SORTS = [
  ['match', 'Best match'],
  ['volume_24h', 'Volume 24 h'],
  ['volume_total', 'Volume'],
  ['liquidity', 'Liquidity'],
  ['end_date', 'Ends soonest'],
  ['created', 'Newest'],
] as const;
export type Sort = (typeof SORTS)[number][0];

/** Best first, in the order of the API. */
const MATCHES = ['id', 'prefix', 'words', 'text', 'typo'];
/** Above any volume. */
const NEXT_MATCH = 1e15;

const PAGE = 50;

/** Sort key of a market: smaller first, null last, as in the API. */
const RANK: Record<Sort, (market: Market) => number | null> = {
  match: ({ match = 'text', volume_24h: volume }) => MATCHES.indexOf(match) * NEXT_MATCH - (volume ?? -1),
  volume_24h: (market) => descending(market.volume_24h),
  volume_total: (market) => descending(market.volume_total),
  liquidity: (market) => descending(market.liquidity),
  end_date: (market) => (market.trading_end_at === null ? null : Date.parse(market.trading_end_at)),
  created: (market) => -Date.parse(market.created_at),
};
const descending = (value: number | null): number | null => (value === null ? null : -value);

interface Source {
  platform: string;
  /** Fetched but not yet in the list. */
  waiting: Market[];
  /** undefined before the first page, null after the last. */
  cursor: string | null | undefined;
  total: number;
  freshTo: string | null;
}

/** One list over several platforms: merges the sorted pages of each as far as all of them are loaded. */
class Listing {
  readonly rows: Market[] = [];
  readonly #sources: Source[];
  readonly #filters: Params;
  readonly #rank: (market: Market) => number;

  constructor(platforms: readonly string[], filters: Params, sort: Sort) {
    this.#sources = platforms.map((platform) => ({
      platform,
      waiting: [],
      cursor: undefined,
      total: 0,
      freshTo: null,
    }));
    this.#filters = { ...filters, sort, limit: PAGE };
    this.#rank = (market) => RANK[sort](market) ?? Infinity;
  }

  get total(): number {
    return this.#sources.reduce((all, { total }) => all + total, 0);
  }
  /** As of when the least recently listed platform was listed. */
  get freshTo(): string | null {
    const [oldest] = this.#sources.flatMap(({ freshTo }) => freshTo ?? []).toSorted();
    return oldest ?? null;
  }
  get ended(): boolean {
    return this.#sources.every(({ cursor, waiting }) => cursor === null && waiting.length === 0);
  }

  /** Adds at least a page of rows, unless the list ends. */
  async more(signal: AbortSignal): Promise<void> {
    const before = this.rows.length;
    while (this.rows.length < before + PAGE && !this.ended) {
      // All are waited for: a platform asked again while its answer is on the way would be listed twice.
      const results = await Promise.allSettled(
        this.#sources.filter(({ waiting }) => waiting.length === 0).map((one) => this.#fetch(one, signal)),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      this.#merge();
    }
  }

  async #fetch(source: Source, signal: AbortSignal): Promise<void> {
    if (source.cursor === null) return;
    const { platform: provider, cursor } = source;
    const { markets, pagination, meta } = await get('/v1/api/markets', { ...this.#filters, provider, cursor }, signal);
    source.waiting.push(...markets);
    source.cursor = pagination.next_cursor;
    source.total = pagination.total;
    source.freshTo ??= meta.data_freshness;
  }

  #merge(): void {
    for (;;) {
      // A platform with further pages but no waiting market may have the next one.
      if (this.#sources.some(({ waiting, cursor }) => waiting.length === 0 && cursor !== null)) return;
      let first: Source | undefined;
      for (const source of this.#sources) {
        const [market] = source.waiting;
        const best = first?.waiting[0];
        if (market && (!best || this.#rank(market) < this.#rank(best))) first = source;
      }
      const next = first?.waiting.shift();
      if (!next) return;
      this.rows.push(next);
    }
  }
}

export interface MarketList {
  /** Differs for other platforms, filters or order. */
  key: string;
  rows: readonly Market[];
  total: number;
  freshTo: string | null;
  ended: boolean;
  loading: boolean;
  /** The rows are those of the list before, until the one asked for is loaded. */
  isOld: boolean;
  failure: ApiFailure | undefined;
  more: () => void;
  reload: () => void;
}

const NO_ROWS: readonly Market[] = [];
/** The last list, for a user who comes back to it within LEFT_MS. */
let left: { key: string; listing: Listing; at: number } | null = null;
export const LEFT_MS = 300_000;
const leftAs = (key: string | null): Listing | null =>
  left !== null && left.key === key && Date.now() - left.at < LEFT_MS ? left.listing : null;

/** Markets that match `filters`; `more` loads the next page. Rows stay until the next list is loaded. */
export function useMarketList(platforms: readonly string[] | null, filters: Params, sort: Sort): MarketList {
  const key = platforms === null ? null : JSON.stringify([platforms, filters, sort]);
  const [shown, setShown] = useState<{ key: string | null; listing: Listing; at: number } | null>(() => {
    const listing = leftAs(key);
    return listing && { key, listing, at: listing.rows.length };
  });
  const [failure, setFailure] = useState<ApiFailure | undefined>();
  const [turn, setTurn] = useState(0);
  const work = useRef<{ listing: Listing; ending: AbortController; busy: boolean } | null>(null);
  const [loading, setLoading] = useState(shown === null);

  const advance = async (): Promise<void> => {
    const now = work.current;
    if (!now || now.busy || now.listing.ended) return;
    now.busy = true;
    setLoading(true);
    try {
      await now.listing.more(now.ending.signal);
      if (now.ending.signal.aborted) return;
      setFailure(undefined);
      setShown({ key, listing: now.listing, at: now.listing.rows.length });
    } catch (error) {
      if (now.ending.signal.aborted) return;
      setFailure(error instanceof ApiFailure ? error : new ApiFailure(0, String(error), ''));
    } finally {
      now.busy = false;
      if (work.current === now) setLoading(false);
    }
  };
  useEffect(() => {
    if (platforms === null) return;
    const known = turn === 0 ? leftAs(key) : null;
    const listing = known ?? new Listing(platforms, filters, sort);
    const now = { listing, ending: new AbortController(), busy: false };
    work.current = now;
    setFailure(undefined);
    if (known) {
      setShown({ key, listing, at: listing.rows.length });
      setLoading(false);
    } else void advance();
    return () => {
      now.ending.abort();
      if (key !== null && listing.rows.length > 0) left = { key, listing, at: Date.now() };
    };
  }, [key, turn]);
  useEffect(() => {
    if (!failure || failure.retryMs === null) return;
    const timer = setTimeout(() => void advance(), failure.retryMs);
    return () => clearTimeout(timer);
  }, [failure]);
  return {
    key: key ?? '',
    rows: shown?.listing.rows ?? NO_ROWS,
    total: shown?.listing.total ?? 0,
    freshTo: shown?.listing.freshTo ?? null,
    ended: shown?.listing.ended ?? false,
    loading,
    isOld: shown !== null && shown.key !== key,
    failure,
    more: () => void advance(),
    reload: () => setTurn((n) => n + 1),
  };
}
