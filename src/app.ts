import type { Services, AppDeps } from './routes/services.ts';
import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import jwt from '@fastify/jwt';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { ensureDemoUser } from './accounts/users.ts';
import { openLoopbackUser } from './accounts/loopback-user.ts';
import { openApiKeys, type ApiKeys } from './accounts/api-keys.ts';
import { thenOrNow, guard, identify, identifyAgain, limit, routeOf } from './http/auth.ts';
import { createCredentials } from './accounts/credentials.ts';
import { ApiError } from './core/errors.ts';
import { notFound, onClientError, onError } from './http/error-handlers.ts';
import { sendKept } from './http/cached-answer.ts';
import { describeApi } from './http/openapi/describe.ts';
import { createOrders } from './orders/orders.ts';
import { createCursors } from './http/cursors.ts';
import { createFreshness } from './queries/freshness.ts';
import { TraderNames } from './queries/trader-names.ts';
import { openRateLimits, type RateLimits } from './stores/shared/rate-limits.ts';
import type { Config } from './core/config.ts';
import { accountRoutes } from './routes/account.ts';
import { passwordRoutes } from './routes/password.ts';
import { resetPage } from './routes/reset-page.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { analyticsRoutes } from './routes/analytics/routes.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { batchRoutes } from './routes/batches.ts';
import { credentialRoutes } from './routes/credentials.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { googleRoutes } from './routes/google.ts';
import { healthRoutes } from './routes/health.ts';
import { bookRoutes } from './routes/books.ts';
import { marketTradesRoutes } from './routes/market-trades.ts';
import { marketRoutes } from './routes/markets.ts';
import { gapReader, matchRoutes } from './routes/matches/routes.ts';
import { requireMarket } from './markets/lookup.ts';
import { PresentMarkets } from './markets/present-markets.ts';
import { explorerRoutes, missingPage } from './explorer/serve.ts';
import { metricsRoutes } from './routes/market-metrics.ts';
import { orderSettingsRoutes } from './routes/order-settings.ts';
import { orderRoutes } from './routes/orders.ts';
import { userRoutes } from './routes/wallets/routes.ts';
import { prometheusRoutes } from './routes/prometheus.ts';
import { socketRoutes } from './routes/socket.ts';
import { streamRoutes } from './routes/stream.ts';
import { openStreams } from './streams/streams.ts';
import { priceHistoryRoutes } from './routes/price-history.ts';
import { commonHeaders } from './http/security-headers.ts';
import { searchRoutes } from './routes/search/routes.ts';
import { sqlRoutes } from './routes/sql.ts';
import { allowOrigins } from './http/cors.ts';
import { closesInTime } from './http/closing.ts';
import { COMPRESSION } from './http/compression.ts';
import { dropLengthOf304 } from './http/head-answers.ts';
import { acceptOnlyJson } from './http/json-bodies.ts';
import { takeUpgrades } from './http/upgrades.ts';
import { createKnownDevices } from './accounts/known-devices.ts';
import { openMailer } from './accounts/mailer.ts';
import { dropOldAccountRecords } from './accounts/retention.ts';
import { everyHour } from './core/hourly.ts';
import { dropOldAttempts } from './orders/attempts.ts';
import { createSessions, SESSION_SECONDS } from './accounts/sessions.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** For SQL_PORT, which checks keys outside HTTP. */
    apiKeys: ApiKeys;
  }
}

const BODY_BYTES = 64 * 1024;
/** A stream's address may name 500 markets. */
const HEADER_BYTES = 32 * 1024;
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** The HTTP interface over open and migrated stores. Closing the app closes what it opened, not the stores. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, log, clock, postgres } = deps;
  const tiers = { free: config.FREE_PER_MINUTE, pro: config.PRO_PER_MINUTE };
  const limits = await openRateLimits(config.REDIS_URL, log, { tiers, clock, ...deps.rates });
  const app = createServer(config, log, limits);
  await app.register(cookie);
  await app.register(jwt, {
    secret: config.jwtSecret,
    sign: { algorithm: 'HS256', expiresIn: SESSION_SECONDS },
    verify: { algorithms: ['HS256'] },
  });

  const services = await openServices(app, deps, limits);
  const { apiKeys, mailer, orders, streams } = services;
  if (config.DEMO_API_KEY) await ensureDemoUser(postgres.db, config.DEMO_API_KEY);

  app.decorate('apiKeys', apiKeys);
  app.decorateRequest('caller', null);
  app.decorateRequest('identifiedAtMs', 0);
  app.decorateRequest('device', null);
  app.decorateRequest('refusal', null);
  app.setErrorHandler(onError);
  app.setNotFoundHandler(notFound(app, missingPage(config)));
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  acceptOnlyJson(app);

  let closing = false;
  admitRequests(app, services, () => closing);
  app.addHook('onResponse', (request, reply, done) => {
    const { id, method, caller } = request;
    const [path] = request.url.split('?', 1);
    const ms = Math.round(reply.elapsedTime);
    log.info({ reqId: id, method, path, status: reply.statusCode, ms, user: caller?.userId }, 'request');
    done();
  });
  app.addHook('onReady', () => orders.start());
  const stopDropping = everyHour(
    async () => {
      await dropOldAccountRecords(postgres.db, config.RETENTION_ACCOUNTS_DAYS, clock.now());
      await dropOldAttempts(postgres.db, config.RETENTION_ORDER_ATTEMPTS_DAYS, clock.now());
    },
    log,
    (error) => log.warn({ err: error }, 'Failed to delete old records'),
  );
  // Node would answer an unknown Expect header by itself, without a body.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  const endConnections = closesInTime(app);
  app.addHook('preClose', () => {
    closing = true;
    return Promise.all([endConnections(), streams.stop()]).then(() => {});
  });
  app.addHook('onClose', async () => {
    await orders.stop();
    await stopDropping();
    await mailer?.close();
    await apiKeys.close();
    await limits.close();
  });

  await allowOrigins(app, config.CORS_ORIGINS);
  dropLengthOf304(app);
  await app.register(compress, COMPRESSION);
  await describeApi(app, config.version);

  await addRoutes(app, services);
  deps.extend?.(app, services);
  return app;
}

function createServer(config: Config, log: FastifyBaseLogger, limits: RateLimits): FastifyInstance {
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines contain the request id themselves: most requests write at most one, and a child logger costs more than the line.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_BYTES,
    // The hook below rejects requests: Fastify's own 503 has neither our envelope nor our headers.
    return503OnClosing: false,
    trustProxy: config.TRUST_PROXY.length > 0 ? config.TRUST_PROXY : false,
    routerOptions: { maxParamLength: 1024 },
    genReqId: ({ headers: { 'x-request-id': given } }) =>
      typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID(),
    // Slow clients: 10 s for the headers, 30 s for the request, 90 s of silence on a connection.
    requestTimeout: 30_000,
    connectionTimeout: 90_000,
    keepAliveTimeout: 72_000,
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
      maxHeaderSize: HEADER_BYTES,
    },
    clientErrorHandler: onClientError(limits),
    // A malformed URL runs no hooks, so it is counted against the address here.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      Promise.resolve()
        .then(() => limit(request, reply, limits))
        .then(() => onError(error, request, reply))
        .catch((refusal: unknown) => onError(refusal, request, reply));
    },
  });
}

/** What routes depend on. The app signs the cookies of sessions and devices. */
async function openServices(app: FastifyInstance, deps: AppDeps, limits: RateLimits): Promise<Services> {
  const { config, log, clock, postgres, shared } = deps;
  const sessions = createSessions(postgres.db, app.jwt, clock.now);
  const devices = createKnownDevices(postgres.db, app.jwt, clock.now);
  const apiKeys = openApiKeys({ postgres, log, demoKey: config.DEMO_API_KEY, clock });
  const services = { ...deps, markets: new PresentMarkets(deps), traderNames: new TraderNames(deps) };
  const credentials = createCredentials(postgres.forOrders.db, config.credentialKeys, log);
  const own = { ...services, credentials, markets: new PresentMarkets({ ...deps, postgres: postgres.forOrders }) };
  const orders = createOrders({
    ...own,
    db: postgres.forOrders.db,
    adapters: deps.orderAdapters ?? {},
    market: (wanted) => requireMarket(own, wanted),
  });
  const freshness = createFreshness(deps.clickhouse, shared, deps.clock);
  const streams = await openStreams({
    ...deps,
    pollMs: 1000,
    platforms: config.platforms,
    followOrders: (userId) => orders.follow(userId),
    readGaps: gapReader(services),
    feeds: deps.ingestionHealth,
    freshTo: (platform) => freshness.trades([platform]),
  });
  return {
    ...services,
    cursors: createCursors(config.jwtSecret),
    apiKeys,
    sessions,
    loopbackUser: await openLoopbackUser(postgres.db, config.LOOPBACK_USER),
    devices,
    mailer: await openMailer(config, log),
    credentials,
    orders,
    limits,
    freshness,
    streams,
  };
}

/** The checks that every request passes first, and the headers that every reply gets. */
function admitRequests(app: FastifyInstance, services: Services, isClosing: () => boolean): void {
  const { config, limits, shared } = services;
  const admit = (request: FastifyRequest, reply: FastifyReply): void | Promise<void> =>
    thenOrNow(identify(request, services), () =>
      thenOrNow(limit(request, reply, limits), () => {
        if (isClosing()) {
          reply.header('connection', 'close');
          throw new ApiError(503, 'The service is stopping', { resolution: 'Retry in a few seconds.', retryAfter: 5 });
        }
        guard(request, config);
      }),
    );
  const goOn = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void, error?: Error): void => {
    const common = commonHeaders(request, routeOf(request).auth === 'key', config.CORS_ORIGINS);
    // A cached answer needs none of the hooks below, and is written together with its headers.
    if (!error && sendKept(shared.localCache, request, reply, common)) return;
    // Not cacheable unless the route says otherwise.
    reply.headers(common).header('x-request-id', request.id).header('cache-control', 'no-store');
    done(error);
  };
  app.addHook('onRequest', (request, reply, done) => {
    let admitted;
    try {
      admitted = admit(request, reply);
    } catch (error) {
      return goOn(request, reply, done, error as Error);
    }
    if (!(admitted instanceof Promise)) goOn(request, reply, done);
    else admitted.then(() => goOn(request, reply, done)).catch((error: Error) => goOn(request, reply, done, error));
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const identified = identifyAgain(request, services);
    if (identified instanceof Promise) identified.then(() => done()).catch(done);
    else done();
  });
}

async function addRoutes(app: FastifyInstance, services: Services): Promise<void> {
  accountRoutes(app, services);
  passwordRoutes(app, services);
  sessionRoutes(app, services);
  resetPage(app);
  await googleRoutes(app, services);
  apiKeyRoutes(app, services);
  credentialRoutes(app, services);
  healthRoutes(app, services);
  analyticsRoutes(app, services);
  marketRoutes(app, services);
  marketTradesRoutes(app, services);
  bookRoutes(app, services);
  eventRoutes(app, services);
  searchRoutes(app, services);
  batchRoutes(app, services);
  matchRoutes(app, services);
  fileRoutes(app, services);
  metricsRoutes(app, services);
  orderRoutes(app, services);
  orderSettingsRoutes(app, services);
  userRoutes(app, services);
  prometheusRoutes(app, services);
  priceHistoryRoutes(app, services);
  sqlRoutes(app, services);
  streamRoutes(app, services);
  socketRoutes(app, services, takeUpgrades(app));
  explorerRoutes(app, services.config);
}
