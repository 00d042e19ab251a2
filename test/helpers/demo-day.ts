import type { Platform } from '../../src/core/model.ts';
import { DEMO_TRADES_PER_SECOND, startDemoWorld } from '../simulators/demo-world.ts';

/** What a platform of the demo keeps after an hour. */
export interface HourOfDemo {
  hour: number;
  /** Of the process after a collection. */
  bytes: number;
  markets: number;
  trades: number;
  quotes: number;
}

const HOURS = 24;
const SECOND_MS = 1000;
const READ_EVERY_S = 1800;

/**
 * A process of its own, with --expose-gc: one platform of the demo trades for a day by a clock that does not wait, is read every half
 * hour, and says after each hour what it keeps.
 */
const platform = process.argv[2] as Platform;
let nowMs = Date.now();
const timers = new Set<{ everyMs: number; dueMs: number; task: () => unknown }>();
const clock = {
  now: () => nowMs,
  every(everyMs: number, task: () => unknown) {
    const timer = { everyMs, dueMs: nowMs + everyMs, task };
    timers.add(timer);
    return () => void timers.delete(timer);
  },
};
const world = await startDemoWorld({ clock });
const simulator = world[platform];
simulator.enforceLimits = false;
for (let second = 1; second <= HOURS * 3600; second += 1) {
  for (let trade = 0; trade < DEMO_TRADES_PER_SECOND; trade += 1) {
    nowMs += SECOND_MS / DEMO_TRADES_PER_SECOND;
    simulator.trade(1);
  }
  for (const timer of timers) {
    if (timer.dueMs > nowMs) continue;
    timer.task();
    timer.dueMs = nowMs + timer.everyMs;
  }
  if (second % READ_EVERY_S === 0) await read();
  if (second % 3600 === 0) process.send?.(await measured(second / 3600));
}
process.disconnect();
process.exit();

/** The newest markets and trades, and a page that is about the newest market alone. */
async function read(): Promise<void> {
  for (const url of pages()) {
    const reply = await fetch(url);
    if (!reply.ok) throw new Error(`${url}: ${reply.status} ${await reply.text()}`);
    await reply.arrayBuffer();
  }
}

function pages(): string[] {
  const { kalshi, polymarket, limitless } = world;
  if (platform === 'kalshi') {
    const base = kalshi.env['KALSHI_API_URL'];
    const newest = kalshi.world.exchange.markets.at(-1)?.ticker;
    return [`${base}/markets?limit=100`, `${base}/markets/trades?limit=1000`, `${base}/markets/${newest}`];
  }
  if (platform === 'polymarket') {
    const { POLYMARKET_GAMMA_URL: gamma, POLYMARKET_DATA_URL: data } = polymarket.env;
    const newest = polymarket.world.markets.at(-1)?.id;
    return [`${gamma}/markets?limit=100`, `${data}/v2/trades?limit=1000&at=${nowMs}`, `${gamma}/markets/${newest}`];
  }
  const base = limitless.env['LIMITLESS_API_URL'];
  const newest = limitless.world.openMarkets().at(-1)?.slug;
  return [`${base}/markets/active?limit=25`, `${base}/markets/${newest}/events?limit=100`, `${base}/markets/${newest}`];
}

async function measured(hour: number): Promise<HourOfDemo> {
  // What ended with the last request is let go first.
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { hour, bytes: heapUsed + external, ...kept() };
}

function sum<T>(all: Iterable<T>, of: (one: T) => number): number {
  return [...all].reduce((total, one) => total + of(one), 0);
}

function kept(): Pick<HourOfDemo, 'markets' | 'trades' | 'quotes'> {
  if (platform === 'kalshi') {
    const { markets, tape } = world.kalshi.world.exchange;
    return { markets: markets.length, trades: tape.rows.size, quotes: sum(markets, ({ quotes }) => quotes.size) };
  }
  if (platform === 'polymarket') {
    const { markets, ledger } = world.polymarket.world;
    return { markets: markets.length, trades: ledger.tape.rows.size, quotes: 0 };
  }
  const markets = [...world.limitless.world.markets.values()];
  return {
    markets: markets.length,
    trades: sum(markets, ({ trades }) => trades.length),
    quotes: sum(markets, (market) => (market.kind === 'clob' ? market.quotes.size : 0)),
  };
}
