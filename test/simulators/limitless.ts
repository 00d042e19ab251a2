import {
  createSimServer,
  createSimSockets,
  simulatorOf,
  type SimReply,
  type SimRequest,
  type SimSockets,
} from './lib/index.ts';
import { CallLimits, DOCUMENTED_LIMITS, type LimitRules } from './limitless/limits.ts';
import { publicRoute } from './limitless/router.ts';
import { tradingRoute } from './limitless/trading-router.ts';
import { type BookFaults, marketsSocket, type StreamOptions } from './limitless/stream/markets-socket.ts';
import { notFound, Refusal } from './limitless/wire.ts';
import { LimitlessWorld, type LimitlessOptions } from './limitless/world.ts';
import type { Simulator } from './simulator.ts';

export interface LimitlessStart extends LimitlessOptions {
  limits?: Partial<LimitRules>;
  /** Time every answer takes; makes calls overlap. */
  latencyMs?: number;
  stream?: StreamOptions;
}

/** Starts a Limitless Exchange on 127.0.0.1: settings LIMITLESS_API_URL and LIMITLESS_WS_URL. At least the fixed cast of genesis.ts is built, whatever `markets` says. */
export async function startLimitless(
  options: LimitlessStart = {},
): Promise<Simulator<LimitlessWorld> & { sockets: SimSockets; stream: { readonly faults: BookFaults } }> {
  const world = new LimitlessWorld(options);
  const limits = new CallLimits({ ...DOCUMENTED_LIMITS, ...options.limits });
  const latencyMs = options.latencyMs ?? 0;

  const answer = async (request: SimRequest): Promise<SimReply> => {
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs).unref());
    world.advance();
    try {
      const reply = (await tradingRoute(world, request)) ?? publicRoute(world, request);
      if (reply) return reply;
      throw notFound(`Cannot ${request.method} ${request.path}`);
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  };
  const stream = marketsSocket(world, options.stream);
  const sockets = createSimSockets({ '/socket.io/': stream });
  const server = await createSimServer({
    upgrade: sockets.upgrade,
    clock: world.clock,
    handle: (request) => limits.admit(request, () => answer(request)),
  });

  const env = { LIMITLESS_API_URL: server.origin, LIMITLESS_WS_URL: server.origin.replace('http', 'ws') };
  const trade = (count: number): void => world.trade(count);
  return Object.assign(simulatorOf({ env, world, server, clock: world.clock, limits, trade }), { sockets, stream });
}
