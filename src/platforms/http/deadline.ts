import type { Clock } from '../../core/time.ts';

/**
 * Runs `work` under a signal that fires on the time limit, the caller's own signal or a cancel through `running`; then throws the
 * error made for that case, whatever `work` throws.
 */
export async function withDeadline<T>(
  clock: Clock,
  limit: { ms: number; late: () => Error; cancelled: () => Error },
  outer: AbortSignal | undefined,
  running: Set<() => void>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort(limit.cancelled());
  const stop = clock.timeout(limit.ms, () => controller.abort(limit.late()));
  outer?.addEventListener('abort', cancel, { once: true });
  running.add(cancel);
  if (outer?.aborted) cancel();
  try {
    controller.signal.throwIfAborted();
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stop();
    outer?.removeEventListener('abort', cancel);
    running.delete(cancel);
  }
}
