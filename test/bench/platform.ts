import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startKalshi, type KalshiOptions } from '../simulators/kalshi.ts';

/** A simulated Kalshi in a process of its own, as a platform is: its work must not count as ours. */
export interface PlatformProcess {
  /** KALSHI_API_URL. */
  url: string;
  close(): void;
}

/** Starts it without rate limits: the machine is measured, not the platform's patience. `perSecond`: trades it makes on its own. */
export function startPlatform(options: KalshiOptions, perSecond = 0): Promise<PlatformProcess> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options), String(perSecond)], {
    execArgv: ['--import', 'tsx'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (url) => resolve({ url: String(url), close: () => child.kill() }));
    child.once('exit', (code) => reject(new Error(`the simulated platform ended (${code})`)));
  });
}

if (process.send && process.argv[2]) {
  const simulator = await startKalshi(JSON.parse(process.argv[2]) as KalshiOptions);
  simulator.enforceLimits = false;
  if (Number(process.argv[3]) > 0) simulator.startTrading(Number(process.argv[3]));
  process.send(simulator.env['KALSHI_API_URL']);
  process.once('disconnect', () => process.exit(0));
}
