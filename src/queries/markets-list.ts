import { type Usd, usdText } from '../core/decimal.ts';
import { MARKET_STATUSES, type Platform } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import { asStored, eventsNamed } from '../markets/directory.ts';
import { categorySlug } from '../platforms/categories.ts';
import { LIST_ORDERS } from '../present/list-orders.ts';
import { marketsOfKeys } from '../present/read.ts';
import {
  type Direction,
  expiredCursor,
  hiddenShown,
  isReversed,
  type ListingPage,
  listingPage,
  type ListPosition,
  presentPage,
  searchOn,
  sortOf,
} from './listing-pages.ts';
import { type Market, marketsOf, type Reading } from './markets-by-key.ts';

/** Parsed filters and order of GET markets. */
export interface MarketFilter {
  provider: Platform;
  sort?: string | undefined;
  order?: Direction | undefined;
  status?: string | undefined;
  category?: string | undefined;
  event_id?: string | undefined;
  query?: string | undefined;
  min_liquidity?: Usd | undefined;
  ends_after?: number | undefined;
  ends_before?: number | undefined;
  include_placeholders: boolean;
  include_combos: boolean;
}

/** A page of the markets that match the filter; `withRaw` adds the platform's own objects. */
export async function listMarkets(
  reading: Reading,
  filter: MarketFilter,
  page: ListingPage,
  withRaw: boolean,
): Promise<{ total: number; markets: Market[]; next: ListPosition | null }> {
  const current = await currentPage(reading, filter, page);
  const { total, rows, next } = current ?? (await formerPage(reading, filter, page));
  const { provider } = filter;
  const found = rows.flatMap(({ market, match }) => (market ? Object.assign(market, { match }) : []));
  return { total, next, markets: await marketsOf(reading, provider, found, withRaw) };
}

/** From PostgreSQL; null if it no longer has the listing of the first page. */
const currentPage = ({ postgres }: Reading, filter: MarketFilter, page: ListingPage) =>
  presentPage(
    postgres,
    filter.provider,
    {
      kind: 'market',
      order: LIST_ORDERS.parse(sortOf(filter)),
      isReversed: isReversed(sortOf(filter), filter.order),
      hidden: hiddenShown(filter),
      statuses: filter.status === undefined ? MARKET_STATUSES : [filter.status],
      category: filter.category === undefined ? undefined : categorySlug(filter.category),
      events: filter.event_id === undefined ? undefined : eventsNamed([filter.provider], filter.event_id),
      minLiquidity: filter.min_liquidity,
      endsAfterMs: filter.ends_after,
      endsBeforeMs: filter.ends_before,
      search: searchOn(filter.provider, filter.query),
    },
    page,
  );

/** Orders of which ClickHouse has no snapshots. */
const CURRENT_ONLY: ReadonlySet<string> = new Set([
  'volume_24h_usd',
  'volume_7d_usd',
  'volume_total_usd',
  'liquidity_usd',
  'price',
  'spread',
  'price_change_24h',
  'resolved',
]);

/** From ClickHouse's snapshots, which no text is searched in. */
async function formerPage({ clickhouse, postgres }: Reading, filter: MarketFilter, page: ListingPage) {
  const sort = sortOf(filter);
  if (filter.query !== undefined || CURRENT_ONLY.has(sort) || isReversed(sort, filter.order)) throw expiredCursor();
  const { total, keys, next } = await listingPage(
    clickhouse,
    {
      name: 'markets_list',
      filter: {
        platform: filter.provider,
        sort,
        status: filter.status,
        category: filter.category === undefined ? undefined : categorySlug(filter.category),
        event_id: asStored(filter.provider, filter.event_id) || undefined,
        min_liquidity: filter.min_liquidity === undefined ? undefined : usdText(filter.min_liquidity),
        ends_after: timeOf(filter.ends_after),
        ends_before: timeOf(filter.ends_before),
        include_placeholders: filter.include_placeholders,
        include_combos: filter.include_combos,
      },
    },
    page,
  );
  const found = await marketsOfKeys(postgres, keys);
  return { total, next, rows: keys.map((key) => ({ market: found.get(key) ?? null, match: undefined })) };
}

const timeOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : storeTime(ms));
