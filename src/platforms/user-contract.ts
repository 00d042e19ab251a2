import { z } from 'zod';
import type { Price, Size, Usd } from '../core/decimal.ts';
import type { JsonObject, Side } from '../core/model.ts';

/** A fill of one user, from that user's side. */
export interface UserTrade {
  tradeId: string;
  /** Its market, as in MarketInfo.ref: Kalshi ticker, Polymarket condition id. */
  ref: string;
  /** Kalshi ticker, Polymarket slug. */
  ticker: string;
  /** The platform's own title of the market, '' if the row has none. */
  title: string;
  side: Side;
  /** The outcome that the user traded: its id if the platform has no tokens, else its token and name. */
  outcome: { id: string } | { tokenId: string; name: string };
  /** In terms of that outcome. */
  price: Price;
  size: Size;
  /** Unix microseconds. */
  executedAtUs: number;
  /** Free-form, in output form; always with maker_nickname and maker_action. */
  metadata: JsonObject;
}

/** What a user holds of one outcome. */
export interface UserPosition {
  ref: string;
  /** ERC-1155 token id, on Kalshi `<ticker>:yes` or `<ticker>:no`. */
  tokenId: string;
  title: string;
  /** Name of the outcome held. */
  label: string;
  /** Contracts or shares, above 0. */
  size: Size;
  /** null if the platform does not state it. */
  redeemable: boolean | null;
  /** Name of the outcome that the platform already pays in full; '' if there is none, or if not reported. */
  winner: string;
  /** Whether it pays USD. In other collateral it has a price and no value. */
  isUsd: boolean;
  /** What the platform states of its value; null for what it does not state. */
  stated: StatedValue;
}

/** Figures of a position as its platform states them. */
export interface StatedValue {
  /** Average price paid. */
  averagePrice: Price | null;
  /** What was paid for what is held, without fees. */
  cost: Usd | null;
  currentPrice: Price | null;
  value: Usd | null;
  /** Profit or loss of what is held, not yet realised. */
  pnl: Usd | null;
}
export const NOTHING_STATED: StatedValue = {
  averagePrice: null,
  cost: null,
  currentPrice: null,
  value: null,
  pnl: null,
};

/** `hidden`: the user hides their activity, so there are no rows. */
export type Visibility = 'public' | 'hidden';

interface Answer {
  /** The platform's name of the user: nickname, or wallet in lower case. */
  user: string;
  visibility: Visibility;
  /** ISO time of the oldest reply used. */
  readAt: string;
}

/** The last trade of a page, and the platform page that contains it. */
export const TradePosition = z.object({
  cursor: z.string(),
  id: z.string(),
  us: z.number(),
  seen: z.int(),
  /** Whether every row so far became a trade. */
  isWhole: z.boolean().default(true),
});
export type TradePosition = z.output<typeof TradePosition>;

export interface UserTradePage extends Answer {
  trades: UserTrade[];
  /** null on the last page. */
  next: TradePosition | null;
  /** Trades up to here, plus those read ahead; exact if `isTotal`. No platform reports the total. */
  total: number;
  isTotal: boolean;
}

export interface UserPositions extends Answer {
  /** In no order. */
  positions: UserPosition[];
  /** Whether these are all that the platform shows; false if rows were unreadable, or the list was too long to read. */
  isAll: boolean;
  /** The platform may hide smaller positions; null if it shows every one. */
  smallest: Size | null;
}
