import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rowsOf, startWholeService, type WholeService } from '../../helpers/whole-service.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('a process is stopped for a while, then goes on');

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

/** Longer than two calls wait for an answer, and the breaker opens. */
const FROZEN_MS = 25_000;
const FRESH_WITHIN_MS = 60_000;

let platform: ChildProcess;
let whole: WholeService;
beforeAll(async () => {
  platform = fork(new URL('../../helpers/limitless-process.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const [env] = (await once(platform, 'message')) as [Record<string, string>];
  whole = await startWholeService({ ...env, PLATFORMS: 'limitless' });
  await rowsOf(whole, 'SELECT 1 FROM v_trades LIMIT 1');
});
afterAll(async () => {
  await whole?.close();
  platform?.kill('SIGKILL');
});

/** The instant up to which everything is stored, by /health. */
async function freshTo(): Promise<number> {
  const { checks } = (await (await whole.get('/v1/api/health')).json()) as {
    checks: { platform?: string; lag_seconds?: number | null }[];
  };
  const lag = checks.find((check) => check.platform === 'limitless')?.lag_seconds;
  return lag === null || lag === undefined ? 0 : Date.now() - lag * 1000;
}

async function freshSince(ms: number, withinMs: number): Promise<number> {
  const startedMs = Date.now();
  while (Date.now() - startedMs < withinMs && (await freshTo()) < ms + 1000) await sleep(250);
  return Date.now() - startedMs;
}

test('a platform that stood still is fresh within a minute of going on, though it refuses the calls it held', async () => {
  expect(await freshSince(Date.now(), 2 * FRESH_WITHIN_MS)).toBeLessThan(2 * FRESH_WITHIN_MS);
  platform.kill('SIGSTOP');
  await sleep(FROZEN_MS);
  platform.kill('SIGCONT');
  expect(await freshSince(Date.now(), 3 * FRESH_WITHIN_MS)).toBeLessThan(FRESH_WITHIN_MS);
  platform.send('refused');
  const [refused] = (await once(platform, 'message')) as [number];
  expect(refused).toBeGreaterThan(0);
});
