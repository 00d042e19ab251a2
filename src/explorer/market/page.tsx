import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Market } from '../parts/answers.ts';
import { MarketMatches } from '../parts/matches/panel.tsx';
import { Missing } from '../parts/missing.tsx';
import { Picture } from '../parts/lists/picture.tsx';
import { eventName, nameOf } from '../parts/names.ts';
import { Panel, quoted, Waiting } from '../parts/panel.tsx';
import { payoutsOf, priceDigits } from '../parts/prices.ts';
import { MarketStatus } from '../parts/market-status.tsx';
import { Change, Ends, Num, Outside, PlatformName, Price, Time } from '../parts/show.tsx';
import { backToList, eventAddress, splitId, usePlace } from '../parts/url.ts';
import { useKeys } from '../parts/keys.ts';
import { Book } from './book.tsx';
import { History } from './history.tsx';
import { useLiveMarket } from './live-market.ts';
import { Metrics } from './metrics.tsx';
import { Related } from './related.tsx';
import { Tape } from './tape.tsx';
import { Ticket } from './ticket.tsx';
import { isTurned } from './turned.ts';

/** One market; `id` is the unified id from the address. */
export function MarketPage({ id: unified }: { id: string }) {
  const { platform, id } = splitId(unified);
  const live = useLiveMarket(platform, id);
  const { market, tradesSince: since } = live;
  useEffect(() => {
    if (market) document.title = `${nameOf(market)} · Forecastle`;
  }, [market && nameOf(market)]);
  useKeys(({ key }) => {
    if (key === 'Escape') backToList();
  });
  // A book may change fifty times a second: parts that do not depend on it re-render only when their own data changes.
  const { stored, trades, tradesAsked, tradesFreshTo: freshTo, gaps } = live;
  const { query } = usePlace();
  const turned = stored !== undefined && isTurned(stored, query);
  const newest = trades[0]?.trade_id;
  const history = useMemo(
    () => stored && <History market={stored} since={since} newest={newest} />,
    [stored, since, newest],
  );
  const tape = useMemo(
    () => stored && <Tape market={stored} {...{ trades, freshTo, since, turned, gaps }} asked={tradesAsked} />,
    [stored, trades, freshTo, since, turned, gaps, tradesAsked.loading, tradesAsked.failure],
  );
  const rest = useMemo(
    () =>
      stored && (
        <div class="market-rest">
          <Metrics market={stored} since={since} />
          <Rules market={stored} />
          <MarketMatches platform={stored.platform} id={stored.platform_id} unified={stored.id} />
          <Related market={stored} />
        </div>
      ),
    [stored, since],
  );
  if (live.isMissing) return <Missing what="market" id={unified} />;
  if (!market) return <Waiting of={live.asked} />;
  return (
    <div class="market">
      <Head market={market} />
      <div class="market-main">
        {history}
        <div class="market-side">
          <Book market={market} book={live.book} asked={live.bookAsked} turned={turned} gaps={gaps} />
          <Ticket market={market} book={live.book} turned={turned} />
          {tape}
        </div>
      </div>
      {rest}
    </div>
  );
}

const SHOWN_OUTCOMES = 4;

function Head({ market }: { market: Market }) {
  const payouts = payoutsOf(market);
  const digits = priceDigits(market);
  const [showsAll, setShowsAll] = useState(false);
  return (
    <header class="market-head">
      <div class="market-name">
        <p class="sub">
          <PlatformName platform={market.platform} />
          <MarketStatus market={market} />
          <span>{market.category}</span>
          {market.event_id !== '' && (
            <a href={eventAddress(market.platform, market.event_id)}>
              <bdi>{eventName(market.event_name) || 'Event'}</bdi>
            </a>
          )}
        </p>
        <h1>
          <Picture address={market.image_url} size={36} />
          <bdi>{nameOf(market)}</bdi>
        </h1>
        <p class="sub">
          <span class="muted">
            <Ends at={market.trading_end_at} />
          </span>
          <span class="muted">
            Checked <Time at={market.last_synced_at} relative />
          </span>
          <Outside address={market.source_url}>Open on the platform ↗</Outside>
        </p>
      </div>
      <ul class="outcomes" aria-label="Outcomes">
        {market.outcomes.slice(0, showsAll ? undefined : SHOWN_OUTCOMES).map(({ id, name }) => {
          const quote = market.current_prices[id];
          return (
            <li key={id}>
              <bdi class="name">{name}</bdi>
              <Price value={quote?.price} digits={digits} strong />
              <Change value={market.price_24h_changes[id]} digits={digits} />
              <span class="muted">
                {market.status === 'settled' ? (
                  <>
                    paid <Num value={payouts[id] ?? null} />
                  </>
                ) : (
                  <>
                    <Price value={quote?.bid} digits={digits} /> / <Price value={quote?.ask} digits={digits} />
                  </>
                )}
              </span>
            </li>
          );
        })}
        {market.outcomes.length > SHOWN_OUTCOMES && (
          <li>
            <button type="button" class="quiet" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
              {showsAll ? 'Fewer outcomes' : `${market.outcomes.length - SHOWN_OUTCOMES} more outcomes`}
            </button>
          </li>
        )}
      </ul>
    </header>
  );
}

function Rules({ market }: { market: Market }) {
  const times = [
    ['Trading starts', market.trading_start_at],
    ['Trading ends', market.trading_end_at],
    ['Expected resolution', market.resolution_date],
    ['Resolved', market.resolved_at],
  ] as const;
  return (
    <Panel
      title="Rules"
      class="rules"
      query={{
        path: '/v1/api/markets/id/{id}',
        params: { id: market.platform_id, provider: market.platform },
        sql: `SELECT title, status, outcomes, price, bid, ask, trading_end_at, resolution_date, resolved_at\nFROM v_markets\nWHERE id = ${quoted(market.id)}`,
      }}
    >
      <div class="panel-body">
        <p class="prose">
          <bdi>{market.resolution_criteria || market.description || 'The platform provides no rules.'}</bdi>
        </p>
        {market.resolution_source !== '' && (
          <p>
            <span class="muted">Source: </span>
            <bdi>{market.resolution_source}</bdi>
          </p>
        )}
        <dl class="times">
          {times.map(([name, at]) => (
            <div key={name}>
              <dt class="muted">{name}</dt>
              <dd>
                <Time at={at} />
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </Panel>
  );
}
