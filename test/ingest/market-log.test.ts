import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { MarketLog } from '../../ingest/markets/market-log.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { type IngestRig, startIngestRig } from '../helpers/ingest-rig.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { silent } from '../helpers/silent-log.ts';

const DEPS = { shared: { publish: async () => {} }, log: silent, platform: 'kalshi' } as const;

let sim: Awaited<ReturnType<typeof startKalshi>>;
let rig: IngestRig;

beforeAll(async () => {
  sim = await startKalshi({ seed: 7, markets: 10, tradesPerMarket: 5, historyDays: 1 });
  sim.enforceLimits = false;
  rig = await startIngestRig(sim, 'kalshi');
  await rig.list();
}, 300_000);
afterAll(async () => {
  await rig.close();
  await sim.close();
});

/** Writes the state of `count` open markets again; `secondsAgo` is how long before now it says it was written. */
const write = (status: string, count: number, secondsAgo: number): Promise<void> =>
  rig.clickhouse.command(
    `INSERT INTO market_state SELECT * REPLACE ({status:String} AS status, synced_at + INTERVAL 1 SECOND AS synced_at,
       toDateTime64(toStartOfSecond(now64(3)) - {ago:UInt32}, 3, 'UTC') AS written_at)
     FROM (SELECT * FROM market_state FINAL WHERE platform = 'kalshi' AND status = 'open' ORDER BY market_key LIMIT {count:UInt32})`,
    { status, count, ago: secondsAgo },
  );

test('a state that becomes visible up to a minute after its time is logged once', async () => {
  const log = new MarketLog({ clickhouse: rig.clickhouse, ...DEPS, clock: systemClock });
  const { lease } = rig.run;
  await log.begin(lease);
  expect(await log.step(lease)).toBe(0);
  expect(await log.step(lease)).toBe(0);
  for (const secondsAgo of [0, 40, 40, 20]) {
    await write('paused', 1, secondsAgo);
    expect(await log.step(lease), `${secondsAgo} seconds late`).toBe(1);
    expect(await log.step(lease)).toBe(0);
  }
  const rows = await rig.clickhouse.sql<{ n: string; refs: string }>(
    `SELECT count() AS n, uniqExact(ref) AS refs FROM event_log WHERE feed = 'markets'`,
  );
  expect(rows).toEqual([{ n: '4', refs: '4' }]);
});

test('before the first complete listing the store is asked once a lease whether there was one', async () => {
  let asked = 0;
  const clickhouse: ClickHouse = {
    ...rig.clickhouse,
    query: async (name, row) => {
      expect(name).toBe('has_market_levels');
      asked += 1;
      return [row.parse({ known: false })];
    },
  };
  const log = new MarketLog({ clickhouse, ...DEPS, clock: systemClock });
  const { lease } = rig.run;
  expect([await log.step(lease), await log.step(lease), asked]).toEqual([0, 0, 1]);
  expect([await log.step({ ...lease }), asked]).toEqual([0, 2]);
});

test('markets are compared after a message of a change, under a new lease, and a minute after the last comparison', async () => {
  const clock = virtualClock(Date.now());
  let looks = 0;
  const clickhouse: ClickHouse = {
    ...rig.clickhouse,
    query: (name, ...rest) => {
      if (name === 'market_writes') looks += 1;
      return rig.clickhouse.query(name, ...rest);
    },
  };
  const log = new MarketLog({ clickhouse, ...DEPS, clock });
  const { lease } = rig.run;
  const looked = async (): Promise<number> => {
    const before = looks;
    await log.stepIfDue(lease);
    return looks - before;
  };
  await log.step(lease);
  const quiet = async (): Promise<void> => {
    for (let step = 0; step < 3; step += 1) await log.stepIfDue(lease);
    expect(await looked()).toBe(0);
  };
  await quiet();
  log.marketsStored();
  await write('paused', 1, 0);
  expect([await log.stepIfDue(lease), await looked(), await looked()]).toEqual([1, 1, 0]);
  await clock.advance(60_000);
  expect([await looked(), await looked()]).toEqual([1, 0]);
  // All are compared: the last holder of the lease may not have logged the newest.
  await write('paused', 1, 0);
  expect(await log.stepIfDue({ ...lease })).toBe(1);
});

test('a change is logged without a pause, though an archive has listed thousands of closed markets before it', async () => {
  const clock = virtualClock(Date.now());
  const log = new MarketLog({ clickhouse: rig.clickhouse, ...DEPS, clock });
  const { lease } = rig.run;
  while ((await log.step(lease)) > 0);
  const list = async (name: string, status: string, count: number): Promise<void> => {
    const of = `'kalshi', concat('${name}-', toString(number))`;
    await rig.clickhouse.command(
      `INSERT INTO markets (platform, ref, first_seen_at, version) SELECT ${of}, now64(3), now64(3) FROM numbers(${count})`,
    );
    await rig.clickhouse.command(
      `INSERT INTO market_state (platform, ref, status, first_seen_at, synced_at) SELECT ${of}, '${status}', now64(3), now64(3) FROM numbers(${count})`,
    );
  };
  await list('KXOLD', 'closed', 11_000);
  await list('KXNEW', 'open', 1);
  log.marketsStored();
  const logged: number[] = [];
  for (let step = 0; step < 4; step += 1) logged.push(await log.stepIfDue(lease));
  expect(logged).toEqual([0, 0, 1, 0]);
});
