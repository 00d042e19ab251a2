import type { Platform } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { FEEDS, type Partition } from './log-position.ts';
import type { LogRow } from './read-log.ts';

export const DURABLE_CHANNELS = ['trades', 'whales', 'markets'] as const;
export const CHANNELS = [...DURABLE_CHANNELS, 'quotes', 'books'] as const;
export type Channel = (typeof CHANNELS)[number];

const WHALE_SIZE = 1000;

/** What a subscription asks for, as read from its parameters. */
export interface StreamFilter {
  channels: readonly Channel[];
  platforms: readonly Platform[];
  /** References of markets by platform; null = all. */
  markets: ReadonlyMap<Platform, ReadonlySet<string>> | null;
  eventId: string | null;
  /** Contracts; null = not given. */
  minSize: number | null;
  /** USD; null = not given. */
  minNotional: number | null;
  /** Markets of the channel books; null without it. */
  books: { markets: readonly { market: StoredMarket; key: string }[]; depth: number | null } | null;
}

/** A text that is equal for equal filters: cursors are bound to it. */
export function filterText(filter: StreamFilter): string {
  const markets = filter.markets && [...filter.markets].map(([platform, refs]) => [platform, [...refs].toSorted()]);
  return JSON.stringify([
    [...filter.channels].toSorted(),
    [...filter.platforms].toSorted(),
    markets?.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)) ?? null,
    filter.eventId,
    filter.minSize,
    filter.minNotional,
  ]);
}

/** The partitions of the log that a subscription reads, always in the same order. */
export function partitionsOf({ channels, platforms, markets }: StreamFilter): Partition[] {
  const isAsked = {
    trades: channels.includes('trades') || channels.includes('whales'),
    markets: channels.includes('markets'),
  };
  const asked = platforms.filter((platform) => markets === null || markets.has(platform)).toSorted();
  return FEEDS.filter((feed) => isAsked[feed]).flatMap((feed) => asked.map((platform) => ({ feed, platform })));
}

/**
 * Whether a subscription wants an event. With `whales` alone trades have at least 1,000 contracts unless it says otherwise; beside
 * `trades`, `whales` adds nothing, and no trade is left out.
 */
export function matcherOf(filter: StreamFilter): (partition: Partition, row: LogRow) => boolean {
  const { channels, markets, eventId } = filter;
  const isWhales = channels.includes('whales');
  const isAll = isWhales && channels.includes('trades');
  const minSize = isAll ? 0 : (filter.minSize ?? (isWhales ? WHALE_SIZE : 0));
  const minNotional = isAll ? 0 : (filter.minNotional ?? 0);
  return ({ feed, platform }, row) =>
    (markets === null || markets.get(platform)?.has(row.ref) === true) &&
    (eventId === null || row.eventId === eventId) &&
    (feed !== 'trades' || (row.size >= minSize && row.notional >= minNotional));
}
