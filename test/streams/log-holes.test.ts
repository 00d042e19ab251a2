import { expect, onTestFinished, test } from 'vitest';
import { EventAppender, LOG_COLUMNS } from '../../ingest/event-appender.ts';
import { createLog } from '../../src/core/log.ts';
import { Follower, type FollowerListener, type LogGap } from '../../src/streams/log/follower.ts';
import { type Partition, placeOf, positionOf } from '../../src/streams/log/position.ts';
import { flowingClock, passes } from '../helpers/flowing-clock.ts';
import { LEASE } from '../helpers/market-store.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';

const clock = flowingClock();
const log = createLog({ LOG_LEVEL: 'silent' });
/** Each row becomes visible this long after the one behind it: less than a reader waits before a hole. */
const LATE_MS = 20_000;

test('a reader waits before each hole anew: holes that are filled one after another cost no event', async () => {
  const { clickhouse } = await openOwnClickHouse();
  onTestFinished(() => clickhouse.close());
  const partition: Partition = { feed: 'trades', platform: 'kalshi' };
  await new EventAppender({ clickhouse, publish: async () => {}, log, clock }, partition).open(LEASE);
  const row = (n: number) => {
    const event = { ref: 'R', event_id: '', size: '1', notional: '1', item_text: `${n}`, data: `{"trade_id":"${n}"}` };
    return { ...partition, sequence: positionOf(1, n), ...event };
  };
  const follower = new Follower({ clickhouse, log, clock }, partition);
  const read: number[] = [];
  const gaps: LogGap[] = [];
  const reader: FollowerListener = {
    onRows: (_, rows) => void read.push(...rows.map(({ sequence }) => placeOf(sequence))),
    onGap: (gap) => void gaps.push(gap),
  };
  await follower.ready();
  follower.join(reader);
  onTestFinished(() => follower.leave(reader));
  await clickhouse.insert(LOG_COLUMNS, [row(2)]);
  for (const n of [1, 3, 5]) {
    follower.wake();
    await clock.sleep(LATE_MS);
    await clickhouse.insert(LOG_COLUMNS, n === 5 ? [row(n)] : [row(n), row(n + 3)]);
    await passes(clock, () => expect(read.at(-1)).toBe(n + 1));
  }
  expect(read).toEqual([1, 2, 3, 4, 5, 6]);
  expect(gaps).toEqual([]);
});
