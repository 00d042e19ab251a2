import { useMemo, useRef } from 'preact/hooks';
import type { Answers, Bar, Market } from '../parts/answers.ts';
import { Choice, ofMarket, Panel, Waiting } from '../parts/panel.tsx';
import { zoneName } from '../parts/prefs/prefs.ts';
import { Outside, TradesComplete } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import { HISTORY, useBars } from './bars.ts';
import { Chart } from './chart.tsx';
import { isTurned, turnedBar } from './turned.ts';
import { csvOf } from './csv.ts';
import { saveFile } from '../parts/forms/save-file.ts';
import { INTERVALS, isOver, RANGES, SECONDS, shownBars, type Shown } from './ranges.ts';

const CHARTS = [
  ['line', 'Line'],
  ['candles', 'Candles'],
] as const;

interface Props {
  market: Market;
  since: string | null | undefined;
  /** Id of the market's last trade. */
  newest: string | undefined;
}

/** The price of the first outcome over time, or of the one chosen beside the book. */
export function History({ market, since, newest }: Props) {
  const { query } = usePlace();
  const { platform, platform_id: id } = market;
  const shown = shownBars(query, market);
  const turned = isTurned(market, query);
  const isCandles = query.get('chart') === 'candles';
  const place = { platform, market_id: id };
  const key = `${market.id} ${shown.range} ${shown.interval} ${turned}`;
  const asked = useBars(market, query, newest);
  // The chart of the previous range stays, dimmed, until the next one is loaded.
  const last = useRef<Drawn | null>(null);
  const ofAnswer = asked.data?.data;
  const bars = useMemo(() => (ofAnswer ? shownOf(ofAnswer, market, turned) : []), [ofAnswer, market.status, turned]);
  if (asked.data) {
    const { meta } = asked.data;
    last.current = { key, of: market.id, bars, meta, width: SECONDS[shown.interval] };
  }
  const drawn = last.current?.of === market.id && (asked.data || !asked.failure) ? last.current : null;
  const picture = useRef<(() => HTMLCanvasElement) | null>(null);
  const name = `${id} ${shown.range} ${shown.interval}${turned ? ' second' : ''}`;
  const params = { ...place, interval: shown.interval, start_ts: shown.startTs, limit: shown.limit };
  return (
    <Panel
      title={`Price of ${market.outcomes[turned ? 1 : 0]?.name ?? 'the first outcome'}`}
      class="history"
      query={{ path: HISTORY, params, sql: sqlOf(market, shown) }}
      of={asked}
      aside={
        <>
          <Choice
            label="Chart"
            value={isCandles ? 'candles' : 'line'}
            options={CHARTS}
            onChange={(kind) => setQuery({ chart: kind === 'line' ? '' : kind })}
          />
          <Choice
            label="Range"
            value={shown.range}
            options={RANGES}
            onChange={(range) => setQuery({ range, interval: '' })}
          />
          <Choice
            label="Candle interval"
            value={shown.interval}
            options={INTERVALS}
            onChange={(interval) => setQuery({ interval })}
          />
        </>
      }
    >
      {drawn && drawn.bars.length > 0 ? (
        <Chart
          key={drawn.key}
          bars={drawn.bars}
          market={market}
          width={drawn.width}
          isCandles={isCandles}
          isOld={drawn.key !== key}
          picture={picture}
        />
      ) : (
        <div class="chart">
          <Waiting of={asked} empty="No trade, bar or quote is stored for this range." />
        </div>
      )}
      {drawn && drawn.bars.length > 0 && (
        <p class="foot saves">
          <button
            type="button"
            class="quiet"
            onClick={() => picture.current?.().toBlob((file) => file && saveFile(file, `${name}.png`))}
          >
            Save as PNG
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => saveFile(new Blob([csvOf(drawn.bars)], { type: 'text/csv' }), `${name}.csv`)}
          >
            Save as CSV
          </button>
        </p>
      )}
      <p class="foot muted">
        {drawn && !drawn.meta.complete && (
          <span class="warn">A gap: older trades of this range are still being fetched. </span>
        )}
        {drawn && <TradesComplete to={drawn.meta.data_freshness} since={since} />}{' '}
        {isCandles ? 'Candles are executed trades' : 'The line is the last executed trade'}, the band lies between bid
        and ask, in USD; times in {zoneName() === 'UTC' ? 'UTC' : 'local time'}. Chart by{' '}
        <Outside address="https://www.tradingview.com/">TradingView</Outside>.
      </p>
    </Panel>
  );
}

/** The bars on screen, with the request they came from. */
interface Drawn {
  key: string;
  of: string;
  bars: readonly Bar[];
  meta: Answers[typeof HISTORY]['meta'];
  width: number;
}

const shownOf = (bars: readonly Bar[], market: Market, turned: boolean): readonly Bar[] => {
  const own = ofLife(bars, market);
  return turned ? own.map(turnedBar) : own;
};

/** Removes the empty buckets at the end of a market that has ended. */
function ofLife(bars: readonly Bar[], market: Market): readonly Bar[] {
  if (!isOver(market)) return bars;
  const end = bars.findLastIndex(
    ({ trade_count: trades, price }) => (trades ?? 0) > 0 || (trades === null && price.close !== null),
  );
  return end === -1 ? bars : bars.slice(0, end + 1);
}

/** SQL for the same buckets, from candles of trades. The view has 1m and 1h; other buckets are aggregated from these. */
function sqlOf(market: Market, { interval, startTs }: Shown): string {
  const seconds = SECONDS[interval];
  const [stored, width] = seconds < 3600 ? ['1m', 60] : ['1h', 3600];
  const own = `${ofMarket(market.id)}\n  AND interval = '${stored}' AND series = 0 AND t >= toDateTime(${startTs})`;
  if (seconds === width)
    return `SELECT t, open, high, low, close, volume, trades\nFROM v_candles\nWHERE ${own}\nORDER BY t`;
  const columns = [
    `toStartOfInterval(t, INTERVAL ${seconds} SECOND, 'UTC') AS bucket`,
    'argMinIf(open, t, open IS NOT NULL) AS first',
    'max(high) AS highest',
    'min(low) AS lowest',
    'argMaxIf(close, t, close IS NOT NULL) AS last',
    'sum(volume) AS traded',
    'sum(trades) AS fills',
  ];
  return `SELECT ${columns.join(',\n  ')}\nFROM v_candles\nWHERE ${own}\nGROUP BY bucket\nORDER BY bucket`;
}
