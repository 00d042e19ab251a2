import { afterAll, beforeAll } from 'vitest';
import type { Platform } from '../../src/core/model.ts';
import type { Clock } from '../../src/core/time.ts';
import { startVenues, type Venue } from './order-venues.ts';
import { type Customer, startTrading, type Trading } from './trading.ts';

/** Three simulated platforms and a service that trades there. */
export interface OrderRig {
  readonly venues: readonly Venue[];
  readonly trading: Trading;
  /** Where the service listens: http://127.0.0.1:PORT */
  readonly origin: string;
  at(platform: Platform): Venue;
  /** A customer whose credential is that of a new member of the platform, its default one. */
  member(platform: Platform): Promise<Customer & { credentialId: number }>;
  /** How many placements the platform has received. */
  placements(platform: Platform): number;
}

/** Starts it for the tests of one file; what it returns can be used from the first hook on. */
export function orderRig(seed: number, clock?: Clock): OrderRig {
  let venues: Venue[] = [];
  let started: { trading: Trading; origin: string } | undefined;
  beforeAll(async () => {
    venues = await startVenues(seed, clock);
    const trading = await startTrading(Object.assign({}, ...venues.map(({ sim }) => sim.env)), clock);
    started = { trading, origin: await trading.service.app.listen({ host: '127.0.0.1', port: 0 }) };
  });
  afterAll(async () => {
    await started?.trading.close();
    await Promise.all(venues.map(({ sim }) => sim.close()));
  });
  const running = () => {
    if (!started) throw new Error('the service did not start');
    return started;
  };
  const at = (platform: Platform): Venue => {
    const found = venues.find((one) => one.platform === platform);
    if (!found) throw new Error(`no simulated ${platform}`);
    return found;
  };
  return {
    get venues() {
      return venues;
    },
    get trading() {
      return running().trading;
    },
    get origin() {
      return running().origin;
    },
    at,
    async member(platform) {
      const customer = await running().trading.customer();
      const credentialId = await customer.credential(platform, at(platform).member().fields as never, true);
      return { ...customer, credentialId };
    },
    placements(platform) {
      const { sim, places } = at(platform);
      return [...sim.requests].reduce((sum, [call, times]) => sum + (places.test(call) ? times : 0), 0);
    },
  };
}
