import { describe, expect, test } from 'vitest';
import type { Placement } from '../../src/platforms/order-contract.ts';
import { PlacementGroup } from '../../src/orders/placing/placement-group.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const unknown = (detail: string): Placement => ({ result: 'unknown', httpStatus: 0, detail });
const fail = (): Promise<Placement[]> => Promise.reject(new Error('no'));
/** Records each call, and answers each body with its own name. */
function sender() {
  const calls: string[][] = [];
  const send = async (bodies: readonly string[]): Promise<Placement[]> => {
    calls.push([...bodies]);
    return bodies.map(unknown);
  };
  return { calls, send };
}

describe('orders that are placed together', () => {
  test('go in one call for each account once the last member has placed or left', async () => {
    const group = new PlacementGroup(4, virtualClock());
    const [one, two, three, four] = Array.from({ length: 4 }, () => group.member());
    const { calls, send } = sender();
    const placed = [one?.place('a', 'first', send), two?.place('b', 'second', send), three?.place('a', 'third', send)];
    await Promise.resolve();
    expect(calls).toEqual([]);
    four?.leave();
    expect((await Promise.all(placed)).map((one) => one?.detail)).toEqual(['first', 'second', 'third']);
    expect(calls).toEqual([['first', 'third'], ['second']]);
  });

  test('do not count a member twice that leaves again, or after it was placed', async () => {
    const group = new PlacementGroup(3, virtualClock());
    const [one, two, three] = Array.from({ length: 3 }, () => group.member());
    const { calls, send } = sender();
    const first = one?.place('a', 'first', send);
    for (const member of [one, two, two, two]) member?.leave();
    await Promise.resolve();
    expect(calls).toEqual([]);
    await Promise.all([first, three?.place('a', 'second', send)]);
    expect(calls).toEqual([['first', 'second']]);
  });

  test('wait for each other no longer than the patience; a later one goes at once', async () => {
    const clock = virtualClock();
    const group = new PlacementGroup(3, clock);
    const [one, two] = Array.from({ length: 3 }, () => group.member());
    const { calls, send } = sender();
    const first = one?.place('a', 'first', send);
    await clock.advance(1999);
    expect(calls).toEqual([]);
    await clock.advance(1);
    await Promise.all([first, two?.place('a', 'second', send)]);
    expect(calls).toEqual([['first'], ['second']]);
  });

  test('fail together when their call fails', async () => {
    const group = new PlacementGroup(2, virtualClock());
    const [one, two] = [group.member(), group.member()];
    const placed = await Promise.allSettled([one.place('a', 'first', fail), two.place('a', 'second', fail)]);
    expect(placed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
