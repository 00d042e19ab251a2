import { bookOf } from './matching.ts';
import type { Exchange, SimEvent } from './exchange.ts';
import type { Holding, MarketResult, MarketStatus, SimMarket } from './market.ts';
import { countText, NO_ASK, NO_BID, priceText } from './units.ts';

/** What is true of a market. Prices and counts are exact decimal texts; null = there is none. */
export interface TrueMarket {
  ticker: string;
  eventTicker: string;
  seriesTicker: string;
  title: string;
  status: MarketStatus;
  result: MarketResult;
  /** Payout of one YES in dollars. */
  settlementValue: string | null;
  createdUs: number;
  openMs: number;
  closeMs: number;
  settledUs: number | null;
  updatedUs: number;
  exchangeIndex: number;
  provisional: boolean;
  combo: boolean;
  /** Only the historical endpoints know it. */
  archived: boolean;
  /** Forgotten by the platform: a provisional market that nobody traded. */
  vanished: boolean;
  /** Best quotes; null on an empty side and on every market that does not trade any more. */
  yesBid: string | null;
  yesBidSize: string;
  yesAsk: string | null;
  yesAskSize: string;
  lastPrice: string | null;
  /** Last price, best bid and best ask 24 hours ago. */
  previousPrice: string | null;
  /** Contracts. */
  volume: string;
  volume24h: string;
  openInterest: string;
}

export interface TrueTrade {
  tradeId: string;
  ticker: string;
  /** Unix microseconds. */
  timeUs: number;
  yesPrice: string;
  noPrice: string;
  /** Contracts. */
  count: string;
  takerSide: 'yes' | 'no';
  isBlockTrade: boolean;
  /** Only /historical/trades has it. */
  archived: boolean;
  /** Nicknames as the social endpoints show them; '' when that party is private. */
  maker: string;
  taker: string;
}

/** From `timeUs` on these were the best quotes. */
export interface TrueQuote {
  timeUs: number;
  yesBid: string | null;
  yesAsk: string | null;
}

export interface TrueEvent {
  ticker: string;
  seriesTicker: string;
  title: string;
  category: string;
  mutuallyExclusive: boolean;
  combo: boolean;
  feeMultiplier: number;
  markets: string[];
}

export interface TrueSeries {
  ticker: string;
  formerTicker: string | null;
  title: string;
  category: string;
  tags: string[] | null;
  feeType: string;
  feeMultiplier: number;
  exchangeIndex: number;
}

/** Whether the market shows quotes: it trades, or it is only paused. */
export const isQuoted = (market: SimMarket): boolean => market.status === 'active' || market.status === 'inactive';

const bidText = (price: number): string | null => (price === NO_BID ? null : priceText(price));
const askText = (price: number): string | null => (price === NO_ASK ? null : priceText(price));

export function trueMarket(exchange: Exchange, market: SimMarket): TrueMarket {
  const { spec } = market;
  const event = exchange.eventOf(market);
  const book = isQuoted(market) ? bookOf(exchange, market) : null;
  const dayAgo = market.lastPriceAfter(market.printsUpTo(exchange.nowUs - 86_400_000_000));
  return {
    ticker: spec.ticker,
    eventTicker: spec.eventTicker,
    seriesTicker: event.spec.series.ticker,
    title: String(spec.fixed.title),
    status: market.status,
    result: market.result,
    settlementValue: market.value === null ? null : priceText(market.value),
    createdUs: spec.createdUs,
    openMs: market.openMs,
    closeMs: market.closeMs,
    settledUs: market.settledUs,
    updatedUs: market.updatedUs,
    exchangeIndex: spec.exchangeIndex,
    provisional: spec.provisional,
    combo: event.spec.combo,
    archived: exchange.isArchived(market),
    vanished: market.vanished,
    yesBid: bidText(book?.best('bid') ?? NO_BID),
    yesBidSize: countText(book?.bestSize('bid') ?? 0),
    yesAsk: askText(book?.best('ask') ?? NO_ASK),
    yesAskSize: countText(book?.bestSize('ask') ?? 0),
    lastPrice: bidText(market.lastPrice),
    previousPrice: bidText(dayAgo),
    volume: countText(market.volume),
    volume24h: countText(market.volume24h(exchange.nowUs)),
    openInterest: countText(market.openInterest),
  };
}

export function trueTrade(exchange: Exchange, position: number): TrueTrade {
  const { tape } = exchange;
  const timeUs = tape.timeUs.at(position);
  const yesPrice = tape.yesPrice.at(position);
  return {
    tradeId: tape.id(position),
    ticker: exchange.marketOf(position).ticker,
    timeUs,
    yesPrice: priceText(yesPrice),
    noPrice: priceText(10_000 - yesPrice),
    count: countText(tape.count.at(position)),
    takerSide: tape.takerYes(position) ? 'yes' : 'no',
    isBlockTrade: tape.block(position),
    archived: timeUs < exchange.cutoff.tradesCreatedMs * 1000,
    maker: shownName(exchange, tape.maker.at(position)),
    taker: shownName(exchange, tape.taker.at(position)),
  };
}

/** The nickname beside a trade; '' unless the profile is public. */
export function shownName(exchange: Exchange, trader: number): string {
  const party = exchange.traders[trader];
  return party?.visibility === 'public' ? party.nickname : '';
}

/** Cash so far plus what the position is worth at the payout or the last price; in 1/10,000 dollar, towards zero. */
export function pnl(market: SimMarket, { cash, position }: Holding): number {
  const yes = market.value ?? market.lastPrice;
  // A NO contract is worth a dollar less the YES price; its cost was booked as the YES price received.
  return Math.trunc((cash + position * yes) / 100);
}

export function trueQuotes(market: SimMarket): TrueQuote[] {
  return Array.from(market.quotes.kept(), (at) => ({
    timeUs: market.quoteTimes.at(at),
    yesBid: bidText(market.quoteBids.at(at)),
    yesAsk: askText(market.quoteAsks.at(at)),
  }));
}

export const trueEvent = ({ spec, markets }: SimEvent): TrueEvent => ({
  ticker: spec.ticker,
  seriesTicker: spec.series.ticker,
  title: String(spec.fixed.title),
  category: spec.series.category,
  mutuallyExclusive: spec.fixed.mutually_exclusive === true,
  combo: spec.combo,
  feeMultiplier: spec.feeMultiplier,
  markets: markets.map((market) => market.ticker),
});

export const trueSeries = (exchange: Exchange): TrueSeries[] =>
  exchange.series.map((series) => ({
    ticker: series.ticker,
    formerTicker: series.formerTicker ?? null,
    title: series.title,
    category: series.category,
    tags: series.tags,
    feeType: series.feeType,
    feeMultiplier: series.feeMultiplier,
    exchangeIndex: series.exchangeIndex,
  }));
