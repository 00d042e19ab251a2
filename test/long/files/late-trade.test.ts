import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { backfillTrades } from '../../../ingest/backfill.ts';
import { pollGlobalTrades } from '../../../ingest/trades.ts';
import { barsOfBoth, duck, manifestOf, tradesOfBoth } from '../../helpers/day-files.ts';
import { type IngestRig, startIngestRig } from '../../helpers/ingest-rig.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { startCommand } from '../../helpers/process.ts';
import { manualClock } from '../../simulators/lib/clock.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';
import type { PolymarketWorld } from '../../simulators/polymarket/world/world.ts';
import type { Simulator } from '../../simulators/simulator.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const HISTORY_DAYS = 4;
/** Both days around it are over, so that the export of the present finds them whole. */
const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS;
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const clock = manualClock(midnight - 30 * MINUTE_MS);
let sim: Simulator<PolymarketWorld>;
let rig: IngestRig;
let root: string;
let tree: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'forecastle-late-'));
  tree = join(root, 'tree');
  sim = await startPolymarket({ seed: 3, clock, markets: 20, tradesPerMarket: 30, historyDays: HISTORY_DAYS });
  sim.enforceLimits = false;
  rig = await startIngestRig(sim, 'polymarket');
});
afterAll(async () => {
  await rig?.close();
  await sim?.close();
  await rm(root, { recursive: true, force: true });
});

/** What a poll finds at this time. */
async function pollAt(ms: number): Promise<number> {
  clock.set(ms);
  rig.clock.now = ms;
  const { rows } = await pollGlobalTrades(rig.deps(HISTORY_DAYS + 1), rig.data, rig.run);
  return rows;
}

async function exported(): Promise<string> {
  const run = startCommand('export', ['--to', tree], { CLICKHOUSE_URL: rig.url, TMPDIR: root });
  onTestFinished(() => run.kill('SIGKILL'));
  expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/^\d+ files written/)]);
  return run.output();
}

const filesOf = async (paths: Iterable<string>) =>
  new Map(await Promise.all([...paths].map(async (path) => [path, await readFile(join(tree, path))] as const)));

/** The trades of the world that the platform shows now, against those of the files; and all rows against the store. */
async function compareAll(): Promise<void> {
  const ids = await duck(`SELECT trade_id FROM '${tree}/dataset=trades/**/*.parquet'`);
  expect(ids.map(({ trade_id: id }) => id).toSorted()).toEqual(await rig.tradeIds());
  const hashes = await duck(`SELECT transaction_hash AS hash FROM '${tree}/dataset=trades/**/*.parquet'`);
  const shown = sim.world.trades().filter(({ visibleMs }) => visibleMs <= clock.now());
  expect(new Set(hashes.map(({ hash }) => hash))).toEqual(new Set(shown.map((trade) => trade.transactionHash)));
  const both = { tree, clickhouse: rig.clickhouse };
  for (const rows of [await tradesOfBoth(both), await barsOfBoth(both, '1m'), await barsOfBoth(both, '1h')]) {
    expect(rows.stored.length).toBeGreaterThan(0);
    expect(rows.files).toEqual(rows.stored);
  }
}

test('a trade that the platform delivers after the export of its day gives this day a new revision, and no other', async () => {
  const { world } = sim;
  await rig.writer.open(LEASE, null);
  rig.clock.now = clock.now();
  await rig.list();
  await pollAt(clock.now());
  await backfillTrades(rig.deps(HISTORY_DAYS + 1), rig.data, rig.run, () => {});
  for (const before of [20, 10, 2]) {
    sim.trade(20);
    expect(await pollAt(midnight - before * MINUTE_MS)).toBeGreaterThan(0);
  }

  // Executed a second before the day ends, shown after four minutes; the feed goes on meanwhile.
  clock.set(midnight - 1000);
  world.indexer.delayMs = 4 * MINUTE_MS;
  const known = world.trades().length;
  for (const market of world.markets.filter(({ state }) => state === 'open').slice(0, 4)) world.makeTrade(market);
  const late = world.trades().length - known;
  expect(late).toBeGreaterThan(0);
  world.indexer.delayMs = 0;
  clock.set(midnight + 2 * MINUTE_MS);
  sim.trade(20);
  expect(await pollAt(midnight + 2 * MINUTE_MS + 1000)).toBeGreaterThan(0);
  await exported();
  await compareAll();
  const before = await manifestOf(tree);
  const files = await filesOf(before.keys());
  const changing = ['candles_1h', 'candles_1m', 'trades'].map(
    (dataset) => `dataset=${dataset}/platform=polymarket/date=${day(midnight - 1000)}/part-0.parquet`,
  );
  expect(before.get(changing[2]!)).toMatchObject({ revision: 1, complete: true });
  expect([...before.values()].filter(({ dataset }) => dataset === 'trades').length).toBeGreaterThan(HISTORY_DAYS);

  expect(await pollAt(midnight + 5 * MINUTE_MS)).toBe(late);
  expect(await exported()).toMatch(/^3 files written/);
  await compareAll();
  const after = await manifestOf(tree);
  for (const path of changing) expect(after.get(path)).toMatchObject({ revision: 2, complete: true });
  expect(after.get(changing[2]!)!.rows).toBe(before.get(changing[2]!)!.rows + late);
  for (const path of changing) before.delete(path);
  for (const [path, entry] of before) expect(after.get(path)).toEqual(entry);
  expect(after.size).toBe(before.size + changing.length);
  for (const [path, bytes] of await filesOf(before.keys())) expect(bytes).toEqual(files.get(path));
});
