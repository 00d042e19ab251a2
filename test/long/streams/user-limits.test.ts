import { expect, onTestFinished, test } from 'vitest';
import { UserLimits } from '../../../src/streams/user-limits.ts';
import { flowingClock } from '../../helpers/flowing-clock.ts';

const clock = flowingClock();

/** What processes share, as Redis keeps it: members of sets, by when they end. */
function sharedSets() {
  const sets = new Map<string, Map<string, number>>();
  const of = (name: string): Map<string, number> => {
    const set = sets.get(name) ?? new Map<string, number>();
    for (const [member, end] of set) if (end <= clock.elapsed()) set.delete(member);
    sets.set(name, set);
    return set;
  };
  let isAway = false;
  /** The side of one process, which a kill cuts off. */
  const process = () => {
    let isKilled = false;
    const claim = async (name: string, members: readonly string[], limit: number, ttlMs: number) => {
      if (isAway || isKilled) return true;
      const set = of(name);
      const fresh = members.filter((member) => !set.has(member)).length;
      if (fresh > 0 && set.size + fresh > limit) return false;
      for (const member of members) set.set(member, clock.elapsed() + ttlMs);
      return true;
    };
    const unclaim = async (name: string, members: readonly string[]) => {
      if (!isKilled) for (const member of members) of(name).delete(member);
    };
    const limits = new UserLimits({ claim, unclaim }, clock);
    return { limits, kill: () => (isKilled = true) };
  };
  return { process, sets, leave: () => (isAway = true) };
}
const FREE = { userId: 'u', tier: 'free' } as const;
const ids = (from: number, count: number) => Array.from({ length: count }, (_, n) => `kalshi:K${from + n}`);
const opened = async (limits: UserLimits, count: number): Promise<(() => void)[]> => {
  const all = await Promise.all(Array.from({ length: count }, () => limits.connect(FREE)));
  onTestFinished(() => all.forEach((close) => close()));
  return all;
};

test('connections of a user count over all processes, also of two that ask at once', async () => {
  const { process } = sharedSets();
  const [a, b] = [process(), process()];
  await opened(a.limits, 3);
  const asked = await Promise.allSettled([opened(a.limits, 1), opened(b.limits, 1), opened(b.limits, 1)]);
  expect(asked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  await expect(b.limits.connect(FREE)).rejects.toMatchObject({ status: 429 });
});

test('a place of another process is waited for a moment: its reader comes back before the loss is noticed', async () => {
  const { process } = sharedSets();
  const [a, b] = [process(), process()];
  const places = await opened(a.limits, 5);
  clock.timeout(500, () => places[0]?.());
  await opened(b.limits, 1);
  await expect(a.limits.connect(FREE)).rejects.toMatchObject({ status: 429 });
});

test('what a killed process had open counts no more after a moment, and what lives goes on counting', async () => {
  const { process } = sharedSets();
  const [a, b] = [process(), process()];
  await opened(a.limits, 3);
  await opened(b.limits, 2);
  a.kill();
  await opened(b.limits, 3);
  await expect(process().limits.connect(FREE)).rejects.toMatchObject({ status: 429 });
});

test('without what they share each process counts its own', async () => {
  const { process, leave } = sharedSets();
  leave();
  await opened(process().limits, 5);
  const { limits } = process();
  await opened(limits, 5);
  await expect(limits.connect(FREE)).rejects.toMatchObject({ status: 429 });
});

test('a market counts once, whatever names it and in whichever process', async () => {
  const { process, sets } = sharedSets();
  const [a, b] = [process().limits, process().limits];
  const first = await a.follow(FREE, ids(0, 60));
  const again = await a.follow(FREE, ids(0, 60));
  const other = await b.follow(FREE, ids(0, 80));
  await expect(a.follow(FREE, ids(60, 41))).rejects.toMatchObject({ status: 429 });
  await expect(b.follow(FREE, ids(100, 21))).rejects.toMatchObject({ status: 429 });
  const both = await Promise.allSettled([a.follow(FREE, ids(200, 20)), b.follow(FREE, ids(300, 20))]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  again();
  again();
  await expect(a.follow(FREE, ids(400, 1))).rejects.toMatchObject({ status: 429 });
  for (const end of both) if (end.status === 'fulfilled') end.value();
  first();
  other();
  await (
    await a.follow(FREE, ids(500, 100))
  )();
  expect([...sets.values()].map(({ size }) => size)).toEqual([0]);
});
