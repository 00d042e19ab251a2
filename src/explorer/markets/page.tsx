import { useState } from 'preact/hooks';
import { useApi } from '../parts/api.ts';
import { Panel, PlatformChoice, Waiting } from '../parts/panel.tsx';
import { Pick, Search, SEARCH, STATUSES } from '../parts/lists/filters.tsx';
import { eventName } from '../parts/names.ts';
import { usePlatforms } from '../parts/platforms.ts';
import { Num, Time } from '../parts/show.tsx';
import { marketAddress, setQuery, splitId, usePlace } from '../parts/url.ts';
import { PAGE, useOpenFirst } from '../parts/lists/listing.ts';
import { OnlyWatched, useOnlyWatched } from '../parts/wallets/watched.tsx';
import { BY_DATE, endsBefore, useBegan } from './ends.ts';
import { ASCENDS, SORTS, paramsOfList, useMarketList } from './market-list.ts';
import { sqlOfList } from './statement.ts';
import { MarketTable } from './table.tsx';

const LIQUIDITY = [
  ['', 'Any liquidity'],
  ['1000', 'over $1,000'],
  ['10000', 'over $10,000'],
  ['100000', 'over $100,000'],
] as const;
const ENDS = [
  ['', 'Ends any time'],
  ['1', 'within 24 hours'],
  ['7', 'within 7 days'],
  ['30', 'within 30 days'],
] as const;
/** Query parameters that are filters. */
const FILTERS = ['platform', 'status', 'category', 'liquidity', 'ends', 'event'] as const;

export function MarketsPage() {
  const { query } = usePlace();
  const text = (name: string): string => query.get(name) ?? '';
  const platform = text('platform');
  const status = text('status') || 'open';
  // Only a search has a best match.
  const sorts = SORTS.filter(([name]) => name !== 'match' || text('q') !== '');
  const usual = text('q') === '' ? 'volume_24h' : 'match';
  const sort = sorts.find(([name]) => name === text('sort'))?.[0] ?? usual;
  const all = usePlatforms();
  const event = text('event');
  const own = splitId(event);
  const ends = text('ends');
  // An event belongs to one platform.
  const chosen = event === '' ? platform : own.platform;
  const platforms = all === null ? null : all.includes(chosen) ? [chosen] : all;
  // With any status, the earliest markets ended years ago, so the list starts at the next to end. An event is shown completely.
  const nextOnly = sort === 'end_date' && status === 'any' && event === '';
  const began = useBegan(query.toString());
  const filters = {
    status: status === 'any' ? '' : status,
    query: text('q'),
    event_id: own.id,
    category: text('category'),
    min_liquidity: text('liquidity'),
    ends_after: nextOnly ? began : '',
    ends_before: endsBefore(ends),
  };
  const isReversed = text('dir') === 'reverse';
  const categories = useApi('/v1/api/analytics/categories', {});
  const category = (categories.data?.categories ?? []).find(({ slug }) => slug === text('category'));
  const only = useOnlyWatched();
  const wallets = only && [...only];
  const order = { sort, isReversed, wallets };
  const asked = { platforms: platforms ?? [], filters, order };
  const statement = { platforms: platforms ?? [], filters, category: category?.name ?? text('category'), ...order };
  const list = useMarketList(platforms && asked);
  const active = FILTERS.filter((name) => text(name) !== '');
  const [isOpen, setOpen] = useState(false);
  const openFirst = useOpenFirst(list, ({ id }) => marketAddress(id));
  return (
    <>
      <h1 class="hidden">Markets</h1>
      <Panel
        title="Markets"
        class="markets"
        query={{
          path: SEARCH,
          params: paramsOfList(asked),
          sql: sqlOfList(statement, PAGE),
        }}
        aside={
          <>
            <a href={`/events${location.search}`}>Group by event</a>
            <span class="muted" role="status">
              {list.rows.length > 0 || !(list.loading || list.failure) ? (
                <>
                  <Num value={list.total} /> {list.total === 1 ? 'market' : 'markets'}
                  {nextOnly && ', not ended'}
                </>
              ) : list.failure ? (
                'Not loaded'
              ) : (
                'Loading …'
              )}
            </span>
          </>
        }
      >
        <div class={`filters ${isOpen ? 'open' : ''}`} role="search">
          <Search what="markets" value={text('q')} onEnter={openFirst} />
          <button type="button" class="more-filters" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Filters{active.length > 0 ? ` (${active.length})` : ''}
          </button>
          {event !== '' && (
            <button type="button" class="chip" onClick={() => setQuery({ event: '' })}>
              <span aria-hidden="true">✕</span> Event: <bdi>{eventName(list.rows[0]?.event_name || own.id)}</bdi>
              <span class="hidden">, remove this filter</span>
            </button>
          )}
          <PlatformChoice
            platforms={all ?? []}
            value={chosen}
            onChange={(value) => setQuery({ platform: value, event: '' })}
          />
          <Pick label="Status" value={status} options={STATUSES} name="status" initial="open" />
          <Pick
            label="Category"
            value={text('category')}
            name="category"
            options={[
              ['', 'Any category'],
              ...(categories.data?.categories ?? []).map(({ slug, name }) => [slug, name] as const),
              // A category without markets, or one whose name is not loaded yet.
              ...(text('category') === '' || category ? [] : [[text('category'), text('category')] as const]),
            ]}
          />
          <span class="ends">
            <Pick
              label="Ends"
              value={ends}
              options={BY_DATE.test(ends) ? [...ENDS, [ends, 'before the date']] : ENDS}
              name="ends"
            />
            <input
              type="date"
              aria-label="Ends before, UTC"
              title="Ends before this day, UTC"
              value={BY_DATE.test(ends) ? ends : ''}
              onChange={({ currentTarget: { value } }) => setQuery({ ends: value })}
            />
          </span>
          <Pick label="Liquidity" value={text('liquidity')} options={LIQUIDITY} name="liquidity" />
          <OnlyWatched />
          <label class="sort">
            <span class="muted">Sort</span>
            <Pick label="Sort" value={sort} options={sorts} name="sort" initial={usual} />
            {sort !== 'match' && (
              <button
                type="button"
                class="quiet"
                aria-pressed={isReversed}
                title="Reverse the order"
                onClick={() => setQuery({ dir: isReversed ? '' : 'reverse' })}
              >
                <span aria-hidden="true">{ASCENDS.has(sort) === isReversed ? '↓' : '↑'}</span>
                <span class="hidden">Reverse the order</span>
              </button>
            )}
          </label>
          {active.length > 0 && (
            <button
              type="button"
              class="quiet clear"
              onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])))}
            >
              Clear filters
            </button>
          )}
        </div>
        {list.failure && <Waiting of={{ failure: list.failure, loading: false, reload: list.reload }} />}
        <MarketTable list={list} sort={sort} isReversed={isReversed} usual={usual} status={status} />
        <p class="foot muted wide keys">
          <span>
            <kbd>/</kbd> search
          </span>
          <span>
            <kbd>j</kbd> <kbd>k</kbd> <kbd>↓</kbd> <kbd>↑</kbd> move
          </span>
          <span>
            <kbd>⏎</kbd> open
          </span>
          <span>
            <kbd>esc</kbd> back to the list
          </span>
          <span>Amounts in USD, prices of the first outcome, changes in points (¢).</span>
          {list.freshTo !== null && (
            <span>
              Listed as of <Time at={list.freshTo} />
            </span>
          )}
        </p>
      </Panel>
    </>
  );
}
