import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/time.ts';
import { askedWindows } from '../../src/queries/windows.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const deps = (command: () => Promise<void>, clock: Clock = systemClock) => ({
  clickhouse: { command } as unknown as ClickHouse,
  shared: createLocalShared(silent, clock),
  log: silent,
  clock,
});

test('what is read from windows is read once for all requests, each thing under its own name', async () => {
  let computed = 0;
  const fresh = askedWindows(deps(async () => void (computed += 1)));
  let reads = 0;
  const read = async () => (reads += 1);
  const asks = [fresh(), fresh(), fresh()].map(async (ofWindows) => (await ofWindows)('a', read));
  expect(await Promise.all(asks)).toEqual([1, 1, 1]);
  expect(await (await fresh())('b', read)).toBe(2);
  // One REFRESH and one WAIT.
  expect(computed).toBe(2);
});

test('while windows are computed again, answers have the last ones and do not wait', async () => {
  const names: string[] = [];
  let computing = false;
  const cached: Shared['cached'] = async (name, _ttlMs, load) => {
    if (name === 'windows:asked' && computing) return new Promise(() => {});
    names.push(name);
    return { value: await load(), hit: false };
  };
  const fresh = askedWindows({ ...deps(async () => {}), shared: { cached } });
  await (
    await fresh()
  )('a', async () => 1);
  computing = true;
  expect(await (await fresh())('a', async () => 2)).toBe(2);
  expect(names).toEqual(['windows:asked', names[1], names[1]]);
});

test('answers do not wait for windows whose computation takes so long that they are computed less often', async () => {
  const clock = virtualClock();
  // One REFRESH and one WAIT: four seconds.
  const fresh = askedWindows(deps(() => clock.sleep(2000), clock));
  const first = fresh();
  await clock.advance(4000);
  await first;
  await clock.advance(41_000);
  let answered = false;
  void fresh().then(() => (answered = true));
  await clock.advance(0);
  expect(answered).toBe(true);
});

test('windows are computed again within five minutes after a computation that hung', async () => {
  const clock = virtualClock();
  let commands = 0;
  const fresh = askedWindows(
    deps(async () => {
      commands += 1;
      await clock.sleep(commands === 1 ? 600_000 : 1);
    }, clock),
  );
  const seen: number[] = [];
  for (const waitMs of [600_010, 301_000, 301_000, 301_000]) {
    void fresh();
    await clock.advance(waitMs);
    seen.push(commands);
  }
  expect(seen).toEqual([2, 2, 4, 6]);
});

test('a failed read is not kept', async () => {
  const ofWindows = await askedWindows(deps(async () => {}))();
  await expect(ofWindows('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await ofWindows('a', async () => 1)).toBe(1);
});
