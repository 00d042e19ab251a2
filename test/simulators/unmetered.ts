import { MANIFESTS } from '../../src/platforms/manifests.ts';

/** Loaded before a service: its budgets never run out, so that a test may send faster than the platforms would allow. */
const ENDLESS = { capacity: 1e6, refillPerSecond: 1e6 };
for (const group of Object.values(MANIFESTS).flatMap(({ limits }) => Object.values(limits))) {
  Object.assign(group.live, ENDLESS);
  Object.assign(group.background, ENDLESS);
  Object.assign(group, { concurrency: 64, slots: null, lateMs: 500 });
}
