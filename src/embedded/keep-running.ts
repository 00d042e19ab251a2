import type { ChildProcess } from 'node:child_process';
import type { FastifyBaseLogger } from 'fastify';
import { doubling, retry } from '../core/retry.ts';
import { type Clock, systemClock } from '../core/time.ts';

interface RestartOptions {
  /** Name in logs. */
  name: string;
  /** Starts the process; rejects if it does not come up. */
  start(): Promise<ChildProcess>;
  /** Stops a process that `start` returned; it is not restarted. */
  stop(child: ChildProcess): Promise<void>;
  /** Called after each start but the first. */
  onRestart?(child: ChildProcess): void;
  /** Wait before the first attempt to restart; it doubles with each attempt, up to `maxWaitMs`. */
  firstWaitMs: number;
  maxWaitMs: number;
  log: Pick<FastifyBaseLogger, 'info' | 'error'>;
  clock?: Clock;
}

/** A process that is restarted whenever it exits. */
interface KeptProcess {
  /** The current process. */
  child(): ChildProcess;
  close(): Promise<void>;
}

/** Starts a process and restarts it whenever it exits. Rejects if the first start fails. */
export async function keepRunning(options: RestartOptions): Promise<KeptProcess> {
  const { name, log, clock = systemClock } = options;
  const closing = new AbortController();
  // A stop ends the wait, and nothing starts after it.
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, closing.signal);
  let restarting = Promise.resolve();
  let child = await options.start();
  const watch = (): void => {
    child.once('exit', (code, signal) => {
      if (closing.signal.aborted) return;
      log.error({ code, signal }, `${name} exited unexpectedly; restarting it`);
      restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    const again = doubling(2 * options.firstWaitMs, options.maxWaitMs);
    const waitMs = (error: unknown, n: number): number | null => {
      // Resources of a killed process may take a moment to be released.
      log.error({ err: error }, `${name} failed to start`);
      return again(error, n);
    };
    try {
      await sleep(options.firstWaitMs);
      child = await retry(() => options.start(), { waitMs, sleep });
    } catch {
      return;
    }
    watch();
    log.info({ pid: child.pid }, `${name} is running again`);
    options.onRestart?.(child);
  };
  watch();
  return {
    child: () => child,
    async close() {
      closing.abort();
      await restarting;
      await options.stop(child);
    },
  };
}
