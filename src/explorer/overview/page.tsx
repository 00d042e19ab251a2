import { Columns } from '../parts/columns.tsx';
import { SLOW_MS, useApi } from '../parts/api.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { useListOfPlatforms } from '../parts/platforms.ts';
import { Change, Num, Price, Time, Volume } from '../parts/show.tsx';
import { LISTED } from '../parts/statements.ts';
import { idOf, setQuery, usePlace } from '../parts/url.ts';
import { Calibration } from './calibration.tsx';
import { Recent } from './recent.tsx';
import { TitleCell, useTitles } from './title-cell.tsx';
import { Categories, PlatformVolumes } from './volumes.tsx';
import { Whales } from './whales.tsx';

export function OverviewPage() {
  const listed = useListOfPlatforms();
  const platforms = listed.data ?? [];
  return (
    <div class="overview">
      <h1 class="hidden">Overview</h1>
      <div class="column">
        <Trending />
        <Categories platforms={platforms} />
        <Calibration platforms={platforms} />
      </div>
      <div class="column">
        <Whales />
        <PlatformVolumes listed={listed} />
        <Recent />
      </div>
    </div>
  );
}

const TRENDING = {
  volume_change: `SELECT id, title, price, sold_24h, sold_24h_before,
  round(100 * (toFloat64(sold_24h) / toFloat64(sold_24h_before) - 1), 6) AS volume_change_percent
FROM v_markets
INNER JOIN v_market_stats USING (market_key)
WHERE status = 'open' AND sold_24h_before > 0 AND ${LISTED}
ORDER BY volume_change_percent DESC
LIMIT 15`,
  price_change: `SELECT id, title, price, price_change_24h,
  round(100 * toFloat64(price_change_24h) / toFloat64(price - price_change_24h), 6) AS price_change_percent
FROM v_markets
WHERE status = 'open' AND price > price_change_24h AND ${LISTED}
ORDER BY abs(price_change_percent) DESC
LIMIT 15`,
} as const;

function Trending() {
  const { query } = usePlace();
  const sort = query.get('by') === 'price' ? 'price_change' : 'volume_change';
  const params = { window: '24h', sort_by: sort, limit: 15 };
  const asked = useApi('/v1/api/analytics/trending', params, SLOW_MS);
  const rows = asked.data?.trending ?? [];
  const { marketOf, apart } = useTitles(rows);
  /** Phones show only the change column that is sorted by. */
  const kindOf = (column: typeof sort): 'number' | 'number wide' => (column === sort ? 'number' : 'number wide');
  const meta = asked.data?.meta;
  const partial = Object.entries(meta?.data_completeness ?? {}).filter(
    ([, { window_covered }]) => window_covered !== 'full',
  );
  return (
    <Panel
      title="Trending, 24 hours"
      query={{ path: '/v1/api/analytics/trending', params, sql: TRENDING[sort] }}
      of={asked}
      aside={
        <Choice
          label="By"
          value={sort}
          options={[
            ['volume_change', 'Volume'],
            ['price_change', 'Price'],
          ]}
          onChange={(value) => setQuery({ by: value === 'price_change' ? 'price' : '' })}
        />
      }
    >
      {rows.length === 0 ? (
        <Waiting of={asked} empty="No open market is stored yet." />
      ) : (
        <table>
          <Columns
            of={[
              'Market',
              ['Price', 'number'],
              ['Price change', kindOf('price_change')],
              ['Volume 24 h', kindOf('volume_change')],
            ]}
          />
          <tbody>
            {rows.map((row) => (
              <tr key={idOf(row)}>
                <TitleCell
                  platform={row.platform}
                  id={idOf(row)}
                  title={row.title}
                  metadata={marketOf(idOf(row))?.metadata}
                  apart={apart.get(idOf(row))}
                />
                <td class="number">
                  <Price value={row.current_price.yes} />
                </td>
                <td class={kindOf('price_change')}>
                  <Change value={row.change.price_change_24h} />
                </td>
                <td class={kindOf('volume_change')}>
                  <Volume value={row.change.volume_24h} metadata={marketOf(idOf(row))?.metadata} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {meta && (
        <p class="foot muted">
          Ordered by the change of {sort === 'price_change' ? 'price' : 'volume'} in percent. Of{' '}
          <Num value={meta.total_markets_analyzed} /> open markets, as of <Time at={meta.as_of} />.{' '}
          {partial.length > 0 &&
            `Trades do not cover both windows for ${partial.map(([name]) => name).join(', ')}: their changes come from snapshots of totals, or are unknown.`}
        </p>
      )}
    </Panel>
  );
}
