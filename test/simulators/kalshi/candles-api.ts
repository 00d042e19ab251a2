import type { SimReply } from '../lib/index.ts';
import {
  badRequest,
  commaList,
  flag,
  integer,
  isLive,
  liveMarket,
  notFound,
  ok,
  type Call,
  type PublicRoute,
} from './call.ts';
import { candleBefore, candlesOf, candleWire, historicalCandleWire, type Candle, type Period } from './candles.ts';
import type { SimMarket } from './market.ts';

const MOST_PERIODS = 5000;
const MOST_BATCH_PERIODS = 10_000;

interface Span {
  startTs: number;
  endTs: number;
  period: Period;
  /** Periods the span can hold. */
  periods: number;
}

function spanOf(call: Call): Span {
  const startTs = integer(call, 'start_ts');
  const endTs = integer(call, 'end_ts');
  const period = integer(call, 'period_interval');
  if (startTs === null || endTs === null || period === null) throw badRequest('missing required parameter');
  if (period !== 1 && period !== 60 && period !== 1440) throw badRequest('invalid period_interval');
  if (endTs < startTs) throw badRequest('end_ts before start_ts');
  return { startTs, endTs, period, periods: Math.floor((endTs - startTs) / (period * 60)) };
}

function candles(call: Call, market: SimMarket, span: Span): Candle[] {
  const rows = candlesOf(call.exchange, market, span.period, span.startTs, span.endTs);
  if (!flag(call, 'include_latest_before_start')) return rows;
  const before = candleBefore(market, span.startTs, span.period);
  return before && before.endTs !== rows[0]?.endTs ? [before, ...rows] : rows;
}

function oneMarket(call: Call): SimReply {
  const span = spanOf(call);
  if (span.periods > MOST_PERIODS) throw badRequest('too many candlesticks');
  const market = liveMarket(call.exchange, call.params[1] ?? '');
  if (call.exchange.eventOf(market).spec.series.ticker !== call.params[0]) throw notFound();
  return ok({ ticker: market.ticker, candlesticks: candles(call, market, span).map(candleWire) });
}

function manyMarkets(call: Call): SimReply {
  const span = spanOf(call);
  const tickers = commaList(call, 'market_tickers');
  if (!tickers || tickers.length > 100) throw badRequest('1 to 100 market_tickers');
  if (tickers.length * span.periods > MOST_BATCH_PERIODS) throw badRequest('too many candlesticks');
  const known = tickers.flatMap((ticker) => call.exchange.marketByTicker.get(ticker) ?? []);
  return ok({
    markets: known
      .filter((market) => isLive(call.exchange, market))
      .map((market) => ({
        market_ticker: market.ticker,
        candlesticks: candles(call, market, span).map(candleWire),
      })),
  });
}

/** All markets of an event in parallel arrays; a reply that would grow too long ends earlier and says so. */
function wholeEvent(call: Call): SimReply {
  const span = spanOf(call);
  const event = call.exchange.eventByTicker.get(call.params[1] ?? '');
  if (!event || event.spec.series.ticker !== call.params[0]) throw notFound();
  const markets = event.markets.filter((market) => isLive(call.exchange, market));
  const each = Math.floor(MOST_PERIODS / Math.max(markets.length, 1));
  const endTs = Math.min(span.endTs, span.startTs + each * span.period * 60);
  return ok({
    market_tickers: markets.map((market) => market.ticker),
    market_candlesticks: markets.map((market) => candles(call, market, { ...span, endTs }).map(candleWire)),
    adjusted_end_ts: endTs,
  });
}

function archivedMarket(call: Call): SimReply {
  const span = spanOf(call);
  if (span.periods > MOST_PERIODS) throw badRequest('too many candlesticks');
  const market = call.exchange.marketByTicker.get(call.params[0] ?? '');
  if (!market || !call.exchange.isArchived(market)) throw notFound();
  return ok({ ticker: market.ticker, candlesticks: candles(call, market, span).map(historicalCandleWire) });
}

export const candleRoutes: readonly PublicRoute[] = [
  { method: 'GET', path: '/markets/candlesticks', handle: manyMarkets },
  { method: 'GET', path: '/series/{}/markets/{}/candlesticks', handle: oneMarket },
  { method: 'GET', path: '/series/{}/events/{}/candlesticks', handle: wholeEvent },
  { method: 'GET', path: '/historical/markets/{}/candlesticks', handle: archivedMarket },
];
