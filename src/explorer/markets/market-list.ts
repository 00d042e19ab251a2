import type { Market } from '../parts/answers.ts';
import { get, type Params } from '../parts/api.ts';
import { SEARCH, searchParams } from '../parts/lists/filters.tsx';
import { type List, PAGE, type ReadPage, useList } from '../parts/lists/listing.ts';
import { byPlatform } from '../parts/url.ts';

export type MarketList = List<Market>;

/** Orders of the list, each by its name in GET search: amounts of all platforms are compared in USD. */
const API_NAMES = {
  match: 'match',
  volume_24h: 'volume_24h_usd',
  volume_total: 'volume_total_usd',
  liquidity: 'liquidity_usd',
  end_date: 'end_date',
  created: 'created',
  change: 'price_change_24h',
  price: 'price',
  spread: 'spread',
} as const;
export type Sort = keyof typeof API_NAMES;

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

interface Order {
  sort: Sort;
  isReversed: boolean;
  /** Only markets in which one of these wallets traded; null for all. */
  wallets: readonly string[] | null;
}

interface Asked {
  platforms: readonly string[];
  filters: Params;
  order: Order;
}

/** Parameters of GET search for the list. */
export const paramsOfList = ({ platforms, filters, order: { sort, isReversed, wallets } }: Asked): Params => ({
  ...searchParams('markets', filters, platforms),
  ...(wallets === null ? {} : { addresses: wallets.join(',') }),
  sort: API_NAMES[sort],
  ...(isReversed && sort !== 'match' ? { order: ASCENDS.has(sort) ? 'desc' : 'asc' } : {}),
  limit: PAGE,
});

const fromApi =
  (params: Params): ReadPage<Market> =>
  async (cursor, signal) => {
    const { results, pagination, meta } = await get(SEARCH, { ...params, cursor }, signal);
    const rows = results.flatMap((found) => (found.type === 'market' ? found.market : []));
    return { rows, next: pagination.next_cursor, total: pagination.total, freshTo: meta.data_freshness };
  };

/** Nobody is watched. */
const nothing: ReadPage<Market> = async () => ({ rows: [], next: null, total: 0, freshTo: null });

/** Markets by unified id, in no order. */
export async function marketsOf(ids: readonly string[], signal: AbortSignal): Promise<Market[]> {
  const answers = [...byPlatform(ids)].map(([provider, own]) =>
    get('/v1/api/markets', { provider, market_ids: own.join(','), limit: own.length }, signal),
  );
  return (await Promise.all(answers)).flatMap(({ markets }) => markets);
}

/** The list asked for, null until it is known. */
export function useMarketList(asked: Asked | null): MarketList {
  const read = !asked || asked.order.wallets?.length === 0 ? nothing : fromApi(paramsOfList(asked));
  return useList(asked && JSON.stringify(['markets', asked]), read);
}
