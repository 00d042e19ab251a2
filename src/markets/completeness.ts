import { z } from 'zod';
import { hasEnded, type Platform } from '../core/model.ts';
import { DAY_MS } from '../core/time.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { MANIFESTS } from '../platforms/manifests.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { CurrentMarket } from './present-markets.ts';
import { type HistoryStores, knownFeeds, knownHistory, type StoredHistory, storedTrades } from './trade-history.ts';

/** From when on every trade is stored, ISO-8601 (null if not known), and what is known of trades before. */
export const Completeness = z.object({
  complete_from: z.string().nullable(),
  /** none: no older trades exist. not_in_feed: older trades exist, but no feed has them. unknown: older trades may exist. */
  older_trades: z.enum(['none', 'not_in_feed', 'unknown']),
});
export type Completeness = z.infer<typeof Completeness>;

/** The volume that the platform reports of a market, and how many of its trades are stored; null if they were not counted. */
interface Reported {
  volume: string | null;
  trades: number | null;
}

/** A market, when it was settled, which may be before its trading was to end, and when it was last read. */
type Ended = StoredMarket & Pick<CurrentMarket, 'resolvedAt' | 'syncedAt'>;

/** Whether the market's trades are in a feed. */
export const hasTradeFeed = ({ platform, ref, metadata }: StoredMarket): boolean =>
  MANIFESTS[platform].hasTradeFeed?.({ ref, metadata }) ?? true;

/** How complete the stored trades of a market are. */
export function completenessOf(
  market: Ended,
  { span, gaps }: StoredHistory,
  { volume, trades }: Reported,
  nowMs: number,
): Completeness {
  const wasTraded = isTraded(volume);
  const unread = wasTraded === false ? 'none' : 'unknown';
  const lacking = wasTraded === true ? 'not_in_feed' : unread;
  if (!hasTradeFeed(market)) return { complete_from: null, older_trades: lacking };
  if (span === null) return { complete_from: null, older_trades: isBeyondFeed(market, nowMs) ? lacking : unread };
  const gapEndUs = Math.max(-Infinity, ...gaps.flatMap(({ fromUs, toUs }) => (fromUs < span.toUs ? toUs : [])));
  const fromUs = Math.max(span.fromUs, gapEndUs);
  const bornUs = market.tradingStartAt === null ? null : Date.parse(market.tradingStartAt) * 1000;
  // If the span covers the market's whole life, the market has traded, and no trade is stored, then no feed has its trades.
  if (bornUs !== null && fromUs <= bornUs) {
    const isEmpty = trades === 0 && wasTraded === true && endedLongAgo(market, nowMs);
    return isEmpty
      ? { complete_from: null, older_trades: 'not_in_feed' }
      : { complete_from: iso(bornUs), older_trades: 'none' };
  }
  const isOlder = (span.startsFeed === true && fromUs === span.fromUs) || isBeyondFeed(market, nowMs);
  return { complete_from: iso(fromUs), older_trades: isOlder ? lacking : unread };
}

const isTraded = (volume: string | null): boolean | null => (volume === null ? null : Number(volume) > 0);

/**
 * Whether trading ended more than a day ago, so that its trades are not merely late in the feed. A market may close before its stated end,
 * without a time of settlement: then it had ended when it was last read.
 */
const endedLongAgo = (market: Ended, nowMs: number): boolean =>
  hasEnded(market) &&
  [market.tradingEndAt, market.resolvedAt, market.syncedAt].some((at) => Date.parse(at ?? '') < nowMs - DAY_MS);

/** Whether trading began before the first trade that the platform's feeds contain. */
const isBeyondFeed = ({ platform, tradingStartAt }: StoredMarket, nowMs: number): boolean =>
  Date.parse(tradingStartAt ?? '') < (MANIFESTS[platform].feedStartMs?.(nowMs) ?? -Infinity);

const iso = (us: number): string => new Date(Math.max(0, Math.ceil(us / 1000))).toISOString();

/** How complete the stored trades of a market are, by a `history` that was read before. */
export async function completenessWith(
  clickhouse: ClickHouse,
  market: CurrentMarket,
  history: StoredHistory,
  nowMs: number,
): Promise<Completeness> {
  const { volumeTotal: volume, storedTrades: copied } = market;
  // For the other markets the number does not matter. The copy may be behind the stored trades, so ClickHouse counts them.
  const isCounted = copied === 0 && isTraded(volume) === true && endedLongAgo(market, nowMs);
  const trades = isCounted ? await storedTrades(clickhouse, market) : copied;
  return completenessOf(market, history, { volume, trades }, nowMs);
}

/**
 * The history by which bars count as complete. The span is null if no feed has trades of the market: "no stored trades" then does not mean
 * "no trades".
 */
export const historyOfBars = <H extends StoredHistory>(history: H, completeness: Completeness): H =>
  completeness.complete_from === null && completeness.older_trades === 'not_in_feed'
    ? { ...history, span: null }
    : history;

/** The completeness of a list of trades, if those before `keptUs` (Unix µs; 0: none) were dropped for their age. */
export function ofKept(of: Completeness, keptUs: number): Completeness {
  const { complete_from: from } = of;
  if (from === null || Date.parse(from) * 1000 >= keptUs) return of;
  return { complete_from: iso(keptUs), older_trades: 'unknown' };
}

/** How complete trades are, and from when on they are kept (Unix µs; 0: all are). */
interface Reach {
  completeness: Completeness;
  keptUs: number;
}

/** Reads a market's history, and says how complete its stored trades are. */
export async function marketReach(stores: HistoryStores, market: CurrentMarket, nowMs: number): Promise<Reach> {
  const { keptUs, ...history } = await knownHistory(stores, market.platform, market.ref);
  return { completeness: await completenessWith(stores.clickhouse, market, history, nowMs), keptUs };
}

/** Whether trades from `startTs` (Unix seconds) on are known to be in no feed. */
export const lacks = ({ complete_from: from, older_trades: older }: Completeness, startTs: number): boolean =>
  older === 'not_in_feed' && (from === null || Date.parse(from) > startTs * 1000);

/** How complete the trades of all markets of a platform are, by its feed. `complete_from` is null if each market has its own feed. */
export function feedCompleteness(platform: Platform, { span, gaps }: StoredHistory): Completeness {
  const { hasPools, feedStartMs } = MANIFESTS[platform];
  return {
    complete_from: span && iso(Math.max(span.fromUs, ...gaps.map(({ toUs }) => toUs))),
    older_trades: hasPools || feedStartMs ? 'not_in_feed' : 'unknown',
  };
}

/** The completeness of several markets or platforms together. */
export function together(all: readonly Completeness[]): Completeness {
  const has = (word: Completeness['older_trades']): boolean => all.some((one) => one.older_trades === word);
  return {
    complete_from: latest(all.map((one) => one.complete_from)),
    older_trades: has('not_in_feed') ? 'not_in_feed' : has('unknown') ? 'unknown' : 'none',
  };
}

const latest = (times: readonly (string | null)[]): string | null =>
  times.reduce((a, b) => (a === null || b === null ? null : a > b ? a : b), times[0] ?? null);

/** Reads how complete the feeds of these platforms are, together. */
export async function feedsReach(stores: HistoryStores, platforms: readonly Platform[]): Promise<Reach> {
  const feeds = await knownFeeds(stores, platforms);
  return {
    completeness: together(feeds.map(([platform, history]) => feedCompleteness(platform, history))),
    keptUs: Math.max(0, ...feeds.map(([, { keptUs }]) => keptUs)),
  };
}
