import { useEffect, useMemo } from 'preact/hooks';
import { Columns } from '../parts/columns.tsx';
import type { Event, Market } from '../parts/answers.ts';
import { get, useApi, useRepeated, type Params } from '../parts/api.ts';
import { sum } from '../parts/exact.ts';
import { LineChart, type Line } from '../parts/line-chart.tsx';
import { firstPrice } from '../parts/prices.ts';
import { Choice, Panel, quoted, Waiting } from '../parts/panel.tsx';
import { Change, Num, Outside, PlatformName, Price, Status, Time, Usd, Volume } from '../parts/show.tsx';
import { marketAddress, setQuery, splitId, usePlace } from '../parts/url.ts';

/** Of one call of price-history, and of colours that can be distinguished. */
const DRAWN = 10;
const EVERY_MS = 5000;
const RANGES = [
  ['1d', '1D'],
  ['1w', '1W'],
  ['1mo', '1M'],
] as const;
const DAYS = { '1d': 1, '1w': 7, '1mo': 30 } as const;
const DAY = 86_400;

/** One event: its markets as a ladder, and a chart of all of them. */
export function EventPage({ id: unified }: { id: string }) {
  const { platform, id } = splitId(unified);
  const params = { id, provider: platform };
  const asked = useApi('/v1/api/events/{id}', params, EVERY_MS);
  const { event } = asked.data ?? {};
  useEffect(() => {
    if (event) document.title = `${event.title} · Forecastle`;
  }, [event?.title]);
  if (!event) return <Waiting of={asked} />;
  const markets = (asked.data?.markets ?? []).toSorted((a, b) => (firstPrice(b) ?? -1) - (firstPrice(a) ?? -1));
  const prices = markets.flatMap((market) => firstPrice(market) ?? []);
  const sql = `SELECT title, price, bid, ask, volume_24h\nFROM v_markets\nWHERE platform = ${quoted(platform)} AND event_id = ${quoted(id)}\nORDER BY price DESC`;
  return (
    <div class="market">
      <Head event={event} metadata={markets[0]?.metadata ?? {}} />
      <Prices markets={markets.slice(0, DRAWN)} platform={platform} />
      <Panel
        title="Markets"
        query={{ path: '/v1/api/events/{id}', params, sql }}
        aside={
          <span class="muted" title={ADDS_UP[String(event.mutually_exclusive)]}>
            Prices add up to <Num value={sum(prices)} />
          </span>
        }
      >
        <Ladder markets={markets} />
      </Panel>
    </div>
  );
}

/** What the sum of the first outcomes' prices means, by `mutually_exclusive`. */
const ADDS_UP: Record<string, string> = {
  true: 'Of the first outcomes. At most one of these markets can pay: the sum is about 1 where one must',
  false: 'Of the first outcomes. Several of these markets can pay',
  null: 'Of the first outcomes. The platform does not report whether several of these markets can pay',
};

function Head({ event, metadata }: { event: Event; metadata: Market['metadata'] }) {
  return (
    <header class="market-head">
      <div class="market-name">
        <p class="sub">
          <PlatformName platform={event.platform} />
          <Status status={event.status} />
          <span>{event.category}</span>
        </p>
        <h1>
          <bdi>{event.title}</bdi>
        </h1>
        <p class="sub muted">
          <span>
            <Num value={event.markets_count} /> markets, <Num value={event.open_markets} /> open
          </span>
          <span>
            Ends <Time at={event.trading_end_at} relative />
          </span>
          <Outside address={event.source_url}>Open on the platform ↗</Outside>
        </p>
      </div>
      <ul class="outcomes" aria-label="Sums over its markets">
        <li>
          <span class="name">Volume 24 h</span>
          <Volume value={event.volume_24h} metadata={metadata} />
        </li>
        <li>
          <span class="name">Volume</span>
          <Volume value={event.volume_total} metadata={metadata} />
        </li>
        <li>
          <span class="name">Liquidity</span>
          <Usd value={event.liquidity} />
        </li>
      </ul>
    </header>
  );
}

function Ladder({ markets }: { markets: readonly Market[] }) {
  return (
    <div class="scroll">
      <table>
        <Columns
          of={[
            'Market',
            ['Price', 'number'],
            ['24 h', 'number'],
            ['Bid', 'number wide'],
            ['Ask', 'number wide'],
            ['Volume 24 h', 'number'],
            ['Liquidity', 'number wide'],
          ]}
        />
        <tbody>
          {markets.map((market) => {
            const [outcome] = market.outcomes;
            const quote = market.current_prices[outcome?.id ?? ''];
            return (
              <tr key={market.id}>
                <td class="cut rung">
                  <span class="depth" style={{ width: `${(quote?.price ?? 0) * 100}%` }} aria-hidden="true" />
                  <a href={marketAddress(market.id)} title={market.title}>
                    <bdi>{market.title}</bdi>
                  </a>{' '}
                  {market.status !== 'open' && <Status status={market.status} />}
                </td>
                <td class="number">
                  <Price value={quote?.price} strong />
                </td>
                <td class="number">
                  <Change value={market.price_24h_changes[outcome?.id ?? '']} />
                </td>
                <td class="number wide">
                  <Price value={quote?.bid} />
                </td>
                <td class="number wide">
                  <Price value={quote?.ask} />
                </td>
                <td class="number">
                  <Volume value={market.volume_24h} metadata={market.metadata} />
                </td>
                <td class="number wide">
                  <Usd value={market.liquidity} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The closes of the first outcomes over time, by hour. */
function Prices({ markets, platform }: { markets: readonly Market[]; platform: string }) {
  const { query } = usePlace();
  const range = RANGES.find(([name]) => name === query.get('range'))?.[0] ?? '1w';
  const ids = markets.map(({ platform_id: id }) => id).toSorted();
  const params = (): Params => {
    const hour = Math.floor(Date.now() / 3_600_000) * 3600;
    const times = { start_ts: hour - DAYS[range] * DAY, end_ts: hour + 3600 };
    return { provider: platform, market_ids: ids.join(','), ...times, interval: 60, limit: 5000 };
  };
  const asked = useRepeated(
    `${ids.join(',')} ${range}`,
    (signal) => get('/v1/api/markets/price-history', params(), signal),
    30_000,
  );
  const drawn = useMemo((): { xs: number[]; lines: Line[] } => {
    const bars = asked.data?.data ?? [];
    const xs = [...new Set(bars.map(({ timestamp }) => timestamp))].toSorted((a, b) => a - b);
    const at = new Map(xs.map((time, n) => [time, n]));
    const names = distinctNames(markets.map(({ title }) => title));
    const lines = markets.map(({ platform_id: id }, n) => {
      const values: (number | null)[] = xs.map(() => null);
      for (const bar of bars) if (bar.marketId === id) values[at.get(bar.timestamp) ?? 0] = bar.price.close;
      return { name: names[n] ?? id, values };
    });
    return { xs, lines: lines.filter(({ values }) => values.some((value) => value !== null)) };
  }, [asked.data]);
  return (
    <Panel
      title={`Prices by hour${markets.length === DRAWN ? `, the ${DRAWN} highest` : ''}`}
      query={{ path: '/v1/api/markets/price-history', params: params() }}
      aside={<Choice label="Range" value={range} options={RANGES} onChange={(value) => setQuery({ range: value })} />}
    >
      {drawn.xs.length < 2 ? (
        <Waiting of={asked} empty="Fewer than two hours with prices are stored." />
      ) : (
        <>
          <LineChart xs={drawn.xs} lines={drawn.lines} label="Prices of the markets of this event" points />
          <p class="foot muted">Times in UTC. Each point is an hour with a price; lines only join them.</p>
        </>
      )}
    </Panel>
  );
}

/** What titles begin with in common is left out: a legend has little room. */
function distinctNames(titles: readonly string[]): string[] {
  const [first = ''] = titles;
  let common = 0;
  while (titles.length > 1 && common < first.length && titles.every((title) => title[common] === first[common]))
    common += 1;
  const from = common > 12 ? first.lastIndexOf(' ', common) + 1 : 0;
  return titles.map((title) => {
    const name = from > 0 ? `… ${title.slice(from)}` : title;
    return name.length > 40 ? `${name.slice(0, 39)}…` : name;
  });
}
