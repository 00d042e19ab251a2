import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Market, Snapshot } from '../parts/answers.ts';
import { useApi } from '../parts/api.ts';
import { Panel, quoted, Waiting } from '../parts/panel.tsx';
import { countsContracts, Num, Price, TradesComplete, Usd, Volume } from '../parts/show.tsx';

const EVERY_MS = 15_000;

/** Current figures of one market, each with its definition. */
export function Metrics({ market, since }: { market: Market; since: string | null | undefined }) {
  const params = { platform: market.platform, market_id: market.platform_id };
  const asked = useApi('/v1/api/metrics/snapshot', params, EVERY_MS);
  // The OpenAPI description of the whole API is loaded when the first definition is opened.
  const [curious, setCurious] = useState(false);
  const described = useApi('/v1/api/openapi.json', curious ? {} : null);
  const meanings = meaningsIn(described.data);
  const figures = asked.data ? figuresOf(asked.data.metrics, market) : [];
  return (
    <Panel title="Figures" class="figures" query={{ path: '/v1/api/metrics/snapshot', params, sql: sqlOf(market.id) }}>
      {figures.length === 0 ? (
        <Waiting of={asked} />
      ) : (
        <dl>
          {figures.map(({ path, name, value }) => (
            <div key={path}>
              <dt>
                <details onToggle={() => setCurious(true)}>
                  <summary>{name}</summary>
                  <p class="muted">{meanings.get(path) ?? 'Its definition is loading …'}</p>
                </details>
              </dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <p class="foot muted">
        Prices in USD{countsContracts(market.metadata) && '; ct: contracts'}.{' '}
        <TradesComplete to={asked.data?.meta.data_freshness} since={since} />
      </p>
    </Panel>
  );
}

const sqlOf = (id: string): string =>
  `SELECT m.volume_24h, m.volume_7d, m.volume_total, m.open_interest, m.liquidity, m.bid, m.ask, m.spread,
  s.notional, s.traders, s.first_trade_at, s.last_trade_at
FROM v_markets AS m
LEFT JOIN v_market_stats AS s USING (market_key)
WHERE m.id = ${quoted(id)}`;

/** Which part of the book a liquidity counts. */
const COUNTED: Partial<Record<string, string>> = { best_level: 'best level', full_book: 'whole book', amm: 'pool' };

interface Figure {
  /** Path of the field in the answer, by which its definition is found. */
  path: string;
  name: string;
  value: ComponentChildren;
}

function figuresOf(metrics: Snapshot['metrics'], market: Market): Figure[] {
  const { volume, liquidity, spread, fees } = metrics;
  const traded = (value: number | null) => <Volume value={value} metadata={market.metadata} />;
  const held = countsContracts(market.metadata) ? ' ct' : '';
  return [
    { path: 'volume.volume_24h', name: 'Volume 24 h', value: traded(volume.volume_24h) },
    { path: 'volume.volume_7d', name: 'Volume 7 d', value: traded(volume.volume_7d) },
    { path: 'volume.volume_30d', name: 'Volume 30 d', value: traded(volume.volume_30d) },
    { path: 'volume.total', name: 'Volume', value: traded(volume.total) },
    { path: 'notional_value', name: 'Notional', value: <Usd value={metrics.notional_value} /> },
    {
      path: 'open_interest',
      name: 'Open interest',
      value: <Volume value={metrics.open_interest} metadata={market.metadata} />,
    },
    {
      path: 'liquidity.total',
      name: 'Liquidity',
      value: (
        <>
          <Usd value={liquidity.total} />{' '}
          <span class="muted">{COUNTED[String(market.metadata['liquidity_basis'])]}</span>
        </>
      ),
    },
    {
      path: 'liquidity.liquidity_score',
      name: 'Liquidity score',
      value: <Num value={liquidity.liquidity_score} digits={4} />,
    },
    { path: 'spread.best_bid', name: 'Best bid', value: <Price value={spread.best_bid} /> },
    { path: 'spread.best_ask', name: 'Best ask', value: <Price value={spread.best_ask} /> },
    { path: 'spread.spread', name: 'Spread', value: <Price value={spread.spread} /> },
    { path: 'spread.adjusted_midpoint', name: 'Midpoint', value: <Price value={spread.adjusted_midpoint} /> },
    { path: 'fees.fee_rate', name: 'Taker fee rate, fraction', value: <Num value={fees.fee_rate} /> },
    {
      path: 'fees.trading_fee',
      name: `Fee on one ${held === '' ? 'share' : 'contract'}`,
      value: <Num value={fees.trading_fee} prefix="$" />,
    },
    {
      path: 'competitive_score',
      name: 'Competitive score',
      value: <Num value={metrics.competitive_score} digits={4} />,
    },
    { path: 'unique_traders', name: 'Unique takers', value: <Num value={metrics.unique_traders} /> },
  ];
}

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  $ref?: string;
}

/** Definitions from the OpenAPI description, by path in `metrics`. */
function meaningsIn(described: object | undefined): ReadonlyMap<string, string> {
  const { components } = (described ?? {}) as { components?: { schemas?: Record<string, Schema> } };
  const found = new Map<string, string>();
  const follow = (schema: Schema | undefined, path: string): void => {
    if (schema?.description) found.set(path, schema.description);
    for (const [name, inner] of Object.entries(schema?.properties ?? {}))
      follow(inner, path === '' ? name : `${path}.${name}`);
  };
  follow(components?.schemas?.['SnapshotMetrics'], '');
  return found;
}
