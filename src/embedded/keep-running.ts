import type { ChildProcess } from 'node:child_process';
import type { Log } from '../core/log.ts';
import { doubling, retry } from '../core/retry.ts';
import type { Clock } from '../core/time.ts';

const START_MS = 60_000;
/** The engine waits up to five seconds for statements that run. */
const STOP_MS = 8000;

interface RestartOptions {
  /** Name in logs. */
  name: string;
  /** Starts the process; rejects if it does not come up. */
  start(): Promise<ChildProcess>;
  /** Stops a process that `start` returned; it is not restarted. */
  stop(child: ChildProcess): Promise<void>;
  /** Wait before the first attempt to restart; it doubles with each attempt, up to `maxWaitMs`. */
  firstWaitMs: number;
  maxWaitMs: number;
  log: Log;
  clock: Clock;
}

/** A process that is restarted whenever it exits. */
interface KeptProcess {
  /** The current process. */
  child(): ChildProcess;
  close(): Promise<void>;
}

/** Starts a process and restarts it whenever it exits. Rejects if the first start fails. */
export async function keepRunning(options: RestartOptions): Promise<KeptProcess> {
  const { name, log, clock } = options;
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
  };
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await restarting;
    await options.stop(child);
  };
  watch();
  return {
    child: () => child,
    close: () => (closed ??= close()),
  };
}

/** Whether a process has exited, or could not be started. */
export const hasExited = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** What a process answers when it has started; rejects if that takes too long. */
export async function startedInTime<T>(name: string, answer: Promise<T>, clock: Clock): Promise<T> {
  const late = clock.late(START_MS).then(() => {
    throw new Error(`${name} did not start within ${START_MS / 1000} s`);
  });
  return Promise.race([answer, late]);
}

/** Ends a process: `ask` asks it to stop, and `signal` kills it if it takes too long. */
export async function endProcess(
  child: ChildProcess,
  ask: () => void,
  signal: NodeJS.Signals,
  clock: Clock,
): Promise<void> {
  if (hasExited(child)) return;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  ask();
  await Promise.race([ended, clock.late(STOP_MS)]);
  if (!hasExited(child)) child.kill(signal);
  await ended;
}
