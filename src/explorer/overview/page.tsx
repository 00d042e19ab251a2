import { useState } from 'preact/hooks';
import { executedAt } from '../market/live-market.ts';
import { Columns } from '../parts/columns.tsx';
import type { Category, Trade } from '../parts/answers.ts';
import { useApi } from '../parts/api.ts';
import { CHECK_MS, POLL_MS, useStream } from '../parts/live.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { usePlatforms } from '../parts/platforms.ts';
import { Num, Percent, PlatformName, Price, Time, TradesComplete, Usd } from '../parts/show.tsx';
import { marketAddress, setQuery, usePlace } from '../parts/url.ts';
import { Calibration } from './calibration.tsx';
import { Recent } from './recent.tsx';

const SLOW_MS = 30_000;
const FLOORS = [
  ['100', '$100'],
  ['1000', '$1K'],
  ['10000', '$10K'],
] as const;

export function OverviewPage() {
  const platforms = usePlatforms() ?? [];
  return (
    <div class="overview">
      <h1 class="hidden">Overview</h1>
      <Trending />
      <Whales />
      <Categories platforms={platforms} />
      <Recent platforms={platforms} />
      <Calibration platforms={platforms} />
    </div>
  );
}

function Trending() {
  const { query } = usePlace();
  const sort = query.get('by') === 'price' ? 'price_change' : 'volume_change';
  const params = { window: '24h', sort_by: sort, limit: 15 };
  const asked = useApi('/v1/api/analytics/trending', params, SLOW_MS);
  const rows = asked.data?.trending ?? [];
  const meta = asked.data?.meta;
  const partial = Object.entries(meta?.data_completeness ?? {}).filter(
    ([, { window_covered }]) => window_covered !== 'full',
  );
  return (
    <Panel
      title="Trending, 24 hours"
      query={{ path: '/v1/api/analytics/trending', params }}
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
          <Columns of={['Market', ['Price', 'number'], ['Price change', 'number wide'], ['Volume change', 'number']]} />
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.platform}:${row.market_id}`}>
                <td class="cut">
                  <PlatformName platform={row.platform} />{' '}
                  <a href={marketAddress(`${row.platform}:${row.market_id}`)} title={row.title}>
                    <bdi>{row.title}</bdi>
                  </a>
                </td>
                <td class="number">
                  <Price value={row.current_price.yes} />
                </td>
                <td class="number wide">
                  <Percent value={row.change.price_change_percent} />
                </td>
                <td class="number">
                  <Percent value={row.change.volume_change_percent} />
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
            `Trades do not cover both windows for ${partial.map(([name]) => name).join(', ')}: snapshots of totals stand in, or the change is unknown.`}
        </p>
      )}
    </Panel>
  );
}

/** Large trades as they are stored. */
function Whales() {
  const { query } = usePlace();
  const floor = FLOORS.find(([value]) => value === query.get('usd'))?.[0] ?? '100';
  const params = { min_size: 0, min_notional: floor, limit: 30 };
  const [heard, setHeard] = useState<{ floor: string; trades: Trade[] }>({ floor, trades: [] });
  const live = useStream(
    { channels: ['whales'], min_size: 0, min_notional: Number(floor) },
    {
      trade: (trade) =>
        setHeard((before) => ({
          floor,
          trades: [trade, ...(before.floor === floor ? before.trades : [])].slice(0, 30),
        })),
    },
  );
  const asked = useApi('/v1/api/trades/whales', params, live ? CHECK_MS : POLL_MS);
  const stored = asked.data?.trades ?? [];
  const fresh = heard.floor === floor ? heard.trades : [];
  const known = new Set(stored.map(keyOf));
  // They come in the order in which platforms show them.
  const rows = [...fresh.filter((trade) => !known.has(keyOf(trade))), ...stored]
    .toSorted((a, b) => executedAt(b).localeCompare(executedAt(a)))
    .slice(0, 30);
  return (
    <Panel
      title="Large trades"
      query={{
        path: '/v1/api/trades/whales',
        params,
        sql: `SELECT executed_at, platform, outcome, side, price, size, notional\nFROM v_trades\nWHERE notional >= ${floor} AND executed_at >= now() - 86400\nORDER BY executed_at DESC\nLIMIT 30`,
      }}
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
          <table>
            <Columns of={['Time', 'Market', 'Taker', ['Price', 'number'], ['USD', 'number']]} />
            <tbody>
              {rows.map((trade) => (
                <tr key={keyOf(trade)}>
                  <td class="muted nowrap">
                    <Time at={trade.timestamp} />
                  </td>
                  <td class="cut">
                    <PlatformName platform={trade.platform} />{' '}
                    <a href={marketAddress(`${trade.platform}:${trade.market_id}`)} title={trade.market_title}>
                      <bdi>{trade.market_title || trade.market_id}</bdi>
                    </a>
                  </td>
                  <td class={`nowrap ${trade.side === 'buy' ? 'up' : 'down'}`}>
                    {trade.side} <bdi>{trade.outcome}</bdi>
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
        <TradesComplete to={asked.data?.meta.data_freshness} />
      </p>
    </Panel>
  );
}
const keyOf = ({ platform, trade_id: id }: Trade): string => `${platform}:${id}`;

/** Volume by category and platform, as lengths on one scale. */
function Categories({ platforms }: { platforms: readonly string[] }) {
  const { query } = usePlace();
  const wanted = query.get('platform') ?? '';
  const platform = platforms.includes(wanted) ? wanted : '';
  const params = { platform };
  const asked = useApi('/v1/api/analytics/categories', params, SLOW_MS);
  const rows = asked.data?.categories ?? [];
  const most = Math.max(1, ...rows.map(({ volume_24h: volume }) => volume ?? 0));
  return (
    <Panel
      title="Volume by category, 24 hours"
      query={{ path: '/v1/api/analytics/categories', params }}
      aside={
        <Choice
          label="Platform"
          value={platform}
          options={[
            ['', 'All'],
            ...platforms.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)] as const),
          ]}
          onChange={(value) => setQuery({ platform: value })}
        />
      }
    >
      {rows.length === 0 ? <Waiting of={asked} empty="No market is stored yet." /> : <Bars rows={rows} most={most} />}
      <p class="foot muted">
        Total <Usd value={asked.data?.meta.total_volume_24h} />; platforms that count contracts are taken at $1 a
        contract.
      </p>
    </Panel>
  );
}

function Bars({ rows, most }: { rows: readonly Category[]; most: number }) {
  return (
    <table>
      <Columns of={['Category', ['Open markets', 'number'], ['Spread', 'number wide'], ['Volume', 'number']]} />
      <tbody>
        {rows.map((row) => (
          <tr key={row.slug}>
            <td class="rung full">
              <span class="depth" style={{ width: `${((row.volume_24h ?? 0) / most) * 100}%` }} aria-hidden="true" />
              <a href={`/?category=${encodeURIComponent(row.slug)}`}>{row.name}</a>
            </td>
            <td class="number">
              <Num value={row.active_markets} />
            </td>
            <td class="number wide">
              <Price value={row.avg_spread} />
            </td>
            <td class="number">
              <Usd value={row.volume_24h} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
