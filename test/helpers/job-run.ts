import type { MarketDirectory } from '../../src/platforms/contract.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import type { Platform } from '../../src/core/model.ts';
import { LEASE } from './market-store.ts';

/** A run of a job, without a scheduler, that counts no rows. */
export const run: JobRun = {
  lease: LEASE,
  signal: new AbortController().signal,
  context: (priority) => ({ priority, onBadRow: () => {} }),
};

/** Knows every market by its ref. */
export const directory = {
  byRef: async (_: Platform, refs: string[]) => new Map(refs.map((ref) => [ref, { ref }])),
} as unknown as MarketDirectory;
