import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TradeEvent } from '../../../src/schemas/stream-events.ts';
import { type LiveWorld, startLiveWorld } from '../../helpers/live-world.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';
import { socketCounts } from '../../helpers/socket-counts.ts';
import { cursorNow, type Following, missingTrades, TradeFollower } from '../../helpers/trade-follower.ts';
import { eventually, type Pipeline, startPipeline } from '../../oracle/pipeline.ts';

waitsInRealTime('sockets freeze and break, clients come and go');

const DISCONNECTS = 400;
const FOLLOWERS = 25;
const TRADES_A_SECOND = 5;

const counts = socketCounts();
let world: LiveWorld;
let service: Pipeline;
/** Trades executed from here on are events of every follower. */
let sinceMs = 0;
const followers: TradeFollower[] = [];

beforeAll(async () => {
  world = await startLiveWorld();
  const env = { ...world.env, TRADES_SECONDS: '5', SWEEP_SECONDS: '2' };
  const sims = [world.kalshi, world.polymarket, world.limitless];
  const live = { pace: 0.15, env, observer: counts };
  service = await startPipeline(sims, ['kalshi', 'polymarket', 'limitless'], { backfillDays: 1, live });
  // A socket of Polymarket that brings nothing is replaced again and again.
  world.startTrading(TRADES_A_SECOND);
  const closedLogs = async (): Promise<string[]> => {
    const rows = await service.clickhouse.sql<{ n: string }>(
      "SELECT count() AS n FROM log_epochs WHERE feed = 'trades'",
    );
    return Number(rows[0]?.n) >= 3 ? [] : ['not every log is open'];
  };
  expect(await eventually(closedLogs, 200)).toEqual([]);
  const origin = () => new URL(service.origin).origin;
  for (let n = 0; n < FOLLOWERS; n += 1) {
    const { key } = await service.app.newKey('pro');
    const platform = [undefined, undefined, 'kalshi', 'polymarket,limitless'][n % 4];
    const following: Following = {
      kind: n % 3 === 0 ? 'ws' : 'sse',
      origin,
      key,
      resumes: n % 2 === 0 ? 'since' : 'Last-Event-ID',
      ...(platform === undefined ? {} : { platform }),
    };
    followers.push(new TradeFollower(following, await cursorNow(following)));
  }
  // Times of trades are whole seconds on Polymarket.
  sinceMs = Math.ceil(Date.now() / 1000) * 1000;
  await sleep(sinceMs - Date.now());
}, 300_000);
afterAll(async () => {
  await Promise.all(followers.map((follower) => follower.stop()));
  await service?.close();
  await world?.close();
});

/** What a platform's sockets do, for so many milliseconds. */
const TROUBLES: [ms: number, begin: () => void, end?: () => void][] = [
  [500, () => sockets().forEach((one) => one.cut())],
  [3000, () => set({ frozen: true }), () => set({ frozen: false })],
  [1500, () => set({ duplicates: true, split: true }), () => set({ duplicates: false, split: false })],
  [1000, () => void (world.kalshi.stream.faults.lose = 5)],
  [500, () => world.kalshi.stream.end('trade', 25)],
  [500, () => sockets().forEach((one) => one.inject('{"type":"no JSON'))],
  [2500, () => (set({ refuse: 503 }), sockets().forEach((one) => one.cut())), () => set({ refuse: null })],
  [2500, () => set({ mute: true }), () => set({ mute: false })],
];
const sockets = () => [world.kalshi.sockets, world.polymarket.sockets, world.limitless.sockets];
const set = (faults: object): void => sockets().forEach((one) => Object.assign(one, faults));

/** Its share of the disconnects, at random moments. */
async function cutAgain(follower: TradeFollower): Promise<void> {
  for (let left = DISCONNECTS / FOLLOWERS; left > 0;) {
    await sleep(Math.random() * 1800);
    if (!follower.isOpen) continue;
    follower.cut();
    left -= 1;
  }
}

test(
  `every trade reaches ${FOLLOWERS} subscribers once and as it was made, in order within its market and of its clocks, through ${DISCONNECTS} disconnects and broken sockets`,
  { timeout: 400_000 },
  async () => {
    const over = new AbortController();
    const cutting = Promise.all(followers.map(cutAgain)).finally(() => over.abort());
    for (let n = 0; !over.signal.aborted; n += 1) {
      const [ms, begin, end] = TROUBLES[n % TROUBLES.length]!;
      begin();
      await sleep(ms);
      end?.();
      await sleep(500);
    }
    await cutting;
    world.startTrading(0);
    const truth = world.truth(sinceMs);
    const missing = async () => missingTrades(followers, truth);
    expect(await eventually(missing, 100)).toEqual([]);
    expect(followers.flatMap(({ faults }) => faults)).toEqual([]);
    expect(truth.size).toBeGreaterThan(200);
    expect(counts.total.reconnects).toBeGreaterThan(20);
    // What came without having been traded since then was traded before.
    const known = world.truth(0);
    for (const { seen } of followers) expect([...seen.keys()].filter((key) => !known.has(key))).toEqual([]);
    for (const { seen } of followers) {
      for (const [key, data] of seen) {
        expect(TradeEvent.strict().safeParse(data).error).toBeUndefined();
        expect(data).toMatchObject(known.get(key) ?? {});
        const times = ['exchange_at', 'received_at', 'sent_at'].map((name) => Date.parse(String(data[name])));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }
    }
  },
);
