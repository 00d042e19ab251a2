import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { FeedStates } from '../../src/streams/feed-state.ts';

test('a platform that is not configured is off, also before the store answers', async () => {
  let isStored = false;
  const states = new FeedStates({
    clock: systemClock,
    platforms: ['kalshi'],
    feeds: async () => {
      if (!isStored) throw new Error('the store does not answer');
      return [{ platform: 'kalshi', feed: 'polling' }];
    },
    freshTo: async () => null,
  });
  onTestFinished(() => states.close());
  const unread = { feed: 'off', fresh_to: null, lag_seconds: null };
  const stop = await states.watch(() => {});
  expect(states.of(['kalshi', 'limitless'])).toMatchObject({ kalshi: { feed: 'stale' }, limitless: unread });
  stop();
  isStored = true;
  await states.watch(() => {});
  expect(states.of(['kalshi', 'limitless'])).toMatchObject({ kalshi: { feed: 'polling' }, limitless: unread });
});

test('a reader is called for changes after the first states, which it reads itself', async () => {
  const clock = virtualClock();
  let feed: 'live' | 'polling' = 'polling';
  const feeds = async () => [{ platform: 'kalshi' as const, feed }];
  const states = new FeedStates({ clock, platforms: ['kalshi'], feeds, freshTo: async () => null });
  onTestFinished(() => states.close());
  const calls: string[] = [];
  // The second one begins while the states are read for the first.
  await Promise.all(['first', 'second'].map((name) => states.watch(() => calls.push(name))));
  expect(states.of(['kalshi'])).toMatchObject({ kalshi: { feed: 'polling' } });
  expect(calls).toEqual([]);
  feed = 'live';
  await clock.advance(2000);
  expect(calls).toEqual(['first', 'second']);
  expect(states.of(['kalshi'])).toMatchObject({ kalshi: { feed: 'live' } });
});
