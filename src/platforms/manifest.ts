import type { Settings } from '../core/settings.ts';
import type { Price, Size } from '../core/decimal.ts';
import type { PlatformErrorKind } from '../core/errors.ts';
import type { z } from 'zod';
import type { JsonObject, Platform, Side } from '../core/model.ts';
import type { LimitGroup } from './http/limit-group.ts';
import type { TimeInForce } from '../core/order-model.ts';
import type { FeePrices, FillFee, TakerFees } from './fees.ts';

/** Fields of a stored trade that answers build metadata from. */
interface TradeFacts {
  isBlock: boolean;
  /** In terms of the first outcome (of its own outcome in a market with more than two). */
  seriesPrice: string;
  /** USD that the platform states for the trade; null if it states none. */
  quoteUsd: number | null;
  tokenId: string;
  conditionId: string;
  /** 0x address of the taker in lower case, '' when unknown. */
  wallet: string;
  /** Page of the market on its platform. */
  sourceUrl: string;
}

/** A failed reply: its status, its parsed JSON (undefined if it is not JSON) and the platform's own text. */
interface FailedReply {
  status: number;
  body: unknown;
  /** `code` of the body or of its `error` object; '' if there is none. */
  code: string;
  words: string;
}

/**
 * Whether text can be one path segment: without spaces, control characters and delimiters, and not only dots. `%` is excluded too,
 * because intermediaries may decode it any number of times.
 */
export const isSegment = (text: string): boolean => !/^\.+$/.test(text) && /^[^\s\p{C}/\\?#%]{1,400}$/u.test(text);

/**
 * What the service needs to know of a platform, apart from reading and trading (contract.ts, order-contract.ts). No code outside the
 * platform's own folder compares its name: differences between platforms belong here.
 */
export interface PlatformManifest {
  /** The signing credential, as users give it; errors name what to fix. */
  credential: z.ZodObject;
  /** Calls that the platform counts together, by `<platform>:<what it counts>`. */
  limits: Readonly<Record<`${Platform}:${string}`, LimitGroup>>;
  /** The settings with the platform's base URLs, including sockets. */
  urls: readonly (keyof Settings)[];
  /** Host of the pages for people, `example.com`. */
  site: string;
  /** Unit of the platform's volumes. */
  volumeBasis: 'contracts' | 'usd';
  /** Whether some markets are pools, whose trades no feed contains. */
  hasPools: boolean;
  /** Whether a feed contains the trades of a market; absent = of every market. */
  hasTradeFeed?(market: { ref: string; metadata: JsonObject }): boolean;
  /** Unix ms before which no feed contains trades; absent = feeds reach back to the start of each market. */
  feedStartMs?(nowMs: number): number;
  /** The platform's own bars are of trades, with bid, ask and open interest. Absent: it has none, or they sample midpoints and are read on demand only. */
  barsBringQuotes?: true;
  /** Source of a market's last trade: its listing, or the stored trades if the listing lacks it. */
  lastTradeFrom: 'listing' | 'trades';
  /** Source of an open interest that the listing of a market lacks: the last one read apart from it. Absent: it is unknown. */
  readsOpenInterestApart?: true;
  /** Source of a market's liquidity: its listing, or its book if the listing lacks it. */
  liquidityFrom: 'listing' | 'book';
  /** The listing states the price of a day before, or that there was none: stored snapshots add no change over 24 hours. */
  statesDayChange?: true;
  /** The platform states only when a settled market was last changed: its first settled body has the time of its resolution. */
  keepsFirstResolution?: true;
  /** Metadata that comes with a market's event, group or series, or from another list; other missing fields were removed. */
  parentMetadata: readonly string[];
  /** Whether orders are rejected after the market's stated end of trading. */
  tradingEndBinds: boolean;
  /** Whether a position shows its market's state: redeemable means settled, else open. */
  positionsNameStatus: boolean;
  /** The platform states no prices of positions, which are in USD: those of the stored markets are shown. */
  pricesPositionsAsStored?: true;
  /** Meaning of `user` in the profile endpoints, and advice if no user is found; or why the platform shows no users. */
  profiles: { user: string; userHint: string } | { hidden: string };
  /** Whether users are wallets, whose trades and positions the platform shows to anybody. */
  showsWallets?: true;
  /** Settings of the operator's order client: variable, credential field, and whether it is required. */
  defaultClient: readonly (readonly [variable: keyof Settings, field: string, isNeeded: boolean])[];
  /** Whether GET markets/trades serves the platform. */
  listsTrades: boolean;
  /** Waits before the second, third … attempt after a 429, ms; absent = the common waits. */
  rateLimitStepsMs?: readonly number[];
  /** Whether a reply to a placement leaves the result unknown although its status and JSON are those of a rejection. */
  leavesOrderUnknown?(reply: Pick<FailedReply, 'status' | 'code'>): boolean;
  /**
   * From what was sent: the time (Unix ms) after which the platform can no longer take the order. A later read that does not find it
   * proves that it never arrived. null if what was sent has no such time. Absent = a common time after sending.
   */
  cannotArriveAtMs?(wire: JsonObject): number | null;
  /** The smallest step of an order's size. */
  smallestSize: Size;
  /** A market purchase for an amount goes out as USD, and the platform never spends more. Absent: it goes out as a size. */
  takesAmounts?: true;
  /** Whether the platform itself keeps a reduce_only order from doing more. Absent: it has no such orders. */
  enforcesReduceOnly?(timeInForce: TimeInForce): boolean;
  /** A purchase of one of two outcomes reduces a position in the other; absent: both are held. */
  netsOutcomes?: true;
  /** How long an order that would match at once is held first, from a market's `metadata`; it cannot be cancelled before that time is over. Absent: orders are not held. */
  matchDelayMs?(metadata: JsonObject): number;
  /** The stored spelling of the id of a market or event; null for text that cannot be one. */
  normalizeId(id: string): string | null;
  /** The stored spelling of an order id; null for text that cannot be one. */
  orderIdOf(text: string): string | null;
  /** Taker fees of a market, from its `metadata` as stored. */
  takerFees(metadata: JsonObject, prices: FeePrices): TakerFees;
  /** The fee of one fill of a taker, as the platform rounds it; null if the market's fee is unknown. */
  fillFee(metadata: JsonObject, price: Price, size: Size, side: Side): FillFee | null;
  /** The platform's spelling of a wallet, which is stored in lower case. */
  walletText(wallet: string): string;
  /** `metadata` of a trade in GET markets/trades, without `executed_at`. */
  tradeMetadata(trade: TradeFacts): JsonObject;
  /** `metadata` of a trade in GET trades/whales, without `executed_at`. */
  whaleMetadata(trade: Pick<TradeFacts, 'isBlock'>): JsonObject;
  /** The meaning of a failed reply if it differs from the common one; null = the common meaning. */
  classifyError(reply: FailedReply): PlatformErrorKind | null;
}
