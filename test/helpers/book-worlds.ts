import type { Platform } from '../../src/core/model.ts';
import type { ServedBook } from '../oracle/book.ts';
import { kalshiBook } from '../oracle/kalshi.ts';
import { limitlessBook } from '../oracle/limitless.ts';
import { polymarketBook } from '../oracle/polymarket.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';
import type { Simulator, WorldOptions } from '../simulators/simulator.ts';

/** A simulated platform, and the book of each of its markets by ref as it is now. */
export interface BookWorld {
  platform: Platform;
  sim: Simulator<unknown>;
  book(ref: string): ServedBook;
}

/** A simulated platform on which nothing happens but what the test makes happen. */
export async function startBookWorld(platform: Platform, options: WorldOptions): Promise<BookWorld> {
  if (platform === 'kalshi') {
    const sim = await startKalshi(options);
    return { platform, sim, book: (ref) => kalshiBook(sim.world, ref) };
  }
  if (platform === 'polymarket') {
    const sim = await startPolymarket(options);
    const byRef = (ref: string) => sim.world.markets.find(({ conditionId }) => conditionId === ref);
    return {
      platform,
      sim,
      book(ref) {
        const market = byRef(ref);
        if (!market) throw new Error(`no market ${ref}`);
        return polymarketBook(sim.world, market);
      },
    };
  }
  const sim = await startLimitless(options);
  sim.enforceLimits = false;
  return {
    platform,
    sim,
    book(ref) {
      const market = [...sim.world.markets.values()].find(({ slug }) => slug === ref);
      if (!market) throw new Error(`no market ${ref}`);
      return limitlessBook(market, sim.world.clock.now());
    },
  };
}
