import type { BookSide } from './book.ts';
import type { Exchange, SimEvent } from './exchange.ts';
import { bookOf } from './matching.ts';
import type { SimMarket } from './market.ts';
import type { SeriesSpec } from './series.ts';
import { isQuoted } from './truth.ts';
import { countText, DAY_US, NO_ASK, NO_BID, ONE_DOLLAR, priceText, timeText } from './units.ts';

/** The unchanging part of a market's JSON, kept because lists of a thousand are asked for again and again. */
const fixedParts = new WeakMap<SimMarket, string>();

function fixedPart(market: SimMarket): string {
  let part = fixedParts.get(market);
  if (part === undefined) {
    const { spec } = market;
    const whole = JSON.stringify({
      ticker: spec.ticker,
      event_ticker: spec.eventTicker,
      ...spec.fixed,
      created_time: timeText(spec.createdUs),
      ...(spec.provisional ? { is_provisional: true } : {}),
    });
    part = whole.slice(0, -1);
    fixedParts.set(market, part);
  }
  return part;
}

/** A Market object. Keys without a value are left out; a market that does not trade any more quotes 0 and 1. */
export function marketJson(exchange: Exchange, market: SimMarket): string {
  const book = isQuoted(market) ? bookOf(exchange, market) : null;
  const bid = book?.best('bid') ?? NO_BID;
  const ask = book?.best('ask') ?? NO_ASK;
  const dayAgoUs = exchange.nowUs - DAY_US;
  const quote = market.quoteIndexAt(dayAgoUs);
  const prints = market.printsUpTo(dayAgoUs);
  const settled =
    (market.value === null ? '' : `,"settlement_value_dollars":"${priceText(market.value)}"`) +
    (market.settledUs === null ? '' : `,"settlement_ts":"${timeText(market.settledUs)}"`);
  return (
    `${fixedPart(market)},"status":"${market.status}","result":"${market.result}"` +
    `,"expiration_value":${JSON.stringify(market.expirationValue)}${settled}` +
    `,"open_time":"${timeText(market.openMs * 1000)}","close_time":"${timeText(market.closeMs * 1000)}"` +
    `,"updated_time":"${timeText(market.updatedUs)}"` +
    `,"yes_bid_dollars":"${priceText(bid)}","yes_ask_dollars":"${priceText(ask)}"` +
    `,"no_bid_dollars":"${priceText(ONE_DOLLAR - ask)}","no_ask_dollars":"${priceText(ONE_DOLLAR - bid)}"` +
    `,"yes_bid_size_fp":"${countText(book?.bestSize('bid') ?? 0)}"` +
    `,"yes_ask_size_fp":"${countText(book?.bestSize('ask') ?? 0)}"` +
    `,"last_price_dollars":"${priceText(market.lastPrice)}"` +
    `,"previous_price_dollars":"${priceText(market.lastPriceAfter(prints))}"` +
    `,"previous_yes_bid_dollars":"${priceText(quote < 0 ? 0 : market.quoteBids.at(quote))}"` +
    `,"previous_yes_ask_dollars":"${priceText(quote < 0 ? 0 : market.quoteAsks.at(quote))}"` +
    `,"volume_fp":"${countText(market.volume)}"` +
    `,"volume_24h_fp":"${countText(market.volume - market.volumeAfter(prints))}"` +
    `,"open_interest_fp":"${countText(market.openInterest)}"}`
  );
}

/** A row of /markets/trades. */
export function tradeJson(exchange: Exchange, position: number): string {
  const { tape } = exchange;
  const price = tape.yesPrice.at(position);
  const yes = tape.takerYes(position);
  const side = yes ? 'yes' : 'no';
  return (
    `{"trade_id":"${tape.id(position)}","ticker":"${exchange.marketOf(position).ticker}"` +
    `,"count_fp":"${countText(tape.count.at(position))}","yes_price_dollars":"${priceText(price)}"` +
    `,"no_price_dollars":"${priceText(ONE_DOLLAR - price)}","taker_side":"${side}","taker_outcome_side":"${side}"` +
    `,"taker_book_side":"${yes ? 'bid' : 'ask'}","created_time":"${timeText(tape.timeUs.at(position))}"` +
    `,"is_block_trade":${tape.block(position)}}`
  );
}

/** An Event object; `nested` are the JSON texts of its markets. */
export function eventJson(event: SimEvent, options: { nested?: string[]; single: boolean }): string {
  // The single reply prints Go's zero time where the list has the real one.
  const updated = options.single ? '0001-01-01T00:00:00Z' : timeText(event.updatedUs);
  const whole = JSON.stringify({ ...event.spec.fixed, last_updated_ts: updated });
  return options.nested ? `${whole.slice(0, -1)},"markets":[${options.nested.join(',')}]}` : whole;
}

export function seriesWire(
  exchange: Exchange,
  series: SeriesSpec,
  include: { volume: boolean; productMetadata: boolean },
): Record<string, unknown> {
  return {
    ticker: series.ticker,
    title: series.title,
    category: series.category,
    categories: [series.category],
    tags: series.tags,
    frequency: series.frequency,
    settlement_sources: series.sources,
    contract_url: `https://example.com/contracts/${series.ticker}.pdf`,
    contract_terms_url: `https://example.com/terms/${series.ticker}.pdf`,
    fee_type: series.feeType,
    fee_multiplier: series.feeMultiplier,
    additional_prohibitions: null,
    last_updated_ts: seriesUpdated(series),
    exchange_index: series.exchangeIndex,
    ...(include.productMetadata && series.productMetadata ? { product_metadata: series.productMetadata } : {}),
    ...(include.volume ? { volume_fp: countText(seriesVolume(exchange, series)) } : {}),
  };
}

const seriesUpdated = (series: SeriesSpec): string =>
  timeText(Date.UTC(2026, 6, 1) * 1000 + series.ticker.length * 86_400_000_000 + 157_042);

const seriesVolume = (exchange: Exchange, series: SeriesSpec): number =>
  exchange.events
    .filter((event) => event.spec.series === series)
    .flatMap((event) => event.markets)
    .reduce((sum, market) => sum + market.volume, exchange.forgotten.seriesVolume.get(series) ?? 0);

/** Bids of both sides, ascending, best last; `depth` best ones, 0 = all. */
export function bookWire(
  exchange: Exchange,
  market: SimMarket,
  depth: number,
): { yes_dollars: [string, string][]; no_dollars: [string, string][] } {
  const side = (name: BookSide): [string, string][] => {
    const levels = isQuoted(market) ? bookOf(exchange, market).levels(name) : [];
    return levels
      .slice(depth === 0 ? 0 : -depth)
      .map(({ price, size }) => [priceText(name === 'bid' ? price : ONE_DOLLAR - price), countText(size)]);
  };
  return { yes_dollars: side('bid'), no_dollars: side('ask') };
}
