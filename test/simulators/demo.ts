import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newApiKey } from '../../src/key-format.ts';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { startService } from '../../src/service.ts';
import { startKalshi } from './kalshi.ts';
import { startLimitless } from './limitless.ts';
import { startPolymarket } from './polymarket.ts';

/** `npm run demo`: three simulated platforms and the whole service against them, on embedded stores that are thrown away. */
const directory = await mkdtemp(join(tmpdir(), 'forecastle-demo-'));
const [kalshi, polymarket, limitless] = await Promise.all([startKalshi({}), startPolymarket({}), startLimitless({})]);
const simulators = [kalshi, polymarket, limitless];
const apiKey = newApiKey();
const config = loadConfig({
  LOG_LEVEL: 'warn',
  PORT: process.env['PORT'] ?? '0',
  SQL_PORT: process.env['SQL_PORT'] ?? 'off',
  DATA_DIR: directory,
  SWEEP_SECONDS: '5',
  TRADES_SECONDS: '3',
  DEMO_API_KEY: apiKey,
  ...Object.assign({}, ...simulators.map((simulator) => simulator.env)),
});
const service = await startService(config, 'all', createLog(config));
for (const simulator of simulators) simulator.startTrading(2);

const call = (path: string): string => `curl -s -H 'X-API-Key: ${apiKey}' '${service.url}/v1/api/${path}'`;
process.stdout.write(`
Forecastle is running on simulated platforms; nothing leaves this machine. Ctrl-C ends it and removes its data.

  base URL   ${service.url}
  API key    ${apiKey}

  ${call('markets?provider=kalshi&status=open&limit=3')}
  ${call('markets?provider=polymarket&query=will&limit=3')}
  curl -s '${service.url}/v1/api/health'

`);

let stopping = false;
const stop = (): void => {
  if (stopping) return;
  stopping = true;
  void service
    .close()
    .then(() => Promise.all(simulators.map((simulator) => simulator.close())))
    .finally(() => rm(directory, { recursive: true, force: true }))
    .then(() => process.exit(0));
};
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
