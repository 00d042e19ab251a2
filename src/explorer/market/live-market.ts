import { useEffect, useRef, useState } from 'preact/hooks';
import type { Market, OrderBook, Trade } from '../parts/answers.ts';
import { useApi, type Loaded } from '../parts/api.ts';
import { difference, sum } from '../parts/exact.ts';
import { BESIDE_STREAM_MS, CHECK_MS, POLL_MS, useFrame, useStream } from '../parts/live.ts';
import type { StreamEvents } from '../parts/socket.ts';

type Level = OrderBook['yes']['bids'][number];
type Side = OrderBook['yes'];

const KEPT_TRADES = 100;
const KEPT_GAPS = 5;

export type Gap = StreamEvents['gap'];

interface LiveMarket {
  market: Market | undefined;
  /** The market as last polled, without prices from the stream. */
  stored: Market | undefined;
  /** No such market is stored: nothing more is requested. */
  isMissing: boolean;
  asked: Loaded<unknown>;
  book: OrderBook | undefined;
  bookAsked: Loaded<unknown>;
  trades: readonly Trade[];
  tradesAsked: Loaded<unknown>;
  /** The latest gaps in the book and in the platform's events. */
  gaps: readonly Gap[];
  /** Up to when the stored trades are complete. */
  tradesFreshTo: string | null;
  /** Since when every trade of the market is stored; null if that is not known, undefined while loading. */
  tradesSince: string | null | undefined;
}

/** One live market: state, book and trades from one stream; each is polled while the stream does not deliver it. */
export function useLiveMarket(platform: string, id: string): LiveMarket {
  const unified = `${platform}:${id}`;
  const own = useRef(fresh());
  if (own.current.of !== unified) own.current = { ...fresh(), of: unified };
  const state = own.current;
  const redraw = useFrame();
  const [isMissing, setMissing] = useState(false);
  const live = useStream(
    isMissing ? null : { channels: ['trades', 'quotes', 'books', 'markets'], market_ids: unified },
    {
      quote: ({ prices }) => {
        state.prices = prices;
        redraw();
      },
      book: (book) => {
        state.book = book;
        state.bookStreams = true;
        redraw();
      },
      book_change: (change) => {
        if (state.book) state.book = changed(state.book, change);
        redraw();
      },
      gap: (gap) => {
        // A gap is sent when it begins, and again when its end is known.
        state.gaps = [gap, ...state.gaps.filter(({ from }) => from !== gap.from)].slice(0, KEPT_GAPS);
        if (gap.market_id !== undefined) state.bookStreams = false;
        redraw();
      },
      market: () => asked.reload(),
      state: ({ platforms }) => {
        state.freshTo = platforms[platform]?.fresh_to ?? null;
        redraw();
      },
      trade: (trade) => {
        state.trades = merged([trade], state.trades);
        redraw();
      },
    },
  );
  if (!live) {
    state.bookStreams = false;
    state.prices = null;
  }
  const place = isMissing ? null : { id, provider: platform };
  const asked = useApi('/v1/api/markets/id/{id}', place, live ? BESIDE_STREAM_MS : POLL_MS);
  const status = asked.failure?.status;
  useEffect(() => {
    if (status === 404 || status === 400) setMissing(true);
  }, [status]);
  const bookAsked = useApi('/v1/api/markets/id/{id}/orderbook', place, state.bookStreams ? 0 : POLL_MS);
  const params = { platform, market_id: id, min_size: 0, limit: KEPT_TRADES };
  const tradesAsked = useApi('/v1/api/trades/whales', isMissing ? null : params, live ? CHECK_MS : POLL_MS);

  const polled = bookAsked.data?.data;
  useEffect(() => {
    if (polled && !state.bookStreams) state.book = polled;
    redraw();
  }, [polled]);
  const stored = tradesAsked.data?.trades;
  useEffect(() => {
    if (stored) state.trades = merged(stored, state.trades);
    redraw();
  }, [stored]);

  const [market] = asked.data?.markets ?? [];
  return {
    market: market && live && state.prices ? { ...market, current_prices: state.prices } : market,
    stored: market,
    isMissing,
    gaps: state.gaps,
    asked,
    book: state.book ?? polled,
    // While the stream brings the book, a failed poll does not matter.
    bookAsked: state.bookStreams ? { ...bookAsked, failure: undefined } : bookAsked,
    trades: state.trades.length > 0 ? state.trades : (stored ?? []),
    tradesAsked,
    tradesSince: tradesAsked.data?.meta.complete_from,
    tradesFreshTo: (live ? state.freshTo : null) ?? tradesAsked.data?.meta.data_freshness ?? null,
  };
}

interface Own {
  of: string;
  prices: Market['current_prices'] | null;
  book: OrderBook | undefined;
  bookStreams: boolean;
  trades: readonly Trade[];
  gaps: readonly Gap[];
  freshTo: string | null;
}
const fresh = (): Own => ({
  of: '',
  prices: null,
  book: undefined,
  bookStreams: false,
  trades: [],
  gaps: [],
  freshTo: null,
});

/** Newest first, without duplicates. */
function merged(some: readonly Trade[], others: readonly Trade[]): readonly Trade[] {
  const byId = new Map([...others, ...some].map((trade) => [trade.trade_id, trade]));
  return [...byId.values()].toSorted((a, b) => executedAt(b).localeCompare(executedAt(a))).slice(0, KEPT_TRADES);
}

/** ISO-8601 with milliseconds; `timestamp` has whole seconds. */
export const executedAt = ({ metadata, timestamp }: Trade): string =>
  String(metadata['executed_at'] ?? new Date(timestamp * 1000).toISOString());

/** Applies a change of the first outcome to a book; the second outcome is its complement. */
function changed(book: OrderBook, change: StreamEvents['book_change']): OrderBook {
  let { bids, asks } = book.yes;
  for (const { side, price, size } of change.changes) {
    if (side === 'bid') bids = replaced(bids, { price, size }, (a, b) => b.price - a.price);
    else asks = replaced(asks, { price, size }, (a, b) => a.price - b.price);
  }
  const timestamp = change.exchange_at ?? change.received_at;
  return { ...book, timestamp, yes: sideOf(bids, asks), no: sideOf(complement(asks), complement(bids)) };
}

const complement = (levels: Level[]): Level[] =>
  levels.map(({ price, size }) => ({ price: difference(1, price), size }));

const replaced = (levels: Level[], level: Level, order: (a: Level, b: Level) => number): Level[] =>
  [...levels.filter(({ price }) => price !== level.price), ...(level.size > 0 ? [level] : [])].toSorted(order);

const sideOf = (bids: Level[], asks: Level[]): Side => ({
  bids,
  asks,
  depth: sum([...bids, ...asks].map(({ size }) => size)),
});
