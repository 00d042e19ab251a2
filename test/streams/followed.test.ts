import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { FollowedTrades, announceFollowed } from '../../src/streams/log/followed.ts';
import { FOLLOWED_EVERY_MS } from '../../src/stores/shared/shared.ts';
import { openEventStream } from '../helpers/event-stream.ts';
import { silent } from '../helpers/silent-log.ts';
import { startStreamRig } from '../helpers/stream-rig.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

test('trades are followed while a process says so, and for twenty seconds after a message that is lost', async () => {
  const clock = virtualClock(0);
  const shared = createLocalShared(silent, systemClock);
  onTestFinished(() => shared.close());
  const followed = new FollowedTrades(clock);
  await followed.listen(shared);
  expect(followed.isAny).toBe(false);
  for (let n = 0; n < 4; n += 1) {
    announceFollowed(shared);
    await clock.advance(FOLLOWED_EVERY_MS);
    expect(followed.isAny).toBe(true);
  }
  await clock.advance(2 * FOLLOWED_EVERY_MS - 1);
  expect(followed.isAny).toBe(true);
  await clock.advance(1);
  expect(followed.isAny).toBe(false);
});

test('a stream of trades is followed as soon as it is open, one of markets is not', async () => {
  const rig = await startStreamRig();
  onTestFinished(() => rig.close());
  const followed = new FollowedTrades(systemClock);
  await followed.listen(rig.app.shared);
  await rig.log('kalshi', ['first']);
  const { key } = await rig.app.newKey('pro');
  const open = (channel: string) =>
    openEventStream(`${rig.origin}/v1/api/stream?channels=${channel}`, { 'x-api-key': key });
  const markets = await open('markets');
  await markets.until('state', 1);
  expect(followed.isAny).toBe(false);
  const trades = await open('trades');
  await expect.poll(() => followed.isAny, { timeout: 5000 }).toBe(true);
  for (const stream of [markets, trades]) stream.cut();
});
