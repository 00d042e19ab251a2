import type { Simulator, WorldOptions } from './simulator.ts';
import { atRate, createBucket, createSimServer, json, realClock, type SimReply, type SimRequest } from './lib/index.ts';
import { WireError, type Route } from './kalshi/call.ts';
import { candleRoutes } from './kalshi/candles-api.ts';
import { eventRoutes } from './kalshi/events-api.ts';
import { exchangeRoutes, exchangeStatus } from './kalshi/exchange-api.ts';
import { advance } from './kalshi/lifecycle.ts';
import { marketRoutes } from './kalshi/markets-api.ts';
import { createRouter } from './kalshi/router.ts';
import { socialRoutes } from './kalshi/social-api.ts';
import { KalshiWorld } from './kalshi/world.ts';

export { KalshiWorld } from './kalshi/world.ts';
export type { TrueEvent, TrueMarket, TrueQuote, TrueSeries, TrueTrade } from './kalshi/truth.ts';

export interface KalshiOptions extends WorldOptions {
  /** Days of live data, the rest is historical; default two thirds of historyDays. */
  cutoffDays?: number;
  /** Tokens of the anonymous read bucket; the platform does not publish them, default is its Basic tier. */
  readBucket?: { capacity: number; refillPerSecond: number };
}

const API = '/trade-api/v2';
const SOCIAL = '/v1';

/** A Kalshi of one's own: Trade API v2 and the social endpoints, on 127.0.0.1 and any port. */
export async function startKalshi(options: KalshiOptions = {}): Promise<Simulator<KalshiWorld>> {
  const historyDays = options.historyDays ?? 30;
  const world = new KalshiWorld({
    seed: options.seed ?? 1,
    clock: options.clock ?? realClock,
    markets: options.markets ?? 60,
    tradesPerMarket: options.tradesPerMarket ?? 40,
    historyDays,
    cutoffDays: options.cutoffDays ?? Math.max(1, Math.floor((historyDays * 2) / 3)),
  });
  const { exchange } = world;
  const anonymous = createBucket(options.readBucket ?? { capacity: 600, refillPerSecond: 200 });
  const publicRoute = createRouter([...marketRoutes, ...eventRoutes, ...candleRoutes, ...exchangeRoutes]);
  const socialRoute = createRouter(socialRoutes);
  const limits = { enforced: true };

  const answer = (route: Route, params: string[], request: SimRequest): SimReply => {
    if (limits.enforced && !anonymous.take(route.cost ?? 10)) return json(429, '{"error":"too many requests"}');
    return route.handle({ exchange, request, query: request.query, params });
  };

  const handle = (request: SimRequest): SimReply => {
    advance(exchange);
    const social = request.path.startsWith(`${SOCIAL}/`);
    const path = request.path.slice(social ? SOCIAL.length : API.length);
    const match =
      social || request.path.startsWith(`${API}/`) ? (social ? socialRoute : publicRoute)(request.method, path) : null;
    if (!match) return { status: 404, body: '404 page not found\n', headers: { 'content-type': 'text/plain' } };
    try {
      if (exchange.status.down && path !== '/exchange/status') {
        throw new WireError(503, 'service_unavailable', 'service_unavailable');
      }
      return path === '/exchange/status' ? exchangeStatus({ exchange }) : answer(match.route, match.params, request);
    } catch (error) {
      if (error instanceof WireError) return json(error.status, error.body);
      throw error;
    }
  };

  const server = await createSimServer({ handle });
  let stop: (() => void) | null = null;
  return {
    env: { KALSHI_API_URL: `${server.origin}${API}`, KALSHI_SOCIAL_URL: `${server.origin}${SOCIAL}` },
    world,
    trade: (count) => world.trade(count),
    startTrading(perSecond) {
      stop?.();
      stop = atRate(perSecond, (count) => world.trade(count));
    },
    inject: (fault) => server.inject(fault),
    clearFaults: () => server.clearFaults(),
    requests: server.requests,
    refused: server.refused,
    get enforceLimits() {
      return limits.enforced;
    },
    set enforceLimits(enforced) {
      limits.enforced = enforced;
    },
    async close() {
      stop?.();
      await server.close();
    },
  };
}
