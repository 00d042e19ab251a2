import { z } from 'zod';
import { PlatformError } from '../errors.ts';
import type { Price, Size } from '../decimal.ts';
import type { JsonObject, Platform, Side } from '../schemas.ts';
import type { ReadContext } from './platform.ts';

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
  /** Whether the platform already pays this outcome in full. */
  won: boolean;
}

/** `hidden`: the user shows nobody what they do; then there are no rows. */
export type Visibility = 'public' | 'hidden';

interface Answer {
  /** The user as the platform names them: nickname, or wallet in lower case. */
  user: string;
  visibility: Visibility;
  /** ISO time of the oldest reply the answer is made of. */
  readAt: string;
}

/** The last trade of a page, and the platform's page that it came from. */
export const TradePosition = z.object({ cursor: z.string(), id: z.string(), us: z.number(), seen: z.int() });
export type TradePosition = z.output<typeof TradePosition>;

export interface UserTradePage extends Answer {
  trades: UserTrade[];
  /** null on the last page. */
  next: TradePosition | null;
  /** Trades up to here and as far as read ahead; exact when `isTotal`. No platform tells the whole number. */
  total: number;
  isTotal: boolean;
}

export interface UserPositions extends Answer {
  /** In no order. */
  positions: UserPosition[];
  /** Whether these are all; false when the platform's list was too long to be read to its end. */
  isAll: boolean;
}

/** What a platform tells about the trades and positions of any of its users. A user nobody knows is a PlatformError `not_found`. */
export interface PlatformSocial {
  readonly platform: Platform;
  /** Newest first, after `position`. */
  userTrades(
    user: string,
    page: { limit: number; position: TradePosition | null },
    context: ReadContext,
  ): Promise<UserTradePage>;
  positions(user: string, context: ReadContext): Promise<UserPositions>;
}

/** One page of the platform's own list of trades; `next` is '' after the last, or the page's own cursor again. */
export interface SourcePage {
  trades: UserTrade[];
  next: string;
  visibility: Visibility;
  readAt: string;
}

/** A page of ours is made of at most this many of the platform's. */
const MAX_PAGES = 12;

/**
 * A page after `position` out of the platform's pages. Trades that happen meanwhile push the position down, on the
 * platform's first page or onto the next, so it is looked for by its id; when it is gone, everything older follows.
 * Reads on until it knows whether another trade follows; a page without trades is not the last one while the search goes on.
 */
export async function tradesAfter(
  user: string,
  read: (cursor: string) => Promise<SourcePage>,
  { limit, position }: { limit: number; position: TradePosition | null },
): Promise<UserTradePage> {
  const trades: UserTrade[] = [];
  const seen = position?.seen ?? 0;
  let passed = position === null;
  let next = position;
  let cursor = position?.cursor ?? '';
  let page = await read(cursor);
  const { readAt } = page;
  for (let count = 1; ; count += 1) {
    const fresh = passed || !position ? page.trades : tradesPast(page.trades, position);
    passed ||= fresh.length > 0 || page.trades.some((trade) => trade.tradeId === position?.id);
    const taken = fresh.slice(0, limit - trades.length);
    trades.push(...taken);
    const last = taken.at(-1);
    if (last) next = { cursor, id: last.tradeId, us: last.executedAtUs, seen: seen + trades.length };
    const left = fresh.length - taken.length;
    const ended = page.next === '' || page.next === cursor;
    if (left > 0 || ended || count === MAX_PAGES) {
      if (trades.length === 0 && next) next = { ...next, cursor: page.next };
      const answer = { user, visibility: page.visibility, readAt, trades };
      return { ...answer, next: left > 0 || !ended ? next : null, total: seen + trades.length + left, isTotal: ended };
    }
    cursor = page.next;
    page = await read(cursor);
  }
}

/** The trades after a position: those behind it, or all older ones when it is not among them. */
function tradesPast(trades: UserTrade[], position: TradePosition): UserTrade[] {
  const at = trades.findIndex((trade) => trade.tradeId === position.id);
  return at >= 0 ? trades.slice(at + 1) : trades.filter((trade) => trade.executedAtUs < position.us);
}

/** The usable rows of a reply; when there are rows and none is usable, the platform has changed and the answer is bad. */
export function requireUsable<T>(platform: Platform, endpoint: string, received: number, usable: T[]): T[] {
  if (received === 0 || usable.length > 0) return usable;
  throw new PlatformError(platform, 'bad_answer', { detail: `${endpoint}: none of ${received} rows is as expected` });
}
