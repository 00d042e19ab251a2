import { z } from 'zod';
import { PLATFORMS, type Platform } from '../../core/model.ts';
import { TradePosition, type UserTrade, type UserTradePage } from '../user-contract.ts';

/** Where each platform's list is continued: behind its last trade, or its total once it has ended; absent before its first trade. */
export const MergedPosition = z.partialRecord(
  z.enum(PLATFORMS),
  z.union([TradePosition, z.object({ ended: z.int(), isTotal: z.boolean() })]),
);
export type MergedPosition = z.output<typeof MergedPosition>;

/** Reads a page of a platform's list behind a position; null if it cannot be read now. */
export type ReadTrades = (platform: Platform, position: TradePosition | null) => Promise<UserTradePage | null>;

interface MergedPage {
  trades: { platform: Platform; trade: UserTrade }[];
  /** null on the last page. */
  next: MergedPosition | null;
  total: number;
  isTotal: boolean;
  /** ISO time of the oldest reply used; null if every list had ended. */
  readAt: string | null;
}

/** One page of the lists of several platforms, newest first. Trades that do not fit, and a list that cannot be read, are read for the next page. */
export async function mergedTrades(
  platforms: readonly Platform[],
  read: ReadTrades,
  { limit, position }: { limit: number; position: MergedPosition },
): Promise<MergedPage> {
  const lists = await Promise.all(
    platforms.map(async (platform) => {
      const at = position[platform];
      if (at && 'ended' in at) return { platform, ended: at, page: null, at: null };
      return { platform, ended: null, page: await read(platform, at ?? null), at: at ?? null };
    }),
  );
  const trades = lists
    .flatMap(({ platform, page }) => inListOrder(platform, page?.trades ?? []))
    .toSorted((a, b) => b.us - a.us)
    .slice(0, limit)
    .map(({ platform, trade }) => ({ platform, trade }));
  const next: MergedPosition = {};
  let [hasMore, total, isTotal] = [false, 0, true];
  let readAt: string | null = null;
  for (const { platform, ended, page, at } of lists) {
    total += ended?.ended ?? page?.total ?? at?.seen ?? 0;
    isTotal &&= ended?.isTotal ?? page?.isTotal ?? false;
    if (!page) {
      const place = ended ?? at;
      if (place) next[platform] = place;
      hasMore ||= !ended;
      continue;
    }
    if (readAt === null || page.readAt < readAt) readAt = page.readAt;
    const taken = trades.filter((one) => one.platform === platform).length;
    const place = placeAfter(page, taken, at);
    if (place === 'ended') next[platform] = { ended: page.total, isTotal: page.isTotal };
    else if (place) next[platform] = place;
    hasMore ||= place !== 'ended';
  }
  return { trades, next: hasMore ? next : null, total, isTotal, readAt };
}

/** Trades with times that never rise: a list is continued after its last taken trade, so a trade must not pass the ones listed before it. */
function inListOrder(platform: Platform, trades: readonly UserTrade[]) {
  let us = Infinity;
  return trades.map((trade) => ({ platform, trade, us: (us = Math.min(us, trade.executedAtUs)) }));
}

/** The position behind the first `taken` trades of a page that was read behind `before`. */
function placeAfter(page: UserTradePage, taken: number, before: TradePosition | null): TradePosition | 'ended' | null {
  if (taken === page.trades.length) return page.next ?? 'ended';
  const last = page.trades[taken - 1];
  if (!last) return before;
  const { cursor, seen, isWhole } = before ?? { cursor: '', seen: 0, isWhole: true };
  return { cursor, seen: seen + taken, isWhole, id: last.tradeId, us: last.executedAtUs };
}
