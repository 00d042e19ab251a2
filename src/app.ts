import { randomUUID } from 'node:crypto';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import jwt from '@fastify/jwt';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { ensureDemoUser } from './accounts.ts';
import { openApiKeys, type ApiKeys } from './api-keys.ts';
import { after, guard, identify, limit } from './auth.ts';
import type { ClickHouse } from './clickhouse.ts';
import type { Config } from './config.ts';
import { createCredentials, type Credentials } from './credentials.ts';
import { ApiError } from './errors.ts';
import { notFound, onClientError, onError } from './error-handlers.ts';
import { describeApi } from './openapi.ts';
import { createOrders, type Orders } from './orders/index.ts';
import type { Watch } from './metrics.ts';
import { createCursors, type Cursors } from './pages.ts';
import { Freshness } from './freshness.ts';
import type { StoredMarkets } from './market-directory.ts';
import type { OrderAdapters } from './platforms/orders-index.ts';
import type { BadRow, PlatformData } from './platforms/platform.ts';
import type { Postgres } from './postgres.ts';
import { openRateLimits, type RateLimitOptions, type RateLimits } from './rate-limit.ts';
import type { Shared } from './redis.ts';
import { accountRoutes } from './routes/account.ts';
import { analyticsRoutes } from './routes/analytics.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { credentialRoutes } from './routes/credentials.ts';
import { googleRoutes } from './routes/google.ts';
import { healthRoutes, type IngestionHealth } from './routes/health.ts';
import { marketRoutes, requireMarket } from './routes/markets.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { orderSettingsRoutes } from './routes/order-settings.ts';
import { orderRoutes } from './routes/orders.ts';
import { portfolioRoutes } from './routes/portfolio.ts';
import { prometheusRoutes } from './routes/prometheus.ts';
import { priceHistoryRoutes } from './routes/price-history.ts';
import type { Platform } from './schemas.ts';
import { securityHeaders } from './security-headers.ts';
import { createSessions, SESSION_SECONDS, type Sessions } from './sessions.ts';

/**
 * How a route is declared, everywhere (src/routes/api-keys.ts is the example):
 *
 *     export function marketRoutes(app: FastifyInstance, { cursors, clickhouse }: Services): void {
 *       endpoint(app, {
 *         method: 'GET', url: '/v1/api/…', auth: 'key', tag: 'Markets', summary: '…',
 *         query: { provider: platformParam(), limit: limitParam(50, 500), cursor: cursorParam() },
 *         answer: MarketsAnswer,
 *       }, async ({ query, caller, request, reply }) => ({ … }));
 *     }
 *
 * `auth` is `key` (data: X-API-Key or Authorization: Bearer), `session` (accounts: the cookie), or `none`.
 * Parameters are schemas of parameters.ts under their canonical names; aliases, unknown names and the listing of every
 * failing field come with readInput (query.ts). A failure is thrown as ApiError, badRequest or PlatformError.
 * Stored data leaves through answerStored (stored-answers.ts), with ETag and 304.
 * A request meets, in this order: its id, identification, limit, guard, validation, the handler.
 */
export interface AppDeps {
  config: Config;
  log: FastifyBaseLogger;
  clickhouse: ClickHouse;
  postgres: Postgres;
  shared: Shared;
  /** The read sides of config.platforms. */
  platforms: Partial<Record<Platform, PlatformData>>;
  /** The order sides; without them orders are refused. */
  orderAdapters?: OrderAdapters;
  /** Stored markets by any id; what is not stored is fetched. */
  markets: StoredMarkets;
  /** Told of each row of a platform that had to be skipped. */
  onBadRow: (row: BadRow) => void;
  /** How fresh each platform's data is; [] where this process cannot know. */
  ingestionHealth: () => Promise<IngestionHealth[]>;
  /** Counts what happens and answers /metrics; absent where METRICS is off. */
  watch?: Watch;
  /** Tests move time; servers leave it out. */
  now?: () => number;
  /** Tests name the counters in Redis apart and shorten the window. */
  rates?: RateLimitOptions;
}

/** What routes are built from. */
export interface Services extends AppDeps {
  now: () => number;
  cursors: Cursors;
  apiKeys: ApiKeys;
  sessions: Sessions;
  credentials: Credentials;
  orders: Orders;
  limits: RateLimits;
  freshness: Freshness;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** For what asks for a key beside HTTP: SQL_PORT. */
    apiKeys: ApiKeys;
  }
}

/** Headers that a web page may read. */
const EXPOSED = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-request-id', 'retry-after', 'etag', 'x-next-cursor'];
const readableBy = (origin: string | undefined) => ({
  vary: 'Origin',
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': EXPOSED.join(', '),
});
const BODY_BYTES = 64 * 1024;
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** The whole HTTP interface over stores that are open and migrated. Closing the app closes what it opened, not the stores. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, log, postgres, shared } = deps;
  const limits = await openRateLimits(config.REDIS_URL, log, deps.rates);
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines name their request themselves: most requests write one or none, and a child logger each costs more than the line.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_BYTES,
    // Fastify's own refusal has neither our envelope nor our headers: the hook below refuses.
    return503OnClosing: false,
    trustProxy: config.TRUST_PROXY.length > 0 ? config.TRUST_PROXY : false,
    routerOptions: { maxParamLength: 1024 },
    genReqId: ({ headers: { 'x-request-id': given } }) =>
      typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID(),
    // Slow clients: 10 s for the headers, 30 s for the request, 90 s of silence on a connection.
    requestTimeout: 30_000,
    connectionTimeout: 90_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, requireHostHeader: false },
    clientErrorHandler: onClientError(limits),
    // A URL that cannot be read meets no hooks: it is counted by address here.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      Promise.resolve()
        .then(() => limit(request, reply, limits))
        .then(() => onError(error, request, reply))
        .catch((refusal: unknown) => onError(refusal, request, reply));
    },
  });
  await app.register(cookie);
  await app.register(jwt, {
    secret: config.jwtSecret,
    sign: { algorithm: 'HS256', expiresIn: SESSION_SECONDS },
    verify: { algorithms: ['HS256'] },
  });

  const now = deps.now ?? Date.now;
  const sessions = createSessions(postgres.db, app.jwt, now);
  const told = config.REDIS_URL !== undefined || config.DATABASE_URL === undefined;
  const apiKeys = await openApiKeys({ db: postgres.db, shared, log, told, demoKey: config.DEMO_API_KEY, now });
  const credentials = createCredentials(postgres.db, config.credentialKeys);
  const orders = createOrders({
    ...deps,
    db: postgres.db,
    credentials,
    adapters: deps.orderAdapters ?? {},
    market: (platform, id) => requireMarket(deps, platform, id),
    now,
  });
  const services: Services = {
    ...deps,
    now,
    cursors: createCursors(config.jwtSecret),
    apiKeys,
    sessions,
    credentials,
    orders,
    limits,
    freshness: new Freshness(deps.clickhouse),
  };
  if (config.DEMO_API_KEY) await ensureDemoUser(postgres.db, config.DEMO_API_KEY);

  app.decorate('apiKeys', apiKeys);
  app.decorateRequest('caller', null);
  app.decorateRequest('refusal', null);
  app.setErrorHandler(onError);
  app.setNotFoundHandler(notFound(app));
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  acceptOnlyJson(app);

  let closing = false;
  const guarded = await securityHeaders();
  app.addHook('onRequest', (request, reply, done) => {
    // Nobody but the caller may keep an answer, unless its route says more.
    const headers = request.routeOptions.config.auth === 'key' ? guarded.data : guarded.page;
    // A refusal too: the plugin below adds these to what gets past this hook only.
    if (config.CORS_ORIGINS.includes(request.headers.origin ?? '')) reply.headers(readableBy(request.headers.origin));
    reply.headers(headers).header('x-request-id', request.id).header('cache-control', 'no-store');
    const admitted = after(identify(request, apiKeys, sessions), () =>
      after(limit(request, reply, limits), () => {
        if (closing) {
          reply.header('connection', 'close');
          throw new ApiError(503, 'The service is stopping', { resolution: 'Try again shortly.', retryAfter: 5 });
        }
        guard(request, config);
      }),
    );
    if (admitted instanceof Promise) admitted.then(() => done(), done);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { id, method, caller } = request;
    const [path] = request.url.split('?', 1);
    const ms = Math.round(reply.elapsedTime);
    log.info({ reqId: id, method, path, status: reply.statusCode, ms, user: caller?.userId }, 'request');
    done();
  });
  app.addHook('onReady', () => orders.start());
  // Node would answer an expectation it does not know by itself, without a body.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  app.addHook('preClose', () => {
    closing = true;
    return takeWaiting(app.server);
  });
  app.addHook('onClose', async () => {
    await orders.stop();
    await apiKeys.close();
    await limits.close();
  });

  if (config.CORS_ORIGINS.length > 0) {
    await app.register(cors, {
      origin: config.CORS_ORIGINS,
      methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
      credentials: true,
      exposedHeaders: EXPOSED,
      maxAge: 600,
    });
  }
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    threshold: 1024,
    // Bodies are small and come as they are.
    globalDecompression: false,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  });
  await describeApi(app, config.version);

  accountRoutes(app, services);
  await googleRoutes(app, services);
  apiKeyRoutes(app, services);
  credentialRoutes(app, services);
  healthRoutes(app, services);
  analyticsRoutes(app, services);
  marketRoutes(app, services);
  metricsRoutes(app, services);
  orderRoutes(app, services);
  orderSettingsRoutes(app, services);
  portfolioRoutes(app, services);
  prometheusRoutes(app, services);
  priceHistoryRoutes(app, services);
  return app;
}

const TAKE_WAITING_MS = 500;
const QUIET_TURNS = 20;

/** A listener that closes resets connections the system holds for it: takes them first, one a turn of the loop, to answer them 503. */
async function takeWaiting(server: FastifyInstance['server']): Promise<void> {
  let quiet = 0;
  const hear = (): void => void (quiet = 0);
  server.on('connection', hear);
  for (const end = performance.now() + TAKE_WAITING_MS; quiet < QUIET_TURNS && performance.now() < end; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', hear);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** JSON bodies only, in sound UTF-8; an empty body is none, whatever type it is said to be. */
function acceptOnlyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string;
    try {
      text = UTF8.decode(body as Buffer);
    } catch {
      return done(Object.assign(new SyntaxError('not UTF-8'), { statusCode: 400 }));
    }
    if (text === '') done(null, undefined);
    else void parse(request, text, done);
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else done(Object.assign(new Error('not JSON'), { statusCode: 415 }));
  });
}
