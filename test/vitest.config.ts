import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long, by their seconds beside another on two calm cores, the longest first: one that began last would run alone
 * while the other worker has nothing to do.
 */
const LONG = Object.keys(JSON.parse(readFileSync(new URL('long-files.json', import.meta.url), 'utf8')) as object).map(
  (name) => `/test/${name}.test.ts`,
);

function place({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.endsWith(name));
  return at < 0 ? LONG.length : at;
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- no array's
    const bySize = await super.sort(files);
    return bySize.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Child processes own the native engine, so plain forks suffice; two, because the smallest machine has two cores.
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A poll that finds what it waits for ends at once; the default of a second is a stall of a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // Budgets, leases and time-outs are tested in real time: on a shared machine a stall may break one try, not two.
    retry: process.env['CI'] ? 2 : 0,
    env: { LOG_LEVEL: 'warn', UV_THREADPOOL_SIZE: '16' },
  },
});
