import type { MarketRecord } from '../../core/model.ts';
import { PlatformError } from '../../core/errors.ts';
import { isoTime } from '../market-fields.ts';
import type { ReadContext, SweepPage, SweepScope } from '../contract.ts';
import { type ParsedRow, parseBody, parseRow, parseRows } from '../parse-rows.ts';
import { recentRows } from '../recent-rows.ts';
import type { PolymarketClient } from './client.ts';
import { mapPolymarketMarket, needsResolution } from './market.ts';
import { type Resolution, readResolutions } from './resolutions.ts';
import {
  EVENT_ROW,
  type GammaEvent,
  type GammaMarket,
  MARKET_ROW,
  eventPage,
  gammaEvent,
  gammaMarket,
  marketPage,
  nestedMarkets,
} from './gamma-wire.ts';

/** Gamma silently clamps larger pages to 100. */
const PAGE_ROWS = 100;
/** Events requested by id list all their markets, of 5 KB each and often over a hundred: a page of events would exceed the limit of a reply. */
const EVENTS_BY_ID = 10;
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
  client: PolymarketClient,
  scope: SweepScope,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  if (scope.kind === 'historical') {
    yield* closedMarkets(client, scope.sinceMs, context);
  } else if (scope.kind === 'changed') {
    yield* newMarkets(client, scope.sinceMs, context);
    yield* openEvents(client, { order: 'volume24hr', ascending: false }, HOT_PAGES, context);
    yield* closedMarkets(client, scope.sinceMs, context);
  } else {
    const seen = new Set<string>();
    for await (const page of openEvents(client, {}, MAX_PAGES, context)) {
      for (const { info } of page.markets) seen.add(info.platformId);
      yield page;
    }
    if (scope.kind === 'full') yield* openMarketsWithoutEvent(client, seen, context);
  }
}

/** Open events with all their markets, including closed ones. */
async function* openEvents(
  client: PolymarketClient,
  order: { order?: string; ascending?: boolean },
  pages: number,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  let count = 0;
  for await (const page of keyset(client, '/events/keyset', { closed: false, ...order }, context)) {
    const listed = page.rows.flatMap((given) => {
      const parent = withoutMarkets(given, context);
      // Markets of an unreadable event are stored without it.
      const { data: nested = [] } = nestedMarkets.safeParse(given);
      return parseMarkets(nested, context).map((market) => ({ market, parent }));
    });
    const results = await resultsOf(
      client,
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
async function* newMarkets(client: PolymarketClient, sinceMs: number, context: ReadContext): AsyncGenerator<SweepPage> {
  const query = { closed: false, order: 'id', ascending: false };
  for await (const page of keyset(client, '/markets/keyset', query, context)) {
    const markets = parseMarkets(page.rows, context);
    const { recent, goesOn } = recentRows(markets, ({ row }) => isoTime(row.createdAt), sinceMs);
    if (recent.length > 0) yield await completed(client, recent, page.receivedAt, context);
    if (!goesOn) return;
  }
}

/** The other open markets. Rows of this route contain their event without tags, so events are read as well. */
async function* openMarketsWithoutEvent(
  client: PolymarketClient,
  seen: ReadonlySet<string>,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  for await (const page of keyset(client, '/markets/keyset', { closed: false }, context)) {
    const fresh = parseMarkets(page.rows, context).filter(({ row }) => !seen.has(row.id));
    if (fresh.length > 0) yield await completed(client, fresh, page.receivedAt, context);
  }
}

/**
 * Markets closed since `sinceMs`, newest first. The list is sorted by closedTime, so the first page without a later one is the last; one
 * more hour is read for rows that became closed late.
 */
async function* closedMarkets(
  client: PolymarketClient,
  sinceMs: number,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  const query = { closed: true, order: 'closedTime', ascending: false, include_tag: true };
  const since = sinceMs - LATE_CLOSE_MS;
  for await (const page of keyset(client, '/markets/keyset', query, context)) {
    const markets = parseMarkets(page.rows, context);
    const { recent, goesOn } = recentRows(markets, ({ row }) => isoTime(row.closedTime), since);
    if (recent.length > 0) yield await completed(client, recent, page.receivedAt, context);
    if (!goesOn) return;
  }
}

const parseMarkets = (rows: readonly unknown[], context: ReadContext): ParsedRow<GammaMarket>[] =>
  parseRows(gammaMarket, rows, MARKET_ROW, context);

/** An event, whose markets have rows of their own. */
function withoutMarkets(given: unknown, context: ReadContext): ParsedRow<GammaEvent> | null {
  const parsed = parseRow(gammaEvent, given, EVENT_ROW, context);
  if (!parsed) return null;
  const { markets: _, ...raw } = parsed.raw;
  return { row: parsed.row, raw };
}

/** One market as a record; `parent` is its event as the events route reports it. */
function recordOf(
  { row, raw }: ParsedRow<GammaMarket>,
  parent: ParsedRow<GammaEvent> | null,
  receivedAt: string,
  resolution: Resolution | undefined,
): MarketRecord {
  const received = parent ? { market: raw, event: parent.raw } : { market: raw };
  return mapPolymarketMarket(row, parent?.row ?? null, received, receivedAt, resolution);
}

const completed = async (...args: Parameters<typeof withParents>): Promise<SweepPage> => ({
  markets: await withParents(...args),
});

/** Market rows as records, each with its event as reported by the events route: with tags and series. */
export async function withParents(
  client: PolymarketClient,
  markets: readonly ParsedRow<GammaMarket>[],
  receivedAt: string,
  context: ReadContext,
): Promise<MarketRecord[]> {
  const ids = [...new Set(markets.flatMap(({ row }) => row.events[0]?.id ?? []))];
  const parents = await readEvents(client, ids, context);
  const results = await resultsOf(client, markets, context);
  return markets.map((market) => {
    const { conditionId, events } = market.row;
    return recordOf(market, parents.get(events[0]?.id ?? '') ?? null, receivedAt, results.get(conditionId));
  });
}

/** Oracle results of the markets whose rows lack them. */
const resultsOf = (client: PolymarketClient, markets: readonly ParsedRow<GammaMarket>[], context: ReadContext) =>
  readResolutions(
    client,
    markets.flatMap(({ row }) => (needsResolution(row) ? row.conditionId : [])),
    context,
  );

/** Events by id, with the order of their markets. A list contains open or closed events, never both: ids missing from one are requested from the other. */
async function readEvents(
  client: PolymarketClient,
  ids: readonly string[],
  context: ReadContext,
): Promise<Map<string, ParsedRow<GammaEvent>>> {
  const found = new Map<string, ParsedRow<GammaEvent>>();
  for (const closed of [true, false]) {
    const missing = ids.filter((id) => !found.has(id));
    for (let from = 0; from < missing.length; from += EVENTS_BY_ID) {
      const query = { id: missing.slice(from, from + EVENTS_BY_ID), closed, limit: EVENTS_BY_ID };
      const reply = await client.get('gamma/events', '/events/keyset', query, context);
      const { rows } = parseBody('polymarket', eventPage, reply);
      for (const given of rows) {
        const event = withoutMarkets(given, context);
        if (event) found.set(event.row.id, event);
      }
    }
  }
  return found;
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
