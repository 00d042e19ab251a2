import PQueue from 'p-queue';

/** Steps of storing that may be under way: inserts wait for each other up to a second, and platforms answer a few times a second. */
const AT_ONCE = 8;

/** Starts a step of storing, and waits while too many are under way. Throws the failure of an earlier step. */
export type StoreLater = (step: () => Promise<void>) => Promise<void>;

/**
 * Runs `read`, which passes on what it has read as steps that store it: they run while the next item is read, so that rows of several
 * items go into one insert. Ends when all steps have ended, and throws the first failure.
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
