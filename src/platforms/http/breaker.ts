import type { Clock } from '../../core/time.ts';
import { PlatformError } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';
import { NotSentError } from './errors.ts';

const FAILURES_TO_OPEN = 8;
const OPEN_MS = 5000;
/** Retry-After of other calls while a probe checks whether the host is back. */
const PROBE_MS = 1000;
/** This many time-outs in a row mean that the host stalls, not that one call is slow. */
const TIMEOUTS_OF_STANDSTILL = 2;
/** After its first answer a host may still answer stalled calls for this long. */
const CATCH_UP_MS = 5000;

/** How one call passes the breaker. */
export interface CallTerms {
  /** Sent even while the circuit is open: a cancel, or a read that an order waits for. */
  always: boolean;
  /** Whether a failure does not count against the host: we ended the call ourselves, or its item failed before. */
  isExcused: () => boolean;
}

/** Suspends calls of one circuit to a host that keeps failing. After a pause, one call is sent as a probe and decides for all. */
export class Breaker {
  readonly #platform: Platform;
  readonly #clock: Clock;
  readonly #report: (change: string) => void;
  #failures = 0;
  #openUntil = 0;
  #probing = false;
  #timeouts = 0;
  #backAt = -Infinity;

  constructor(platform: Platform, clock: Clock, report: (change: string) => void) {
    this.#clock = clock;
    this.#platform = platform;
    this.#report = report;
  }

  /** Runs `call` through `queue` and records the result; rejects it, before and after the wait, while the circuit is open. */
  async run<T>(queue: (call: () => Promise<T>) => Promise<T>, call: () => Promise<T>, terms: CallTerms): Promise<T> {
    if (!terms.always) this.#check();
    return queue(() => this.#watch(call, terms));
  }

  async #watch<T>(call: () => Promise<T>, { always, isExcused }: CallTerms): Promise<T> {
    if (!always) this.#check();
    this.#probing = this.#failures >= FAILURES_TO_OPEN;
    try {
      const reply = await call();
      this.#succeed();
      return reply;
    } catch (error) {
      if (isFailure(error)) {
        if (!isExcused()) this.#fail(error.kind === 'timeout');
      } else if (isAnswer(error)) this.#succeed();
      throw error;
    } finally {
      this.#probing = false;
    }
  }

  /** Whether the host stalls, or did until just now: rate limits then come from calls that it held back. */
  get standsStill(): boolean {
    return this.#timeouts >= TIMEOUTS_OF_STANDSTILL || this.#clock.elapsed() - this.#backAt < CATCH_UP_MS;
  }

  /** Throws NotSentError while the circuit is open. */
  #check(): void {
    if (this.#failures < FAILURES_TO_OPEN) return;
    const retryAfterMs = this.#probing ? PROBE_MS : this.#openUntil - this.#clock.elapsed();
    if (retryAfterMs <= 0) return;
    throw new NotSentError(this.#platform, 'unavailable', { detail: 'failed too often just now', retryAfterMs });
  }

  #succeed(): void {
    if (this.#failures >= FAILURES_TO_OPEN) this.#report('The host responds again');
    this.#failures = 0;
    this.#answered();
  }

  #answered(): void {
    if (this.#timeouts >= TIMEOUTS_OF_STANDSTILL) this.#backAt = this.#clock.elapsed();
    this.#timeouts = 0;
  }

  #fail(isTimeout: boolean): void {
    if (isTimeout) this.#timeouts++;
    else this.#answered();
    this.#failures++;
    if (this.#failures === FAILURES_TO_OPEN) this.#report('Calls to the host keep failing');
    this.#openUntil = this.#clock.elapsed() + OPEN_MS;
  }
}

/** No answer, or an answer of a broken host. A rejection, a rate limit and maintenance announced in JSON come from a working host. */
const isFailure = (error: unknown): error is PlatformError =>
  error instanceof PlatformError &&
  (error.kind === 'timeout' ||
    (error.kind === 'unavailable' && (error.status === 0 || error.status >= 500)) ||
    (error.kind === 'maintenance' && error.status === 503 && error.body === undefined));

/** Whether the host has answered: a call that was not sent, or a defect of ours, says nothing about it. */
const isAnswer = (error: unknown): boolean => error instanceof PlatformError && !(error instanceof NotSentError);
