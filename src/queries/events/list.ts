import type { z } from 'zod';
import type { FoundIssue } from '../../core/errors.ts';
import { MARKET_STATUSES, type Platform, PLATFORMS } from '../../core/model.ts';
import { asStored } from '../../markets/directory.ts';
import { categorySlug } from '../../platforms/categories.ts';
import { EVENT_LIST_ORDERS } from '../../present/list-orders.ts';
import { leadersOfEvents } from '../../present/read.ts';
import type { ListedEventAnswer } from '../../schemas/events.ts';
import { type Event, eventAnswer, eventsByKey, withUsd } from './events.ts';
import {
  expiredCursor,
  type ListingPage,
  listingPage,
  type ListPosition,
  presentPage,
  searchOn,
  sortOf,
} from '../listing-pages.ts';
import type { Reading } from '../markets-by-key.ts';
import { searchTerms } from '../search-terms.ts';

/** Parsed filters and order of GET events. */
interface EventFilter {
  provider: Platform;
  sort?: string | undefined;
  status?: string | undefined;
  category?: string | undefined;
  series_id?: string | undefined;
  query?: string | undefined;
  include_placeholders: boolean;
  include_combos: boolean;
  /** Leading markets of each event. */
  leaders: number;
}

type ListedEvent = z.infer<typeof ListedEventAnswer>;

interface EventsPage<E = Event> {
  total: number;
  events: E[];
  next: ListPosition | null;
}

/** Orders of which PostgreSQL alone has the figures. */
const USD_ORDERS: ReadonlySet<string> = new Set<z.infer<typeof EVENT_LIST_ORDERS>>([
  'volume_24h_usd',
  'volume_7d_usd',
  'volume_total_usd',
  'liquidity_usd',
]);

/** The issue of an order by USD in a list with hidden markets, whose USD is not summed. */
export const hiddenIssues = (
  filter: Partial<Pick<EventFilter, 'sort' | 'include_placeholders' | 'include_combos'>>,
): FoundIssue[] =>
  USD_ORDERS.has(filter.sort ?? '') && (filter.include_placeholders || filter.include_combos)
    ? [
        {
          field: 'sort',
          expected: 'volume_24h or another order without USD, with include_placeholders or include_combos',
        },
      ]
    : [];

/**
 * A page of the events that match the filter: one statement to PostgreSQL. ClickHouse answers for sums with hidden markets, and for lists
 * without a search that are older than some minutes.
 */
export async function listEvents(
  reading: Reading,
  filter: EventFilter,
  page: ListingPage,
): Promise<EventsPage<ListedEvent>> {
  const hasHidden = filter.include_placeholders || filter.include_combos;
  const sort = sortOf(filter);
  const inUsd = USD_ORDERS.has(sort);
  const current = hasHidden ? null : await currentPage(reading, filter, page);
  if (!current && (inUsd || (!hasHidden && filter.query !== undefined))) throw expiredCursor();
  const found = current ?? (await formerPage(reading, filter, page));
  return { ...found, events: await withLeaders(reading, filter.leaders, found.events) };
}

/** Adds the ids of `leaders` leading markets to each of these events, which may be of any platform. */
export async function withLeaders(
  { postgres }: Pick<Reading, 'postgres'>,
  leaders: number,
  events: readonly Event[],
): Promise<ListedEvent[]> {
  if (leaders === 0) return [...events];
  const found = await Promise.all(
    PLATFORMS.map((platform) => {
      const ids = events.flatMap((event) => (event.platform === platform ? event.event_id : []));
      return leadersOfEvents(postgres, platform, ids, leaders);
    }),
  );
  const leading = new Map(PLATFORMS.map((platform, n) => [platform, found[n]]));
  return events.map((event) => ({
    ...event,
    leading_markets: leading.get(event.platform)?.get(event.event_id) ?? [],
  }));
}

async function currentPage({ postgres }: Reading, filter: EventFilter, page: ListingPage): Promise<EventsPage | null> {
  const { provider } = filter;
  const found = await presentPage(
    postgres,
    provider,
    {
      kind: 'event',
      order: EVENT_LIST_ORDERS.parse(sortOf(filter)),
      hidden: [0],
      statuses: filter.status === undefined ? MARKET_STATUSES : [filter.status],
      category: filter.category === undefined ? undefined : categorySlug(filter.category),
      seriesId: asStored(provider, filter.series_id) || undefined,
      search: searchOn(provider, filter.query),
    },
    page,
  );
  if (!found) return null;
  const events = found.rows.flatMap(({ event }) => (event ? eventAnswer(provider, event) : []));
  return { total: found.total, events, next: found.next };
}

async function formerPage({ clickhouse, postgres }: Reading, filter: EventFilter, page: ListingPage) {
  const { provider } = filter;
  const { total, keys, next } = await listingPage(
    clickhouse,
    {
      name: 'events_list',
      search: (asOf) => searchTerms(clickhouse, { platform: provider, kind: 'event' }, filter.query, asOf),
      filter: {
        platform: provider,
        sort: sortOf(filter),
        status: filter.status,
        category: filter.category === undefined ? undefined : categorySlug(filter.category),
        series_id: asStored(provider, filter.series_id) || undefined,
        include_placeholders: filter.include_placeholders,
        include_combos: filter.include_combos,
      },
    },
    page,
  );
  const events = await eventsByKey(clickhouse, provider, keys, { ...filter, nowMs: page.nowMs });
  return { total, next, events: await withUsd(postgres, provider, events) };
}
