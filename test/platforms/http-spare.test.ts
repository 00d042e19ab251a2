import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { Lane } from '../../src/platforms/http/lane.ts';
import { limitGroup } from '../../src/platforms/http/limit-groups.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { silent } from '../helpers/silent-log.ts';

/** A budget of ten calls that hardly refills. */
function open() {
  const name = 'kalshi:read';
  const rule = { name: 'test', capacity: 100, refillPerSecond: 0.001 };
  const shared = createLocalShared(silent, systemClock);
  const lane = new Lane({
    platform: 'kalshi',
    name,
    group: { ...limitGroup(name), cost: 10 },
    rule,
    shared,
    clock: systemClock,
  });
  const entry = { cost: 10, holdMs: 1000, signal: new AbortController().signal };
  return { lane, idle: () => lane.enterIdle(entry), call: () => lane.enter({ ...entry, priority: 'live', waitMs: 0 }) };
}

test('urgent work takes half of a budget at most, and callers have the other half at once', async () => {
  const { idle, call } = open();
  const left: boolean[] = [];
  for (let n = 0; n < 7; n += 1) left.push((await idle()) !== null);
  expect(left).toEqual([true, true, true, true, true, false, false]);
  for (let n = 0; n < 5; n += 1) await call();
  await expect(call()).rejects.toThrow('unavailable');
});

test('urgent work takes nothing of a budget that callers wait for, nor of one that is paused', async () => {
  const { lane, idle, call } = open();
  const waiting = call();
  expect(await idle()).toBeNull();
  await waiting;
  lane.pause(60_000);
  expect(await idle()).toBeNull();
});
