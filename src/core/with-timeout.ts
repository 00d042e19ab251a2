import type { Clock, Stop } from './time.ts';

/** How long a health probe and a scrape wait for a store. */
export const PROBE_MS = 3000;

/** The value, or `otherwise` if it fails or takes longer than a probe waits. */
export async function withTimeout<T>(clock: Clock, value: Promise<T>, otherwise: T): Promise<T> {
  let stop: Stop | undefined;
  const late = new Promise<T>((resolve) => {
    stop = clock.timeout(PROBE_MS, () => resolve(otherwise));
  });
  return Promise.race([value.catch(() => otherwise), late]).finally(stop);
}
