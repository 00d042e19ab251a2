import { type Clock, HOUR_MS } from './time.ts';

/** Runs `work` now and every hour, one run at a time. The returned function stops it and waits for a run in progress. */
export function everyHour(
  clock: Clock,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | null = null;
  const run = (): void => {
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = null;
      });
  };
  run();
  const stop = clock.every(HOUR_MS, run);
  return async () => {
    stop();
    await running;
  };
}
