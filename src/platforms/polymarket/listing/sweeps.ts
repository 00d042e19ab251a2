import { isoTime } from '../../market-fields.ts';
import type { ReadContext, SweepPage, SweepScope } from '../../contract.ts';
import { type ParsedRow, recentRows } from '../../parse-rows.ts';
import { type GammaMarket, nestedMarkets } from '../gamma-wire.ts';
import { pages } from '../list-pages.ts';
import {
  type MarketSource,
  completed,
  leftOutBefore,
  parseMarkets,
  recordOf,
  resultsOf,
  withoutMarkets,
} from './market-source.ts';
import { HOUR_MS } from '../../../core/time.ts';

/** The 500 most traded events between two passes over the open ones: where prices move. */
const HOT_PAGES = 5;
/** Markets by a time, newest first: ids grow with creation. */
const CREATED = {
  query: { closed: false, order: 'id', ascending: false },
  timeOf: ({ createdAt }: GammaMarket) => createdAt,
  lateMs: 0,
};
/** closedTime is the time of the resolution on chain; the row becomes `closed` minutes later. */
const CLOSED = {
  query: { closed: true, order: 'closedTime', ascending: false, include_tag: true },
  timeOf: ({ closedTime }: GammaMarket) => closedTime,
  lateMs: HOUR_MS,
};

/**
 * Gamma's listings as market records. full: open events, then open markets that no event lists. open: open events only. historical:
 * markets closed since. changed: markets created or closed since, and the most traded events. updatedAt cannot select changes:
 * Gamma touches it on thousands of markets at once without a visible change.
 */
export async function* sweepMarkets(
  source: MarketSource,
  scope: SweepScope,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  yield* leftOutBefore(source, context);
  if (scope.kind === 'historical') {
    yield* recentMarkets(source, CLOSED, scope.sinceMs, context);
  } else if (scope.kind === 'changed') {
    yield* recentMarkets(source, CREATED, scope.sinceMs, context);
    yield* openEvents(source, { order: 'volume24hr', ascending: false }, HOT_PAGES, context);
    yield* recentMarkets(source, CLOSED, scope.sinceMs, context);
  } else {
    const seen = new Set<string>();
    for await (const page of openEvents(source, {}, Infinity, context)) {
      for (const { info } of page.markets) seen.add(info.platformId);
      yield page;
    }
    if (scope.kind === 'full') yield* openMarketsWithoutEvent(source, seen, context);
  }
}

/** Open events with all their markets, including closed ones. */
async function* openEvents(
  source: MarketSource,
  order: { order?: string; ascending?: boolean },
  most: number,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  let count = 0;
  for await (const page of pages(source.client, '/events/keyset', { closed: false, ...order }, context)) {
    const listed = page.rows.flatMap((given) => {
      const parent = withoutMarkets(given, context);
      // Markets of an unreadable event are stored without it.
      const { data: nested = [] } = nestedMarkets.safeParse(given);
      return parseMarkets(nested, context).map((market) => ({ market, parent }));
    });
    const results = await resultsOf(
      source,
      listed.map(({ market }) => market),
      context,
    );
    yield {
      markets: listed.map(({ market, parent }) =>
        recordOf(market, parent, page.receivedAt, results.get(market.row.conditionId)),
      ),
    };
    count += 1;
    if (count === most) return;
  }
}

/** The markets of such a list since `sinceMs`: the first page without a later one is the last. */
async function* recentMarkets(
  source: MarketSource,
  { query, timeOf, lateMs }: typeof CREATED | typeof CLOSED,
  sinceMs: number,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  const split = recentRows<ParsedRow<GammaMarket>>(({ row }) => isoTime(timeOf(row)), sinceMs - lateMs);
  for await (const page of pages(source.client, '/markets/keyset', query, context)) {
    const { recent, goesOn } = split(parseMarkets(page.rows, context), page.rows.length);
    if (recent.length > 0) yield { markets: await completed(source, recent, page.receivedAt, context) };
    if (!goesOn) return;
  }
}

/** The other open markets. Rows of this route contain their event without tags, so events are read as well. */
async function* openMarketsWithoutEvent(
  source: MarketSource,
  seen: ReadonlySet<string>,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  for await (const page of pages(source.client, '/markets/keyset', { closed: false }, context)) {
    const fresh = parseMarkets(page.rows, context).filter(({ row }) => !seen.has(row.id));
    if (fresh.length > 0) yield { markets: await completed(source, fresh, page.receivedAt, context) };
  }
}
