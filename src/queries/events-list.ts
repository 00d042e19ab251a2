import type { Platform } from '../core/model.ts';
import { asStored } from '../markets/directory.ts';
import { categorySlug } from '../platforms/categories.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { type ListingPage, listingPage, sortOf } from './listing-pages.ts';

/** Parsed filters and order of GET events. */
export interface EventFilter {
  provider: Platform;
  sort?: string | undefined;
  status?: string | undefined;
  category?: string | undefined;
  series_id?: string | undefined;
  query?: string | undefined;
  include_placeholders: boolean;
  include_combos: boolean;
}

/** A page of the events that match the filter, by key. */
export const listEvents = (clickhouse: Pick<ClickHouse, 'query'>, filter: EventFilter, page: ListingPage) =>
  listingPage(
    clickhouse,
    {
      name: 'events_list',
      kind: 'event',
      query: filter.query,
      filter: {
        platform: filter.provider,
        sort: sortOf(filter),
        status: filter.status ?? '',
        category: filter.category === undefined ? '' : categorySlug(filter.category),
        series_id: asStored(filter.provider, filter.series_id),
        include_placeholders: filter.include_placeholders,
        include_combos: filter.include_combos,
      },
    },
    page,
  );
