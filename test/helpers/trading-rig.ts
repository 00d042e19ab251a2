import { afterAll, beforeAll } from 'vitest';
import type { Clock } from '../../src/core/time.ts';
import type { Simulator } from '../simulators/simulator.ts';
import { startTrading, type Trading } from './trading.ts';

export interface TradingOptions<Sim> {
  clock?: Clock | undefined;
  /** More settings of the service. */
  settings?: ((sim: Sim) => Record<string, string>) | undefined;
}

/** A simulated platform and a service that trades there. */
export interface TradingRig<Sim> {
  readonly sim: Sim;
  readonly trading: Trading;
}

/** Starts both for the tests of one file; what it returns can be used from the first hook on. */
export function tradingRig<Sim extends Pick<Simulator<unknown>, 'env' | 'enforceLimits' | 'close'>>(
  start: () => Promise<Sim>,
  { clock, settings }: TradingOptions<Sim> = {},
): TradingRig<Sim> {
  let sim: Sim | undefined;
  let trading: Trading | undefined;
  beforeAll(async () => {
    sim = await start();
    sim.enforceLimits = false;
    trading = await startTrading({ ...sim.env, ...settings?.(sim) }, clock);
  });
  afterAll(async () => {
    await trading?.close();
    await sim?.close();
  });
  return {
    get sim() {
      return started(sim);
    },
    get trading() {
      return started(trading);
    },
  };
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('it is not started yet');
  return part;
}
