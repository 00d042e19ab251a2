/** Runs `work` once a second, later while it takes longer. The function that is returned ends it, after the run under way. */
export function everySecond(work: () => Promise<unknown>): () => Promise<void> {
  const ends = new AbortController();
  const running = (async () => {
    while (!ends.signal.aborted) {
      const second = new Promise((resolve) => setTimeout(resolve, 1000));
      await work();
      await second;
    }
  })();
  return async () => {
    ends.abort();
    await running;
  };
}
