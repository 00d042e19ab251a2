import type { Price, Size, Usd } from './decimal.ts';
import { ADDRESS } from './text.ts';

/** What adapters, ingestion, storage and routes share. Times are ISO-8601 UTC with milliseconds unless noted otherwise. */
export const PLATFORMS = ['kalshi', 'polymarket', 'limitless'] as const;
export type Platform = (typeof PLATFORMS)[number];
export const PLATFORM_NAMES: Readonly<Record<Platform, string>> = {
  kalshi: 'Kalshi',
  polymarket: 'Polymarket',
  limitless: 'Limitless',
};

/** Unit of each platform's volumes. */
export const VOLUME_BASIS: Readonly<Record<Platform, 'contracts' | 'usd'>> = {
  kalshi: 'contracts',
  polymarket: 'usd',
  limitless: 'usd',
};

export const MARKET_STATUSES = ['unopened', 'open', 'paused', 'closed', 'settled'] as const;
export type MarketStatus = (typeof MARKET_STATUSES)[number];
/** Whether trading in a market has ended: it is closed or settled. */
export const hasEnded = ({ status }: { status: string }): boolean => status === 'closed' || status === 'settled';

/** What a person may say of two questions, from the first market to the second. */
export const STATED_RELATIONS = ['identical', 'complement', 'subset', 'superset', 'overlap', 'disjoint'] as const;
/** How two questions relate, from the first market to the second. */
export const RELATIONS = [...STATED_RELATIONS, 'unknown'] as const;
export type Relation = (typeof RELATIONS)[number];
/** Whose verdict on a pair counts: the user's own, else the operator's, else that of the rules. */
export const VERDICT_BY = ['rules', 'user', 'operator'] as const;
export type VerdictBy = (typeof VERDICT_BY)[number];

const MARKET_TYPES = ['binary', 'multiple_choice', 'scalar'] as const;
export type MarketType = (typeof MARKET_TYPES)[number];

export type Side = 'buy' | 'sell';
export type JsonObject = { [key: string]: unknown };

/** One outcome of a market. Array order is the platform's own; the first is the one prices and bars are quoted in. */
export interface Outcome {
  /** Stable once stored: `yes`, `no`, or a kebab form of the name. */
  id: string;
  name: string;
  /** ERC-1155 token id as a decimal string of up to 78 digits; '' where the platform has none. */
  tokenId: string;
}

/** Price, best bid and best ask of one outcome; null is unknown, 0 is a value. */
export interface Quote {
  price: Price | null;
  bid: Price | null;
  ask: Price | null;
}

/** Slowly changing facts of a market: rewritten only when they change. */
export interface MarketInfo {
  platform: Platform;
  /** Storage reference: Kalshi ticker, Polymarket condition id (or `gamma:<id>` while it has none), Limitless slug. */
  ref: string;
  /** The id users see: Kalshi ticker, Polymarket Gamma id, Limitless slug. */
  platformId: string;
  title: string;
  marketType: MarketType;
  outcomes: Outcome[];
  eventId: string;
  eventName: string;
  seriesId: string;
  slug: string;
  description: string;
  /** Display name, '' when the platform names none; see src/platforms/categories.ts. */
  category: string;
  categorySlug: string;
  subcategory: string | null;
  tags: string[];
  sourceUrl: string;
  imageUrl: string;
  createdAt: string | null;
  tradingStartAt: string | null;
  tradingEndAt: string | null;
  resolutionDate: string | null;
  resolutionCriteria: string;
  resolutionSource: string;
  /** Free-form platform facts that rarely change (tick size, token ids, fee schedule, strike …), in output form. */
  metadata: JsonObject;
}

/** Facts that change with trading: written on every sweep that sees a change. */
export interface MarketState {
  status: MarketStatus;
  resolvedAt: string | null;
  /** One quote per outcome, in the order of MarketInfo.outcomes. */
  quotes: Quote[];
  /** USD, or contracts on Kalshi (see metadata.volume_basis). */
  volume24h: Usd | null;
  volume7d: Usd | null;
  volume30d: Usd | null;
  volume1y: Usd | null;
  volumeTotal: Usd | null;
  /** USD of collateral in the order book; null until the book of an open market has been read. */
  liquidity: Usd | null;
  /** USD of collateral on the best levels, where `liquidity` counts the whole book; absent until that was read. */
  bestLevel?: Usd;
  openInterest: Usd | null;
  /** Reported change of the first outcome's price over 24 h and 7 d; null = computed from stored snapshots. */
  priceChange24h: Price | null;
  priceChange7d: Price | null;
  /** Free-form platform facts that move (result, payouts, last_trade_price, accepting_orders …), in output form. */
  metadata: JsonObject;
}

/** An event as its platform describes it, without its markets. Its totals are computed from the markets when queried. */
export interface EventRecord {
  platform: Platform;
  /** Kalshi event ticker, Polymarket event id, Limitless slug of a group. */
  eventId: string;
  /** '' without a series. */
  seriesId: string;
  /** Its name in URLs; '' if it has none. */
  slug: string;
  title: string;
  category: string;
  categorySlug: string;
  tags: string[];
  /** Whether at most one of its markets can pay; null if not reported. */
  mutuallyExclusive: boolean | null;
  imageUrl: string;
  sourceUrl: string;
  /** MarketInfo.platformId of its markets in the platform's order; [] where the body does not list them. */
  marketIds: readonly string[];
}

/** A series: events or markets that recur. */
export interface SeriesRecord {
  platform: Platform;
  /** Kalshi series ticker, Polymarket series id, Limitless stable slug. */
  seriesId: string;
  title: string;
  category: string;
  categorySlug: string;
  /** How often it recurs, as worded by the platform; a number and a unit (5m, 4h) or hourly, daily … for Limitless. null if unknown. */
  frequency: string | null;
}

/** One market as an adapter's pure mapper returns it. */
export interface MarketRecord {
  info: MarketInfo;
  state: MarketState;
  /** The platform's own objects as received: {market, event?, series?, group?}. */
  raw: JsonObject;
  /** When the body this record came from was received. */
  fetchedAt: string;
  /** Its event and series, as described by their own responses; absent if these were not read. */
  event?: EventRecord;
  series?: SeriesRecord;
  /** Whether its event, which states part of its title and the event's id, could not be read. */
  lacksEvent?: true;
  /** Figures from stored trades that the platform does not report; absent if it reports all. */
  fromTrades?: FromTrades;
}

interface FromTrades {
  /** Rolling volumes; the trades are complete as far as the global feed, or the market's own feed. */
  volumes: 'feed' | 'market';
}

/** The user behind a trade, if the platform names one. */
interface Trader {
  address: string;
  name: string;
  pseudonym: string;
  profileImage: string;
}

/** One fill, counted once, seen from its taker. */
export interface TradeRecord {
  platform: Platform;
  /** MarketInfo.ref of its market. */
  ref: string;
  tradeId: string;
  /** Unix microseconds. */
  executedAtUs: number;
  side: Side;
  /** Outcome id, and its index in MarketInfo.outcomes. */
  outcome: string;
  outcomeIndex: number;
  /** Outcomes of its market: with 2, both share one price series (a second outcome at q is 1 − q). */
  outcomeCount: number;
  /** In terms of the outcome traded. */
  price: Price;
  size: Size;
  /** 0x-prefixed, lower case; '' if there is none. */
  transactionHash: string;
  trader: Trader | null;
  isBlockTrade: boolean;
  /** USD exchanged as reported by the platform; null if not reported (then price × size). */
  quoteUsd: Usd | null;
  /** When the page with it was received, ISO-8601; absent if not known. */
  receivedAt?: string;
}

/** The price series that a trade counts in: both outcomes of a market of two share series 0. */
export const seriesOf = ({ outcomeCount, outcomeIndex }: TradeRecord): number => (outcomeCount <= 2 ? 0 : outcomeIndex);

/** The taker's address in lower case; '' if the trade names none. */
export const takerOf = ({ trader }: TradeRecord): string =>
  trader && ADDRESS.test(trader.address) ? trader.address.toLowerCase() : '';

/** Open, high, low, close; null together when nothing traded or nothing was quoted. */
export interface Ohlc {
  open: Price | null;
  high: Price | null;
  low: Price | null;
  close: Price | null;
}

export const CANDLE_INTERVALS_MIN = [1, 60, 1440] as const;
/** Widths of the buckets of metrics/historical. */
export const INTERVAL_SECONDS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '4h': 14_400, '1d': 86_400 } as const;

/** A platform's own bar of a market's first outcome. */
export interface CandleRecord {
  platform: Platform;
  ref: string;
  intervalMin: 1 | 60;
  /** Bucket start, Unix seconds, a multiple of the interval in UTC. */
  startTs: number;
  price: Ohlc;
  /** Close of the last trade before the bucket, if reported: the price to carry forward when nothing traded. */
  previousClose: Price | null;
  bid: Ohlc;
  ask: Ohlc;
  /** Contracts; null if the platform's bars have no volume. */
  volume: Size | null;
  openInterest: Usd | null;
  /** Volume-weighted mean price, if reported. */
  mean: Price | null;
  /** What the price is: executed trades, or samples of the midpoint. */
  source: 'trades' | 'midpoint';
}

export interface BookLevel {
  price: Price;
  size: Size;
}

/** A changed level: the size now at this price, 0 for none. */
export interface BookChange extends BookLevel {
  side: 'bid' | 'ask';
}

/** Bids descending, asks ascending, no empty levels, equal prices merged. */
export interface BookSide {
  bids: BookLevel[];
  asks: BookLevel[];
  /** The middle of the levels that earn rewards, as the platform states it of this whole book; absent if it does not. */
  adjustedMidpoint?: Price | undefined;
}

export interface OrderBook {
  platform: Platform;
  platformId: string;
  /** The platform's own time of the book, else when we received it. */
  timestamp: string;
  /** The platform's own time of the book; null if it gives none. */
  exchangeAt: string | null;
  /** First outcome, second outcome. */
  yes: BookSide;
  no: BookSide;
  minOrderSize: Size | null;
  tickSize: Price | null;
  negRisk: boolean;
  /** In terms of the first outcome; null if nothing traded, or if not reported. */
  lastTradePrice: Price | null;
  /** How many levels the platform sent that could not be read. */
  leftOut: number;
  raw: JsonObject;
}

/** `kalshi:KXTEST-1` and the like: the unified market id. */
export const unifiedId = (platform: Platform, platformId: string): string => `${platform}:${platformId}`;

/** Scopes of API keys: `read` for queries, `trade` for changes. */
export const SCOPES = ['read', 'trade'] as const;
export type Scope = (typeof SCOPES)[number];

/** A finished run of an ingestion job. */
export interface FinishedRun {
  platform: Platform;
  job: string;
  ok: boolean;
  seconds: number;
  /** Up to when its data is complete; null while that is not known. */
  freshTo: Date | null;
  rows: number;
  badRows: number;
  /** Fields that were left out of rows which were kept. */
  badFields: number;
}
