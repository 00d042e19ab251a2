import type { Clock } from './time.ts';

/** When a step is repeated. */
interface RetryPolicy {
  /** Ms to wait after the failed attempt `n` (0 = first); null if the failure is final. */
  waitMs: (error: unknown, n: number) => number | null;
  /** Waits; rejects if the attempts must end, which throws the last failure. */
  sleep: (ms: number) => Promise<void>;
}

/** Runs a step until an attempt `n` succeeds or its failure is final, which is thrown. Orders are sent without it: once. */
export async function retry<T>(step: (n: number) => T | Promise<T>, { waitMs, sleep }: RetryPolicy): Promise<T> {
  for (let n = 0; ; n += 1) {
    try {
      return await step(n);
    } catch (error) {
      const ms = waitMs(error, n);
      if (ms === null) throw error;
      await sleep(ms).catch(() => {
        throw error;
      });
    }
  }
}

/** Waits these ms, one after each failed attempt, while `mayPass` says that the failure may pass by itself. */
export const waits =
  (waitsMs: readonly number[], mayPass: (error: unknown) => boolean = () => true): RetryPolicy['waitMs'] =>
  (error, n) =>
    mayPass(error) ? (waitsMs[n] ?? null) : null;

/** Waits that double, up to `mostMs`, without end. */
export const doubling =
  (firstMs: number, mostMs: number): RetryPolicy['waitMs'] =>
  (_error, n) =>
    Math.min(firstMs * 2 ** n, mostMs);

/** How long, and how often, `waitUntil` asks. */
interface AskPolicy {
  withinMs: number;
  everyMs: number;
  /** Largest random addition to each wait, so that several processes do not ask at the same moments. */
  jitterMs?: number;
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  /** Ends the waiting: its reason is thrown. */
  signal?: AbortSignal;
}

/** Asks until there is an answer; null if there is none after `withinMs`. No answer is null, undefined or false. */
export async function waitUntil<T>(
  ask: () => T | Promise<T>,
  { withinMs, everyMs, jitterMs = 0, clock, signal }: AskPolicy,
): Promise<NonNullable<T> | null> {
  const endMs = clock.elapsed() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (clock.elapsed() >= endMs) return null;
    await clock.sleep(everyMs + Math.random() * jitterMs, signal);
  }
}
