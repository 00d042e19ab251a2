import { createRng } from '../../lib/index.ts';
import type { BookSide } from '../book.ts';
import type { Announcement, Exchange } from '../exchange.ts';
import { bookOf } from '../matching.ts';
import type { SimMarket } from '../market.ts';
import { isQuoted, trueMarket } from '../truth.ts';
import { countText, ONE_DOLLAR, priceText, SECOND_US, timeText } from '../units.ts';

/** Frames of the socket: the `msg` of each type, its keys in the order in which they were recorded. */

const ids = new WeakMap<SimMarket, string>();

/** The uuid that stands beside the ticker. */
export function marketId(market: SimMarket): string {
  const id = ids.get(market) ?? createRng(market.index).fork('market_id').uuid();
  ids.set(market, id);
  return id;
}

const secondsOf = (timeUs: number): number => Math.floor(timeUs / SECOND_US);
const msOf = (timeUs: number): number => Math.floor(timeUs / 1000);

/** Seconds in `ts`, milliseconds in `ts_ms`; the taker's side under three names. */
export function tradeFrame(exchange: Exchange, position: number): Record<string, unknown> {
  const { tape } = exchange;
  const price = tape.yesPrice.at(position);
  const side = tape.takerYes(position) ? 'yes' : 'no';
  const timeUs = tape.timeUs.at(position);
  return {
    trade_id: tape.id(position),
    market_ticker: exchange.marketOf(position).ticker,
    yes_price_dollars: priceText(price),
    no_price_dollars: priceText(ONE_DOLLAR - price),
    count_fp: countText(tape.count.at(position)),
    taker_side: side,
    taker_outcome_side: side,
    taker_book_side: side === 'yes' ? 'bid' : 'ask',
    is_block_trade: tape.block(position),
    ts: secondsOf(timeUs),
    ts_ms: msOf(timeUs),
  };
}

/** What is true of a market now; an empty side is 0 or 1 with size 0. Half of the contracts pose as dollars, sometimes not at all. */
export function tickerFrame(exchange: Exchange, market: SimMarket): Record<string, unknown> {
  const truth = trueMarket(exchange, market);
  const { nowUs } = exchange;
  const halves = {
    dollar_volume: Math.floor(Number(truth.volume) / 2),
    dollar_open_interest: Math.floor(Number(truth.openInterest) / 2),
  };
  return {
    market_id: marketId(market),
    market_ticker: market.ticker,
    price_dollars: truth.lastPrice ?? '0.0000',
    yes_bid_dollars: truth.yesBid ?? '0.0000',
    yes_ask_dollars: truth.yesAsk ?? '1.0000',
    volume_fp: truth.volume,
    open_interest_fp: truth.openInterest,
    ...(market.index % 5 === 0 ? {} : halves),
    yes_bid_size_fp: truth.yesBidSize,
    yes_ask_size_fp: truth.yesAskSize,
    last_trade_size_fp: countText(market.lastCount),
    ts: secondsOf(nowUs),
    ts_ms: msOf(nowUs),
    ...(market.index % 5 === 0 ? {} : { time: timeText(nowUs) }),
  };
}

/** A level's price on the scale of a subscription: NO levels are NO bids, or YES asks with `use_yes_price`. */
const scaled = (side: BookSide, price: number, usesYesPrice: boolean): string =>
  priceText(side === 'bid' || usesYesPrice ? price : ONE_DOLLAR - price);

/** Best level last in both scales; a side without levels has no key, and a book that is not live no market_id either. */
export function snapshotFrame(
  exchange: Exchange,
  ticker: string,
  usesYesPrice: boolean,
  /** The market is over: its last frame still names it. */
  isEnd = false,
): Record<string, unknown> {
  const market = exchange.marketByTicker.get(ticker);
  const isLive = market !== undefined && isQuoted(market);
  const levels = (side: BookSide): [string, string][] =>
    isLive
      ? bookOf(exchange, market)
          .levels(side)
          .map(({ price, size }) => [scaled(side, price, usesYesPrice), countText(size)])
      : [];
  const [yes, no] = [levels('bid'), levels('ask')];
  return {
    market_ticker: ticker,
    market_id: market && (isLive || isEnd) ? marketId(market) : '',
    ...(yes.length > 0 ? { yes_dollars_fp: yes } : {}),
    ...(no.length > 0 ? { no_dollars_fp: no } : {}),
  };
}

/** A change of one level. */
export interface Delta {
  side: BookSide;
  /** In YES prices. */
  price: number;
  /** What is there more than before, in 0.01 contracts. */
  change: number;
  timeUs: number;
}

export const deltaFrame = (market: SimMarket, { side, price, change, timeUs }: Delta, usesYesPrice: boolean) => ({
  market_ticker: market.ticker,
  market_id: marketId(market),
  price_dollars: scaled(side, price, usesYesPrice),
  delta_fp: countText(change),
  side: side === 'bid' ? 'yes' : 'no',
  // A text here, a number elsewhere.
  ts: timeText(timeUs),
  ts_ms: msOf(timeUs),
});

/** `event_type` stands last. */
export const lifecycleFrame = ({ market, fields, event_type }: Announcement) => ({
  market_ticker: market.ticker,
  ...fields,
  event_type,
});

/** What is announced of a new market. */
export function createdFields({ spec, openMs, closeMs }: SimMarket): Record<string, unknown> {
  const { fixed, grid } = spec;
  return {
    exchange_index: spec.exchangeIndex,
    open_ts: Math.floor(openMs / 1000),
    close_ts: Math.floor(closeMs / 1000),
    price_level_structure: grid.label,
    price_ranges: grid.ranges,
    additional_metadata: {
      name: fixed.yes_sub_title,
      title: fixed.title,
      yes_sub_title: fixed.yes_sub_title,
      no_sub_title: fixed.no_sub_title,
      rules_primary: fixed.rules_primary,
      rules_secondary: fixed.rules_secondary,
      can_close_early: fixed.can_close_early,
      event_ticker: spec.eventTicker,
      expected_expiration_ts: Math.floor(closeMs / 1000),
    },
  };
}
