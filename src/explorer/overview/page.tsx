import { useState } from 'preact/hooks';
import { executedAt } from '../market/live-market.ts';
import { Columns } from '../parts/columns.tsx';
import type { Trade } from '../parts/answers.ts';
import { useApi, useRepeated } from '../parts/api.ts';
import { CHECK_MS, POLL_MS, useStream } from '../parts/live.ts';
import { outcomeName, useKnownMarkets } from '../parts/known-markets.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { readHealth, useListOfPlatforms } from '../parts/platforms.ts';
import { Change, Num, Price, spanText, Time, TradesComplete, Usd, Volume } from '../parts/show.tsx';
import { LISTED } from '../parts/statements.ts';
import { setQuery, usePlace } from '../parts/url.ts';
import { Calibration } from './calibration.tsx';
import { Recent } from './recent.tsx';
import { TitleCell } from './title-cell.tsx';
import { Categories, PlatformVolumes } from './volumes.tsx';

const SLOW_MS = 30_000;
const FLOORS = [
  ['100', '≥ $100'],
  ['1000', '≥ $1K'],
  ['10000', '≥ $10K'],
] as const;

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
        <Recent listed={listed} />
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
  const marketOf = useKnownMarkets(rows.map(idOf));
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
                />
                <td class="number">
                  <Price value={row.current_price.yes} />
                </td>
                <td class={kindOf('price_change')}>
                  <Change value={row.change.price_change_24h} />
                </td>
                <td class={kindOf('volume_change')}>
                  <Volume value={row.change.volume_24h} metadata={marketOf(idOf(row))?.metadata ?? {}} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {meta && (
        <p class="foot muted">
          Of <Num value={meta.total_markets_analyzed} /> open markets, as of <Time at={meta.as_of} />.{' '}
          {partial.length > 0 &&
            `Trades do not cover both windows for ${partial.map(([name]) => name).join(', ')}: their changes come from snapshots of totals, or are unknown.`}
        </p>
      )}
    </Panel>
  );
}

/** Large trades, added by the stream as they are stored. */
function Whales() {
  const { query } = usePlace();
  const floor = FLOORS.find(([value]) => value === query.get('usd'))?.[0] ?? '100';
  const params = { min_size: 0, min_notional: floor, limit: 30 };
  const [heard, setHeard] = useState<{ floor: string; trades: Trade[] }>({ floor, trades: [] });
  const live = useStream(
    { channels: ['whales'], min_size: 0, min_notional: Number(floor) },
    {
      trade: (trade) => {
        // The stream of another floor may still be open.
        if (trade.notional_value < Number(floor)) return;
        setHeard((before) => ({
          floor,
          trades: [trade, ...(before.floor === floor ? before.trades : [])].slice(0, 30),
        }));
      },
    },
  );
  const asked = useApi('/v1/api/trades/whales', params, live ? CHECK_MS : POLL_MS);
  const stored = asked.data?.trades ?? [];
  const fresh = heard.floor === floor ? heard.trades : [];
  const known = new Set(stored.map(keyOf));
  // The stream sends trades in the order in which platforms publish them.
  const rows = [...fresh.filter((trade) => !known.has(keyOf(trade))), ...stored]
    .toSorted((a, b) => executedAt(b).localeCompare(executedAt(a)))
    .slice(0, 30);
  const marketOf = useKnownMarkets(rows.map(idOf));
  const nameOf = (trade: Trade): string => outcomeName(trade, marketOf(idOf(trade)));
  return (
    <Panel
      title="Large trades"
      query={{
        path: '/v1/api/trades/whales',
        params,
        sql: `SELECT executed_at, platform, market_key, outcome, side, price, size, notional\nFROM v_trades\nWHERE notional >= ${floor} AND executed_at >= now() - 86400\nORDER BY executed_at DESC\nLIMIT 30`,
      }}
      of={asked}
      aside={
        <Choice
          label="At least"
          value={floor}
          options={FLOORS}
          onChange={(value) => setQuery({ usd: value === '100' ? '' : value })}
        />
      }
    >
      {rows.length === 0 ? (
        <Waiting of={asked} empty={`No stored trade is worth $${floor} or more.`} />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Large trades">
          <table class="trades">
            <Columns of={['Time, UTC', 'Market', 'Taker', ['Price', 'number'], ['USD', 'number']]} />
            <tbody>
              {rows.map((trade) => (
                <tr key={keyOf(trade)}>
                  <td class="muted nowrap when">
                    <Time at={trade.timestamp} />
                  </td>
                  <TitleCell
                    platform={trade.platform}
                    id={idOf(trade)}
                    title={trade.market_title || trade.market_id}
                    metadata={marketOf(idOf(trade))?.metadata}
                  />
                  <td class={`nowrap taker ${trade.side === 'buy' ? 'up' : 'down'}`}>
                    {trade.side} <bdi title={nameOf(trade)}>{nameOf(trade)}</bdi>
                  </td>
                  <td class="number">
                    <Price value={trade.price} />
                  </td>
                  <td class="number">
                    <Usd value={trade.notional_value} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="foot muted">
        <Completeness to={asked.data?.meta.data_freshness} />
      </p>
    </Panel>
  );
}

/** Up to when trades of all platforms are complete, and which platforms are behind. */
function Completeness({ to }: { to: string | null | undefined }) {
  const { data: health } = useRepeated('health', readHealth, SLOW_MS);
  const slow = (health?.checks ?? []).filter(
    ({ platform, feed, lag_seconds: lag }) => platform && (feed === 'stale' || lag === null),
  );
  return (
    <>
      <TradesComplete to={to} />
      {slow.length > 0 &&
        ` Behind: ${slow
          .map(
            ({ platform = '', lag_seconds: lag }) =>
              `${platform}${typeof lag === 'number' ? ` (${spanText(lag)})` : ''}`,
          )
          .join(', ')}.`}
    </>
  );
}
const idOf = (of: { platform: string; market_id: string }): string => `${of.platform}:${of.market_id}`;
const keyOf = ({ platform, trade_id: id }: Trade): string => `${platform}:${id}`;
