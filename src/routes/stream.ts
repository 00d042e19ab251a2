import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../accounts/caller.ts';
import { ApiError, badRequest, type FoundIssue } from '../core/errors.ts';
import { marketKey } from '../core/market-key.ts';
import type { Platform } from '../core/model.ts';
import { givenKey } from '../http/auth.ts';
import { endpoint } from '../http/endpoint.ts';
import type { Values } from '../http/read-input.ts';
import { readCookie } from '../http/session-cookie.ts';
import { asStored } from '../markets/directory.ts';
import { eventIdParam } from '../schemas/parameters.ts';
import {
  addressesParam,
  floorParam,
  platformsParam,
  sinceParam,
  unifiedIdsParam,
  wordsParam,
} from '../schemas/streams.ts';
import type { Reader } from '../streams/connections.ts';
import { CHANNELS, type Channel, marketNames, type StreamFilter } from '../streams/filter.ts';
import { SseStream } from '../streams/sse-stream.ts';
import { startPositions } from '../streams/start.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { watchedGapIssues, watchedGapParams, watchedGaps } from './matches/watched-gaps.ts';
import type { Services } from './services.ts';

const QUERY = {
  channels: wordsParam(CHANNELS),
  platform: platformsParam().optional(),
  market_ids: unifiedIdsParam().optional(),
  event_id: eventIdParam("Markets of this event, by the platform's id, with or without <platform>:").optional(),
  min_size: floorParam('contracts or shares; default 1000 for the channel whales without `min_notional`'),
  min_notional: floorParam('USD'),
  addresses: addressesParam().optional(),
  ...watchedGapParams,
  since: sinceParam().optional(),
};

/** Parameters of a stream; `depth` is that of a WebSocket. */
type Asked = Pick<Values<typeof QUERY>, 'channels'> & Partial<Values<typeof QUERY>> & { depth?: number | undefined };

/** GET /v1/api/stream: events as they are stored, and all events after a cursor. */
export function streamRoutes(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/stream',
      auth: 'key',
      tag: 'Streams',
      operation: 'streamEvents',
      summary: 'Trades, changes of markets, quotes, gaps of matches and own orders as they come, as server-sent events',
      description:
        'Each durable event has an id. A client that reconnects with the last one as Last-Event-ID (browsers do) or `since` gets every later event once. /v1/api/asyncapi.json describes the events.',
      query: QUERY,
      together: streamIssues,
      answer: z.string().describe('Server-sent events: id, event and data, a JSON object'),
      streamed: true,
      errors: [403, 404],
    },
    async ({ query, caller, request, reply }) => {
      requireMayTrade(query.channels, mayTrade(caller));
      const filter = await streamFilter(services, caller, query);
      const { 'last-event-id': lastId } = request.headers;
      const since =
        typeof lastId === 'string' && lastId !== ''
          ? { field: 'Last-Event-ID', from: { cursor: lastId } }
          : { field: 'since', from: query.since ?? null };
      const { streams } = services;
      const positions = await startPositions(streams.hub, filter, since);
      const stream = new SseStream(streams, readerOf(services, caller, request), filter, positions, reply.raw);
      if (request.method !== 'HEAD') await streams.connections.add(stream, marketNames(filter));
      reply.hijack();
      // The client has already disconnected: 'close' was emitted earlier, and nothing would end the stream.
      if (reply.raw.destroyed) {
        streams.connections.remove(stream);
        return reply;
      }
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      if (request.method === 'HEAD') reply.raw.end();
      else await stream.run();
      return reply;
    },
  );
}

/** Scopes of a key never change. */
export const mayTrade = (caller: Caller): boolean => caller.kind === 'session' || caller.scopes.includes('trade');

/** 403 for the channel orders with a key that may not trade. */
export function requireMayTrade(channels: readonly Channel[], isAllowed: boolean): void {
  if (isAllowed || !channels.includes('orders')) return;
  throw new ApiError(403, 'The channel orders needs the scope trade', {
    resolution: 'Use a key with "scopes": ["read", "trade"], or a session.',
    errorText: 'channels: orders',
  });
}

const MOST_BOOKS = 50;

/** What the parameters of a stream contradict in each other. */
export function streamIssues({ channels, ...asked }: Partial<Asked>, failing: ReadonlySet<string>): FoundIssue[] {
  if (!channels) return [];
  const { market_ids: named } = asked;
  const isWrong = channels.includes('books') && !failing.has('market_ids') && (!named || named.length > MOST_BOOKS);
  const expected = `1 to ${MOST_BOOKS} ids with the channel books`;
  const received = named ? `${named.length} ids` : 'nothing';
  return [
    ...(isWrong ? [{ field: 'market_ids', expected, received }] : []),
    ...watchedGapIssues({ ...asked, channels }, failing),
  ];
}

/** The filter with its markets resolved; 404 for markets that are not stored, 400 for those of other platforms. */
export async function streamFilter(
  services: Services,
  { userId, tier }: Pick<Caller, 'userId' | 'tier'>,
  asked: Asked,
): Promise<StreamFilter> {
  const { config, markets } = services;
  const { connections } = services.streams;
  const platforms = asked.platform ?? config.platforms;
  const named = asked.market_ids;
  const foreign = named?.find(({ platform }) => !platforms.includes(platform));
  if (foreign) {
    const expected = `ids of ${platforms.join(', ')}`;
    throw badRequest([
      { field: 'market_ids', expected, received: JSON.stringify(`${foreign.platform}:${foreign.id}`) },
    ]);
  }
  const isBooks = asked.channels.includes('books');
  // Before any look-up, so that its cost is bounded by the user's limit.
  connections.allowMarkets(tier, named?.length ?? 0);
  const found = new Map<Platform, Set<string>>();
  const books: { market: StoredMarket; key: string }[] = [];
  const unknown: string[] = [];
  for (const platform of platforms) {
    const ids = (named ?? []).flatMap((one) => (one.platform === platform ? one.id : []));
    if (ids.length === 0) continue;
    const stored = await markets.storedByAnyIds(platform, ids);
    unknown.push(...ids.flatMap((id) => (stored.has(id) ? [] : `${platform}:${id}`)));
    const known = new Map(Array.from(stored.values(), (market) => [market.ref, market]));
    if (known.size > 0) found.set(platform, new Set(known.keys()));
    if (!isBooks) continue;
    services.streams.books.allow(platform, [...known.keys()]);
    for (const market of known.values()) books.push({ market, key: marketKey(market) });
  }
  if (unknown.length > 0) {
    throw new ApiError(404, 'Markets not found', {
      resolution: 'Check the ids; GET /v1/api/markets lists all markets.',
      errorText: `no market ${unknown
        .slice(0, 20)
        .map((id) => JSON.stringify(id))
        .join(', ')}`,
    });
  }
  const chosen = { platforms, markets: named ? found : null, eventId: eventIdOf(platforms, asked.event_id) };
  return {
    channels: asked.channels,
    ...chosen,
    minSize: asked.min_size ?? null,
    minNotional: asked.min_notional ?? null,
    addresses: asked.addresses ?? null,
    books: isBooks ? { markets: books, depth: asked.depth ?? null } : null,
    matchGaps: await watchedGaps(services, userId, asked, chosen),
  };
}

/** In the stored spelling if there is one platform, so that the cursors of all spellings are the same. */
function eventIdOf(platforms: readonly Platform[], id: string | undefined): string | null {
  if (id === undefined) return null;
  const [only, ...others] = platforms;
  return only !== undefined && others.length === 0 ? asStored(only, id) : id;
}

/** Interval at which a session is looked up in the database: less often than other checks. */
const SESSION_CHECK_MS = 5000;

/** The reader of a stream; its permission is checked repeatedly. */
export function readerOf(services: Services, caller: Caller, request: FastifyRequest): Reader {
  const { userId, tier } = caller;
  if (caller.kind === 'key') {
    const key = givenKey(request);
    // Without a key it is LOOPBACK_USER, who reads as long as the process runs.
    const isAdmitted = (): boolean | Promise<boolean> => key === null || mayRead(services, key, request.ip);
    return { userId, tier, admission: caller.keyId, isAdmitted, mayTrade: mayTrade(caller) };
  }
  const cookie = readCookie('session', request, services.config.PUBLIC_URL) ?? '';
  let checkedMs = services.clock.elapsed();
  const isAdmitted = (): boolean | Promise<boolean> => {
    if (services.clock.elapsed() - checkedMs < SESSION_CHECK_MS) return true;
    checkedMs = services.clock.elapsed();
    return services.sessions.find(cookie).then(
      (found) => found !== null,
      () => true,
    );
  };
  return { userId, tier, admission: caller.sessionId, isAdmitted, mayTrade: mayTrade(caller) };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 403);

/** Whether a key may still read from this address; while the store does not answer, streams continue. */
export function mayRead({ apiKeys }: Services, key: string, ip: string): boolean | Promise<boolean> {
  try {
    const found = apiKeys.find(key, ip);
    if (!(found instanceof Promise)) return found?.scopes.includes('read') === true;
    return found.then(
      (caller) => caller?.scopes.includes('read') === true,
      (error: unknown) => !isRefusal(error),
    );
  } catch (error) {
    return !isRefusal(error);
  }
}
