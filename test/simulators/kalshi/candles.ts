import { divideHalfUp } from '../lib/index.ts';
import { easternMidnight } from './eastern.ts';
import type { Exchange } from './exchange.ts';
import type { SimMarket } from './market.ts';
import { mix32 } from './tape.ts';
import { countText, NO_ASK, NO_BID, priceText, SECOND_US } from './units.ts';

/** Minutes. */
export type Period = 1 | 60 | 1440;

interface Bar {
  open: number;
  high: number;
  low: number;
  close: number;
}

/** One period: everything that happened after its start, up to and including its end. */
export interface Candle {
  endTs: number;
  bid: Bar;
  ask: Bar;
  /** null when nothing traded on the book. */
  price: (Bar & { mean: number }) | null;
  /** Last price before the period; 0 = none. */
  previous: number;
  volume: number;
  openInterest: number;
}

/** The first end of a period at or after an instant, Unix seconds. Days end at midnight US Eastern. */
const periodEnd = (seconds: number, period: Period): number =>
  period === 1440 ? easternMidnight(seconds) : Math.ceil(seconds / (period * 60)) * period * 60;

/**
 * Candles with startTs ≤ end ≤ endTs, oldest first. Periods in which nothing moved are sometimes sent and sometimes left
 * out, by minute and hour; days are all sent. Before the market opened and after it closed there are none, nor where trades are forgotten.
 */
export function candlesOf(
  exchange: Exchange,
  market: SimMarket,
  period: Period,
  startTs: number,
  endTs: number,
): Candle[] {
  if (market.quoteTimes.length === 0) return [];
  const lastUs = Math.min(exchange.nowUs, market.closeMs * 1000);
  const last = Math.min(endTs, periodEnd(Math.ceil(lastUs / SECOND_US), period));
  const candles: Candle[] = [];
  const { from = Infinity, to = -Infinity } = market.course.forgotten ?? {};
  let end = periodEnd(Math.max(startTs, Math.ceil(market.quoteTimes.at(0) / SECOND_US)), period);
  for (; end <= last; end = periodEnd(end + 1, period)) {
    const startTs = previousEnd(end, period);
    if (startTs * SECOND_US < to && end * SECOND_US >= from) continue;
    const candle = candleAt(exchange, market, startTs, end);
    if (candle.moved || period === 1440 || mix32(end + market.index) % 4 === 0) candles.push(candle.candle);
  }
  return candles;
}

/** A day before an Eastern midnight is 23, 24 or 25 hours long. */
const previousEnd = (end: number, period: Period): number =>
  period === 1440 ? easternMidnight(end - 26 * 3600) : end - period * 60;

function candleAt(
  exchange: Exchange,
  market: SimMarket,
  startTs: number,
  endTs: number,
): { candle: Candle; moved: boolean } {
  const first = market.printsUpTo(startTs * SECOND_US);
  const past = market.printsUpTo(endTs * SECOND_US);
  const quote = market.quoteIndexAt(startTs * SECOND_US);
  const lastQuote = market.quoteIndexAt(endTs * SECOND_US);
  const candle: Candle = {
    endTs,
    bid: quoteBar((at) => market.quoteBids.at(at), quote, lastQuote, NO_BID),
    ask: quoteBar((at) => market.quoteAsks.at(at), quote, lastQuote, NO_ASK),
    price: priceBar(exchange, market, first, past),
    previous: market.lastPriceAfter(first),
    volume: market.volumeAfter(past) - market.volumeAfter(first),
    openInterest: market.openInterestAfter(past),
  };
  return { candle, moved: past > first || lastQuote > quote };
}

/** From the quote in force at the start to the last one of the period. */
function quoteBar(value: (at: number) => number, before: number, last: number, none: number): Bar {
  const open = before < 0 ? none : value(before);
  const bar: Bar = { open, high: open, low: open, close: open };
  for (let at = before + 1; at <= last; at++) {
    bar.close = value(at);
    bar.high = Math.max(bar.high, bar.close);
    bar.low = Math.min(bar.low, bar.close);
  }
  return bar;
}

/** Prints `first` (included) to `past` (excluded) of a market, block trades among them. */
function priceBar(exchange: Exchange, market: SimMarket, first: number, past: number): Candle['price'] {
  const { tape } = exchange;
  let bar: Bar | null = null;
  let notional = 0n;
  let count = 0n;
  for (let at = first; at < past; at++) {
    const position = market.prints.at(at);
    const price = tape.yesPrice.at(position);
    bar ??= { open: price, high: price, low: price, close: price };
    bar.high = Math.max(bar.high, price);
    bar.low = Math.min(bar.low, price);
    bar.close = price;
    notional += BigInt(price) * BigInt(tape.count.at(position));
    count += BigInt(tape.count.at(position));
  }
  return bar && { ...bar, mean: Number(divideHalfUp(notional, count)) };
}

const quotes = (bar: Bar, suffix: string): Record<string, string> => ({
  [`open${suffix}`]: priceText(bar.open),
  [`low${suffix}`]: priceText(bar.low),
  [`high${suffix}`]: priceText(bar.high),
  [`close${suffix}`]: priceText(bar.close),
});

/** The live form: names end in `_dollars` and `_fp`, what is not known is left out. */
export function candleWire(candle: Candle): Record<string, unknown> {
  const { price, previous } = candle;
  return {
    end_period_ts: candle.endTs,
    yes_bid: quotes(candle.bid, '_dollars'),
    yes_ask: quotes(candle.ask, '_dollars'),
    price: {
      ...(price ? { ...quotes(price, '_dollars'), mean_dollars: priceText(price.mean) } : {}),
      ...(previous > 0 ? { previous_dollars: priceText(previous) } : {}),
    },
    volume_fp: countText(candle.volume),
    open_interest_fp: countText(candle.openInterest),
  };
}

/** The historical form: names without suffix, and null for what is not known. */
export function historicalCandleWire(candle: Candle): Record<string, unknown> {
  const { price, previous } = candle;
  const none = { open: null, low: null, high: null, close: null, mean: null };
  return {
    end_period_ts: candle.endTs,
    yes_bid: quotes(candle.bid, ''),
    yes_ask: quotes(candle.ask, ''),
    price: {
      ...(price ? { ...quotes(price, ''), mean: priceText(price.mean) } : none),
      previous: previous > 0 ? priceText(previous) : null,
    },
    volume: countText(candle.volume),
    open_interest: countText(candle.openInterest),
  };
}

/** What include_latest_before_start puts in front: no trade, the last price, the quotes in force. null when never traded. */
export function candleBefore(market: SimMarket, startTs: number, period: Period): Candle | null {
  const prints = market.printsUpTo(startTs * SECOND_US);
  const previous = market.lastPriceAfter(prints);
  const { from = Infinity, to = -Infinity } = market.course.forgotten ?? {};
  if (previous === 0 || (startTs * SECOND_US < to && startTs * SECOND_US >= from)) return null;
  const quote = market.quoteIndexAt(startTs * SECOND_US);
  return {
    endTs: periodEnd(startTs + 1, period),
    bid: quoteBar((at) => market.quoteBids.at(at), quote, quote, NO_BID),
    ask: quoteBar((at) => market.quoteAsks.at(at), quote, quote, NO_ASK),
    price: null,
    previous,
    volume: 0,
    openInterest: market.openInterestAfter(prints),
  };
}
