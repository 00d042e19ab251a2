import { Columns } from '../parts/columns.tsx';
import type { Market, OrderBook } from '../parts/answers.ts';
import { type Loaded, useApi } from '../parts/api.ts';
import { difference, sum } from '../parts/exact.ts';
import { Choice, ofMarket, Panel, Waiting } from '../parts/panel.tsx';
import { priceDigits } from '../parts/prices.ts';
import { countsContracts, Num, Price, Time } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import { Depth } from './depth.tsx';
import { GapsOf } from './gaps.tsx';
import type { Gap } from './live-market.ts';
import { isOver } from './ranges.ts';
import { sideOf } from './turned.ts';

const LEVELS = 12;
const BOOK = '/v1/api/markets/id/{id}/orderbook';

interface Props {
  market: Market;
  book: OrderBook | undefined;
  asked: Loaded<unknown>;
  /** Shows the second of two outcomes. */
  turned: boolean;
  gaps: readonly Gap[];
}

/** The order book of one outcome: asks above bids, the spread between them, and the cumulative size at each level. */
export function Book({ market, book, asked, turned, gaps }: Props) {
  const [first, other] = market.outcomes;
  const { query: address } = usePlace();
  const isDepth = address.get('book') === 'depth';
  const at = address.get('at') ?? '';
  const atMs = at === '' ? NaN : Date.parse(`${at}Z`);
  const recorded = useApi(
    BOOK,
    Number.isNaN(atMs) ? null : { id: market.platform_id, provider: market.platform, at: atMs },
  );
  const isPast = !Number.isNaN(atMs);
  const shownBook = isPast ? recorded.data?.data : book;
  // The last book of a market that has ended can no longer be traded against.
  const side = isOver(market) && !isPast ? undefined : shownBook?.[sideOf(turned)];
  const unit = countsContracts(market.metadata) ? 'contracts' : 'shares';
  const query = {
    path: BOOK,
    params: { id: market.platform_id, provider: market.platform, ...(isPast ? { at: atMs } : {}) },
    sql: `SELECT received_at, bids, asks\nFROM v_books\nWHERE ${ofMarket(market.id)}\nORDER BY received_at DESC\nLIMIT 1`,
  };
  const recordedGap = recorded.data?.meta.recorded?.gap ?? null;
  const ownGaps = isPast
    ? [recordedGap].filter((gap) => gap !== null)
    : gaps.filter(({ market_id: id }) => id === market.platform_id);
  return (
    <Panel
      title="Order book"
      class="book"
      query={query}
      of={isPast ? recorded : asked}
      aside={
        first &&
        other &&
        side &&
        side.bids.length + side.asks.length > 0 &&
        market.outcomes.length === 2 && (
          <Choice
            label="Outcome"
            value={turned ? other.id : first.id}
            options={[
              [first.id, first.name],
              [other.id, other.name],
            ]}
            onChange={(id) => setQuery({ outcome: id === first.id ? '' : id })}
          />
        )
      }
    >
      {!side || side.bids.length + side.asks.length === 0 ? (
        <Waiting
          of={isPast ? recorded : asked}
          empty={
            isPast
              ? 'No book is recorded at this time.'
              : market.status === 'open'
                ? 'The book is empty.'
                : 'This market is not open for trading.'
          }
        />
      ) : (
        <>
          {isDepth ? (
            <Depth side={side} digits={priceDigits(market)} unit={unit} />
          ) : (
            <Ladder side={side} digits={priceDigits(market)} unit={unit} />
          )}
          <p class="foot muted">
            <Num value={side.depth} compact /> {unit} in the book, as of <Time at={shownBook?.timestamp} />
            {isPast && (
              <>
                , the last before <Time at={atMs / 1000} />
              </>
            )}
          </p>
        </>
      )}
      <div class="foot book-at">
        <Choice
          label="Book as"
          value={isDepth ? 'depth' : 'ladder'}
          options={[
            ['ladder', 'Ladder'],
            ['depth', 'Depth'],
          ]}
          onChange={(value) => setQuery({ book: value === 'depth' ? value : '' })}
        />
        <input
          type="datetime-local"
          aria-label="Recorded book at, UTC"
          title="The recorded book at this time, UTC; empty: the live book"
          value={at}
          onChange={({ currentTarget: { value } }) => setQuery({ at: value })}
        />
      </div>
      {ownGaps.length > 0 && (
        <p class="foot">
          <GapsOf gaps={ownGaps} what="Book" />
        </p>
      )}
    </Panel>
  );
}

function Ladder({ side, digits, unit }: { side: OrderBook['yes']; digits: number; unit: string }) {
  const asks = cumulated(side.asks.slice(0, LEVELS));
  const bids = cumulated(side.bids.slice(0, LEVELS));
  const most = Math.max(1e-9, ...[...asks, ...bids].map(({ total }) => total));
  const [bestAsk] = side.asks;
  const [bestBid] = side.bids;
  return (
    <table class="ladder">
      <Columns of={['Price, USD', [`Size, ${unit}`, 'number'], ['Sum', 'number']]} />
      <tbody>
        {asks.toReversed().map((level) => (
          <LevelRow key={`ask ${level.price}`} side="ask" level={level} share={level.total / most} digits={digits} />
        ))}
      </tbody>
      <tbody class="spread">
        <tr>
          <th scope="row" colSpan={3}>
            {bestAsk && bestBid ? (
              <>
                Spread <Price value={difference(bestAsk.price, bestBid.price)} digits={digits} still />
              </>
            ) : (
              'One side is empty'
            )}
          </th>
        </tr>
      </tbody>
      <tbody>
        {bids.map((level) => (
          <LevelRow key={`bid ${level.price}`} side="bid" level={level} share={level.total / most} digits={digits} />
        ))}
      </tbody>
    </table>
  );
}

interface Cumulated {
  price: number;
  size: number;
  total: number;
}

const cumulated = (levels: OrderBook['yes']['bids']): Cumulated[] =>
  levels.map((level, n) => ({ ...level, total: sum(levels.slice(0, n + 1).map(({ size }) => size)) }));

interface LevelProps {
  side: 'bid' | 'ask';
  level: Cumulated;
  /** Cumulative size relative to the largest shown, 0 to 1. */
  share: number;
  digits: number;
}

function LevelRow({ side, level, share, digits }: LevelProps) {
  return (
    <tr class={side}>
      <td class={side === 'bid' ? 'up' : 'down'}>
        <span class="depth" style={{ width: `${(share * 100).toFixed(1)}%` }} aria-hidden="true" />
        <Price value={level.price} digits={digits} still />
        <span class="hidden">{side}</span>
      </td>
      <td class="number">
        <Num value={level.size} compact />
      </td>
      <td class="number muted">
        <Num value={level.total} compact />
      </td>
    </tr>
  );
}
