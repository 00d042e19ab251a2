import { type Usd, usdText } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import { asStored } from '../markets/directory.ts';
import { categorySlug } from '../platforms/categories.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { type ListingPage, listingPage, sortOf } from './listing-pages.ts';

/** Parsed filters and order of GET markets. */
export interface MarketFilter {
  provider: Platform;
  sort?: string | undefined;
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

/** A page of the markets that match the filter, by key. */
export const listMarkets = (clickhouse: Pick<ClickHouse, 'query'>, filter: MarketFilter, page: ListingPage) =>
  listingPage(
    clickhouse,
    {
      name: 'markets_list',
      kind: 'market',
      query: filter.query,
      filter: {
        platform: filter.provider,
        sort: sortOf(filter),
        status: filter.status ?? '',
        category: filter.category === undefined ? '' : categorySlug(filter.category),
        event_id: asStored(filter.provider, filter.event_id),
        min_liquidity: filter.min_liquidity === undefined ? null : usdText(filter.min_liquidity),
        ends_after: timeOrNull(filter.ends_after),
        ends_before: timeOrNull(filter.ends_before),
        include_placeholders: filter.include_placeholders,
        include_combos: filter.include_combos,
      },
    },
    page,
  );

const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : storeTime(ms));
