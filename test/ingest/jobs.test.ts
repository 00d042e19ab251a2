import { Writable } from 'node:stream';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { expect, test, vi } from 'vitest';
import { type JobDeps, type JobResult, JobRunner } from '../../ingest/job-runner.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { PlatformError } from '../../src/core/errors.ts';
import { createLog } from '../../src/core/log.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

/** A runner on a clock of its own. A job without a result records no run, so no store is needed. */
function start(given: Partial<JobDeps> = {}) {
  const clock = virtualClock();
  const log = createLog({ LOG_LEVEL: 'silent' });
  const shared = createLocalShared(log, clock);
  return { clock, runner: new JobRunner({ clock, log, shared, clickhouse: {} as ClickHouse, ...given }) };
}

test('runs that a busy process missed are logged, as JSON, and nowhere else', async () => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => void (lines.push(String(chunk)), done()) });
  const printed = vi.spyOn(console, 'warn');
  const { clock, runner } = start({ log: createLog({ LOG_LEVEL: 'warn' }, stream) });
  runner.start([{ platform: 'kalshi', name: 'idle', lease: 'idle', everySeconds: 1, run: async () => null }]);
  await clock.advance(10_000);
  expect(lines).toEqual([]);
  clock.stall(3500);
  await clock.advance(1000);
  await runner.stop();
  const logged = lines.map((line) => JSON.parse(line) as object);
  expect(logged).toEqual([expect.objectContaining({ level: 40, platform: 'kalshi', job: 'idle', lateMs: 2500 })]);
  expect(printed).not.toHaveBeenCalled();
});

test('a job that waits after the start runs then, no later than after a period, and every period', async () => {
  const { clock, runner } = start();
  const startedMs = clock.elapsed();
  const ran: Record<string, number[]> = {};
  const jobOf = (name: string, everySeconds: number, firstAfterSeconds?: number) => ({
    platform: 'kalshi' as const,
    name,
    lease: name,
    everySeconds,
    ...(firstAfterSeconds === undefined ? {} : { firstAfterSeconds }),
    run: async () => {
      (ran[name] ??= []).push((clock.elapsed() - startedMs) / 1000);
      return null;
    },
  });
  runner.start([jobOf('trades', 60), jobOf('files', 60, 30), jobOf('often', 50, 90)]);
  await clock.advance(130_000);
  await runner.stop();
  expect(ran).toEqual({ trades: [0, 60, 120], files: [30, 60, 120], often: [50, 100] });
});

test('jobs go on after a clock that was a day ahead is set back', async () => {
  const { clock, runner } = start();
  clock.correct(25 * 3_600_000);
  const run = vi.fn(async () => null);
  runner.start([{ platform: 'kalshi', name: 'poll', lease: 'poll', everySeconds: 1, run }]);
  clock.correct(-25 * 3_600_000);
  await clock.advance(3000);
  await runner.stop();
  expect(run).toHaveBeenCalledTimes(4);
});

test('a job that failed is reported as well again once it runs and finds nothing due', async () => {
  const reported: boolean[] = [];
  const clickhouse = { insert: async (_: string, [run]: { ok: boolean }[]) => void reported.push(run!.ok) };
  const { clock, runner } = start({ clickhouse: clickhouse as unknown as ClickHouse });
  const run = vi.fn(async () => null).mockRejectedValueOnce(new Error('away'));
  runner.start([{ platform: 'kalshi', name: 'gaps', lease: 'gaps', everySeconds: 1, run }]);
  await clock.advance(3000);
  await runner.stop();
  expect(run).toHaveBeenCalledTimes(4);
  expect(reported).toEqual([false, true]);
});

test.each([
  ['an earlier process', 0],
  ['a process that held the lease for a while', 1],
])('a job that failed in %s is reported as well again once it finds nothing due', async (_, before) => {
  const log = createLog({ LOG_LEVEL: 'silent' });
  const clock = virtualClock();
  const local = createLocalShared(log, clock);
  /** The lease of another process. */
  let isTaken = false;
  const lease = async (name: string, ttlMs: number) => {
    if (isTaken) return null;
    const held = await local.lease(name, ttlMs);
    return held && { ...held, renew: async (ms: number) => !isTaken && held.renew(ms) };
  };
  const reported: object[] = [];
  const clickhouse = {
    insert: async (_table: string, [run]: { job: string; ok: boolean }[]) => void reported.push([run!.job, run!.ok]),
    query: vi.fn(async () => [{ job: 'gaps' }]),
  };
  const { runner } = start({ clock, log, shared: { ...local, lease }, clickhouse: clickhouse as never });
  const done = async () => ({ freshTo: new Date(clock.now()), rows: 0 });
  const run = vi.fn(async (): Promise<JobResult | null> => null);
  if (before === 1) run.mockImplementationOnce(done);
  const jobOf = (name: string) => ({ platform: 'kalshi' as const, name, lease: 'trades', everySeconds: 1, run });
  runner.start([jobOf('gaps')]);
  await clock.advance(500);
  if (before === 1) {
    isTaken = true;
    await clock.advance(30_000);
    isTaken = false;
  }
  await clock.advance(30_000);
  await runner.stop();
  expect(reported).toEqual(Array.from({ length: before + 1 }, () => ['gaps', true]));
  expect(clickhouse.query).toHaveBeenCalledTimes(1);
});

test('a statement of PostgreSQL that failed is in the note of a run by name, without its text and its values', async () => {
  const notes: string[] = [];
  const clickhouse = { insert: async (_: string, [run]: { note: string }[]) => void notes.push(run!.note) };
  const { clock, runner } = start({ clickhouse: clickhouse as unknown as ClickHouse });
  const failure = new DrizzleQueryError('INSERT INTO present_platforms VALUES ($1)', ['kalshi'], new Error('timeout'));
  const run = () => Promise.reject(failure);
  runner.start([{ platform: 'kalshi', name: 'present', lease: 'present', everySeconds: 1, run }]);
  await clock.advance(500);
  await runner.stop();
  expect(notes).toEqual(['PostgreSQL: statement failed']);
});

test('a platform that cannot be reached is one line without a stack, for all its jobs, until it answers again', async () => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => void (lines.push(String(chunk)), done()) });
  const clickhouse = { insert: async () => {} } as unknown as ClickHouse;
  const { clock, runner } = start({ clickhouse, log: createLog({ LOG_LEVEL: 'info' }, stream) });
  let isAway = true;
  const run = async () => {
    if (isAway) throw new PlatformError('kalshi', 'unavailable', { detail: 'getaddrinfo ENOTFOUND' });
    return { freshTo: new Date(clock.now()), rows: 0 };
  };
  const jobOf = (name: string) => ({ platform: 'kalshi' as const, name, lease: name, everySeconds: 1, run });
  // It calls no platform, so its success says nothing of one.
  const local = { ...jobOf('present'), run: async () => ({ freshTo: new Date(clock.now()), rows: 0 }) };
  runner.start([...['markets', 'trades', 'events'].map(jobOf), local]);
  await clock.advance(3000);
  isAway = false;
  await clock.advance(2000);
  await runner.stop();
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      level: 40,
      platform: 'kalshi',
      msg: 'kalshi unavailable',
      detail: 'getaddrinfo ENOTFOUND',
    }),
    expect.objectContaining({ level: 30, platform: 'kalshi', msg: 'The platform answers again' }),
  ]);
  expect(lines.join('')).not.toContain('stack');
});

test('a job of any period runs at once, then every period, never twice at a time', async () => {
  const { clock, runner } = start();
  const startedMs = clock.now();
  const at: number[] = [];
  const run = async (): Promise<null> => {
    at.push(clock.now() - startedMs);
    await clock.sleep(8000);
    return null;
  };
  runner.start([{ platform: 'kalshi', name: 'sweep', lease: 'sweep', everySeconds: 7, run }]);
  await clock.advance(30_000);
  expect(at).toEqual([0, 14_000, 28_000]);
  const stopping = runner.stop();
  await clock.advance(8000);
  await stopping;
});
