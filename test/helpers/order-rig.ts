import { beforeAll } from 'vitest';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';
import type { Clock } from '../../src/core/time.ts';
import { startVenues, type Venue } from './order-venues.ts';
import type { Customer, Trading } from './trading.ts';
import { tradingRig } from './trading-rig.ts';

/** Simulated platforms and a service that trades there. */
export interface OrderRig {
  readonly venues: readonly Venue[];
  readonly trading: Trading;
  /** Where the service listens: http://127.0.0.1:PORT */
  readonly origin: string;
  at<P extends Platform>(platform: P): Venue<P>;
  /** A customer whose credential is that of a new member of the platform, its default one. */
  member(platform: Platform): Promise<Customer & { credentialId: number }>;
  /** How many placements the platform has received. */
  placements(platform: Platform): number;
}

/** Starts it for the tests of one file; what it returns can be used from the first hook on. */
export function orderRig(seed: number, clock?: Clock, platforms: readonly Platform[] = PLATFORMS): OrderRig {
  let venues: Venue[] = [];
  let origin = '';
  const start = async () => {
    venues = await startVenues(seed, clock, platforms);
    return {
      env: Object.assign({}, ...venues.map(({ sim }) => sim.env)) as Record<string, string>,
      enforceLimits: false,
      close: async () => void (await Promise.all(venues.map(({ sim }) => sim.close()))),
    };
  };
  const rig = tradingRig(start, { clock });
  beforeAll(async () => {
    origin = await rig.trading.service.app.listen({ host: '127.0.0.1', port: 0 });
  });
  const at = <P extends Platform>(platform: P): Venue<P> => {
    const found = venues.find((one) => one.platform === platform);
    if (!found) throw new Error(`no simulated ${platform}`);
    return found as unknown as Venue<P>;
  };
  return {
    get venues() {
      return venues;
    },
    get trading() {
      return rig.trading;
    },
    get origin() {
      return origin;
    },
    at,
    async member(platform) {
      const customer = await rig.trading.customer();
      const credentialId = await customer.credential(platform, at(platform).member().fields, true);
      return { ...customer, credentialId };
    },
    placements(platform) {
      const { sim, places } = at(platform);
      return [...sim.requests].reduce((sum, [call, times]) => sum + (places.test(call) ? times : 0), 0);
    },
  };
}
