import type { Settings } from '../core/settings.ts';
import type { PlatformErrorKind } from '../core/errors.ts';
import type { JsonObject } from '../core/model.ts';
import type { FeePrices, TakerFees } from './fees.ts';

/** Fields of a stored trade that the metadata of answers is made from. */
export interface TradeFacts {
  isBlock: boolean;
  /** In terms of the first outcome (of its own, where a market has more than two). */
  seriesPrice: string;
  tokenId: string;
  conditionId: string;
  /** 0x address of the taker in lower case, '' when unknown. */
  wallet: string;
  /** Page of the market on its platform. */
  sourceUrl: string;
}

/** A failed reply: its status, its parsed JSON (undefined when it is none) and the platform's own text. */
export interface FailedReply {
  status: number;
  body: unknown;
  /** `code` of the body or of its `error` object; '' when there is none. */
  code: string;
  words: string;
}

/**
 * Whether text can be one segment of an address: without spaces, control characters and delimiters, and not of dots alone. `%` is
 * left out too, as it is unknown how often it is decoded on the way.
 */
export const isSegment = (text: string): boolean => !/^\.+$/.test(text) && /^[^\s\p{C}/\\?#%]{1,400}$/u.test(text);

/**
 * What the service must know of a platform beside how it is read and traded on (contract.ts, order-contract.ts). Nothing outside the
 * platform's own folder compares its name: what differs between platforms is asked here.
 */
export interface PlatformManifest {
  /** The settings with the platform's base URLs, sockets included. */
  urls: readonly (keyof Settings)[];
  /** What the platform's volumes count. */
  volumeBasis: 'contracts' | 'usd';
  /** Whether some markets are pools, whose trades are in no feed. */
  hasPools: boolean;
  /** Where a market's last trade is read: from its listing, or, as the listing lacks it, from the stored trades. */
  lastTradeFrom: 'listing' | 'trades';
  /** Metadata that a market's body holds only together with its event, group or series; any other field that a body lacks was removed. */
  parentMetadata: readonly string[];
  /** Whether no order is taken after the market's stated end of trading. */
  tradingEndBinds: boolean;
  /** Whether a position names its market's state: redeemable means settled, else open. */
  positionsNameStatus: boolean;
  /** Who `user` of the profile endpoints is and what helps when no user is found, or why the platform shows no users. */
  profiles: { user: string; userHint: string } | { hidden: string };
  /** Settings of the operator's order client: the variable, the field of the credential it fills, whether it is needed. */
  defaultClient: readonly (readonly [variable: keyof Settings, field: string, isNeeded: boolean])[];
  /** Whether GET markets/trades serves the platform. */
  listsTrades: boolean;
  /** Waits before the second, third … attempt after a 429, ms; absent = the common ones. */
  rateLimitStepsMs?: readonly number[];
  /** Whether a reply to a placement leaves it unknown if the order was taken, although its status and JSON are those of a refusal. */
  leavesOrderUnknown?(reply: Pick<FailedReply, 'status' | 'code'>): boolean;
  /**
   * Unix ms from which on a read that does not know an order proves that it never arrives, from what was sent; null where that
   * holds no such time. Absent = a common time after it was sent.
   */
  cannotArriveAtMs?(wire: JsonObject): number | null;
  /** The spelling under which the id of a market or event is stored; null for text that cannot be one. */
  normalizeId(id: string): string | null;
  /** The reference of an id where it follows from the id; null where it has to be looked up. */
  likelyRef(id: string): string | null;
  /** Whether text can be the platform's id of an order. */
  isOrderId(id: string): boolean;
  /** Taker fees of a market, from its `metadata` as stored. */
  takerFees(metadata: JsonObject, prices: FeePrices): TakerFees;
  /** How the platform writes a wallet that is stored in lower case. */
  walletText(wallet: string): string;
  /** `metadata` of a trade in GET markets/trades, without `executed_at`. */
  tradeMetadata(trade: TradeFacts): JsonObject;
  /** `metadata` of a trade in GET trades/whales, without `executed_at`. */
  whaleMetadata(trade: Pick<TradeFacts, 'isBlock'>): JsonObject;
  /** The meaning of a failed reply where the platform differs from the common one; null = the common meaning. */
  classifyError(reply: FailedReply): PlatformErrorKind | null;
}
