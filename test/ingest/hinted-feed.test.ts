import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { HintedFeed } from '../../ingest/live/hinted-feed.ts';
import type { JobResult } from '../../ingest/job-runner.ts';
import { pollGlobalTrades } from '../../ingest/trades.ts';
import { readCoverage } from '../../ingest/watermarks.ts';
import type { PlatformData, TradeQuery } from '../../src/platforms/contract.ts';
import { type IngestRig, startIngestRig } from '../helpers/ingest-rig.ts';
import { eventually } from '../oracle/pipeline.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { silent } from '../helpers/silent-log.ts';

let sim: Awaited<ReturnType<typeof startKalshi>>;
let rig: IngestRig;
let feed: HintedFeed | undefined;
let queries: TradeQuery[] = [];
let failures = 0;
/** Called before each page of a reading. */
let onPage = async (): Promise<void> => {};

beforeAll(async () => {
  sim = await startKalshi({ seed: 7, markets: 10, tradesPerMarket: 5, historyDays: 1 });
  sim.enforceLimits = false;
  rig = await startIngestRig(sim, 'kalshi');
  await rig.list();
  const tomorrow = Date.now() + 86_400_000;
  await rig.writer.open(rig.run.lease, new Date(tomorrow));
}, 300_000);
afterEach(async () => {
  await feed?.stop();
});
afterAll(async () => {
  await rig.close();
  await sim.close();
});

const startedUs = Date.now() * 1000;
const tapeRequests = (): number =>
  [...sim.requests].reduce((sum, [path, count]) => sum + (path.endsWith('/markets/trades') ? count : 0), 0);
/** Trades that the world made in this test. */
const made = () => sim.world.trades.filter(({ timeUs }) => timeUs >= startedUs);

function open(): HintedFeed {
  [queries, failures, onPage] = [[], 0, async () => {}];
  const data: PlatformData = {
    ...rig.data,
    async *trades(query, ...given) {
      queries.push(query);
      for await (const page of rig.data.trades(query, ...given)) {
        await onPage();
        yield page;
      }
    },
  };
  feed = new HintedFeed({
    clock: systemClock,
    trades: { ...rig.deps(0), clock: { now: Date.now } },
    data,
    log: silent,
    reachMs: 5000,
    run: () => rig.run,
    onFailure: () => (failures += 1),
  });
  return feed;
}

/** A whole reading; `waitsFromUs`: when a trade was executed that it cannot identify yet. */
async function whole(waitsFromUs?: number): Promise<JobResult> {
  const data: PlatformData = {
    ...rig.data,
    async *trades(...given) {
      for await (const page of rig.data.trades(...given)) yield { ...page, waitsFromUs };
    },
  };
  return pollGlobalTrades({ ...rig.deps(0), clock: { now: Date.now } }, data, rig.run);
}

const markUs = async (): Promise<number> => (await readCoverage(rig.clickhouse, 'kalshi', ''))?.toUs ?? 0;

function trade(count: number, hinted = count): void {
  sim.trade(count);
  for (let n = 0; n < hinted; n += 1) feed?.hint();
}

const missing = async (): Promise<string[]> => {
  const stored = new Set(await rig.tradeIds());
  return made().flatMap(({ tradeId }) => (stored.has(tradeId) ? [] : [tradeId]));
};

test('hinted trades come in one request once a whole reading has gone before, and not without one', async () => {
  const hinted = open();
  trade(40);
  hinted.read();
  expect(queries).toEqual([]);
  const { freshTo: to } = await whole();
  const before = tapeRequests();
  // What was hinted at meanwhile is read at once, and then what is new.
  hinted.begin(to);
  trade(40);
  hinted.read();
  expect(await eventually(missing, 20)).toEqual([]);
  expect(await eventually(async () => (queries.length === 2 ? [] : [queries]), 20)).toEqual([]);
  expect(tapeRequests() - before).toBeLessThanOrEqual(2);
  hinted.interrupt();
  queries = [];
  trade(1);
  hinted.read();
  expect(queries).toEqual([]);
});

test('a page that is too short for what was traded is followed by others', async () => {
  const hinted = open();
  hinted.begin((await whole()).freshTo);
  // Of five hundred trades the socket brought three.
  trade(500, 3);
  const before = tapeRequests();
  hinted.read();
  expect(await eventually(missing, 30)).toEqual([]);
  expect(tapeRequests() - before).toBeGreaterThan(5);
  expect(failures).toBe(0);
});

test('the mark moves to what is stored when it is asked for, and only then', async () => {
  const hinted = open();
  hinted.begin((await whole()).freshTo);
  const before = await markUs();
  trade(30);
  hinted.read();
  expect(await eventually(missing, 20)).toEqual([]);
  expect(await markUs()).toBe(before);
  const newestUs = Math.max(...made().map(({ timeUs }) => timeUs));
  let settled: JobResult | null = null;
  const isSettled = async () => {
    settled = await hinted.settle();
    return settled ? [] : ['nothing is settled'];
  };
  expect(await eventually(isSettled, 20)).toEqual([]);
  expect(settled).toMatchObject({ rows: 30, freshTo: new Date(newestUs / 1000) });
  expect(await markUs()).toBe(newestUs);
  expect(await hinted.settle()).toBeNull();
});

test('the mark does not pass a trade for which a whole reading waits, however old it is', async () => {
  const hinted = open();
  hinted.begin((await whole()).freshTo);
  trade(5);
  hinted.read();
  expect(await eventually(missing, 20)).toEqual([]);
  // The feed lists it late, and its market is not known yet.
  const lateUs = (Date.now() - 60_000) * 1000;
  const { freshTo, isHeld } = await whole(lateUs);
  expect(freshTo).toEqual(new Date(lateUs / 1000));
  hinted.begin(freshTo, isHeld);
  const settle = async () => {
    trade(5);
    hinted.read();
    expect(await eventually(missing, 20)).toEqual([]);
    expect(await eventually(async () => ((await hinted.settle()) ? [] : ['nothing is settled']), 20)).toEqual([]);
    return markUs();
  };
  expect(await settle()).toBe(lateUs);
  hinted.begin((await whole()).freshTo);
  expect(await settle()).toBeGreaterThan(lateUs + 60e6);
});

test('what was being read when a break came is left to the whole reading, and moves no mark', async () => {
  const hinted = open();
  hinted.begin((await whole()).freshTo);
  const [asked, released] = [new EventEmitter(), new EventEmitter()];
  onPage = async () => {
    asked.emit('done');
    await once(released, 'done');
  };
  const wasAsked = once(asked, 'done');
  trade(20);
  hinted.read();
  await wasAsked;
  hinted.interrupt();
  onPage = async () => {};
  released.emit('done');
  await hinted.stop();
  expect(await missing()).toHaveLength(20);
  expect(await hinted.settle()).toBeNull();
  await whole();
  expect(await missing()).toEqual([]);
});

test('a reading that fails asks for a whole one, and none follows before it', async () => {
  const hinted = open();
  hinted.begin((await whole()).freshTo);
  onPage = async () => {
    throw new Error('cut');
  };
  trade(5);
  hinted.read();
  expect(await eventually(async () => (failures === 1 ? [] : [failures]), 10)).toEqual([]);
  onPage = async () => {};
  queries = [];
  hinted.read();
  expect(queries).toEqual([]);
  hinted.begin((await whole()).freshTo);
  expect(await missing()).toEqual([]);
});
