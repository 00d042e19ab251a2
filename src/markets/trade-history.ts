import { z } from 'zod';
import type { Clock } from '../core/time.ts';
import { marketKey } from '../core/market-key.ts';
import { ownKey } from '../present/rows.ts';
import { type HeldSpans, heldSpans, isUpTo } from '../present/trades/read.ts';
import { FEED_KEY } from '../present/trades/rows.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { keptFrom } from '../stores/clickhouse/retention.ts';
import { type TradeGap, tradeGaps } from '../stores/clickhouse/trade-gaps.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { waitUntil } from '../core/retry.ts';
import type { Platform } from '../core/model.ts';

export const HISTORY_CHANNEL = 'history';

/** A market whose trades since `sinceUs` are requested and not stored. */
export interface HistoryRequest {
  platform: Platform;
  ref: string;
  sinceUs: number;
  /** The user whose share of the platform's budgets it takes. */
  user: string;
}

/** Marks a platform's span made of its markets' own spans: each of them is complete up to its end. */
export const EACH_MARKET = 'each market';
/** Marks a market's own span that starts where its feed does: a request for older trades would find none. */
export const FEED_START = 'feed start';

const FeedSpan = z.object({ from_us: z.coerce.number(), to_us: z.coerce.number(), marker: z.string() });
type FeedSpan = z.infer<typeof FeedSpan>;
const Span = FeedSpan.extend({ of_market: z.boolean() });

/** The stored span of a market's trades, Unix µs. */
export interface StoredSpan {
  fromUs: number;
  toUs: number;
  /** The market's feed has no older trades. */
  startsFeed?: boolean;
}

/** A market's own span, merged with the global feed's if they touch; null if nothing is stored. */
async function storedSpan(clickhouse: ClickHouse, platform: Platform, ref: string): Promise<StoredSpan | null> {
  const spans = await clickhouse.query('trade_spans', Span, { platform, ref });
  return mergedSpan(
    spans.find((span) => span.of_market),
    spans.find((span) => !span.of_market),
  );
}

/** The stored span of a market, by its own feed's and that of its platform. */
export function mergedSpan(own: FeedSpan | undefined, feed: FeedSpan | undefined): StoredSpan | null {
  const startsFeed = own?.marker === FEED_START;
  if (feed?.marker === EACH_MARKET) {
    return own ? { fromUs: own.from_us, toUs: Math.max(own.to_us, feed.to_us), startsFeed } : null;
  }
  if (!feed || !own) {
    const span = own ?? feed;
    return span ? { fromUs: span.from_us, toUs: span.to_us, startsFeed } : null;
  }
  const touch = own.to_us >= feed.from_us && feed.to_us >= own.from_us;
  if (!touch)
    return own.to_us > feed.to_us
      ? { fromUs: own.from_us, toUs: own.to_us, startsFeed }
      : { fromUs: feed.from_us, toUs: feed.to_us };
  return { fromUs: Math.min(own.from_us, feed.from_us), toUs: Math.max(own.to_us, feed.to_us), startsFeed };
}

/** How many trades of a market are stored. */
export async function storedTrades(
  clickhouse: Pick<ClickHouse, 'query'>,
  { platform, ref }: { platform: Platform; ref: string },
): Promise<number> {
  const [row] = await clickhouse.query('market_trade_count', Count, { platform, ref });
  return row?.trades ?? 0;
}

const Count = z.object({ trades: z.coerce.number() });

/** How complete the stored trades of a market are; `span` is null if none are stored. */
export interface StoredHistory {
  span: StoredSpan | null;
  /** What is missing from the platform's feed. */
  gaps: TradeGap[];
  /** Read from PostgreSQL: its copy has the trades of the span, or says which it lacks. */
  isHeld?: true;
}

/** A history with what retention has left of its trades. */
export interface KeptHistory extends StoredHistory {
  /** Trades before this, Unix µs, may have been dropped for their age, but not their bars and sums; 0 if none were. */
  keptUs: number;
}

export async function storedHistory(clickhouse: ClickHouse, platform: Platform, ref: string): Promise<KeptHistory> {
  // The span is read first: a gap is recorded before the span moves beyond it, so all gaps within the span are found.
  const span = await storedSpan(clickhouse, platform, ref);
  const [gaps, kept] = await Promise.all([tradeGaps(clickhouse, platform), keptFrom(clickhouse, 'trades')]);
  return { span, gaps, keptUs: kept.getTime() * 1000 };
}

/** Where histories of trades are looked up. */
export interface HistoryStores {
  clickhouse: ClickHouse;
  postgres: Pick<Postgres, 'db'>;
  freshness: { trades(platforms: readonly Platform[]): Promise<string | null> };
}

/** The history from PostgreSQL in one statement, or from ClickHouse if PostgreSQL is behind; `ref` '' is the platform's feed. */
export async function knownHistory(stores: HistoryStores, platform: Platform, ref: string): Promise<KeptHistory> {
  const freshTo = await stores.freshness.trades([platform]);
  const key = ref === '' ? FEED_KEY : ownKey(marketKey({ platform, ref }));
  const held = await heldSpans(stores.postgres, [platform], key);
  return historyFrom(stores.clickhouse, { platform, ref }, held.get(platform), freshTo);
}

/** The histories of platforms' feeds, read as in `knownHistory`, all in one statement. */
export async function knownFeeds(
  stores: HistoryStores,
  platforms: readonly Platform[],
): Promise<[Platform, KeptHistory][]> {
  const fresh = await Promise.all(
    platforms.map(async (platform) => [platform, await stores.freshness.trades([platform])] as const),
  );
  const held = await heldSpans(stores.postgres, platforms, FEED_KEY);
  return Promise.all(
    fresh.map(async ([platform, freshTo]) => [
      platform,
      await historyFrom(stores.clickhouse, { platform, ref: '' }, held.get(platform), freshTo),
    ]),
  );
}

/** The history by `held`, the spans that PostgreSQL had after `freshTo` was read; from ClickHouse if they end before it. */
export async function historyFrom(
  clickhouse: ClickHouse,
  { platform, ref }: { platform: Platform; ref: string },
  held: HeldSpans | undefined,
  freshTo: string | null,
): Promise<KeptHistory> {
  if (!held || !isUpTo(freshTo, held)) return storedHistory(clickhouse, platform, ref);
  return { span: mergedSpan(held.own, held.feed), gaps: held.gaps, keptUs: held.keptUs, isHeld: true };
}

/** Whether one of the gaps touches [startTs, endTs), Unix seconds. */
export const touchesGap = (gaps: readonly TradeGap[], startTs: number, endTs: number): boolean =>
  gaps.some((gap) => gap.fromUs < endTs * 1e6 && gap.toUs >= startTs * 1e6);

/**
 * Requests a market's older trades from the ingesting process, unless the span `known` reaches back far enough, and waits at most
 * `waitMs`; `complete` if all that its feed has are stored now.
 */
export async function wantHistory(
  deps: HistoryStores & { shared: Pick<Shared, 'publish'>; clock: Clock },
  request: HistoryRequest,
  known: StoredSpan | null,
  waitMs: number,
): Promise<{ span: StoredSpan | null; complete: boolean }> {
  const judged = (span: StoredSpan | null) => ({
    span,
    complete: span !== null && (span.fromUs <= request.sinceUs || span.startsFeed === true),
  });
  let found = judged(known);
  if (!found.complete) await deps.shared.publish(HISTORY_CHANNEL, JSON.stringify(request));
  const isThere = async (): Promise<boolean> => {
    if (!found.complete) found = judged((await knownHistory(deps, request.platform, request.ref)).span);
    return found.complete;
  };
  await waitUntil(isThere, { withinMs: waitMs, everyMs: 100, clock: deps.clock });
  return found;
}
