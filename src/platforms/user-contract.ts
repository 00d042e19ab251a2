import { z } from 'zod';
import type { Price, Size } from '../core/decimal.ts';
import type { JsonObject, Side } from '../core/model.ts';

/** A fill of one user, from that user's side. */
export interface UserTrade {
  tradeId: string;
  /** Of its market, as in MarketInfo.ref: Kalshi ticker, Polymarket condition id. */
  ref: string;
  /** Kalshi ticker, Polymarket slug. */
  ticker: string;
  /** The platform's own title of the market, '' where the row has none. */
  title: string;
  side: Side;
  /** Which outcome the user traded: its id where the platform has no tokens, else its token and name. */
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
  redeemable: boolean;
  /** Name of the outcome that the platform already pays in full; '' where none is, or if not reported. */
  winner: string;
}

/** `hidden`: the user hides their activity; then there are no rows. */
export type Visibility = 'public' | 'hidden';

interface Answer {
  /** The user as the platform names them: nickname, or wallet in lower case. */
  user: string;
  visibility: Visibility;
  /** ISO time of the oldest reply the answer is made of. */
  readAt: string;
}

/** The last trade of a page, and the platform's page that it came from. */
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
  /** Trades up to here and as far as read ahead; exact when `isTotal`. No platform reports the total. */
  total: number;
  isTotal: boolean;
}

export interface UserPositions extends Answer {
  /** In no order. */
  positions: UserPosition[];
  /** Whether these are all that the platform shows; false when rows were unreadable, or the list too long to be read to its end. */
  isAll: boolean;
  /** Smaller positions may be hidden by the platform; null where it shows every one. */
  smallest: Size | null;
}
