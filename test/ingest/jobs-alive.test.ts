import { pino } from 'pino';
import { expect, test } from 'vitest';
import { JobRunner } from '../../ingest/job-runner.ts';
import { clockOf } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { silent } from '../helpers/silent-log.ts';

test('a process that only ingests stays alive between its jobs, until it stops', async () => {
  /** Timers that keep the process alive. */
  const holding = new Set<object>();
  const clock = clockOf({
    now: () => 0,
    elapsed: () => 0,
    after: (_ms, _task, holds) => {
      const timer = {};
      if (holds) holding.add(timer);
      return () => void holding.delete(timer);
    },
  });
  const clickhouse = { insert: async () => {} } as unknown as ClickHouse;
  const runner = new JobRunner({
    clock,
    clickhouse,
    shared: createLocalShared(silent, clock),
    log: pino({ level: 'silent' }),
  });
  runner.start([{ platform: 'kalshi', name: 'trades', lease: 'trades', everySeconds: 60, run: async () => null }]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(holding.size).toBe(1);
  await runner.stop();
  expect(holding.size).toBe(0);
});
