import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
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
