import type { SimClock, Simulator } from '../simulator.ts';
import { atRate } from './clock.ts';
import type { SimServer } from './server.ts';

interface Parts<World> {
  env: Record<string, string>;
  world: World;
  server: SimServer;
  clock: SimClock;
  /** The platform's own rate limits. */
  limits: { enforced: boolean };
  trade: (count: number) => void;
  beforeClose?: () => void;
}

/** A simulated platform, from its world and its server. */
export function simulatorOf<World>(parts: Parts<World>): Simulator<World> {
  const { env, world, server, clock, limits, trade, beforeClose } = parts;
  let stop: (() => void) | null = null;
  return {
    env,
    world,
    trade,
    startTrading(perSecond) {
      stop?.();
      stop = atRate(clock, perSecond, trade);
    },
    inject: server.inject,
    clearFaults: server.clearFaults,
    rewrite: server.rewrite,
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
      beforeClose?.();
      await server.close();
    },
  };
}
