import { marketName } from '../core/market-key.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { asStored } from '../markets/directory.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { GapsAsked } from '../queries/matches/gaps.ts';
import { FEEDS, type Partition } from './log/position.ts';
import type { LogRow } from './log/read.ts';

const DURABLE_CHANNELS = ['trades', 'whales', 'markets', 'matches'] as const;
export const CHANNELS = [...DURABLE_CHANNELS, 'quotes', 'books', 'match_gaps', 'orders'] as const;
export type Channel = (typeof CHANNELS)[number];

const WHALE_SIZE = 1000;

/** The parsed filter of a subscription. */
export interface StreamFilter {
  channels: readonly Channel[];
  platforms: readonly Platform[];
  /** References of markets by platform; null = all. */
  markets: ReadonlyMap<Platform, ReadonlySet<string>> | null;
  /** The id of an event, without prefix, in any spelling; null = all. */
  eventId: string | null;
  /** Contracts; null = not given. */
  minSize: number | null;
  /** USD; null = not given. */
  minNotional: number | null;
  /** Takers in lower case; null = all. */
  addresses: ReadonlySet<string> | null;
  /** Markets of the channel books; null without that channel. */
  books: { markets: readonly { market: StoredMarket; key: string }[]; depth: number | null } | null;
  /** Gaps of the channel match_gaps that count from `minEdge` on, USD a contract; null without that channel. */
  matchGaps: (Pick<GapsAsked, 'filter' | 'reach'> & { minEdge: number }) | null;
}

/** Names of the markets that a subscription is limited to. */
export const marketNames = ({ markets }: StreamFilter): string[] =>
  Array.from(markets ?? [], ([platform, refs]) => Array.from(refs, (ref) => marketName({ platform, ref }))).flat();

/** Equal text for equal filters: cursors are bound to it. */
export function filterText(filter: StreamFilter): string {
  const markets = filter.markets && [...filter.markets].map(([platform, refs]) => [platform, [...refs].toSorted()]);
  return JSON.stringify([
    [...filter.channels].toSorted(),
    [...filter.platforms].toSorted(),
    markets?.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)) ?? null,
    filter.eventId,
    filter.minSize,
    filter.minNotional,
    ...(filter.addresses ? [[...filter.addresses].toSorted()] : []),
  ]);
}

/** The log partitions of a subscription, always in the same order. */
export function partitionsOf({ channels, platforms, markets }: StreamFilter): Partition[] {
  const isAsked = {
    trades: channels.includes('trades') || channels.includes('whales'),
    markets: channels.includes('markets'),
    matches: channels.includes('matches'),
  };
  const asked = platforms.filter((platform) => markets === null || markets.has(platform)).toSorted();
  // A match is logged under its first market, which may be of a platform that is not asked for.
  const of = { trades: asked, markets: asked, matches: PLATFORMS.toSorted() };
  return FEEDS.filter((feed) => isAsked[feed]).flatMap((feed) => of[feed].map((platform) => ({ feed, platform })));
}

/** Whether the filter includes an event, given by the stored spelling of its id. */
export function eventMatcherOf({ platforms, eventId }: StreamFilter): (platform: Platform, eventId: string) => boolean {
  if (eventId === null) return () => true;
  const wanted = new Map(platforms.map((platform) => [platform, asStored(platform, eventId)]));
  return (platform, id) => wanted.get(platform) === id;
}

/** Whether one market of a match is wanted by platform, id and event. `ref` and `eventId` of its row have a line for each market. */
function matchMatcherOf(filter: StreamFilter): (row: LogRow) => boolean {
  const names = filter.markets && new Set(marketNames(filter));
  const isOfEvent = eventMatcherOf(filter);
  return (row) => {
    const events = row.eventId.split('\n');
    return row.ref.split('\n').some((name, at) => {
      const platform = filter.platforms.find((one) => name.startsWith(`${one}:`));
      if (platform === undefined || (names !== null && !names.has(name))) return false;
      return isOfEvent(platform, events[at]?.slice(platform.length + 1) ?? '');
    });
  };
}

/** The taker in the JSON of a logged trade. No other text matches: its quotes are escaped. */
const TAKER = /"trader":\{"address":"([^"]*)"/;
const takerOf = ({ data }: LogRow): string => TAKER.exec(data)?.[1]?.toLowerCase() ?? '';

/** Whether a subscription wants an event. `whales` without `trades` and without a given floor has one of 1,000 contracts. */
export function matcherOf(filter: StreamFilter): (partition: Partition, row: LogRow) => boolean {
  const { channels, markets, addresses } = filter;
  const isOfEvent = eventMatcherOf(filter);
  const hasFloor = channels.includes('trades') || filter.minNotional !== null;
  const minSize = filter.minSize ?? (hasFloor ? 0 : WHALE_SIZE);
  const minNotional = filter.minNotional ?? 0;
  const isWanted = (row: LogRow): boolean =>
    row.size >= minSize && row.notional >= minNotional && (addresses === null || addresses.has(takerOf(row)));
  const isMatch = matchMatcherOf(filter);
  return ({ feed, platform }, row) => {
    if (feed === 'matches') return isMatch(row);
    return (
      (markets === null || markets.get(platform)?.has(row.ref) === true) &&
      isOfEvent(platform, row.eventId) &&
      (feed !== 'trades' || isWanted(row))
    );
  };
}
