import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import type { Follower } from '../../src/streams/log/follower.ts';
import { Subscription } from '../../src/streams/subscription.ts';
import { ALL } from '../helpers/market-of-streams.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

test('a stream that cannot read the log logs the first of its failures in a row', async () => {
  const clock = virtualClock();
  const lines: unknown[] = [];
  let isAway = true;
  let reads = 0;
  const follower = {
    partition: { feed: 'trades', platform: 'kalshi' },
    end: async () => 2,
    since: () => null,
    changed: () => clock.late(1000),
    leave: () => {},
  } as unknown as Follower;
  const deps = {
    clock,
    log: { warn: (...line: unknown[]) => void lines.push(line) },
    follower: () => follower,
    async readLog() {
      reads += 1;
      if (isAway) throw new Error('the store is away');
      return { rows: [], holeBefore: null, isFull: false };
    },
  };
  const filter = { ...ALL, channels: ['trades' as const], platforms: ['kalshi' as const] };
  const sink = {
    events: () => {},
    event: () => {},
    isBehind: () => false,
    flush: () => true,
    catchUps: new PQueue({ concurrency: 1 }),
    room: async () => {},
  };
  const subscription = new Subscription(deps, filter, [1], sink);
  subscription.start();
  await clock.advance(2000);
  expect(reads).toBeGreaterThan(2);
  const line = [
    { err: new Error('the store is away'), partition: 'trades:kalshi' },
    'Failed to read the event log for a stream',
  ];
  expect(lines).toEqual([line]);

  isAway = false;
  await clock.advance(2000);
  isAway = true;
  await clock.advance(3000);
  expect(lines).toEqual([line, line]);
  subscription.close();
});
