import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ApiError, platformName } from '../core/errors.ts';
import { textParam } from '../core/fields.ts';
import { MARKET_STATUSES } from '../core/model.ts';
import { answerStored } from '../http/cached-answer.ts';
import { pagination } from '../http/cursors.ts';
import { endpoint } from '../http/endpoint.ts';
import { normalId } from '../markets/directory.ts';
import { eventImageInTime } from '../markets/event-images.ts';
import { categorySlug } from '../platforms/categories.ts';
import { EVENT_ORDERS } from '../present/list-orders.ts';
import { eventById } from '../queries/events/events.ts';
import { MOST_FIT, seriesPage } from '../queries/events/series.ts';
import { hiddenIssues, listEvents } from '../queries/events/list.ts';
import { ListPosition } from '../queries/listing-pages.ts';
import { EventsAnswer, OneEventAnswer, SeriesListAnswer } from '../schemas/events.ts';
import {
  cursorParam,
  enumParam,
  eventIdParam,
  flagParam,
  leadersParam,
  limitParam,
  placeholdersParam,
  combosParam,
  platformParam,
} from '../schemas/parameters.ts';
import type { Services } from './services.ts';

const SeriesPosition = z.object({ after: z.string(), fit: z.int(), total: z.int() });
const SEARCH =
  'Words of the title, the category, the id or the slug, without regard to case and accents. A word of three letters and more finds those that begin with it; one of five letters and more that no title has, those with one typo. Also an id';

const categoryParam = () => textParam(100).optional().describe('Slug of analytics/categories');

/** GET events, events/{id}, series. */
export function eventRoutes(app: FastifyInstance, services: Services): void {
  listEventsRoute(app, services);
  getEventRoute(app, services);
  listSeriesRoute(app, services);
}

function listEventsRoute(app: FastifyInstance, services: Services): void {
  const { cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/events',
      auth: 'key',
      tag: 'Markets',
      operation: 'listEvents',
      summary: 'List events',
      description:
        'Events of one platform that have a stored market. Figures are sums over the markets of an event at one instant. All pages keep the order of the first page: no event is repeated or missed.',
      query: {
        provider: platformParam(),
        limit: limitParam(50, 200),
        cursor: cursorParam(),
        status: enumParam(MARKET_STATUSES).optional().describe('Only events in this state; open: with an open market'),
        query: textParam().optional().describe(SEARCH),
        category: categoryParam(),
        series_id: eventIdParam("Only events of this series, by the platform's id").optional(),
        include_placeholders: placeholdersParam(),
        include_combos: combosParam(),
        leaders: leadersParam(),
        sort: enumParam(EVENT_ORDERS)
          .optional()
          .describe(
            'Largest, newest or with the most markets first, unknown last; by USD without hidden markets only; end_date: soonest first; match: best match first, then by volume. Default: match with query, else volume_24h',
          ),
      },
      together: hiddenIssues,
      stored: 'rows',
      answer: EventsAnswer,
    },
    (call) => {
      const { query } = call;
      const { provider } = query;
      const cache = { from: 'listings', platforms: [provider] } as const;
      return answerStored(services, call, cache, async () => {
        const { cursor, limit, ...filters } = query;
        const position = cursors.decode('events', filters, cursor, ListPosition);
        const page = await listEvents(services, query, { position, nowMs: services.clock.now(), limit });
        const next = cursors.encode('events', filters, page.next);
        return {
          body: { pagination: pagination(page.total, limit, next), events: page.events },
          meta: { platforms_queried: [provider] },
          rows: 'events',
        };
      });
    },
  );
}

function getEventRoute(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/events/:id',
      auth: 'key',
      tag: 'Markets',
      operation: 'getEvent',
      summary: 'One event by id, with its markets',
      description: 'Accepts the platform id, the unified id, and on Polymarket the slug. Only stored events are found.',
      params: { id: eventIdParam() },
      query: {
        provider: platformParam(),
        include_markets: flagParam(true).describe('false omits the markets'),
        include_placeholders: placeholdersParam(),
      },
      stored: 'whole',
      answer: OneEventAnswer,
    },
    (call) => {
      const { params, query } = call;
      const user = call.caller.userId;
      const { provider, include_markets: withMarkets } = query;
      const cache = { from: 'listings', platforms: [provider] } as const;
      return answerStored(services, call, cache, async () => {
        const id = normalId(provider, params.id);
        const found = id === null ? null : await eventById(services, provider, id, query);
        if (!found) {
          throw new ApiError(404, `Event not found on ${platformName(provider)}`, {
            resolution: 'Check the id and the provider; GET /v1/api/events lists all events.',
            errorText: `no event ${JSON.stringify(params.id)} on ${platformName(provider)}`,
          });
        }
        const { event } = found;
        const markets = withMarkets ? found.markets : [];
        const lacking = [event, ...markets].filter(({ image_url: image }) => image === '');
        const image = lacking.length === 0 ? '' : await eventImageInTime(services, provider, event.event_id, user);
        for (const one of lacking) one.image_url = image;
        return {
          body: { event, markets },
          meta: { platforms_queried: [provider] },
        };
      });
    },
  );
}

function listSeriesRoute(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/series',
      auth: 'key',
      tag: 'Markets',
      operation: 'listSeries',
      summary: 'List series',
      description:
        'Series of one platform, the best matches of a query first, then by id, with the number of their events.',
      query: {
        provider: platformParam(),
        limit: limitParam(50, 200),
        cursor: cursorParam(),
        query: textParam().optional().describe(SEARCH),
        category: categoryParam(),
      },
      stored: 'rows',
      answer: SeriesListAnswer,
    },
    (call) => {
      const { query } = call;
      const { provider } = query;
      const cache = { from: 'listings', platforms: [provider] } as const;
      return answerStored(services, call, cache, async () => {
        const { cursor, limit, ...filters } = query;
        const position = cursors.decode('series', filters, cursor, SeriesPosition);
        const found = await seriesPage(clickhouse, {
          platform: provider,
          category: query.category === undefined ? '' : categorySlug(query.category),
          query: query.query,
          nowMs: services.clock.now(),
          after: position ?? { after: '', fit: MOST_FIT },
          limit: limit + 1,
        });
        const series = found.series.slice(0, limit);
        const total = position?.total ?? found.total ?? 0;
        const last = found.series.length > limit ? series.at(-1) : undefined;
        const next = last
          ? cursors.encode('series', filters, { after: last.series_id, fit: found.fits[limit - 1] ?? 0, total })
          : null;
        return {
          body: { pagination: pagination(total, limit, next), series },
          meta: { platforms_queried: [provider] },
          rows: 'series',
        };
      });
    },
  );
}
