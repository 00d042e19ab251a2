import type { Market } from '../parts/answers.ts';
import { get, type Params } from '../parts/api.ts';
import { searchParams } from '../parts/lists/filters.tsx';
import { type List, type ListPage, type ListSource, PAGE, useList } from '../parts/lists/listing.ts';
import { byPlatform } from '../parts/url.ts';
import { MOST_ROWS, runSql } from '../sql/run.ts';

export type MarketList = List<Market>;

const BY_API = ['match', 'volume_24h', 'volume_total', 'liquidity', 'end_date', 'created'] as const;
const BY_SQL = ['change', 'price', 'spread'] as const;
export type Sort = (typeof BY_API)[number] | (typeof BY_SQL)[number];

export const SORTS: readonly (readonly [Sort, string])[] = [
  ['match', 'Best match'],
  ['volume_24h', 'Volume 24 h'],
  ['volume_total', 'Volume'],
  ['liquidity', 'Liquidity'],
  ['end_date', 'Ends soonest'],
  ['created', 'Newest'],
  ['change', 'Change 24 h'],
  ['price', 'Price'],
  ['spread', 'Spread'],
];
/** Sorts whose smallest value comes first. */
export const ASCENDS: ReadonlySet<Sort> = new Set(['end_date', 'spread']);

/** Sort key of a market: smaller first, null last, as in the API. */
const RANK: Record<(typeof BY_API)[number], (market: Market) => number | null> = {
  // A search is one list.
  match: () => 0,
  volume_24h: (market) => descending(market.volume_24h),
  volume_total: (market) => descending(market.volume_total),
  liquidity: (market) => descending(market.liquidity),
  end_date: (market) => (market.trading_end_at === null ? null : Date.parse(market.trading_end_at)),
  created: (market) => -Date.parse(market.created_at),
};
const descending = (value: number | null): number | null => (value === null ? null : -value);
const isOfApi = (sort: Sort): sort is keyof typeof RANK => Object.hasOwn(RANK, sort);

/** Whether the API has the list; SQL finds the markets of every other. */
export const isListOfApi = ({ sort, isReversed, wallets }: Order): boolean =>
  isOfApi(sort) && !isReversed && wallets === null;

export interface Order {
  sort: Sort;
  isReversed: boolean;
  /** Only markets in which one of these wallets traded; null for all. */
  wallets: readonly string[] | null;
}

function fromApi(filters: Params, sort: keyof typeof RANK): ListSource<Market> {
  return {
    rank: (market) => RANK[sort](market) ?? Infinity,
    async read(provider, cursor, signal): Promise<ListPage<Market>> {
      const params = { ...filters, sort, limit: PAGE, provider, cursor };
      const { markets, pagination, meta } = await get('/v1/api/markets', params, signal);
      const { next_cursor: next, total } = pagination;
      return { rows: markets, next, total, freshTo: meta.data_freshness };
    },
  };
}

/** What the visitor searches for, on the chosen platform or on all. */
function fromSearch(filters: Params, sort: keyof typeof RANK): ListSource<Market> {
  return {
    rank: () => 0,
    async read(_all, cursor, signal): Promise<ListPage<Market>> {
      const params = { ...filters, sort, limit: PAGE, cursor };
      const { results, pagination, meta } = await get('/v1/api/search', params, signal);
      const rows = results.flatMap((found) => (found.type === 'market' ? found.market : []));
      return { rows, next: pagination.next_cursor, total: pagination.total, freshTo: meta.data_freshness };
    },
  };
}

/** The markets whose ids a statement finds, in its order: at most MOST_ROWS. */
function fromSql(statement: string): ListSource<Market> {
  let ids: readonly string[] = [];
  return {
    rank: () => 0,
    async read(_all, cursor, signal): Promise<ListPage<Market>> {
      if (cursor === undefined) ids = (await runSql(statement, signal)).rows.map(([id]) => String(id));
      const from = Number(cursor ?? 0);
      const own = ids.slice(from, from + PAGE);
      const next = from + PAGE < ids.length ? String(from + PAGE) : null;
      const found = await marketsOf(own, signal);
      const byId = new Map(found.map((market) => [market.id, market]));
      return { rows: own.flatMap((id) => byId.get(id) ?? []), next, total: ids.length, freshTo: null };
    },
  };
}

/** Markets by unified id, in no order. */
export async function marketsOf(ids: readonly string[], signal: AbortSignal): Promise<Market[]> {
  const answers = [...byPlatform(ids)].map(([provider, own]) =>
    get('/v1/api/markets', { provider, market_ids: own.join(','), limit: own.length }, signal),
  );
  return (await Promise.all(answers)).flatMap(({ markets }) => markets);
}

interface Asked extends Order {
  /** null until they are loaded. */
  platforms: readonly string[] | null;
  filters: Params;
  /** The statement that finds the same markets, up to a limit. */
  statement: (limit: number) => string;
}

/** Markets that match `filters`, in the order asked for. */
export function useMarketList({ platforms, filters, statement, ...order }: Asked): MarketList {
  const { sort } = order;
  const key = platforms === null ? null : JSON.stringify(['markets', platforms, filters, order]);
  const searched = searchParams('markets', filters, platforms ?? []);
  const isOne = !isListOfApi(order) || searched !== null;
  const from =
    !isListOfApi(order) || !isOfApi(sort)
      ? fromSql(statement(MOST_ROWS))
      : searched
        ? fromSearch(searched, sort)
        : fromApi(filters, sort);
  return useList(key, isOne ? ['all'] : (platforms ?? []), from);
}
