/**
 * Runs `work` under a signal that fires on the time limit, the caller's own signal or a cancel through `running`; then throws the
 * error made for that case, whatever `work` throws.
 */
export async function withDeadline<T>(
  limit: { ms: number; late: () => Error; cancelled: () => Error },
  outer: AbortSignal | undefined,
  running: Set<() => void>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort(limit.cancelled());
  const timer = setTimeout(() => controller.abort(limit.late()), limit.ms);
  outer?.addEventListener('abort', cancel, { once: true });
  running.add(cancel);
  if (outer?.aborted) cancel();
  try {
    controller.signal.throwIfAborted();
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', cancel);
    running.delete(cancel);
  }
}
