import { Cache } from '../../../core/cache.ts';
import type { MarketRecord } from '../../../core/model.ts';
import type { ReadContext, SweepPage } from '../../contract.ts';
import { type ParsedRow, parseBody, parseRow, parseRows } from '../../parse-rows.ts';
import { ItemReader } from '../../read-items.ts';
import type { PolymarketClient } from '../client.ts';
import {
  EVENT_ROW,
  type GammaEvent,
  type GammaMarket,
  MARKET_ROW,
  eventPage,
  gammaEvent,
  gammaMarket,
  nestedMarkets,
} from '../gamma-wire.ts';
import { pages } from '../list-pages.ts';
import { mapPolymarketMarket } from '../market.ts';
import { conditionSpellings } from '../protocol.ts';
import { type Resolution, resolutionReader } from './resolutions.ts';
import { needsResolution } from './status.ts';

/** Events requested by id list all their markets, of 5 KB each and often over a hundred: a page of events would exceed the limit of a reply. */
const EVENTS_BY_ID = 10;
const FINALS = 10_000;

type Parent = ParsedRow<GammaEvent>;
/** An event as its own route reports it, and its unparsed markets. */
interface ReadEvent {
  parent: Parent;
  nested: unknown[];
  receivedAt: string;
}

/** Gamma, and what market rows lack: events by id, and results by condition. */
export interface MarketSource {
  client: PolymarketClient;
  events: ItemReader<ReadEvent>;
  results: ItemReader<Resolution>;
  /** Final results by condition, for reads that fail: a market that was settled does not open again. */
  finals: Cache<string, Resolution>;
}

export const createMarketSource = (client: PolymarketClient): MarketSource => ({
  client,
  events: new ItemReader({
    platform: 'polymarket',
    kind: 'event',
    groupSize: EVENTS_BY_ID,
    read: (ids, context) => readEvents(client, ids, context),
  }),
  results: resolutionReader(client),
  finals: new Cache({ limit: FINALS }),
});

export const parseMarkets = (rows: readonly unknown[], context: ReadContext): ParsedRow<GammaMarket>[] =>
  parseRows(gammaMarket, rows, MARKET_ROW, context);

/** An event, whose markets have rows of their own. */
export function withoutMarkets(given: unknown, context: ReadContext): Parent | null {
  const parsed = parseRow(gammaEvent, given, EVENT_ROW, context);
  if (!parsed) return null;
  const { markets: _, ...raw } = parsed.raw;
  return { row: parsed.row, raw };
}

/** One market as a record; `parent` is its event as the events route reports it. */
export function recordOf(
  { row, raw }: ParsedRow<GammaMarket>,
  parent: Parent | null,
  receivedAt: string,
  resolution: Resolution | undefined,
): MarketRecord {
  const received = parent ? { market: raw, event: parent.raw } : { market: raw };
  return mapPolymarketMarket(row, parent?.row ?? null, received, receivedAt, resolution);
}

/** Market rows as records, each with its event as reported by the events route: with tags and series. */
export async function completed(
  source: MarketSource,
  markets: readonly ParsedRow<GammaMarket>[],
  receivedAt: string,
  context: ReadContext,
): Promise<MarketRecord[]> {
  const ids = [...new Set(markets.flatMap(({ row }) => row.events[0]?.id ?? []))];
  const events = await source.events.readAll(ids, context);
  const parents = new Map(events.map(({ parent }) => [parent.row.id, parent]));
  const results = await resultsOf(source, markets, context);
  return markets.map((market) => {
    const { conditionId, events: named } = market.row;
    return recordOf(market, parents.get(named[0]?.id ?? '') ?? null, receivedAt, results.get(conditionId));
  });
}

/** Oracle results of the markets whose rows lack them, by condition. */
export async function resultsOf(
  { results, finals }: Pick<MarketSource, 'results' | 'finals'>,
  markets: readonly ParsedRow<GammaMarket>[],
  context: ReadContext,
): Promise<Map<string, Resolution>> {
  const conditions = markets.flatMap(({ row }) => (needsResolution(row) ? row.conditionId : []));
  const read = await results.readAll(conditions, context);
  for (const result of read) if (result.payouts) finals.set(result.conditionId, result);
  const known = conditions.flatMap((id) => finals.get(id) ?? []);
  return new Map([...known, ...read].map((result) => [result.conditionId, result]));
}

/** Markets that were stored without their event or result, which can be read now. */
export async function* leftOutBefore(source: MarketSource, context: ReadContext): AsyncGenerator<SweepPage> {
  for (const { parent, nested, receivedAt } of await source.events.readLeftOut(context)) {
    const markets = parseMarkets(nested, context);
    const results = await resultsOf(source, markets, context);
    yield {
      markets: markets.map((market) => recordOf(market, parent, receivedAt, results.get(market.row.conditionId))),
    };
  }
  const resolved = await source.results.readLeftOut(context);
  if (resolved.length === 0) return;
  const query = { condition_ids: resolved.flatMap(({ conditionId }) => conditionSpellings(conditionId)), closed: true };
  for await (const page of pages(source.client, '/markets/keyset', query, context)) {
    yield { markets: await completed(source, parseMarkets(page.rows, context), page.receivedAt, context) };
  }
}

/** Events by id, with the order of their markets. A list contains open or closed events, never both: ids missing from one are requested from the other. */
async function readEvents(
  client: PolymarketClient,
  ids: readonly string[],
  context: ReadContext,
): Promise<ReadEvent[]> {
  const found = new Map<string, ReadEvent>();
  for (const closed of [true, false]) {
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) break;
    const query = { id: missing, closed, limit: EVENTS_BY_ID };
    const reply = await client.get('gamma/events', '/events/keyset', query, context);
    for (const given of parseBody('polymarket', eventPage, reply).rows) {
      const parent = withoutMarkets(given, context);
      const { data: nested = [] } = nestedMarkets.safeParse(given);
      if (parent) found.set(parent.row.id, { parent, nested, receivedAt: reply.receivedAt });
    }
  }
  return [...found.values()];
}
