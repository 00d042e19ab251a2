import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { keepRunning } from '../../src/embedded/keep-running.ts';
import { silent } from '../helpers/silent-log.ts';

test('a stop does not wait for the next attempt to restart, and starts nothing more', async () => {
  const children: ChildProcess[] = [];
  const start = vi.fn(async () => {
    const child = new EventEmitter() as ChildProcess;
    children.push(child);
    return child;
  });
  const kept = await keepRunning({
    name: 'a store',
    start,
    stop: async () => {},
    firstWaitMs: 3_600_000,
    maxWaitMs: 3_600_000,
    log: silent,
    clock: systemClock,
  });
  children[0]?.emit('exit', null, 'SIGKILL');
  await kept.close();
  expect(start).toHaveBeenCalledOnce();
});
