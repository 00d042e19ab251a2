import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Event, Market } from '../parts/answers.ts';
import { get, useApi, useRepeated } from '../parts/api.ts';
import { sum } from '../parts/exact.ts';
import { LineChart, type Line } from '../parts/line-chart.tsx';
import { useKeys } from '../parts/keys.ts';
import { BESIDE_STREAM_MS, POLL_MS, useFrame, useStream } from '../parts/live.ts';
import { EventMatches } from '../parts/matches/panel.tsx';
import { Picture } from '../parts/lists/picture.tsx';
import { Missing } from '../parts/missing.tsx';
import { eventName, namesWithin } from '../parts/names.ts';
import { firstPrice, priceDigits } from '../parts/prices.ts';
import { END_TEXTS } from '../parts/prefs/times.ts';
import { zoneName } from '../parts/prefs/prefs.ts';
import { sqlOfEvent } from '../parts/statements.ts';
import { Choice, Panel, quoted, Waiting } from '../parts/panel.tsx';
import { Ends, Num, Outside, PlatformName, Status, Time, TradesComplete } from '../parts/show.tsx';
import { EventSum } from '../parts/lists/usd-sum.tsx';
import { backToList, setQuery, splitId, usePlace } from '../parts/url.ts';
import { hourlyCalls, type HourlyCall } from './hourly.ts';
import { Ladder } from './ladder.tsx';

/** Limit of markets per price-history call, and of colours that can be distinguished. */
const DRAWN = 10;
const RANGES = [
  ['1d', '1D'],
  ['1w', '1W'],
  ['1mo', '1M'],
] as const;
const DAYS = { '1d': 1, '1w': 7, '1mo': 30 } as const;
const DAY = 86_400;
const HISTORY = '/v1/api/markets/price-history';

/** One event: its markets as a ladder, and a chart of the highest prices. */
export function EventPage({ id: unified }: { id: string }) {
  const { platform, id } = splitId(unified);
  const [isMissing, setMissing] = useState(false);
  const [live, setLive] = useState(false);
  const params = { id, provider: platform };
  const asked = useApi('/v1/api/events/{id}', isMissing ? null : params, live ? BESIDE_STREAM_MS : POLL_MS);
  const status = asked.failure?.status;
  useEffect(() => {
    if (status === 404 || status === 400) setMissing(true);
  }, [status]);
  const stored = asked.data?.markets ?? NO_MARKETS;
  const fresh = useQuotes(stored, setLive);
  // Sorted by the last answer, so that rows do not move under the pointer with each quote.
  const ordered = useMemo(() => stored.toSorted((a, b) => (firstPrice(b) ?? -1) - (firstPrice(a) ?? -1)), [asked.data]);
  const names = useMemo(() => namesWithin(stored, END_TEXTS), [asked.data]);
  const { event, meta } = { event: undefined, meta: undefined, ...asked.data };
  useEffect(() => {
    if (event) document.title = `${eventName(event.title)} · Forecastle`;
  }, [event?.title]);
  useKeys(({ key }) => {
    if (key === 'Escape') backToList();
  });
  if (isMissing) return <Missing what="event" id={unified} />;
  if (!event) return <Waiting of={asked} />;
  const markets = ordered.map((market) => ({
    ...market,
    current_prices: fresh.get(market.id) ?? market.current_prices,
  }));
  const prices = markets.flatMap((market) => firstPrice(market) ?? []);
  return (
    <div class="market">
      <Head event={event} />
      <Prices markets={ordered.slice(0, DRAWN)} names={names} platform={platform} count={markets.length} />
      <Panel
        title="Markets"
        query={{ path: '/v1/api/events/{id}', params, sql: sqlOfEvent(platform, id) }}
        aside={
          markets.length > 1 && (
            <span class="muted" title={ADDS_UP[String(event.mutually_exclusive)]}>
              Prices add up to{' '}
              <Num value={prices.length === 0 ? null : sum(prices)} digits={Math.max(...markets.map(priceDigits))} />
            </span>
          )
        }
      >
        <Ladder markets={markets} names={names} />
        <p class="foot muted">
          {markets.length > 1 ? `${ADDS_UP[String(event.mutually_exclusive)]}. ` : 'Prices of the first outcome. '}
          {meta?.data_freshness && (
            <>
              Listed as of <Time at={meta.data_freshness} />.
            </>
          )}
        </p>
      </Panel>
      <EventMatches platform={platform} eventId={event.event_id} />
    </div>
  );
}

const NO_MARKETS: readonly Market[] = [];
/** Limit of streamed markets of a free account. */
const STREAMED = 100;

/** Prices from the stream, by unified market id; empty while it is disconnected. */
function useQuotes(
  markets: readonly Market[],
  setLive: (live: boolean) => void,
): ReadonlyMap<string, Market['current_prices']> {
  const quotes = useRef(new Map<string, Market['current_prices']>());
  const redraw = useFrame();
  const ids = markets
    .filter(({ status }) => status === 'open')
    .slice(0, STREAMED)
    .map(({ id }) => id);
  const live = useStream(ids.length === 0 ? null : { channels: ['quotes'], market_ids: ids.toSorted().join(',') }, {
    quote: ({ platform, market_id: id, prices }) => {
      quotes.current.set(`${platform}:${id}`, prices);
      redraw();
    },
  });
  useEffect(() => {
    if (!live) quotes.current.clear();
    setLive(live);
  }, [live]);
  return quotes.current;
}

/** What the sum of the first outcomes' prices means, by `mutually_exclusive`. */
const ADDS_UP: Record<string, string> = {
  true: 'Prices of the first outcomes. At most one of these markets can pay: the sum is about 1 where one must',
  false: 'Prices of the first outcomes. Several of these markets can pay',
  null: 'Prices of the first outcomes. The platform does not report whether several of these markets can pay',
};

function Head({ event }: { event: Event }) {
  return (
    <header class="market-head">
      <div class="market-name">
        <p class="sub">
          <PlatformName platform={event.platform} />
          <Status status={event.status} />
          <span>{event.category}</span>
        </p>
        <h1>
          <Picture address={event.image_url} size={36} />
          <bdi>{eventName(event.title)}</bdi>
        </h1>
        <p class="sub muted">
          <span>
            <Num value={event.markets_count} /> {event.markets_count === 1 ? 'market' : 'markets'},{' '}
            <Num value={event.open_markets} /> open
          </span>
          <span>
            <Ends at={event.trading_end_at} />
          </span>
          <a href={`/?event=${encodeURIComponent(event.id)}&status=any`}>Show in the list</a>
          <Outside address={event.source_url}>Open on the platform ↗</Outside>
        </p>
      </div>
      <ul class="outcomes" aria-label="Sums over its markets">
        <li>
          <span class="name">Volume 24 h</span>
          <EventSum event={event} figure="volume_24h" />
        </li>
        <li>
          <span class="name">Volume</span>
          <EventSum event={event} figure="volume_total" />
        </li>
        <li>
          <span class="name">Liquidity</span>
          <EventSum event={event} figure="liquidity" />
        </li>
      </ul>
    </header>
  );
}

interface PricesProps {
  markets: readonly Market[];
  names: ReadonlyMap<string, string>;
  platform: string;
  /** Number of markets of the event. */
  count: number;
}

/** The latest of these times, since which every trade of all markets is stored; null if one is not known. */
const latestOf = (times: readonly (string | null)[]): string | null =>
  times.includes(null)
    ? null
    : (times
        .flatMap((time) => time ?? [])
        .toSorted()
        .at(-1) ?? null);

/** The answers of consecutive calls as one. */
async function pricesOf(calls: readonly HourlyCall[], signal: AbortSignal) {
  const answers = await Promise.all(calls.map((call) => get(HISTORY, call, signal)));
  return {
    data: answers.flatMap(({ data }) => data),
    complete: answers.every(({ meta }) => meta.complete),
    since: latestOf(answers.map(({ meta }) => meta.complete_from)),
    freshTo: answers.at(-1)?.meta.data_freshness ?? null,
  };
}

/** Hourly closing prices of the first outcomes. */
function Prices({ markets, names, platform, count }: PricesProps) {
  const { query } = usePlace();
  const range = RANGES.find(([name]) => name === query.get('range'))?.[0] ?? '1w';
  // The highest markets when the page opens, so that no line disappears when another market passes it.
  const [ids] = useState(() => markets.map(({ platform_id: id }) => id).toSorted());
  const span = (): { from: number; until: number } => {
    const hour = Math.floor(Date.now() / 3_600_000) * 3600;
    return { from: hour - DAYS[range] * DAY, until: hour + 3600 };
  };
  const calls = (): HourlyCall[] => hourlyCalls({ platform, ids, ...span() });
  const asked = useRepeated(`${ids.join(',')} ${range}`, (signal) => pricesOf(calls(), signal), 30_000);
  // Lines of the previous range stay, dimmed, until the next ones are loaded.
  const last = useRef(asked.data);
  last.current = asked.data ?? (asked.failure ? undefined : last.current);
  const answer = last.current;
  const drawn = useMemo((): { xs: number[]; lines: Line[] } => {
    const bars = answer?.data ?? [];
    const xs = [...new Set(bars.map(({ timestamp }) => timestamp))].toSorted((a, b) => a - b);
    const at = new Map(xs.map((time, n) => [time, n]));
    const lines = ids.map((id) => {
      const values: (number | null)[] = xs.map(() => null);
      for (const bar of bars) if (bar.marketId === id) values[at.get(bar.timestamp) ?? 0] = bar.price.close;
      return { name: shortened(names.get(`${platform}:${id}`) || id), values };
    });
    return { xs, lines: lines.filter(({ values }) => values.some((value) => value !== null)) };
  }, [answer]);
  const sql = `SELECT t, market_id, close\nFROM v_candles\nWHERE market_key IN (SELECT market_key FROM v_markets WHERE platform = ${quoted(platform)} AND platform_id IN (${ids.map(quoted).join(', ')}))\n  AND interval = '1h' AND series = 0 AND t >= toDateTime(${span().from})\nORDER BY t, market_id`;
  return (
    <Panel
      title={`Prices by hour${count > markets.length ? `, the ${markets.length} highest of ${count}` : ''}`}
      query={{ path: HISTORY, params: calls(), sql }}
      aside={<Choice label="Range" value={range} options={RANGES} onChange={(value) => setQuery({ range: value })} />}
    >
      <div class={`event-chart ${asked.data ? '' : 'old'}`}>
        {drawn.xs.length < 2 ? (
          <Waiting of={asked} empty="Fewer than two hours with prices are stored." />
        ) : (
          <LineChart
            xs={drawn.xs}
            lines={drawn.lines}
            label="Prices of the markets of this event"
            digits={Math.max(2, ...markets.map(priceDigits))}
            points
            steps
          />
        )}
      </div>
      <p class="foot muted">
        {answer?.complete === false && (
          <span class="warn">A gap: older trades of this range are still being fetched. </span>
        )}
        {answer && <TradesComplete to={answer.freshTo} since={answer.since} />} Times in{' '}
        {zoneName() === 'UTC' ? 'UTC' : 'local time'}. Each point is the last price of an hour, in USD; the line keeps
        it until the next point.
      </p>
    </Panel>
  );
}

const LONGEST = 40;
const shortened = (name: string): string => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);
