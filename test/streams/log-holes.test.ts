import PQueue from 'p-queue';
import { expect, onTestFinished, test } from 'vitest';
import { EventAppender, LOG_COLUMNS } from '../../ingest/event-appender.ts';
import { createLog } from '../../src/core/log.ts';
import { Follower, type FollowerListener, type LogGap } from '../../src/streams/log/follower.ts';
import { type Partition, placeOf, positionOf } from '../../src/streams/log/position.ts';
import { readLog } from '../../src/streams/log/read.ts';
import type { Sink } from '../../src/streams/sink.ts';
import { Subscription } from '../../src/streams/subscription.ts';
import { ALL } from '../helpers/market-of-streams.ts';
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
  await new EventAppender({ clickhouse, shared: { publish: async () => {} }, log, clock }, partition).open(LEASE);
  const row = (n: number) => {
    const event = { ref: 'R', event_id: '', size: '1', notional: '1', item_text: `${n}`, data: `{"trade_id":"${n}"}` };
    return { ...partition, sequence: positionOf(1, n), ...event };
  };
  const follower = new Follower({ clickhouse, log, clock, onJoin: () => {} }, partition);
  const read: number[] = [];
  const gaps: LogGap[] = [];
  const reader: FollowerListener = {
    onRows: (_, rows) => void read.push(...rows.map(({ sequence }) => placeOf(sequence))),
    onGap: (gap) => void gaps.push(gap),
  };
  await follower.end();
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

/** The gaps that a reader gets that catches up from a position on, once it has read all that is stored. */
async function gapOf(position: number, stored: readonly [place: number, loggedAt: string][]) {
  const { clickhouse } = await openOwnClickHouse();
  onTestFinished(() => clickhouse.close());
  const partition: Partition = { feed: 'trades', platform: 'kalshi' };
  await new EventAppender({ clickhouse, shared: { publish: async () => {} }, log, clock }, partition).open(LEASE);
  const rows = stored.map(([n, loggedAt]) => {
    const event = { ref: 'R', event_id: '', size: '1', notional: '1', item_text: `${n}`, data: `{"trade_id":"${n}"}` };
    return { ...partition, sequence: positionOf(1, n), logged_at: loggedAt, ...event };
  });
  await clickhouse.insert(LOG_COLUMNS.replace(')', ', logged_at)'), rows);
  const follower = new Follower({ clickhouse, log, clock, onJoin: () => {} }, partition);
  const read: number[] = [];
  const gaps: unknown[] = [];
  const sink: Sink = {
    events: ({ events }) => void read.push(...events.map(({ data }) => Number(JSON.parse(data).trade_id))),
    event: (_, data) => void gaps.push([JSON.parse(data).from, JSON.parse(data).to]),
    flush: () => true,
    isBehind: () => false,
    catchUps: new PQueue({ concurrency: 1 }),
    room: async () => {},
  };
  const deps = {
    clock,
    log,
    follower: () => follower,
    readLog: (of: Partition, after: number, limit: number) => readLog(clickhouse, of, after, limit),
  };
  const filter = { ...ALL, channels: ['trades' as const], platforms: ['kalshi' as const] };
  const subscription = new Subscription(deps, filter, [position], sink);
  onTestFinished(() => subscription.close());
  subscription.start();
  await passes(clock, () => expect(read).toEqual(stored.map(([n]) => n)), 60_000);
  return gaps;
}

const FIRST = '2026-11-20T10:00:00.000Z';
const SECOND = '2026-11-20T10:05:00.000Z';

test('a reader that catches up gets the gap of lost events from the event before them to the one after them', async () => {
  const gaps = await gapOf(positionOf(1, 0), [
    [1, FIRST],
    [3, SECOND],
  ]);
  expect(gaps).toEqual([[FIRST, SECOND]]);
});

test('a reader from before the log was opened gets the gap of lost events too', async () => {
  expect(await gapOf(0, [[2, SECOND]])).toEqual([[SECOND, SECOND]]);
});
