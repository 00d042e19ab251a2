import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Clock, DAY_MS, storeTime, systemClock } from '../../../src/core/time.ts';
import { EventAppender, LOG_COLUMNS, type NewEvent } from '../../../ingest/event-appender.ts';
import { Spool } from '../../../ingest/spool/spool.ts';
import { TradeLog } from '../../../ingest/trade-log.ts';
import { createLog } from '../../../src/core/log.ts';
import { StoredMarkets } from '../../../src/markets/directory.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { TRADE_COLUMNS } from '../../../src/stores/clickhouse/insert-rows.ts';
import { createLocalShared } from '../../../src/stores/shared/local.ts';
import { CursorCodec } from '../../../src/streams/cursor.ts';
import { filterText, partitionsOf, type StreamFilter } from '../../../src/streams/filter.ts';
import { Hub } from '../../../src/streams/hub.ts';
import { type Partition, positionOf } from '../../../src/streams/log/position.ts';
import { readLog, readLogEnd } from '../../../src/streams/log/read.ts';
import { startPositions } from '../../../src/streams/start.ts';
import { Subscription } from '../../../src/streams/subscription.ts';
import { ALL } from '../../helpers/market-of-streams.ts';
import { LEASE, market, trade } from '../../helpers/market-store.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { silent } from '../../helpers/silent-log.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { tradeWriter } from '../../helpers/trade-writer.ts';

const log = createLog({ LOG_LEVEL: 'silent' });
const publish = async (): Promise<void> => {};
let directory: string;
let clickhouse: ClickHouse;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-log-'));
  ({ clickhouse } = await openOwnClickHouse());
});
afterAll(async () => {
  await clickhouse?.close();
  await rm(directory, { recursive: true, force: true });
});

const event = (item: string): NewEvent => ({
  ref: 'R',
  eventId: 'E',
  size: '1',
  notional: '0.5',
  item,
  data: `{"trade_id":"${item}"}`,
});
const eventsAfter = async (partition: Partition, after: number) =>
  (await readLog(clickhouse, partition, after, 1000)).rows.map(({ data, sequence }) => [
    JSON.parse(data).trade_id,
    sequence,
  ]);

/** Holds back the next insert into the log until it is let go; it fails for its sender, and lands all the same. */
function withHeldInsert(store: ClickHouse) {
  let letGo: () => void = Object;
  let landed: Promise<void> = Promise.resolve();
  let isHeld = false;
  const held: ClickHouse = {
    ...store,
    insert: (table, rows, options) => {
      if (!isHeld || table !== LOG_COLUMNS) return store.insert(table, rows, options);
      isHeld = false;
      landed = new Promise<void>((resolve) => (letGo = resolve)).then(() => store.insert(table, rows, options));
      return Promise.reject(new Error('no answer'));
    },
  };
  return { held, hold: () => (isHeld = true), land: () => (letGo(), landed) };
}

test('a batch of a paused writer that lands after the takeover is ignored, and the one after it is read without a hole', async () => {
  const partition: Partition = { feed: 'trades', platform: 'limitless' };
  const { held, hold, land } = withHeldInsert(clickhouse);
  const first = new EventAppender({ clickhouse: held, shared: { publish }, log, clock: systemClock }, partition);
  await first.open(LEASE);
  await first.append([event('a'), event('b')], LEASE);
  hold();
  await expect(first.append([event('late')], LEASE)).rejects.toThrow('no answer');
  const second = new EventAppender({ clickhouse, shared: { publish }, log, clock: systemClock }, partition);
  await second.open(LEASE);
  await land();
  await second.append([event('c')], LEASE);
  expect(await eventsAfter(partition, 0)).toEqual([
    ['a', positionOf(1, 1)],
    ['b', positionOf(1, 2)],
    ['c', positionOf(2, 1)],
  ]);
  expect(await eventsAfter(partition, positionOf(1, 2))).toEqual([['c', positionOf(2, 1)]]);
  expect(await readLogEnd(clickhouse, partition)).toBe(positionOf(2, 1));
});

test('a batch whose result is unknown is stored once, whether the first insert succeeded or not', async () => {
  const partition: Partition = { feed: 'trades', platform: 'polymarket' };
  const { held, hold, land } = withHeldInsert(clickhouse);
  const appender = new EventAppender({ clickhouse: held, shared: { publish }, log, clock: systemClock }, partition);
  await appender.open(LEASE);
  hold();
  await expect(appender.append([event('a')], LEASE)).rejects.toThrow('no answer');
  await land();
  await appender.append([event('b')], LEASE);
  hold();
  await expect(appender.append([event('c')], LEASE)).rejects.toThrow('no answer');
  await appender.append([event('d')], LEASE);
  await land();
  expect((await eventsAfter(partition, 0)).map(([item]) => item)).toEqual(['a', 'b', 'c', 'd']);
});

test('a reader waits before a hole until the row is there', async () => {
  const partition: Partition = { feed: 'markets', platform: 'polymarket' };
  await new EventAppender({ clickhouse, shared: { publish }, log, clock: systemClock }, partition).open(LEASE);
  const row = (n: number) => ({ ...partition, sequence: positionOf(1, n), data: `{"trade_id":"${n}"}` });
  await clickhouse.insert('event_log (feed, platform, sequence, data)', [row(1), row(3)]);
  const page = await readLog(clickhouse, partition, 0, 10);
  expect(page.rows.map(({ sequence }) => sequence)).toEqual([positionOf(1, 1)]);
  expect(page.holeBefore?.sequence).toBe(positionOf(1, 3));
  await clickhouse.insert('event_log (feed, platform, sequence, data)', [row(2)]);
  expect((await readLog(clickhouse, partition, 0, 10)).rows).toHaveLength(3);
});

test('trades that were stored and not logged are logged by the next writer, once and in order; older ones are history', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXLOG-1' });
  const partition: Partition = { feed: 'trades', platform: 'kalshi' };
  const markets = new StoredMarkets(clickhouse, async () => null);
  const { held, hold, land } = withHeldInsert(clickhouse);
  const worker = async (name: string, store: ClickHouse) =>
    tradeWriter({
      clickhouse: store,
      spool: await Spool.open(join(directory, name)),
      log,
      platform: 'kalshi',
      events: new TradeLog({
        clickhouse: store,
        shared: { publish },
        log,
        platform: 'kalshi',
        markets,
        clock: systemClock,
      }),
      clock: systemClock,
    });
  const first = await worker('first', held);
  await first.open(LEASE, null);
  const start = Date.now() + 1000;
  const at = (ms: number) => trade({ of, atMs: start + ms, price: '0.5', size: '10' });
  const [one, two, three, four] = [at(10), at(20), at(30), at(40)];
  const old = trade({ of, atMs: Date.now() - 86_400_000, price: '0.5', size: '10' });
  await first.write([one, old], LEASE);
  hold();
  await expect(first.write([two], LEASE)).rejects.toThrow('no answer');
  const second = await worker('second', clickhouse);
  await second.open(LEASE, new Date());
  await land();
  await second.write([four, three], LEASE);
  await second.open(LEASE, new Date());
  expect((await eventsAfter(partition, 0)).map(([item]) => item)).toEqual(
    [one, two, three, four].map(({ tradeId }) => tradeId),
  );
});

test('a trade whose event was dropped for its age is not logged again, however long nothing was found consistent', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXFORGOTTEN-1' });
  const markets = new StoredMarkets(clickhouse, async () => null);
  const writer = async (clock: Clock) =>
    tradeWriter({
      clickhouse,
      spool: await Spool.open(join(directory, 'forgotten')),
      log,
      platform: 'kalshi',
      clock,
      events: new TradeLog({ clickhouse, shared: { publish }, log, platform: 'kalshi', markets, clock }),
    });
  const first = await writer(systemClock);
  await first.open(LEASE, null);
  await first.write([trade({ of, atMs: Date.now() + 1000, price: '0.5', size: '10' })], LEASE);
  const rows = () => clickhouse.sql("SELECT sequence FROM event_log WHERE feed = 'trades' AND platform = 'kalshi'");
  expect(await rows()).not.toEqual([]);
  await clickhouse.command("DELETE FROM event_log WHERE feed = 'trades' AND platform = 'kalshi'");
  const later = await writer(virtualClock(Date.now() + 31 * DAY_MS));
  await later.open(LEASE, null);
  expect(await rows()).toEqual([]);
});

test('a repair that comes due while a batch waits for its insert logs none of its trades again', async () => {
  const of = market({ platform: 'kalshi', ref: 'KXLATE-2' });
  const partition: Partition = { feed: 'trades', platform: 'kalshi' };
  const markets = new StoredMarkets(clickhouse, async () => null);
  let letGo: () => void = Object;
  const answer = new Promise<void>((resolve) => (letGo = resolve));
  const slow: ClickHouse = {
    ...clickhouse,
    insert: async (table, ...rest) => {
      if (table === TRADE_COLUMNS) await answer;
      return clickhouse.insert(table, ...rest);
    },
  };
  const spool = await Spool.open(join(directory, 'late'));
  const events = new TradeLog({
    clickhouse,
    shared: { publish },
    log,
    platform: 'kalshi',
    markets,
    clock: systemClock,
  });
  const writer = tradeWriter({ clickhouse: slow, spool, log, platform: 'kalshi', events, clock: systemClock });
  await writer.open(LEASE, new Date());
  const end = await readLogEnd(clickhouse, partition);
  const [one, two, three] = [10, 20, 30].map((ms) => trade({ of, atMs: Date.now() + ms, price: '0.5', size: '10' }));
  // The check for the previous writer's late inserts comes due while the second batch is prepared.
  let puts = 0;
  const put = spool.put.bind(spool);
  vi.spyOn(spool, 'put').mockImplementation(async (...batch) => {
    await put(...batch);
    puts += 1;
    if (puts === 2) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 });
  });
  onTestFinished(() => void vi.useRealTimers());
  const writes = [one!, two!, three!].map((given) => writer.write([given], LEASE));
  await vi.waitFor(() => expect(puts).toBeGreaterThanOrEqual(2));
  letGo();
  expect(await Promise.all(writes)).toEqual([1, 1, 1]);
  expect((await eventsAfter(partition, end)).map(([item]) => item)).toEqual(
    [one!, two!, three!].map(({ tradeId }) => tradeId),
  );
});

test('a reader behind an ended epoch waits for the next event without asking the store all the time', async () => {
  const partition: Partition = { feed: 'markets', platform: 'limitless' };
  const before = new EventAppender({ clickhouse, shared: { publish }, log, clock: systemClock }, partition);
  await before.open(LEASE);
  await before.append([event('a')], LEASE);
  const shared = createLocalShared(silent, systemClock);
  const after = new EventAppender({ clickhouse, shared, log, clock: systemClock }, partition);
  await after.open(LEASE);

  let reads = 0;
  const counted: ClickHouse = {
    ...clickhouse,
    rowBinary: (...asked) => {
      reads += 1;
      return clickhouse.rowBinary(...asked);
    },
  };
  const hub = new Hub({ clock: systemClock, clickhouse: counted, shared, log, pollMs: 60_000 });
  await hub.open();
  const filter: StreamFilter = { channels: ['markets'], platforms: ['limitless'], ...ALL };
  const got: string[] = [];
  const subscription = new Subscription(hub, filter, [positionOf(1, 1)], {
    catchUps: new PQueue({ concurrency: 1 }),
    events: (slice) => got.push(...slice.events.map(({ data }) => JSON.parse(data).trade_id as string)),
    event: () => {},
    isBehind: () => false,
    flush: () => true,
    room: async () => {},
  });
  subscription.start();
  await sleep(1500);
  expect(reads).toBeLessThanOrEqual(3);
  await after.append([event('b')], LEASE);
  await vi.waitFor(() => expect(got).toEqual(['b']), 3000);
  await after.append([event('c')], LEASE);
  await vi.waitFor(() => expect(got).toEqual(['b', 'c']), 3000);
  subscription.close();
  hub.close();
  await shared.close();
});

test('a reader that takes nothing holds one page of the log, however many subscriptions its connection has', async () => {
  const partition: Partition = { feed: 'markets', platform: 'kalshi' };
  const appender = new EventAppender({ clickhouse, shared: { publish }, log, clock: systemClock }, partition);
  await appender.open(LEASE);
  await appender.append([event('a'), event('b')], LEASE);
  const shared = createLocalShared(silent, systemClock);
  const hub = new Hub({ clock: systemClock, clickhouse, shared, log, pollMs: 60_000 });
  await hub.open();
  const pages = vi.spyOn(hub, 'readLog');
  const filter: StreamFilter = { channels: ['markets'], platforms: ['kalshi'], ...ALL };
  const catchUps = new PQueue({ concurrency: 1 });
  const reader = { isStuck: true, letGo: () => {} };
  const stuck = new Promise<void>((resolve) => (reader.letGo = resolve));
  let got = 0;
  const subscriptions = Array.from({ length: 5 }, () => {
    let looks = 0;
    return new Subscription(hub, filter, [0], {
      catchUps,
      events: ({ events }) => void (got += events.length),
      event: () => {},
      isBehind: () => false,
      // Room was there when it began.
      flush: () => !reader.isStuck,
      room: () => ((looks += 1) === 1 ? Promise.resolve() : stuck),
    });
  });
  for (const subscription of subscriptions) subscription.start();
  await vi.waitFor(() => expect(pages).toHaveBeenCalled());
  await sleep(300);
  expect(pages).toHaveBeenCalledTimes(1);
  reader.isStuck = false;
  reader.letGo();
  await vi.waitFor(() => expect(got).toBe(10), 3000);
  for (const subscription of subscriptions) subscription.close();
  hub.close();
  await shared.close();
});

test('a time from which one of several logs has lost events is refused, though another log is whole since', async () => {
  const [whole, shortened] = (['limitless', 'polymarket'] as const).map(
    (platform) =>
      new EventAppender({ clickhouse, shared: { publish }, log, clock: systemClock }, { feed: 'markets', platform }),
  );
  await whole!.open(LEASE);
  await shortened!.open(LEASE);
  await shortened!.append([event('lost')], LEASE);
  await sleep(20);
  const betweenMs = Date.now();
  await sleep(20);
  const kept = await shortened!.append([event('kept')], LEASE);
  await clickhouse.command(
    `DELETE FROM event_log WHERE feed = 'markets' AND platform = 'polymarket' AND sequence < ${kept}`,
  );
  const shared = createLocalShared(silent, systemClock);
  const hub = new Hub({ clock: systemClock, clickhouse, shared, log, pollMs: 60_000 });
  const filter: StreamFilter = { channels: ['markets'], platforms: ['limitless', 'polymarket'], ...ALL };
  const from = (timeMs: number) => startPositions(hub, filter, { field: 'since', from: { timeMs } });
  await expect(from(betweenMs)).rejects.toMatchObject({ status: 400 });
  expect(await from(Date.now())).toContain(kept);
  await shared.close();
});

test('a cursor is refused once the events after it were dropped for their age, also when its writer left no event behind', async () => {
  const partition: Partition = { feed: 'matches', platform: 'polymarket' };
  const openedMs = Date.now() - 40 * DAY_MS;
  const opened = { ...partition, epoch: 1, opener: randomUUID(), previous_end: 0, opened_at: storeTime(openedMs) };
  await clickhouse.insert('log_epochs (feed, platform, epoch, opener, previous_end, opened_at)', [opened]);
  const appender = new EventAppender({ clickhouse, shared: { publish }, log, clock: systemClock }, partition);
  await appender.open(LEASE);
  const first = await appender.append([event('kept')], LEASE);
  const shared = createLocalShared(silent, systemClock);
  const hub = new Hub({ clock: systemClock, clickhouse, shared, log, pollMs: 60_000 });
  const filter: StreamFilter = { channels: ['matches'], platforms: ['polymarket'], ...ALL };
  const start = (from: { cursor: string } | { timeMs: number }) =>
    startPositions(hub, filter, { field: 'since', from });
  const partitions = partitionsOf(filter).map(({ platform }) => platform);
  const after = async (position: number) => {
    const positions = partitions.map((platform) => (platform === 'polymarket' ? position : 0));
    const cursor = new CursorCodec(filterText(filter), partitions.length).encode(positions);
    return (await start({ cursor }))[partitions.indexOf('polymarket')];
  };
  for (const position of [0, positionOf(1, 0), positionOf(1, 7)]) {
    await expect(after(position)).rejects.toMatchObject({
      status: 400,
      errorText: expect.stringContaining('still stored'),
    });
  }
  await expect(start({ timeMs: openedMs + 1000 })).rejects.toMatchObject({ status: 400 });
  expect(await after(first - 1)).toBe(first - 1);
  // A reader that waited since then gets the next event at once.
  expect(await eventsAfter(partition, positionOf(1, 7))).toEqual([['kept', first]]);
  // A young epoch without events lost none.
  await appender.open(LEASE);
  await appender.open(LEASE);
  expect(await after(first)).toBe(first);
  await shared.close();
});
