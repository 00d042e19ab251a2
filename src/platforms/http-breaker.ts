import { PlatformError } from '../errors.ts';
import type { Platform } from '../schemas.ts';
import { NotSentError } from './http-errors.ts';

const FAILURES_TO_OPEN = 8;
const OPEN_MS = 5000;
/** How long others are told to wait while one call tries whether the host is back. */
const PROBE_MS = 1000;

/** Stops calling a host that keeps failing. After a while one call goes out as a probe and decides for all. */
export class Breaker {
  readonly #platform: Platform;
  readonly #tell: (change: string) => void;
  #failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(platform: Platform, tell: (change: string) => void) {
    this.#platform = platform;
    this.#tell = tell;
  }

  /** Throws NotSentError while the host is not to be called. */
  check(): void {
    if (this.#failures < FAILURES_TO_OPEN) return;
    const retryAfterMs = this.#probing ? PROBE_MS : this.#openUntil - performance.now();
    if (retryAfterMs <= 0) return;
    throw new NotSentError(this.#platform, 'unavailable', { detail: 'failed too often just now', retryAfterMs });
  }

  /** Runs one call to the host and learns from its end; a call that `cancelled` says we ended ourselves tells nothing. */
  async watch<T>(call: () => Promise<T>, cancelled: () => boolean): Promise<T> {
    this.check();
    this.#probing = this.#failures >= FAILURES_TO_OPEN;
    try {
      const reply = await call();
      this.#succeed();
      return reply;
    } catch (error) {
      if (isFailure(error)) {
        if (!cancelled()) this.#fail();
      } else this.#succeed();
      throw error;
    } finally {
      this.#probing = false;
    }
  }

  #succeed(): void {
    if (this.#failures >= FAILURES_TO_OPEN) this.#tell('The host answers again');
    this.#failures = 0;
  }

  #fail(): void {
    this.#failures++;
    if (this.#failures === FAILURES_TO_OPEN) this.#tell('The host keeps failing: calls to it are held back');
    this.#openUntil = performance.now() + OPEN_MS;
  }
}

/** No answer, or the answer of a broken host. A refusal, a limit and announced maintenance show a host that works. */
const isFailure = (error: unknown): boolean =>
  error instanceof PlatformError &&
  (error.kind === 'timeout' || (error.kind === 'unavailable' && (error.status === 0 || error.status >= 500)));
