import { afterAll, beforeAll, beforeEach } from 'vitest';
import { unmeteredHttp } from '../fixtures/unmetered-http.ts';
import { startQuiet } from '../simulators/polymarket/trading-rig.ts';

type Quiet = Awaited<ReturnType<typeof startQuiet>> & { http: Awaited<ReturnType<typeof unmeteredHttp>> };

/** A quiet simulated Polymarket for the tests of a file, from its first test on, and a way to it. Each test begins without faults. */
export function quietPolymarket(): Quiet {
  const quiet = {} as Quiet;
  beforeAll(async () => {
    Object.assign(quiet, await startQuiet(), { http: await unmeteredHttp() });
  });
  afterAll(async () => {
    await quiet.http?.close();
    await quiet.sim?.close();
  });
  beforeEach(() => quiet.sim.clearFaults());
  return quiet;
}
