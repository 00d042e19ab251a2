import type { JsonObject, MarketRecord } from '../../schemas.ts';
import { PlatformError } from '../../errors.ts';
import { isoTime } from '../market-fields.ts';
import type { ReadContext, SweepPage, SweepScope } from '../platform.ts';
import { type PolymarketClient, parseBody, parseRows } from './client.ts';
import { toMarketRecord } from './market.ts';
import { type GammaEvent, type GammaMarket, eventPage, gammaEvent, gammaMarket, marketPage } from './wire.ts';

/** Gamma clamps larger pages to 100 without a word. */
const PAGE_ROWS = 100;
const MAX_PAGES = 20_000;
/** closedTime is the time of the resolution on chain; the row turns `closed` minutes later. */
const LATE_CLOSE_MS = 3_600_000;

interface ListedMarket {
  row: GammaMarket;
  raw: JsonObject;
}

/**
 * Gamma's listings as market records. Events bring markets, tags and series in one; two passes complete them.
 *
 * full: open events, then open markets that no event lists. open: open events only.
 * changed: open events by updatedAt, then markets closed since. Gamma touches updatedAt in batches, also without a visible
 * change, so this is at worst an open pass.
 * historical: markets closed since.
 */
export async function* sweepMarkets(
  client: PolymarketClient,
  scope: SweepScope,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  if (scope.kind === 'historical') {
    yield* closedMarkets(client, scope.sinceMs, context);
  } else if (scope.kind === 'changed') {
    yield* openEvents(client, { order: 'updatedAt', ascending: false }, scope.sinceMs, context);
    yield* closedMarkets(client, scope.sinceMs, context);
  } else {
    const seen = new Set<string>();
    for await (const page of openEvents(client, {}, null, context)) {
      for (const { info } of page.markets) seen.add(info.platformId);
      yield page;
    }
    if (scope.kind === 'full') yield* openMarketsWithoutEvent(client, seen, context);
  }
}

/** Open events with all their markets, closed ones too; ends early at the first page all updated before `sinceMs`. */
async function* openEvents(
  client: PolymarketClient,
  order: { order?: string; ascending?: boolean },
  sinceMs: number | null,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  for await (const page of keyset(client, '/events/keyset', { closed: false, ...order }, context)) {
    const events = parseRows(gammaEvent, page.rows, 'event', context);
    const markets = events.flatMap(({ row, raw }) => {
      const { markets: nested, ...event } = raw as JsonObject;
      return parseMarkets(Array.isArray(nested) ? nested : [], context).map((market) =>
        toMarketRecord(market.row, row, { market: market.raw, event }, page.receivedAt),
      );
    });
    yield { markets, remaining: null };
    if (
      sinceMs !== null &&
      allBefore(
        events.map(({ row }) => row.updatedAt),
        sinceMs,
      )
    )
      return;
  }
}

/** The rest of the open markets. Rows of this route carry their event without tags, so parents are read as well. */
async function* openMarketsWithoutEvent(
  client: PolymarketClient,
  seen: ReadonlySet<string>,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  for await (const page of keyset(client, '/markets/keyset', { closed: false }, context)) {
    const fresh = parseMarkets(page.rows, context).filter(({ row }) => !seen.has(row.id));
    if (fresh.length > 0)
      yield { markets: await withParents(client, fresh, page.receivedAt, context), remaining: null };
  }
}

/**
 * Markets closed since `sinceMs`, newest first. The list is in the order of closedTime, so the first page on which all
 * closed before ends it; an hour more is read for rows that turned closed late.
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
    const recent = markets.filter(({ row }) => !allBefore([row.closedTime], since));
    yield { markets: await withParents(client, recent, page.receivedAt, context), remaining: null };
    if (
      allBefore(
        markets.map(({ row }) => row.closedTime),
        since,
      )
    )
      return;
  }
}

/** Whether every time is known and before; an empty list says nothing. */
const allBefore = (times: readonly string[], ms: number): boolean =>
  times.length > 0 && times.every((time) => Date.parse(isoTime(time) ?? '') < ms);

const parseMarkets = (rows: readonly unknown[], context: ReadContext): ListedMarket[] =>
  parseRows(gammaMarket, rows, 'market', context).map(({ row, raw }) => ({ row, raw: raw as JsonObject }));

/** Market rows as records, each with its event as the events route tells it: with tags and series. */
export async function withParents(
  client: PolymarketClient,
  markets: readonly ListedMarket[],
  receivedAt: string,
  context: ReadContext,
): Promise<MarketRecord[]> {
  const ids = [...new Set(markets.flatMap(({ row }) => row.events[0]?.id ?? []))];
  const parents = await readEvents(client, ids, context);
  return markets.map(({ row, raw }) => {
    const parent = parents.get(row.events[0]?.id ?? '');
    return toMarketRecord(
      row,
      parent?.event ?? null,
      parent ? { market: raw, event: parent.raw } : { market: raw },
      receivedAt,
    );
  });
}

/** Events by id. Lists show open or closed ones, never both, so those the one does not know are asked of the other. */
async function readEvents(
  client: PolymarketClient,
  ids: readonly string[],
  context: ReadContext,
): Promise<Map<string, { event: GammaEvent; raw: JsonObject }>> {
  const found = new Map<string, { event: GammaEvent; raw: JsonObject }>();
  for (const closed of [true, false]) {
    const missing = ids.filter((id) => !found.has(id));
    for (let from = 0; from < missing.length; from += PAGE_ROWS) {
      const query = { id: missing.slice(from, from + PAGE_ROWS), closed, limit: PAGE_ROWS, include_markets: false };
      const reply = await client.get('gamma/events', '/events/keyset', query, context);
      const { rows } = parseBody(eventPage, reply, '/events/keyset');
      for (const { row, raw } of parseRows(gammaEvent, rows, 'event', context)) {
        const { markets: _, ...event } = raw as JsonObject;
        found.set(row.id, { event: row, raw: event });
      }
    }
  }
  return found;
}

const ROUTES = {
  '/events/keyset': { group: 'gamma/events', schema: eventPage },
  '/markets/keyset': { group: 'gamma/markets', schema: marketPage },
} as const;

/** The pages of a keyset route until the reply carries no cursor. A cursor that does not move is refused, not followed. */
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
    const { rows, next } = parseBody(ROUTES[path].schema, reply, path);
    yield { rows, receivedAt: reply.receivedAt };
    if (next === '') return;
    if (next === cursor) break;
    cursor = next;
  }
  throw new PlatformError('polymarket', 'bad_answer', { detail: `${path}: the cursor does not come to an end` });
}
