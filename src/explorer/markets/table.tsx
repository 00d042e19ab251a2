import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Market } from '../parts/answers.ts';
import { eventName, nameOf, namesApart } from '../parts/names.ts';
import { END_TEXTS } from '../parts/prefs/times.ts';
import { priceDigits } from '../parts/prices.ts';
import { Amount } from '../parts/lists/amount.tsx';
import { Picture } from '../parts/lists/picture.tsx';
import { MarketStatus } from '../parts/market-status.tsx';
import { Change, MarketName, PlatformName, Price, Time } from '../parts/show.tsx';
import { marketAddress, setQuery } from '../parts/url.ts';
import { NoRows } from './no-rows.tsx';
import { useFresh, type Fresh } from './fresh.ts';
import { ASCENDS, type MarketList, type Sort } from './market-list.ts';
import { useKeys } from '../parts/keys.ts';

/** Height of a row in pixels, as in the style sheet: on phones a title has two lines. */
const narrow = matchMedia('(max-width: 480px)');
const rowHeight = (): number => (narrow.matches ? 62 : 46);
const SPARE_ROWS = 6;
/** Width of a wide character of a title: fewer fit than this says only in rare titles. */
const CHARACTER_PX = 8;
/** Lines of a title. */
const linesOf = (): number => (narrow.matches ? 2 : 1);
/** The next page is requested when fewer rows than this follow. */
const AHEAD = 30;
/** Rows kept fresh at once: a call takes 100 `market_ids`, a free account streams at most 100 markets. */
const WATCHED = 60;
const STEPS: Partial<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

/** Scroll position and chosen row of the last list. */
let left = { key: '', top: 0, chosen: -1 };

interface Props {
  list: MarketList;
  sort: Sort;
  isReversed: boolean;
  /** The order without a choice. */
  usual: Sort;
  status: string;
}

/** A virtual list: only the rows in view are rendered. `j`, `k` and the arrows move the focus. */
export function MarketTable({ list, sort, isReversed, usual, status }: Props) {
  const order = { sort, isReversed, usual };
  const { rows, more, loading, ended, failure, total } = list;
  const box = useRef<HTMLDivElement>(null);
  // Restored if it is this list and its rows are still loaded.
  const [start] = useState(() => (left.key === list.key && rows.length > 0 ? left : { top: 0, chosen: -1 }));
  const [view, setView] = useState({ top: start.top, height: 800, room: 60 });
  const [chosen, setChosen] = useState(start.chosen);
  const now = useRef({ key: list.key, top: 0, chosen });
  now.current = { key: list.key, top: view.top, chosen };
  const row = rowHeight();
  const first = Math.max(0, Math.floor(view.top / row) - SPARE_ROWS);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / row) + SPARE_ROWS);
  const visible = rows.slice(first, last);
  const apart = useMemo(() => namesApart(rows, view.room, END_TEXTS), [rows, rows.length, view.room]);
  const fresh = useFresh(
    rows,
    visible.slice(0, WATCHED).map(({ id }) => id),
  );

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.scrollTop = start.top;
    const measure = (): void => {
      const width = element.querySelector('th')?.clientWidth ?? 0;
      const room = Math.max(1, Math.floor((width / CHARACTER_PX) * linesOf()));
      setView({ top: element.scrollTop, height: element.clientHeight, room });
    };
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const sized = new ResizeObserver(measure);
    sized.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      sized.disconnect();
      left = now.current;
    };
  }, []);
  useEffect(() => {
    // A page that failed is requested again by the list, after a while.
    if (!loading && !ended && !failure && rows.length > 0 && last > rows.length - AHEAD) more();
  }, [last, rows.length, loading, failure]);
  /** The row to focus once it is rendered; -1 for none. */
  const asked = useRef(chosen);
  /** Focuses the link of the asked row, if it is rendered: screen readers announce it, and Enter opens it. */
  const focusAsked = (): void => {
    if (asked.current === -1) return;
    const link = box.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${asked.current + 2}"] a`);
    if (!link) return;
    asked.current = -1;
    link.focus({ preventScroll: true });
  };
  // A new list starts at the top. A layout effect, so that it does not undo a key pressed on the painted list.
  const before = useRef(rows);
  useLayoutEffect(() => {
    if (before.current === rows) return;
    before.current = rows;
    asked.current = -1;
    setChosen(-1);
    box.current?.scrollTo(0, 0);
  }, [rows]);
  useKeys((event) => {
    const step = STEPS[event.key] ?? 0;
    if (step !== 0) {
      event.preventDefault();
      const next = Math.min(rows.length - 1, Math.max(0, now.current.chosen + step));
      now.current.chosen = next;
      setChosen(next);
      reveal(box.current, next);
      asked.current = next;
      // At once, so that Enter right after it opens this row.
      focusAsked();
    } else if (event.key === 'Escape' && now.current.chosen !== -1) {
      now.current.chosen = -1;
      asked.current = -1;
      setChosen(-1);
      box.current?.focus({ preventScroll: true });
    }
  });
  useLayoutEffect(focusAsked);

  return (
    <div
      class={`scroll ${list.isOld ? 'old' : ''}`}
      ref={box}
      tabIndex={0}
      role="region"
      aria-label="List of markets"
      aria-busy={list.isOld}
    >
      <table class="list" aria-rowcount={total + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Market</th>
            <th scope="col" class="number" aria-sort={sortOf(order, 'price', 'change')}>
              <span class="price-pair">
                <SortButton name="price" text="Price" {...order} />
                <SortButton name="change" text="Change 24 h" {...order} />
              </span>
            </th>
            <SortHead name="spread" text="Bid / ask" {...order} wide />
            <SortHead name="volume_24h" text="Vol 24 h" {...order} />
            <SortHead name="volume_total" text="Volume" {...order} wide />
            <SortHead name="liquidity" text="Liquidity" {...order} wide />
            <SortHead name="end_date" text="Ends" {...order} />
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr class="spacer" style={{ height: `${first * row}px` }} aria-hidden="true" />}
          {visible.map((market, n) => (
            <Row
              key={market.id}
              market={{ ...market, ...fresh.get(market.id) }}
              index={first + n}
              room={view.room}
              apart={apart.get(market.id)}
              isChosen={first + n === chosen}
            />
          ))}
          {last < rows.length && (
            <tr class="spacer" style={{ height: `${(rows.length - last) * row}px` }} aria-hidden="true" />
          )}
        </tbody>
      </table>
      {rows.length === 0 && !list.failure && <NoRows list={list} status={status} />}
    </div>
  );
}

function reveal(element: HTMLElement | null, index: number): void {
  if (!element) return;
  const row = rowHeight();
  const top = index * row;
  if (top < element.scrollTop) element.scrollTop = top;
  // The sticky head covers the height of a row.
  else if (top + 2 * row > element.scrollTop + element.clientHeight)
    element.scrollTop = top + 2 * row - element.clientHeight;
}

interface Order {
  sort: Sort;
  isReversed: boolean;
  usual: Sort;
}
interface SortProps extends Order {
  name: Sort;
  text: string;
}

const isAscending = ({ sort, isReversed }: Order): boolean => ASCENDS.has(sort) !== isReversed;
const sortOf = (order: Order, ...names: readonly Sort[]) =>
  !names.includes(order.sort) ? 'none' : isAscending(order) ? 'ascending' : 'descending';

/** Sorts by a column; where the list is sorted by it already, turns the order. */
function SortButton({ name, text, ...order }: SortProps) {
  const { sort, isReversed, usual } = order;
  const turn = (): void =>
    setQuery({ sort: name === usual ? '' : name, dir: sort === name && !isReversed ? 'reverse' : '' });
  return (
    <button type="button" class={sort === name ? 'sorted' : ''} onClick={turn}>
      {text}
      {sort === name && <span aria-hidden="true">{isAscending(order) ? ' ↑' : ' ↓'}</span>}
    </button>
  );
}

function SortHead({ wide = false, ...props }: SortProps & { wide?: boolean }) {
  return (
    <th scope="col" class={`number ${wide ? 'wide' : ''}`} aria-sort={sortOf(props, props.name)}>
      <SortButton {...props} />
    </th>
  );
}

interface RowProps {
  market: Market & Fresh;
  index: number;
  isChosen: boolean;
  room: number;
  apart: string | undefined;
}

function Row({ market, index, isChosen, room, apart }: RowProps) {
  const { outcomes, usd_basis: usd } = market;
  const [outcome] = outcomes;
  const quote = market.current_prices[outcome?.id ?? ''];
  const digits = priceDigits(market);
  return (
    <tr aria-rowindex={index + 2} class={isChosen ? 'chosen' : ''}>
      <td class="title">
        <Picture address={market.image_url} size={32} />
        <a href={marketAddress(market.id)} title={nameOf(market)}>
          <MarketName title={market.title} metadata={market.metadata} room={room} apart={apart} />
        </a>
        <span class="sub">
          <PlatformName platform={market.platform} />
          {market.status !== 'open' && <MarketStatus market={market} />}
          {market.event_id !== '' && market.event_name !== '' && market.event_name !== market.title && (
            <bdi>{eventName(market.event_name)}</bdi>
          )}
          <span class="wide">{market.category}</span>
          {market.trading_end_at !== null && (
            <span class="narrow">
              <Time at={market.trading_end_at} relative />
            </span>
          )}
          {outcomes.length > 0 && outcome?.id !== 'yes' && (
            <span>
              price of <bdi>{outcome?.name}</bdi>
            </span>
          )}
        </span>
      </td>
      <td class="number">
        <span class="price-pair">
          <Price value={quote?.price} digits={digits} strong />
          <Change value={market.price_24h_changes[outcome?.id ?? '']} digits={digits} />
        </span>
      </td>
      <td class="number wide">
        <Price value={quote?.bid} digits={digits} /> <span class="muted">/</span>{' '}
        <Price value={quote?.ask} digits={digits} />
      </td>
      <Amount value={market.volume_24h_usd} basis={usd.volume_24h} />
      <Amount value={market.volume_total_usd} basis={usd.volume_total} wide />
      <Amount value={market.liquidity_usd} basis={usd.liquidity} wide />
      <td class="number">
        <Time at={market.trading_end_at} relative />
      </td>
    </tr>
  );
}
