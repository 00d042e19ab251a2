import {
  badRequest,
  commaList,
  cursorPart,
  flag,
  integer,
  isLive,
  limitOf,
  listReply,
  liveMarket,
  notFound,
  ok,
  pageDown,
  timeUs,
  type Call,
  type PublicRoute,
} from './call.ts';
import { json, type SimReply } from '../lib/index.ts';
import type { MarketStatus, SimMarket } from './market.ts';
import { bookWire, marketJson, tradeJson } from './render.ts';

/** The words of the status filter are not the words of the answer. */
const STATUS_FILTER: Record<string, readonly MarketStatus[]> = {
  unopened: ['initialized'],
  open: ['active'],
  paused: ['inactive'],
  closed: ['closed', 'determined', 'disputed', 'amended'],
  settled: ['finalized'],
};

export function statusFilter(call: Call): readonly MarketStatus[] | null {
  const word = call.query.get('status');
  if (word === null || word === '') return null;
  const statuses = STATUS_FILTER[word];
  if (!statuses) throw badRequest('invalid status filter');
  return statuses;
}

/** Bounds of one family of times; the families exclude one another and go with some statuses only. */
interface TimeFamily {
  keys: readonly string[];
  statuses: readonly string[];
  of(market: SimMarket): number | null;
}

const TIME_FAMILIES: readonly TimeFamily[] = [
  { keys: ['min_created_ts', 'max_created_ts'], statuses: ['unopened', 'open'], of: (one) => one.spec.createdUs },
  { keys: ['min_close_ts', 'max_close_ts'], statuses: ['closed'], of: (one) => one.closeMs * 1000 },
  { keys: ['min_settled_ts', 'max_settled_ts'], statuses: ['settled'], of: (one) => one.settledUs },
  { keys: ['min_updated_ts'], statuses: [], of: (one) => one.updatedUs },
];

function timeFilter(call: Call): (market: SimMarket) => boolean {
  const used = TIME_FAMILIES.filter(({ keys }) => keys.some((key) => integer(call, key) !== null));
  const [family] = used;
  if (!family) return () => true;
  const status = call.query.get('status');
  if (used.length > 1) throw badRequest('timestamp filters are mutually exclusive');
  if (status && !family.statuses.includes(status)) throw badRequest('timestamp filter does not go with this status');
  if (family.keys[0] === 'min_updated_ts' && !updatedOnly(call)) {
    throw badRequest('min_updated_ts needs mve_filter=exclude and allows only series_ticker beside it');
  }
  const low = timeUs(call, family.keys[0] as string) ?? -Infinity;
  const high = (family.keys[1] === undefined ? null : timeUs(call, family.keys[1])) ?? Infinity;
  return (market) => {
    const at = family.of(market);
    return at !== null && at >= low && at <= high;
  };
}

const updatedOnly = (call: Call): boolean =>
  call.query.get('mve_filter') === 'exclude' &&
  ['event_ticker', 'tickers', 'status'].every((key) => call.query.get(key) === null);

/** The tickers a market must be among: literal texts, so that a renamed series does not find its old markets. */
function tickerFilter(call: Call): (market: SimMarket) => boolean {
  const tickers = commaList(call, 'tickers');
  const wanted = tickers && new Set(tickers);
  const event = call.query.get('event_ticker');
  const series = call.query.get('series_ticker');
  if (event?.includes(',')) throw badRequest('event_ticker takes one ticker');
  return ({ spec }) =>
    (!wanted || wanted.has(spec.ticker)) &&
    (!event || spec.eventTicker === event) &&
    (!series || spec.eventTicker.startsWith(`${series}-`));
}

function mveFilter(call: Call): 'only' | 'exclude' | null {
  const word = call.query.get('mve_filter');
  if (word !== null && word !== 'only' && word !== 'exclude') throw badRequest('invalid mve_filter');
  return word;
}

/** A page of markets, newest first. Combos are taken off a page after it was cut: it may be short, even empty. */
function marketPage(call: Call, keep: (market: SimMarket) => boolean): SimReply {
  const { exchange } = call;
  const mve = mveFilter(call);
  const isCombo = (market: SimMarket): boolean => exchange.eventOf(market).spec.combo;
  const { positions, cursor } = pageDown(call, {
    start: exchange.born.markets,
    limit: limitOf(call, 1000, 100),
    keep: (position) => {
      const market = exchange.marketAt(position);
      return market !== undefined && keep(market) && (mve !== 'only' || isCombo(market));
    },
  });
  const markets = positions.map((position) => exchange.marketAt(position) as SimMarket);
  const shown = markets.filter((market) => mve !== 'exclude' || !isCombo(market));
  return listReply(
    'markets',
    shown.map((market) => marketJson(exchange, market)),
    cursorPart(cursor),
  );
}

function listMarkets(call: Call): SimReply {
  const { exchange } = call;
  const statuses = statusFilter(call);
  const named = tickerFilter(call);
  const timed = timeFilter(call);
  return marketPage(
    call,
    (market) =>
      isLive(exchange, market) && (!statuses || statuses.includes(market.status)) && named(market) && timed(market),
  );
}

/** Trades newest first, within the tier's times. */
function tradePage(call: Call, tier: { fromUs: number; beforeUs: number }): SimReply {
  const { exchange } = call;
  const { tape } = exchange;
  const ticker = call.query.get('ticker');
  const block = call.query.get('is_block_trade') === null ? null : flag(call, 'is_block_trade');
  const minUs = Math.max(timeUs(call, 'min_ts') ?? -Infinity, tier.fromUs);
  const shownUs = exchange.tapeDelayMs === 0 ? Infinity : exchange.nowUs - exchange.tapeDelayMs * 1000;
  const maxUs = Math.min(timeUs(call, 'max_ts') ?? Infinity, tier.beforeUs - 1, shownUs);
  const market = ticker ? exchange.marketByTicker.get(ticker) : undefined;
  if (ticker && !market) return listReply('trades', [], cursorPart(''));
  const place = (position: number): number => (market ? market.prints.at(position) : position);
  const rows = market?.course ?? tape.rows;
  const { positions, cursor } = pageDown(call, {
    start: rows.countUpTo(maxUs),
    limit: limitOf(call, 1000, 100),
    before: (position) => rows.before(position),
    until: (position) => tape.timeUs.at(place(position)) < minUs,
    keep: (position) =>
      tape.timeUs.at(place(position)) <= maxUs && (block === null || tape.block(place(position)) === block),
  });
  return listReply(
    'trades',
    positions.map((position) => tradeJson(exchange, place(position))),
    cursorPart(cursor),
  );
}

function orderbooks(call: Call): SimReply {
  const tickers = call.query.getAll('tickers');
  if (tickers.length < 1 || tickers.length > 100) throw badRequest('1 to 100 tickers');
  const { exchange } = call;
  const known = tickers.flatMap((ticker) => exchange.marketByTicker.get(ticker) ?? []);
  return ok({
    orderbooks: known
      .filter((market) => isLive(exchange, market))
      .map((market) => ({ ticker: market.ticker, orderbook_fp: bookWire(exchange, market, 0) })),
  });
}

function orderbook(call: Call): SimReply {
  const depth = integer(call, 'depth') ?? 0;
  if (depth < 0 || depth > 100) throw badRequest('invalid depth');
  const market = liveMarket(call.exchange, call.params[0] ?? '');
  return ok({ orderbook_fp: bookWire(call.exchange, market, depth) });
}

function historicalMarkets(call: Call): SimReply {
  const filters = ['tickers', 'event_ticker', 'series_ticker'].filter((key) => call.query.get(key));
  if (filters.length > 1) throw badRequest('tickers, event_ticker and series_ticker are mutually exclusive');
  if (call.query.get('mve_filter') === 'only') throw badRequest('invalid mve_filter');
  const named = tickerFilter(call);
  return marketPage(call, (market) => call.exchange.isArchived(market) && named(market));
}

function historicalMarket(call: Call): SimReply {
  const market = call.exchange.marketByTicker.get(call.params[0] ?? '');
  if (!market || !call.exchange.isArchived(market)) throw notFound();
  return json(200, `{"market":${marketJson(call.exchange, market)}}`);
}

const tradesFrom = (call: Call): number => call.exchange.cutoff.tradesCreatedMs * 1000;

export const marketRoutes: readonly PublicRoute[] = [
  { method: 'GET', path: '/markets', handle: listMarkets },
  {
    method: 'GET',
    path: '/markets/trades',
    handle: (call) => tradePage(call, { fromUs: tradesFrom(call), beforeUs: Infinity }),
  },
  { method: 'GET', path: '/markets/orderbooks', handle: orderbooks },
  { method: 'GET', path: '/markets/{}/orderbook', handle: orderbook },
  {
    method: 'GET',
    path: '/markets/{}',
    handle: (call) =>
      json(200, `{"market":${marketJson(call.exchange, liveMarket(call.exchange, call.params[0] ?? ''))}}`),
  },
  { method: 'GET', path: '/historical/markets', handle: historicalMarkets },
  { method: 'GET', path: '/historical/markets/{}', handle: historicalMarket },
  {
    method: 'GET',
    path: '/historical/trades',
    handle: (call) => tradePage(call, { fromUs: -Infinity, beforeUs: tradesFrom(call) }),
  },
];
