import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { USD_SCALE } from '../../core/decimal.ts';
import { answerStored } from '../../http/cached-answer.ts';
import { pagination } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { SEARCH_ORDERS } from '../../present/list-orders.ts';
import { issuesOfTypes, type Result, SEARCH_TYPES, searchAll, SearchPosition } from '../../queries/search/results.ts';
import { withLeaders } from '../../queries/events/list.ts';
import { SearchAnswer } from '../../schemas/events.ts';
import { walletsParam } from '../../schemas/streams.ts';
import {
  cursorParam,
  decimalParam,
  enumParam,
  leadersParam,
  limitParam,
  optionalPlatformParam,
} from '../../schemas/parameters.ts';
import { directionParam, marketFilters } from '../markets.ts';
import type { Services } from '../services.ts';

const LETTERS = 200;

const TypeName = z.enum(SEARCH_TYPES);

/** Comma-separated types, each once. */
function typesParam() {
  const error = `one or more of ${SEARCH_TYPES.join(', ')}, comma-separated`;
  return z
    .string({ error })
    .transform((text, context) => {
      const types = z.array(TypeName).safeParse(text.split(',').map((word) => word.trim()));
      if (types.success) return [...new Set(types.data)];
      context.addIssue({ code: 'custom', message: error });
      return z.NEVER;
    })
    .default(['markets', 'events'])
    .describe(`${error}. Default: markets,events`);
}

/** GET search. */
export function searchRoutes(app: FastifyInstance, services: Services): void {
  const { config, cursors } = services;
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/search',
      auth: 'key',
      tag: 'Markets',
      operation: 'searchAll',
      summary: 'Find markets, events, series and wallets of all platforms',
      description: `The best match first: a whole id, a title that begins with the text, a title whose words begin with its words, the rest; then the most traded in USD. The text may be words, a ticker, a slug, the id of a market, an event, a series or an outcome token, an address of a page of a platform, or of a wallet. Without a text everything is listed. Series are included unless a filter by status, event_id, min_liquidity, ends_after or ends_before is given, wallets are found by their address alone. All pages show the lists as of the first page, for 10 minutes.`,
      query: {
        q: z
          .string({ error: `text of at most ${LETTERS} characters` })
          .trim()
          .max(LETTERS, { error: `text of at most ${LETTERS} characters` })
          .default('')
          .describe(
            'Without regard to case and accents. A word of three letters and more finds those that begin with it; one of five letters and more that no title has, those with one typo. Empty: everything',
          ),
        types: typesParam(),
        platform: optionalPlatformParam(),
        ...marketFilters(),
        min_liquidity: decimalParam(USD_SCALE).optional().describe('Only markets of at least this liquidity_usd'),
        addresses: walletsParam(
          'With types=markets: only markets in which one of these wallets took a stored trade',
        ).optional(),
        leaders: leadersParam(),
        sort: enumParam(SEARCH_ORDERS)
          .optional()
          .describe(
            'As in GET markets, price, spread, price_change_24h and resolved with types=markets; with types=events also markets, the most markets first. Default: match with q, else volume_24h_usd',
          ),
        order: directionParam(' With types=markets'),
        limit: limitParam(20, 100),
        cursor: cursorParam(),
      },
      together: issuesOfTypes,
      stored: 'rows',
      answer: SearchAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform === undefined ? config.platforms : [query.platform];
      const cache = { from: 'listings', platforms } as const;
      return answerStored(services, call, cache, async () => {
        const { cursor, limit, ...filters } = query;
        const position = cursors.decode('search', filters, cursor, SearchPosition);
        const page = await searchAll(
          services,
          { ...query, platforms },
          { position, nowMs: services.clock.now(), limit },
        );
        const next = cursors.encode('search', filters, page.next);
        return {
          body: {
            results: await leading(services, query.leaders, page.results),
            pagination: pagination(page.total, limit, next),
          },
          meta: { platforms_queried: [...platforms] },
          rows: 'results',
        };
      });
    },
  );
}

/** Results whose events name their leading markets. */
async function leading(services: Services, leaders: number, results: readonly Result[]): Promise<Result[]> {
  const events = results.flatMap((one) => (one.type === 'event' ? one.event : []));
  const named = new Map((await withLeaders(services, leaders, events)).map((event) => [event.id, event]));
  return results.map((one) => (one.type === 'event' ? { ...one, event: named.get(one.id) ?? one.event } : one));
}
