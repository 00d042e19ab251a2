import type { z } from 'zod';
import { FEED_LAG_MS } from '../stores/clickhouse/windows.ts';
import type { HistoryAnswer, HistoryItemAnswer } from '../schemas/metrics.ts';
import { type Bar, ohlcNumbers } from './bars.ts';
import { decimalNumber, midpoint, parsePrice, PRICE_SCALE, numberOfText, spreadOf } from '../core/decimal.ts';

type Item = z.infer<typeof HistoryItemAnswer>;
type Availability = z.infer<typeof HistoryAnswer>['data_availability'];
type NotionalMethod = z.infer<typeof HistoryAnswer>['meta']['notional_method'];

/** Whether a bucket has any data. */
export const isKnown = (bar: Bar): boolean =>
  bar.priced || bar.openInterest !== null || bar.bid.close !== null || bar.ask.close !== null;

/**
 * Bars as items of metrics/historical, with one notional method per answer: the trades' own, unless a bucket lacks trades that the
 * platform's bars contain. Missing trades in the newest buckets are only not read yet and do not change the method.
 */
export function historyItems(bars: readonly Bar[], nowMs: number): { items: Item[]; method: NotionalMethod } {
  const readTs = (nowMs - FEED_LAG_MS) / 1000;
  const old = bars.filter((bar) => bar.startTs <= readTs);
  const isEstimated = (old.length > 0 ? old : bars).some(
    (bar) => bar.notional === null && bar.platformNotional !== null,
  );
  const method = isEstimated ? 'platform_mean' : 'trades';
  return { items: bars.map((bar) => toItem(bar, method)), method };
}

function toItem(bar: Bar, method: NotionalMethod): Item {
  const notional = method === 'trades' ? bar.notional : bar.platformNotional;
  return {
    timestamp: bar.startTs,
    price: ohlcNumbers(bar.price),
    volume: numberOfText(bar.volume),
    open_interest: numberOfText(bar.openInterest),
    trade_count: bar.trades,
    notional_value: numberOfText(notional),
    liquidity: topOfBook(bar.bid.close, bar.ask.close),
  };
}

/** Best bid and ask of the first outcome, with exact spread and midpoint; null if a side is missing, or if they are crossed. */
export function topOfBook(bidText: string | null, askText: string | null): Item['liquidity'] {
  const [bid = null, ask = null] = [bidText, askText].map((text) => (text === null ? null : parsePrice(text)));
  return {
    best_bid: decimalNumber(bid, PRICE_SCALE),
    best_ask: decimalNumber(ask, PRICE_SCALE),
    spread: decimalNumber(spreadOf(bid, ask), PRICE_SCALE),
    midpoint: decimalNumber(midpoint(bid, ask), PRICE_SCALE),
  };
}

/** Which series have values in these items. */
export function availability(items: readonly Item[]): Availability {
  const has = (pick: (item: Item) => number | null): boolean => items.some((item) => pick(item) !== null);
  return {
    price: has((item) => item.price.close),
    volume: has((item) => item.volume),
    open_interest: has((item) => item.open_interest),
    liquidity: has((item) => item.liquidity.best_bid ?? item.liquidity.best_ask),
    trade_count: has((item) => item.trade_count),
    notional_value: has((item) => item.notional_value),
  };
}
