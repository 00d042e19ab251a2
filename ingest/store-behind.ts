import PQueue from 'p-queue';
import { PlatformError } from '../src/core/errors.ts';
import { ItemReads } from './failure-backoff.ts';

/** Maximum steps at a time: an insert waits up to two seconds for others, and a platform answers a few times a second. */
const AT_ONCE = 16;

/** Starts a step of storing, and waits while too many are under way. Throws the failure of an earlier step. */
export type StoreLater = (step: () => Promise<void>) => Promise<void>;

/**
 * Runs `read`, which calls its argument with a step that stores each item. Steps run while the next items are read, so that rows of several
 * items go into one insert. Resolves when all steps have ended, and throws the first failure.
 */
export async function storeBehind(read: (store: StoreLater) => Promise<void>): Promise<void> {
  const steps = new PQueue({ concurrency: AT_ONCE });
  let failure: { error: unknown } | null = null;
  const throwFailure = (): void => {
    if (failure) throw failure.error;
  };
  try {
    await read(async (step) => {
      throwFailure();
      steps.add(step).catch((error: unknown) => {
        failure ??= { error };
      });
      await steps.onSizeLessThan(1);
      throwFailure();
    });
  } finally {
    await steps.onIdle();
  }
  throwFailure();
}

interface EachItem<I, T> {
  read: (item: I) => Promise<T>;
  /** Stores what was read of an item. */
  store: (read: T, item: I) => Promise<void>;
  /** Called with an item that could not be read, while others can. */
  onFailure: (item: I, error: PlatformError) => void;
}

/** Reads one item after the other, and stores what was read while the next items are read. Throws when `signal` aborts. */
export async function storeEach<I, T>(
  items: readonly I[],
  signal: AbortSignal,
  { read, store, onFailure }: EachItem<I, T>,
): Promise<void> {
  const reads = new ItemReads(signal);
  await storeBehind(async (storeLater) => {
    for (const item of items) {
      signal.throwIfAborted();
      const found = await reads.attempt(() => read(item));
      if (found instanceof PlatformError) onFailure(item, found);
      else await storeLater(() => store(found, item));
    }
  });
}
