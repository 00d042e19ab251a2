import { expect, test } from 'vitest';
import { doubling, retry, waits, waitUntil } from '../../src/core/retry.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

/** A step that fails `failures` times, and how long each attempt came after the one before. */
function failing(failures: number) {
  const slept: number[] = [];
  let attempts = 0;
  const step = async (): Promise<number> => {
    attempts += 1;
    if (attempts <= failures) throw new Error(`failure ${attempts}`);
    return attempts;
  };
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
  };
  return { step, sleep, slept };
}

test('a step is repeated after each wait, and its last failure is thrown', async () => {
  const passing = failing(2);
  expect(await retry(passing.step, { waitMs: waits([10, 20]), sleep: passing.sleep })).toBe(3);
  expect(passing.slept).toEqual([10, 20]);
  const lasting = failing(3);
  await expect(retry(lasting.step, { waitMs: waits([10, 20]), sleep: lasting.sleep })).rejects.toThrow('failure 3');
});

test('a failure that cannot pass is thrown at once, also by a step that throws without a promise', async () => {
  const { step, sleep, slept } = failing(1);
  await expect(retry(step, { waitMs: waits([10], () => false), sleep })).rejects.toThrow('failure 1');
  const thrown = retry(
    () => {
      throw new Error('at once');
    },
    { waitMs: waits([]), sleep },
  );
  await expect(thrown).rejects.toThrow('at once');
  expect(slept).toEqual([]);
});

test('a wait that is ended throws the failure before it; waits may double without end', async () => {
  const { step } = failing(9);
  const ended = retry(step, { waitMs: doubling(1, 8), sleep: () => Promise.reject(new Error('stopped')) });
  await expect(ended).rejects.toThrow('failure 1');
  const more = failing(5);
  await retry(more.step, { waitMs: doubling(1, 8), sleep: more.sleep });
  expect(more.slept).toEqual([1, 2, 4, 8, 8]);
});

test('an answer is waited for as long as allowed; null, undefined and false are none', async () => {
  const clock = virtualClock();
  const answers = [null, undefined, false, 0];
  const asked = waitUntil(() => answers.shift(), { withinMs: 1000, everyMs: 100, clock });
  await clock.advance(300);
  expect(await asked).toBe(0);
  let times = 0;
  const none = waitUntil(() => void (times += 1), { withinMs: 250, everyMs: 100, clock });
  await clock.advance(300);
  expect([await none, times]).toEqual([null, 4]);
});

test('a signal ends the wait for an answer with its reason', async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const asked = waitUntil(() => null, { withinMs: 1000, everyMs: 100, clock, signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(asked).rejects.toThrow('stopped');
});
