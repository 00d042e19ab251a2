import { MANIFESTS } from '../manifests.ts';
import { PlatformError, type PlatformErrorKind } from '../../core/errors.ts';
import { retry } from '../../core/retry.ts';
import { NotConnectedError, NotSentError } from './errors.ts';
import type { PlatformRequest, Priority } from './request.ts';

/** Waits before the second, third … attempt; other kinds are not retried. */
const STEPS_MS: Partial<Record<PlatformErrorKind, readonly number[]>> = {
  rate_limited: [1000, 2000, 4000],
  maintenance: [1000, 2000, 4000],
  unavailable: [250, 500, 1000],
  timeout: [100],
  bad_answer: [100],
};

/** Longest requested wait that we accept; beyond it the call fails. */
const LONGEST_MS: Record<Priority, number> = { live: 3000, poll: 30_000, backfill: 120_000 };

const stepsOf = ({ platform, kind }: PlatformError): readonly number[] =>
  (kind === 'rate_limited' ? MANIFESTS[platform].rateLimitStepsMs : undefined) ?? STEPS_MS[kind] ?? [];

/** Pause of a group after a 429 on attempt `n` (0 = first): what the platform asks for, but at least that attempt's step. */
export function limitPauseMs(error: PlatformError, n: number): number {
  return Math.max(error.retryAfterMs ?? 0, stepsOf(error)[n] ?? 0);
}

/**
 * Repeats `attempt(n)` as the request allows: only calls without effect, and each kind of failure a limited number of times. If an
 * attempt could not be sent, or `pause` was cut short, throws the failure before it.
 */
export function withRetries<T>(
  request: PlatformRequest,
  attempt: (n: number) => Promise<T>,
  pause: (ms: number) => Promise<void>,
): Promise<T> {
  let failure: unknown;
  const waitMs = (error: unknown, n: number): number | null => {
    failure = error instanceof NotSentError ? (failure ?? error) : error;
    return error instanceof PlatformError ? delayMs(request, error, n) : null;
  };
  return retry(attempt, { waitMs, sleep: pause }).catch(() => {
    throw failure;
  });
}

function delayMs(request: PlatformRequest, error: PlatformError, n: number): number | null {
  if (error instanceof NotSentError && !(error instanceof NotConnectedError)) return null;
  const step = stepsOf(error)[n];
  const asked = error.retryAfterMs ?? 0;
  if (!request.retry || step === undefined || asked > LONGEST_MS[request.priority]) return null;
  return Math.max(step, asked) + (Math.random() * step) / 2;
}
