import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Child processes own the native engine, so plain forks suffice; two, because the smallest machine has two cores.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A poll that finds what it waits for ends at once; the default of a second is a stall of a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // Budgets, leases and time-outs are tested in real time: on a shared machine a stall may break one try, not two.
    retry: process.env['CI'] ? 2 : 0,
    env: { LOG_LEVEL: 'warn', UV_THREADPOOL_SIZE: '16' },
  },
});
