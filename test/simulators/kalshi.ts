import type { Simulator, WorldOptions } from './simulator.ts';
import {
  createSimServer,
  createSimSockets,
  json,
  KEPT_TRADES,
  realClock,
  simulatorOf,
  type SimReply,
  type SimRequest,
  type SimSockets,
} from './lib/index.ts';
import { authenticate } from './kalshi/auth.ts';
import { WireError, type Call, type Route } from './kalshi/call.ts';
import { candleRoutes } from './kalshi/candles-api.ts';
import { eventRoutes } from './kalshi/events-api.ts';
import { exchangeRoutes, exchangeStatus } from './kalshi/exchange-api.ts';
import { advance } from './kalshi/lifecycle.ts';
import { billedShard, Limits } from './kalshi/limits.ts';
import { marketRoutes } from './kalshi/markets-api.ts';
import { orderRoutes } from './kalshi/orders-api.ts';
import { portfolioRoutes } from './kalshi/portfolio-api.ts';
import { createRouter, type RouteMatch } from './kalshi/router.ts';
import { socialRoutes } from './kalshi/social-api.ts';
import { STREAM_PATH, StreamHub } from './kalshi/stream/hub.ts';
import { KalshiWorld } from './kalshi/world.ts';

export { KalshiWorld } from './kalshi/world.ts';
export type { Member, MemberOptions, TrueOrder } from './kalshi/members.ts';
export type { TrueEvent, TrueMarket, TrueQuote, TrueSeries, TrueTrade } from './kalshi/truth.ts';

export interface KalshiOptions extends WorldOptions {
  /** Days of live data, the rest is historical; default two thirds of historyDays. */
  cutoffDays?: number;
  /** Token buckets of members (and, for reads, of everybody else together); default the platform's Basic tier. */
  readBucket?: { capacity: number; refillPerSecond: number };
  writeBucket?: { capacity: number; refillPerSecond: number };
  /** Between two pings of the socket; default the platform's 10 s. */
  pingMs?: number;
}

const API = '/trade-api/v2';
const SOCIAL = '/v1';

export type KalshiSimulator = Simulator<KalshiWorld> & {
  sockets: SimSockets;
  stream: StreamHub;
  /** Reads of public data that came with a key. */
  signedReads: { readonly count: number };
};

/** A Kalshi of one's own: Trade API v2, its socket and the social endpoints, on 127.0.0.1 and any port. */
export async function startKalshi(options: KalshiOptions = {}): Promise<KalshiSimulator> {
  const { historyDays = 30, clock = realClock } = options;
  const world = new KalshiWorld({
    seed: options.seed ?? 1,
    clock,
    markets: options.markets ?? 60,
    tradesPerMarket: options.tradesPerMarket ?? 40,
    historyDays,
    keptTrades: options.keptTrades ?? KEPT_TRADES,
    cutoffDays: options.cutoffDays ?? Math.max(1, Math.floor((historyDays * 2) / 3)),
  });
  const { exchange, desk } = world;
  const limits = new Limits({
    read: options.readBucket ?? { capacity: 600, refillPerSecond: 200 },
    write: options.writeBucket ?? { capacity: 100, refillPerSecond: 100 },
  });
  const apiRoute = createRouter([
    ...marketRoutes,
    ...eventRoutes,
    ...candleRoutes,
    ...exchangeRoutes,
    ...orderRoutes,
    ...portfolioRoutes,
  ]);
  const socialRoute = createRouter(socialRoutes);
  const signedReads = { count: 0 };

  const answer = (route: Route, params: string[], request: SimRequest): SimReply => {
    const call: Call = { exchange, request, query: request.query, params };
    const cost = typeof route.cost === 'function' ? route.cost(call) : (route.cost ?? 10);
    const isSigned = request.headers['kalshi-access-key'] !== undefined;
    if (route.scope === undefined && !isSigned) {
      limits.takeAnonymous(cost);
      return route.handle(call);
    }
    // Public data needs no key; one that is given must be right, and its account is billed.
    if (route.scope === undefined) {
      limits.takeRead(authenticate(request, desk.accounts, 'read', exchange.nowMs), cost);
      signedReads.count += 1;
      return route.handle(call);
    }
    const account = authenticate(request, desk.accounts, route.scope, exchange.nowMs);
    if (route.scope === 'read') limits.takeRead(account, cost);
    else limits.takeWrite(account, cost, billedShard(call));
    if (route.scope === 'write' && !exchange.status.exchangeActive) throw unavailable();
    return route.handle({ ...call, account, desk });
  };

  const handle = (request: SimRequest): SimReply => {
    advance(exchange);
    const match = findRoute(request, apiRoute, socialRoute);
    if (!match) return { status: 404, body: '404 page not found\n', headers: { 'content-type': 'text/plain' } };
    try {
      if (exchange.status.down) {
        if (match.route.path === '/exchange/status') return exchangeStatus({ exchange });
        throw unavailable();
      }
      return answer(match.route, match.params, request);
    } catch (error) {
      if (error instanceof WireError) return json(error.status, error.body);
      throw error;
    }
  };

  const { pingMs = 10_000 } = options;
  const stream = new StreamHub({ exchange, accounts: desk.accounts, pingMs, clock });
  const sockets = createSimSockets({ [STREAM_PATH]: stream });
  const server = await createSimServer({ handle, upgrade: sockets.upgrade, clock });
  const env = {
    KALSHI_API_URL: `${server.origin}${API}`,
    KALSHI_SOCIAL_URL: `${server.origin}${SOCIAL}`,
    KALSHI_WS_URL: `${server.origin.replace('http', 'ws')}${STREAM_PATH}`,
  };
  const trade = (count: number): void => world.trade(count);
  const beforeClose = (): void => stream.close();
  const simulator = simulatorOf({ env, world, server, clock, limits, trade, beforeClose });
  return Object.assign(simulator, { sockets, stream, signedReads });
}

const unavailable = (): WireError => new WireError(503, 'service_unavailable', 'service_unavailable');

type FindRoute = ReturnType<typeof createRouter>;

function findRoute({ method, path }: SimRequest, api: FindRoute, social: FindRoute): RouteMatch | null {
  if (path.startsWith(`${API}/`)) return api(method, path.slice(API.length));
  return path.startsWith(`${SOCIAL}/`) ? social(method, path.slice(SOCIAL.length)) : null;
}
