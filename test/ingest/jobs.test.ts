import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { JobRunner } from '../../ingest/job-runner.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { createLog } from '../../src/core/log.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

waitsInRealTime('jobs run every second; platforms fail and come back');

test('a beat that a busy process missed is logged, as JSON, and nowhere else', async () => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => void (lines.push(String(chunk)), done()) });
  const log = createLog({ LOG_LEVEL: 'warn' }, stream);
  const printed = vi.spyOn(console, 'warn');
  // A job without a result records no run, so no store is needed.
  const runner = new JobRunner({ log, shared: createLocalShared(log), clickhouse: {} as ClickHouse });
  runner.start([{ platform: 'kalshi', name: 'idle', lease: 'idle', everySeconds: 1, run: async () => null }]);
  await sleep(1200);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3500);
  await vi.waitFor(() => expect(lines.join('')).toContain('missed execution'), 5000);
  await runner.stop();
  const logged = lines.map((line) => JSON.parse(line) as object);
  expect(logged).toContainEqual(expect.objectContaining({ level: 40, platform: 'kalshi', job: 'idle' }));
  expect(printed).not.toHaveBeenCalled();
});

test('jobs go on after a clock that was a day ahead is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
  const log = createLog({ LOG_LEVEL: 'silent' });
  const runner = new JobRunner({ log, shared: createLocalShared(log), clickhouse: {} as ClickHouse });
  const run = vi.fn(async () => null);
  runner.start([{ platform: 'kalshi', name: 'poll', lease: 'poll', everySeconds: 1, run }]);
  vi.useRealTimers();
  await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(2), 25_000);
  await runner.stop();
}, 30_000);

test('a job that failed is reported as well again once it runs and finds nothing due', async () => {
  const reported: boolean[] = [];
  const clickhouse = { insert: async (_: string, [run]: { ok: boolean }[]) => void reported.push(run!.ok) };
  const log = createLog({ LOG_LEVEL: 'silent' });
  const runner = new JobRunner({
    log,
    shared: createLocalShared(log),
    clickhouse: clickhouse as unknown as ClickHouse,
  });
  const run = vi.fn(async () => null).mockRejectedValueOnce(new Error('away'));
  runner.start([{ platform: 'kalshi', name: 'gaps', lease: 'gaps', everySeconds: 1, run }]);
  await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(3), 8000);
  await runner.stop();
  expect(reported).toEqual([false, true]);
});
