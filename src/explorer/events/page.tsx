import { useRef } from 'preact/hooks';
import type { Event } from '../parts/answers.ts';
import { get, type Params, useApi } from '../parts/api.ts';
import { Pick, Search, SEARCH, searchParams, STATUSES } from '../parts/lists/filters.tsx';
import { type List, PAGE, type ReadPage, useList, useOpenFirst } from '../parts/lists/listing.ts';
import { useRowKeys } from '../parts/lists/row-keys.ts';
import { Panel, PlatformChoice, Waiting } from '../parts/panel.tsx';
import { usePlatforms } from '../parts/platforms.ts';
import { Num } from '../parts/show.tsx';
import { eventAddress, setQuery, usePlace } from '../parts/url.ts';
import { LEADERS, leadersSql, useLeaders } from './leaders.ts';
import { EventRow } from './row.tsx';

const SORTS = [
  ['match', 'Best match'],
  ['volume_24h_usd', 'Volume 24 h'],
  ['volume_total_usd', 'Volume in all'],
  ['liquidity_usd', 'Liquidity'],
  ['end_date', 'Ends soonest'],
  ['created', 'Newest'],
  ['markets', 'Most markets'],
] as const;

const eventsOf =
  (params: Params): ReadPage<Event> =>
  async (cursor, signal) => {
    const { results, pagination, meta } = await get(SEARCH, { ...params, cursor }, signal);
    const rows = results.flatMap((one) => (one.type === 'event' ? one.event : []));
    return { rows, next: pagination.next_cursor, total: pagination.total, freshTo: meta.data_freshness };
  };

/** Events with their leading markets: the list of markets, grouped by event. */
export function EventsPage() {
  const { query } = usePlace();
  const text = (name: string): string => query.get(name) ?? '';
  const all = usePlatforms();
  const platform = text('platform');
  const platforms = all === null ? null : all.includes(platform) ? [platform] : all;
  const status = text('status') || 'open';
  // Only a search has a best match.
  const sorts = SORTS.filter(([name]) => name !== 'match' || text('q') !== '');
  const usual = text('q') === '' ? 'volume_24h_usd' : 'match';
  const sort = sorts.find(([name]) => name === text('sort'))?.[0] ?? usual;
  const filters = { status: status === 'any' ? '' : status, query: text('q'), category: text('category') };
  const params = { ...searchParams('events', filters, platforms ?? []), sort, leaders: LEADERS, limit: PAGE };
  const list = useList(platforms && JSON.stringify(['events', params]), eventsOf(params));
  const categories = useApi('/v1/api/analytics/categories', {});
  const leaders = useLeaders(list.rows);
  const box = useRef<HTMLDivElement>(null);
  useRowKeys(box);
  const openFirst = useOpenFirst(list, ({ platform, event_id: id }) => eventAddress(platform, id));
  return (
    <Panel
      title="Events"
      class="markets"
      query={{ path: SEARCH, params, sql: leadersSql(list.rows.slice(0, PAGE)) }}
      aside={
        <>
          <a href={`/${location.search}`}>One row a market</a>
          <span class="muted" role="status">
            {list.loading && list.rows.length === 0 ? (
              'Loading …'
            ) : (
              <>
                <Num value={list.total} /> {list.total === 1 ? 'event' : 'events'}
              </>
            )}
          </span>
        </>
      }
    >
      <h1 class="hidden">Events</h1>
      <div class="filters open" role="search">
        <Search what="events" value={text('q')} onEnter={openFirst} />
        <PlatformChoice platforms={all ?? []} value={platform} onChange={(value) => setQuery({ platform: value })} />
        <Pick label="Status" value={status} options={STATUSES} name="status" initial="open" />
        <Pick
          label="Category"
          value={text('category')}
          name="category"
          options={[
            ['', 'Any category'],
            ...(categories.data?.categories ?? []).map(({ slug, name }) => [slug, name] as const),
          ]}
        />
        <label class="sort">
          <span class="muted">Sort</span>
          <Pick label="Sort" value={sort} options={sorts} name="sort" initial={usual} />
        </label>
      </div>
      {list.failure && <Waiting of={{ failure: list.failure, loading: false, reload: list.reload }} />}
      <div
        class={`scroll ${list.isOld ? 'old' : ''}`}
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="List of events"
        aria-busy={list.isOld}
        onScroll={({ currentTarget }) => nearEnd(currentTarget) && canGrow(list) && list.more()}
      >
        <ul class="event-list">
          {list.rows.map((event) => (
            <EventRow key={event.id} event={event} leaders={leaders.get(event.id)} />
          ))}
        </ul>
        {list.rows.length === 0 && !list.failure && (
          <p class="notice muted">{list.loading ? 'Loading …' : 'No event matches this search and these filters.'}</p>
        )}
        {list.rows.length > 0 && !list.ended && (
          <p class="notice">
            <button type="button" onClick={list.more} disabled={list.loading}>
              More events
            </button>
          </p>
        )}
      </div>
    </Panel>
  );
}

const NEAR_PX = 600;
const nearEnd = (box: HTMLElement): boolean => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
// A page that failed is requested again by the list, after a while.
const canGrow = ({ loading, ended, failure }: List<Event>): boolean => !loading && !ended && !failure;
