import cron from 'node-cron';
import type { Log } from './log.ts';

/** Runs `work` now and at the start of every hour, one run at a time. The returned function stops it and waits for a run in progress. */
export function everyHour(
  work: () => Promise<void>,
  log: Log,
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
  const task = cron.schedule('0 * * * *', run, { logger: log });
  return async () => {
    await task.stop();
    await running;
  };
}
