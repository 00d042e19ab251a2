import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import type { Platform } from '../../../src/core/model.ts';
import type { Clock } from '../../../src/core/time.ts';
import { clockBehind } from '../../helpers/flowing-clock.ts';
import { startPipeline } from '../../oracle/pipeline.ts';
import { changeTests } from './changes.ts';
import { chartTests } from './charts.ts';
import { eventPageTests, eventTests } from './events.ts';
import { failureTests } from './failures.ts';
import { listTests, pageTests } from './lists.ts';
import { rawTests, recordTests } from './records.ts';
import { TRUTHS, type TruthOf } from './registry.ts';
import { Stage } from './stage.ts';
import { liveTests, syncTests } from './sync.ts';

/** Starts the platform's simulated world and a service that reads it, for the tests of one file; both go by the clock. */
export function stageOf<P extends Platform>(platform: P, clock: Clock): () => Stage<TruthOf<P>> {
  // Checks end as soon as they find everything right; a busy machine gets there later.
  vi.setConfig({ testTimeout: 240_000 });

  let truth: TruthOf<P> | undefined;
  let started: Stage<TruthOf<P>> | undefined;
  beforeAll(async () => {
    truth = (await TRUTHS[platform](clock)) as TruthOf<P>;
    truth.sim.enforceLimits = false;
    // The clock passes minutes until lists are read again: each sweep on the way costs the machine's time.
    started = new Stage(truth, await startPipeline([truth.sim], [platform], { clock, everySeconds: 5 }));
  });
  afterEach(() => truth?.sim.clearFaults());
  afterAll(async () => {
    await started?.service.close();
    await truth?.sim.close();
  });
  return () => {
    if (!started) throw new Error('the service did not start');
    return started;
  };
}

/**
 * Declares the tests that every platform must pass, on one started service. `ownTests` declares those that only this platform
 * can have: they run on the same service once it has caught up with the world, before anything else trades there.
 */
export function contractOf<P extends Platform>(platform: P, ownTests: (stage: () => Stage<TruthOf<P>>) => void): void {
  const stage = stageOf(platform, clockBehind());
  syncTests(stage);
  rawTests(stage);
  ownTests(stage);
  eventTests(stage, 'at first');
  pageTests(stage);
  liveTests(stage);
  listTests(stage);
  recordTests(stage);
  chartTests(stage);
  eventPageTests(stage);
  changeTests(stage);
  eventTests(stage, 'after these changes');
  failureTests(stage);
}
