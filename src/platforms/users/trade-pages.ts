import { PlatformError } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';
import type { TradePosition, UserTrade, UserTradePage, Visibility } from '../user-contract.ts';

/** One page of the platform's own list of trades; `next` is '' after the last, or repeats the page's own cursor. */
export interface SourcePage {
  trades: UserTrade[];
  next: string;
  visibility: Visibility;
  readAt: string;
  /** Whether every row of the page became a trade. */
  isWhole: boolean;
}

/** Maximum platform pages for one page of ours. */
const MAX_PAGES = 12;
/** The position of a search that has not found the first trade yet: every trade follows it. */
const BEFORE_FIRST = { id: '', us: Number.MAX_SAFE_INTEGER, seen: 0 } as const;

/**
 * Builds the page after `position` from platform pages. New trades push the position down or onto the next page, so it is found by its id;
 * if it is gone, everything older follows. Reads until it is known whether another trade follows; a page without trades is not
 * the last while the search continues.
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
  let { readAt } = page;
  let isWhole = position?.isWhole ?? true;
  for (let count = 1; ; count += 1) {
    isWhole &&= page.isWhole;
    if (page.readAt < readAt) readAt = page.readAt;
    const fresh = passed || !position ? page.trades : tradesPast(page.trades, position);
    passed ||= fresh.length > 0 || page.trades.some((trade) => trade.tradeId === position?.id);
    const taken = fresh.slice(0, limit - trades.length);
    trades.push(...taken);
    const last = taken.at(-1);
    if (last) next = { cursor, id: last.tradeId, us: last.executedAtUs, seen: seen + trades.length, isWhole };
    const left = fresh.length - taken.length;
    const ended = page.next === '' || page.next === cursor;
    if (left > 0 || ended || count === MAX_PAGES) {
      if (trades.length === 0) next = { ...(next ?? BEFORE_FIRST), cursor: page.next, isWhole };
      const answer = { user, visibility: page.visibility, readAt, trades };
      return {
        ...answer,
        next: left > 0 || !ended ? next : null,
        total: seen + trades.length + left,
        isTotal: ended && isWhole,
      };
    }
    cursor = page.next;
    page = await read(cursor);
  }
}

/** The trades after a position; all older ones if it is not among them. */
function tradesPast(trades: UserTrade[], position: TradePosition): UserTrade[] {
  const at = trades.findIndex((trade) => trade.tradeId === position.id);
  return at >= 0 ? trades.slice(at + 1) : trades.filter((trade) => trade.executedAtUs < position.us);
}

/** The valid rows of a reply; if it has rows but none is valid, the platform has changed and the answer is an error. */
export function requireUsable<T>(platform: Platform, endpoint: string, received: number, usable: T[]): T[] {
  if (received === 0 || usable.length > 0) return usable;
  throw new PlatformError(platform, 'bad_answer', { detail: `${endpoint}: none of ${received} rows is as expected` });
}
