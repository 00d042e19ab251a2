import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/core/config.ts';
import { keptSecret, makeDataDir, runningAddress } from '../../src/core/data-dir.ts';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { createLog } from '../../src/core/log.ts';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';
import { startService, type Service } from '../../src/service.ts';
import { demoCalls, type DemoMarket } from './demo-calls.ts';
import { signIn } from './demo-sign-in.ts';
import { DEMO_TRADES_PER_SECOND, startDemoWorld } from './demo-world.ts';

const HELP = `npm run demo
Three simulated platforms and the whole service against them, on embedded stores in a temporary directory. Settings:

  PORT       port of the API and the explorer; 0 picks a free one [3000 when free, else the next free one]
  SQL_PORT   read-only ClickHouse-HTTP port; 0 picks a free one, off disables [8123 when free, else the next free one]
  DATA_DIR   directory to keep the data in [a temporary one, removed at the end]
  LOG_LEVEL  log level [error]
`;
const PORTS_TRIED = 100;
/** Data that takes longer than this to come is waited for no more. */
const PATIENCE_MS = 120_000;
/** What has not ended by then ends with the process; on a busy machine a whole service takes long. */
const END_MS = 45_000;

type Json = { [key: string]: unknown };

async function main(): Promise<void> {
  const [argument] = process.argv.slice(2);
  if (argument !== undefined) {
    process.stdout.write(HELP);
    process.exitCode = argument === '--help' || argument === '-h' ? 0 : 1;
    return;
  }
  const { DATA_DIR: kept } = process.env;
  const directory = kept || mkdtempSync(join(tmpdir(), 'forecastle-demo-'));
  // The engine's process may still write while it ends: then the directory is not empty yet.
  if (!kept)
    process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 }));
  const starting = Promise.resolve(directory).then(start);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(starting, 0));
  process.stdout.write(`Starting three simulated platforms and the service, with their data in ${directory} …\n`);
  try {
    process.stdout.write(await welcome(await starting));
  } catch (error) {
    if (ending) return;
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    await end(starting, 1);
  }
}

interface Demo {
  service: Service;
  apiKey: string;
  nickname: string;
  address: string;
  sqlPort: number | null;
  directory: string;
  close(): Promise<void>;
}

async function start(directory: string): Promise<Demo> {
  const world = await startDemoWorld();
  const { kalshi, polymarket, limitless } = world;
  const simulators = Object.values(world);
  const member = kalshi.world.demoAccount;
  const profile = limitless.world.demoProfile;
  makeDataDir(directory);
  const apiKey = keptSecret(directory, 'DEMO_API_KEY', false, newApiKey);
  const { PORT = await freePort(3000), SQL_PORT = await freePort(8123), LOG_LEVEL = 'error' } = process.env;
  const config = loadConfig({
    LOG_LEVEL,
    PORT,
    SQL_PORT,
    DATA_DIR: directory,
    SWEEP_SECONDS: '5',
    FILES_SECONDS: '60',
    TRADES_SECONDS: '3',
    DEMO_API_KEY: apiKey,
    ...Object.assign({}, ...simulators.map(({ env }) => env)),
    KALSHI_API_KEY_ID: member.apiKeyId,
    KALSHI_PRIVATE_KEY: member.privateKeyPem,
    POLYMARKET_PRIVATE_KEY: polymarket.world.demoWallet.privateKey,
    LIMITLESS_TOKEN_ID: profile.tokenId,
    LIMITLESS_SECRET: profile.secret,
    LIMITLESS_PRIVATE_KEY: profile.privateKey,
  });
  const service = await startService(config, 'all', createLog(config), { extend: signIn(apiKey) });
  const sqlUrl = await runningAddress(directory, 'sql_url');
  for (const simulator of simulators) simulator.startTrading(DEMO_TRADES_PER_SECOND);
  return {
    service,
    apiKey,
    nickname: member.nickname,
    address: polymarket.world.demoUser.address,
    sqlPort: sqlUrl === null ? null : Number(new URL(sqlUrl).port),
    directory,
    async close() {
      await service.close();
      await Promise.all(simulators.map((simulator) => simulator.close()));
    },
  };
}

/** The first free port from `first` on. */
async function freePort(first: number): Promise<string> {
  for (let port = first; port < first + PORTS_TRIED; port += 1) {
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    server.close();
    if (free) return String(port);
  }
  return '0';
}

let ending = false;
/** Ends what was started, half started things too. One Ctrl-C may come twice: from the terminal, and passed on by tsx. */
async function end(starting: Promise<Demo>, code: number): Promise<void> {
  if (ending) return;
  ending = true;
  if (code === 0) process.stdout.write('\nEnding …\n');
  // What has half started has to start before it can be ended: an engine left behind would write on.
  const demo = await starting.catch(() => null);
  setTimeout(() => process.exit(code), END_MS).unref();
  await demo?.close().catch(() => {});
  process.exit(code);
}

/** Waits until data of every platform is served, then says what there is and how to ask for it. */
async function welcome(demo: Demo): Promise<string> {
  const { service, apiKey, nickname, address, sqlPort, directory } = demo;
  const ask = async (path: string): Promise<Json> => {
    const reply = await fetch(`${service.url}/v1/api/${path}`, { headers: { 'x-api-key': apiKey } });
    return (await reply.json()) as Json;
  };
  const tradedMarket = async (platform: Platform): Promise<DemoMarket | undefined> => {
    const { markets = [] } = await ask(`markets?provider=${platform}&status=open&limit=50`);
    const listed = (markets as Listed[]).flatMap(tradable);
    // A page of trades takes four statements of the engine, which has much to do at a start.
    if (listed.length === 0) return undefined;
    const { trades = [] } = await ask(`trades/whales?platform=${platform}&min_size=0&limit=200`);
    const withTrades = new Set((trades as { market_id: string }[]).map((trade) => trade.market_id));
    return listed.find(({ id }) => withTrades.has(id));
  };
  const found = PLATFORMS.map(async (platform) => {
    const what = `an open market of ${platform} with trades`;
    return [platform, await awaited(what, () => tradedMarket(platform))] as const;
  });
  const markets = Object.fromEntries(await Promise.all(found)) as Record<Platform, DemoMarket>;
  const facts = { url: service.url, apiKey, markets, nickname, address, sqlPort, directory };
  const calls = [...demoCalls(facts)].map(
    ([about, lines]) => `${about}\n\n${lines.map((line) => `  ${line}\n`).join('')}`,
  );
  return `
Explorer: ${service.url}/

Forecastle is ready: data of Kalshi, Polymarket and Limitless is being served. The platforms are simulated here, nothing
leaves this machine. Ctrl-C ends it${process.env['DATA_DIR'] ? '' : ' and removes its data'}.

  base URL            ${service.url}
  API key             ${apiKey}
  Kalshi nickname     ${nickname}
  Polymarket address  ${address}
  API description     ${service.url}/docs

${calls.join('\n')}
`;
}

interface Listed {
  platform_id: string;
  trading_end_at: string | null;
  outcomes: { id: string }[];
  current_prices: Record<string, { bid: number | null; ask: number | null }>;
  category: string;
}

/**
 * A market with quotes on both sides, a share costing 0.1 to 0.9, that trades for hours yet. Purchases of less than 1 USD are refused, and
 * games hold takers back for seconds.
 */
function tradable(market: Listed): DemoMarket[] {
  const { platform_id: id, trading_end_at: end, outcomes, current_prices: prices, category } = market;
  const [first] = outcomes;
  const { bid = null, ask = null } = prices[first?.id ?? ''] ?? {};
  const lasts = end === null || Date.parse(end) > Date.now() + 6 * 3_600_000;
  const game = category.toLowerCase() === 'sports';
  const isMiddling = bid !== null && ask !== null && ask > 0.1 && ask < 0.9;
  return first && isMiddling && lasts && !game ? [{ id, outcome: first.id }] : [];
}

async function awaited<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(500)) {
    // A machine that is busy starting may drop a connection of its own.
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
  }
  throw new Error(`after ${PATIENCE_MS / 1000} s there is not yet ${what}. A busy machine takes longer: start again.`);
}

await main();
