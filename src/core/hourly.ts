const PERIOD_MS = 3_600_000;

/** Runs `work` now and every hour, one run at a time. The returned function stops it and waits for a run in progress. */
export function everyHour(work: () => Promise<void>, onFailure: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | null = null;
  const run = (): void => {
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = null;
      });
  };
  run();
  const timer = setInterval(run, PERIOD_MS).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
