import type { CandleRecord, Ohlc } from '../../core/model.ts';
import { quotedPrice } from '../market-fields.ts';
import type { KalshiBar, KalshiCandle } from './wire.ts';

const ohlc = (bar: KalshiBar): Ohlc => ({
  open: bar.open_dollars ?? bar.open ?? null,
  high: bar.high_dollars ?? bar.high ?? null,
  low: bar.low_dollars ?? bar.low ?? null,
  close: bar.close_dollars ?? bar.close ?? null,
});

function quotes(bar: KalshiBar): Ohlc {
  const { open, high, low, close } = ohlc(bar);
  return { open: quotedPrice(open), high: quotedPrice(high), low: quotedPrice(low), close: quotedPrice(close) };
}

/**
 * Kalshi's bar, dated by its start instead of its inclusive end. A bar without trades has no price, only a previous close. Null if
 * the end is not a UTC multiple of the interval.
 */
export function mapKalshiCandle(ticker: string, intervalMin: 1 | 60, candle: KalshiCandle): CandleRecord | null {
  const seconds = intervalMin * 60;
  if (candle.end_period_ts % seconds !== 0) return null;
  const previous = candle.price.previous_dollars ?? candle.price.previous ?? null;
  return {
    platform: 'kalshi',
    ref: ticker,
    intervalMin,
    startTs: candle.end_period_ts - seconds,
    price: ohlc(candle.price),
    previousClose: previous === 0n ? null : previous,
    bid: quotes(candle.yes_bid),
    ask: quotes(candle.yes_ask),
    volume: candle.volume_fp ?? candle.volume ?? null,
    openInterest: candle.open_interest_fp ?? candle.open_interest ?? null,
    mean: candle.price.mean_dollars ?? candle.price.mean ?? null,
    source: 'trades',
  };
}
