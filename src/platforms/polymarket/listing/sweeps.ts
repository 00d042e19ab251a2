import { PlatformError } from '../../../core/errors.ts';
import { isoTime } from '../../market-fields.ts';
import type { ReadContext, SweepPage, SweepScope } from '../../contract.ts';
import { parseBody, recentRows } from '../../parse-rows.ts';
import type { PolymarketClient } from '../client.ts';
import { eventPage, marketPage, nestedMarkets } from '../gamma-wire.ts';
import {
  type MarketSource,
  completed,
  leftOutBefore,
  parseMarkets,
  recordOf,
  resultsOf,
  withoutMarkets,
} from './market-source.ts';

/** Gamma silently clamps larger pages to 100. */
const PAGE_ROWS = 100;
const MAX_PAGES = 100_000;
/** The 500 most traded events between two passes over the open ones: where prices move. */
const HOT_PAGES = 5;
/** closedTime is the time of the resolution on chain; the row becomes `closed` minutes later. */
const LATE_CLOSE_MS = 3_600_000;

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
    yield* closedMarkets(source, scope.sinceMs, context);
  } else if (scope.kind === 'changed') {
    yield* newMarkets(source, scope.sinceMs, context);
    yield* openEvents(source, { order: 'volume24hr', ascending: false }, HOT_PAGES, context);
    yield* closedMarkets(source, scope.sinceMs, context);
  } else {
    const seen = new Set<string>();
    for await (const page of openEvents(source, {}, MAX_PAGES, context)) {
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
  pages: number,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  let count = 0;
  for await (const page of keyset(source.client, '/events/keyset', { closed: false, ...order }, context)) {
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
    if (count === pages) return;
  }
}

/** Open markets created since `sinceMs`; ids grow with creation, so the first page without a newer one is the last. */
async function* newMarkets(source: MarketSource, sinceMs: number, context: ReadContext): AsyncGenerator<SweepPage> {
  const query = { closed: false, order: 'id', ascending: false };
  for await (const page of keyset(source.client, '/markets/keyset', query, context)) {
    const markets = parseMarkets(page.rows, context);
    const { recent, goesOn } = recentRows(markets, ({ row }) => isoTime(row.createdAt), sinceMs);
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
  for await (const page of keyset(source.client, '/markets/keyset', { closed: false }, context)) {
    const fresh = parseMarkets(page.rows, context).filter(({ row }) => !seen.has(row.id));
    if (fresh.length > 0) yield { markets: await completed(source, fresh, page.receivedAt, context) };
  }
}

/**
 * Markets closed since `sinceMs`, newest first. The list is sorted by closedTime, so the first page without a later one is the last; one
 * more hour is read for rows that became closed late.
 */
async function* closedMarkets(source: MarketSource, sinceMs: number, context: ReadContext): AsyncGenerator<SweepPage> {
  const query = { closed: true, order: 'closedTime', ascending: false, include_tag: true };
  const since = sinceMs - LATE_CLOSE_MS;
  for await (const page of keyset(source.client, '/markets/keyset', query, context)) {
    const markets = parseMarkets(page.rows, context);
    const { recent, goesOn } = recentRows(markets, ({ row }) => isoTime(row.closedTime), since);
    if (recent.length > 0) yield { markets: await completed(source, recent, page.receivedAt, context) };
    if (!goesOn) return;
  }
}

const ROUTES = {
  '/events/keyset': { group: 'gamma/events', schema: eventPage },
  '/markets/keyset': { group: 'gamma/markets', schema: marketPage },
} as const;

/** The pages of a keyset route until the reply has no cursor. A cursor that does not move is an error. */
async function* keyset(
  client: PolymarketClient,
  path: keyof typeof ROUTES,
  query: Record<string, string | boolean>,
  context: ReadContext,
): AsyncGenerator<{ rows: unknown[]; receivedAt: string }> {
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = { ...query, limit: PAGE_ROWS, after_cursor: cursor || undefined };
    const reply = await client.get(ROUTES[path].group, path, params, context);
    const { rows, next } = parseBody('polymarket', ROUTES[path].schema, reply);
    yield { rows, receivedAt: reply.receivedAt };
    if (next === '') return;
    if (next === cursor) break;
    cursor = next;
  }
  throw new PlatformError('polymarket', 'bad_answer', { detail: `${path}: the cursor does not come to an end` });
}
