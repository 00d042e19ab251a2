import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/stores/clickhouse/client.ts';
import { eventually } from '../oracle/pipeline.ts';
import { startLiveWorld } from './live-world.ts';
import { ServiceProcesses } from './service-processes.ts';
import { cursorNow, type Following, missingTrades, TradeFollower } from './trade-follower.ts';

const FOLLOWERS = 50;
/** Between two kills at most: some fall into a start, some into work. */
const PAUSE_MS = 2500;
/** Trading goes on until so many trades were made, however short the pauses were. */
const LEAST_TRADES = 150;

export interface Killed {
  ingesting: number;
  serving: number;
  /** Beside those of the platforms. */
  env: Record<string, string>;
  kills: number;
}

/** What clients of trades saw while processes were killed. */
export interface SeenThroughKills {
  missing: string[];
  /** Trades that came twice, out of order or with a lower position, refusals, gaps. */
  faults: string[];
  /** Trades that nobody made. */
  invented: string[];
  trades: number;
  /** Connections made beside the first of each client. */
  resumed: number;
}

/**
 * Trades on three simulated platforms while ingesting and serving processes, the engine and its process are killed at random moments;
 * fifty clients resume with their last cursor, at whatever process answers.
 */
export async function followThroughKills({ ingesting, serving, env, kills }: Killed): Promise<SeenThroughKills> {
  const world = await startLiveWorld();
  const often = { TRADES_SECONDS: '2', SWEEP_SECONDS: '2' };
  const processes = await ServiceProcesses.start({ ...world.env, ...often, ...env }, ingesting, serving);
  const followers: TradeFollower[] = [];
  try {
    world.startTrading(3);
    await opened(processes.clickhouseUrl);
    for (let n = 0; n < FOLLOWERS; n += 1) {
      let turn = n;
      const following: Following = {
        kind: n % 3 === 0 ? 'ws' : 'sse',
        origin: () => processes.origin((turn += 1)),
        key: processes.key,
        resumes: n % 2 === 0 ? 'since' : 'Last-Event-ID',
        ...(n % 4 === 3 ? { platform: 'kalshi' } : {}),
      };
      followers.push(new TradeFollower(following, await cursorNow(following)));
    }
    // Times of trades are whole seconds on Polymarket.
    const sinceMs = Math.ceil(Date.now() / 1000) * 1000;
    const victims = [
      ...processes.ingesting.map((one) => () => processes.kill(one)),
      ...processes.serving.map((one) => () => processes.kill(one)),
      async () => processes.killEngine(),
      () => processes.killStore(),
    ];
    for (let n = 0; n < kills; n += 1) {
      await sleep(Math.random() * PAUSE_MS);
      await victims[n % victims.length]?.();
    }
    await sleep(PAUSE_MS);
    while (world.truth(sinceMs).size < LEAST_TRADES) await sleep(250);
    world.startTrading(0);
    const truth = world.truth(sinceMs);
    const missing = await eventually(async () => missingTrades(followers, truth), 200);
    const known = world.truth(0);
    return {
      missing,
      faults: followers.flatMap(({ faults }) => faults),
      invented: followers.flatMap(({ seen }) => [...seen.keys()].filter((trade) => !known.has(trade))),
      trades: truth.size,
      resumed: followers.reduce((sum, { connects }) => sum + connects - 1, 0),
    };
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
    await processes.close();
    await world.close();
  }
}

/** Resolves when the log of every platform's trades has begun. */
async function opened(clickhouseUrl: string): Promise<void> {
  const store = connect(clickhouseUrl, async () => {});
  const closed = async (): Promise<string[]> => {
    const rows = await store.sql<{ n: string }>("SELECT count() AS n FROM log_epochs WHERE feed = 'trades'");
    return Number(rows[0]?.n) >= 3 ? [] : ['not every log is open'];
  };
  const left = await eventually(closed, 200).finally(() => store.close());
  if (left.length > 0) throw new Error(left[0]);
}
