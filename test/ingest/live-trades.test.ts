import { expect, test } from 'vitest';
import type { JobResult, JobRun } from '../../ingest/job-runner.ts';
import type { HintedFeed } from '../../ingest/live/hinted-feed.ts';
import { LiveTrades } from '../../ingest/live/live-trades.ts';
import { pollGlobalTrades, type TradesDeps } from '../../ingest/trades.ts';
import type { PlatformData, TradeQuery } from '../../src/platforms/contract.ts';
import type { PlatformSockets } from '../../src/platforms/sockets/contract.ts';
import { LEASE } from '../helpers/market-store.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { noListeners } from '../helpers/trade-writer.ts';

const MINUTE_MS = 60_000;
const OVERLAP_MS = 2 * MINUTE_MS;
const sockets = { tradeDelaysMs: [0], tradeGapMs: 0, readEveryMs: 0 } as unknown as PlatformSockets;
const feed = { interrupt: () => {}, begin: () => {}, settle: async () => null } as unknown as HintedFeed;
const live = { isLive: true, replaceTrades: () => {} };
const hinted = async (): Promise<JobResult> => ({ freshTo: new Date(), rows: 0 });

function open() {
  const clock = virtualClock();
  return { clock, trades: new LiveTrades({ clock, sockets, hinted: feed, poll: () => {} }) };
}

test('a trade that the feed shows after the whole overlap is read, although hinted polls have moved the mark', async () => {
  const { clock, trades } = open();
  const asked: TradeQuery[] = [];
  const data = {
    platform: 'kalshi',
    tradeOverlapMs: OVERLAP_MS,
    async *trades(query: TradeQuery) {
      asked.push(query);
      yield { trades: [], completeFromUs: query.sinceUs };
    },
  } as unknown as PlatformData;
  // Hinted polls move the mark to the present between the full ones.
  const watermarks = {
    read: async () => ({ fromUs: 0, toUs: clock.now() * 1000, marker: '' }),
    move: async () => {},
  };
  const writer = { write: async () => 0 };
  const deps = { watermarks, writer, clock, ...noListeners } as unknown as TradesDeps;
  const run = { lease: LEASE, signal: new AbortController().signal, context: () => ({}) } as unknown as JobRun;
  const read = (movedMs: number): Promise<JobResult> => pollGlobalTrades(deps, data, run, movedMs);
  await trades.poll(live, read, hinted);
  const firstMs = clock.now();
  await clock.advance(MINUTE_MS);
  await trades.poll(live, read, hinted);
  const sinceMs = (asked[1]?.sinceUs ?? Infinity) / 1000;
  // The first poll began here. What was made up to the overlap before it may be shown after it.
  expect(sinceMs).toBeLessThanOrEqual(firstMs - OVERLAP_MS);
});

test('sockets that reconnect during a full poll are followed by another full poll at once', async () => {
  const { trades } = open();
  let polls = 0;
  const whole = async (): Promise<JobResult> => {
    polls += 1;
    if (polls === 1) trades.begin();
    return { freshTo: new Date(), rows: 0 };
  };
  for (let n = 0; n < 4; n += 1) await trades.poll(live, whole, hinted);
  expect(polls).toBe(2);
});
