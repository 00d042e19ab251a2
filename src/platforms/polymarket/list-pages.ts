import type { ReadContext } from '../contract.ts';
import { everyPage, pageSize } from '../list-pages.ts';
import { answeredUs, parseBody } from '../parse-rows.ts';
import type { PolymarketClient, Query } from './client.ts';
import { madeAt } from '../http/made-at.ts';
import { eventPage, marketPage } from './gamma-wire.ts';
import { dataPage } from './wire.ts';
import type { Page } from './wire-fields.ts';

/** Gamma silently clamps larger pages to 100. */
const GAMMA = { limit: 100, cursorName: 'after_cursor', isFresh: false } as const;
/** Trades and positions change between two pages: the CDN must not answer with older ones. */
const DATA = { limit: 1000, cursorName: 'cursor', isFresh: true, schema: dataPage } as const;

/** The routes whose lists have cursors. */
const ROUTES = {
  '/events/keyset': { ...GAMMA, group: 'gamma/events', schema: eventPage },
  '/markets/keyset': { ...GAMMA, group: 'gamma/markets', schema: marketPage },
  '/v2/trades': { ...DATA, group: 'data-v2/trades' },
  '/v2/positions': { ...DATA, group: 'data-v2/positions' },
  '/v2/positions/combos': { ...DATA, group: 'data-v2/positions' },
  '/v2/prices-history': { ...DATA, group: 'data-v2/prices-history', limit: 10_000, isFresh: false },
} as const;
type Route = keyof typeof ROUTES;

interface PolymarketPage extends Page {
  receivedAt: string;
  /** When the platform generated the page, ISO-8601: earlier than its receipt if the CDN cached it. */
  madeAt: string;
  /** The same by the platform's clock, Unix µs; undefined if not reported. */
  madeUs: number | undefined;
}

/** One page of a list; a cursor has the page size, but not the query. `expected`: about how many rows are wanted, if known. */
export async function readPage(
  client: PolymarketClient,
  route: Route,
  query: Query,
  cursor: string,
  context: ReadContext,
  expected?: number,
): Promise<PolymarketPage> {
  const { group, schema, limit, cursorName, isFresh } = ROUTES[route];
  const params = { ...query, limit: pageSize(expected, limit), [cursorName]: cursor || undefined };
  const reply = isFresh
    ? await client.getFresh(group, route, params, context)
    : { ...(await client.get(group, route, params, context)), ageMs: 0 };
  const made = madeAt(reply);
  return {
    ...parseBody('polymarket', schema, reply, route),
    receivedAt: reply.receivedAt,
    madeAt: made,
    madeUs: reply.ageMs === 0 ? answeredUs(reply) : Date.parse(made) * 1000,
  };
}

/** Every page of a list. */
export const pages = (
  client: PolymarketClient,
  route: Route,
  query: Query,
  context: ReadContext,
  { maxPages, expected }: { maxPages?: number; expected?: number | undefined } = {},
): AsyncGenerator<PolymarketPage> =>
  everyPage('polymarket', route, (cursor) => readPage(client, route, query, cursor, context, expected), maxPages);
