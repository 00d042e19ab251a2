import type { Market } from '../parts/answers.ts';
import { get, useRepeated } from '../parts/api.ts';
import { Choice, ofMarket, Panel, Waiting } from '../parts/panel.tsx';
import { Outside, TradesComplete } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import { Chart } from './chart.tsx';
import { INTERVALS, RANGES, SECONDS, shownBars } from './ranges.ts';

const EVERY_MS = 10_000;

/** The price of the first outcome over time. */
export function History({ market }: { market: Market }) {
  const { query } = usePlace();
  const { platform, platform_id: id, created_at: createdAt } = market;
  const shown = shownBars(query, createdAt);
  const params = { platform, market_id: id, interval: shown.interval, start_ts: shown.startTs, limit: shown.limit };
  const key = `${market.id} ${shown.range} ${shown.interval}`;
  const asked = useRepeated(
    key,
    (signal) => {
      const { startTs } = shownBars(query, createdAt);
      return get('/v1/api/metrics/historical', { ...params, start_ts: startTs }, signal);
    },
    EVERY_MS,
  );
  const bars = asked.data?.data ?? [];
  const sql = `SELECT t, open, high, low, close, volume\nFROM v_candles\nWHERE ${ofMarket(market.id)}\n  AND interval = '${SECONDS[shown.interval] < 3600 ? '1m' : '1h'}' AND series = 0 AND t >= toDateTime(${shown.startTs})\nORDER BY t`;
  return (
    <Panel
      title={`Price of ${market.outcomes[0]?.name ?? 'the first outcome'}`}
      class="history"
      query={{ path: '/v1/api/metrics/historical', params, sql }}
      aside={
        <>
          <Choice
            label="Range"
            value={shown.range}
            options={RANGES}
            onChange={(range) => setQuery({ range: range === '1w' ? '' : range, interval: '' })}
          />
          <Choice
            label="Width of a bucket"
            value={shown.interval}
            options={INTERVALS}
            onChange={(interval) => setQuery({ interval })}
          />
        </>
      }
    >
      {bars.length === 0 ? (
        <Waiting of={asked} empty="No trade, bar or quote is stored for this range." />
      ) : (
        <Chart key={key} bars={bars} name={market.title} width={SECONDS[shown.interval]} />
      )}
      <p class="foot muted">
        {asked.data && !asked.data.meta.complete && <span class="warn">Older trades are still being fetched. </span>}
        <TradesComplete to={asked.data?.meta.data_freshness} /> Bid and ask as thin lines; times in UTC. Chart by{' '}
        <Outside address="https://www.tradingview.com/">TradingView</Outside>.
      </p>
    </Panel>
  );
}
