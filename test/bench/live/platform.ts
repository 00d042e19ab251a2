import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startKalshi } from '../../simulators/kalshi.ts';

const STREAMED = 50;
/** Longer than any run. */
const OPEN_MS = 3 * 3_600_000;
const STEP_MS = 20;

/** What a service needs to follow the simulated Kalshi, and the markets whose books are streamed. */
export interface LivePlatform {
  env: Record<string, string>;
  tickers: string[];
}

export interface PlatformProcess extends LivePlatform {
  /** Trades a second from now on, spread evenly. */
  trade(perSecond: number): void;
  close(): void;
}

/** A simulated Kalshi with its socket, in a process of its own: its work must not count as ours. */
export async function startLivePlatform(): Promise<PlatformProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['run'], { execArgv: ['--import', 'tsx'] });
  const [started] = (await once(child, 'message')) as [LivePlatform];
  return { ...started, trade: (perSecond) => child.send(perSecond), close: () => child.kill() };
}

if (process.send && process.argv[2] === 'run') {
  const sim = await startKalshi({ seed: 7, markets: 150, tradesPerMarket: 10, historyDays: 1 });
  sim.enforceLimits = false;
  const { apiKeyId, privateKeyPem } = sim.world.addAccount({ scopes: ['read'] });
  const open = sim.world.markets.filter(
    ({ status, combo, closeMs }) => status === 'active' && !combo && closeMs > Date.now() + OPEN_MS,
  );
  let perSecond = 0;
  let owed = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    owed += (Math.min(now - last, 1000) * perSecond) / 1000;
    last = now;
    sim.trade(Math.floor(owed));
    owed -= Math.floor(owed);
  }, STEP_MS);
  process.on('message', (rate) => (perSecond = Number(rate)));
  process.once('disconnect', () => process.exit(0));
  const env = { ...sim.env, KALSHI_API_KEY_ID: apiKeyId, KALSHI_PRIVATE_KEY: privateKeyPem };
  process.send({ env, tickers: open.slice(0, STREAMED).map(({ ticker }) => ticker) } satisfies LivePlatform);
}
