import { atRate, createSimServer, type SimReply, type SimRequest } from './lib/index.ts';
import { CallLimits, DOCUMENTED_LIMITS, type LimitRules } from './limitless/limits.ts';
import { publicRoute } from './limitless/router.ts';
import { tradingRoute } from './limitless/trading-router.ts';
import { notFound, Refusal } from './limitless/wire.ts';
import { LimitlessWorld, type LimitlessOptions } from './limitless/world.ts';
import type { Simulator } from './simulator.ts';

export interface LimitlessStart extends LimitlessOptions {
  limits?: Partial<LimitRules>;
  /** Time every answer takes; makes calls overlap. */
  latencyMs?: number;
}

/** Starts a Limitless Exchange on 127.0.0.1: settings LIMITLESS_API_URL. At least the fixed cast of genesis.ts is built, whatever `markets` says. */
export async function startLimitless(options: LimitlessStart = {}): Promise<Simulator<LimitlessWorld>> {
  const world = new LimitlessWorld(options);
  const limits = new CallLimits({ ...DOCUMENTED_LIMITS, ...options.limits });
  const latencyMs = options.latencyMs ?? 0;
  const stops: (() => void)[] = [];

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
  const server = await createSimServer({ handle: (request) => limits.admit(request, () => answer(request)) });

  return {
    env: { LIMITLESS_API_URL: server.origin },
    world,
    trade: (count) => world.trade(count),
    startTrading(perSecond) {
      stops.push(atRate(perSecond, (count) => world.trade(count)));
    },
    inject: server.inject,
    clearFaults: server.clearFaults,
    requests: server.requests,
    refused: server.refused,
    get enforceLimits() {
      return limits.enabled;
    },
    set enforceLimits(value) {
      limits.enabled = value;
    },
    async close() {
      for (const stop of stops) stop();
      await server.close();
    },
  };
}
