import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/core/config.ts';
import { newApiKey } from '../../src/accounts/api-key-format.ts';
import { createLog } from '../../src/core/log.ts';
import { type Role, startService, type Service } from '../../src/service.ts';
import { migratedDatabase, TEST_SERVER } from './databases.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

const WORLD = { seed: 11, markets: 40, tradesPerMarket: 40, historyDays: 3 };
const FILLED_WITHIN_MS = 300_000;

/**
 * `npm start` in this process: three simulated platforms with trading going on, ingestion, API and SQL port; an embedded ClickHouse, and a
 * database of the run's PostgreSQL, which starts sooner than one of its own.
 */
export interface WholeService {
  readonly service: Service;
  readonly directory: string;
  readonly simulators: readonly [
    Awaited<ReturnType<typeof startKalshi>>,
    Awaited<ReturnType<typeof startPolymarket>>,
    Awaited<ReturnType<typeof startLimitless>>,
  ];
  readonly key: string;
  /** With user and password. */
  readonly sqlUrl: string;
  /** GET with the API key. */
  get(path: string): Promise<Response>;
  /** Rows over the SQL port. */
  sql<Row = Record<string, unknown>>(statement: string, search?: Record<string, string>): Promise<Row[]>;
  close(): Promise<void>;
}

export async function startWholeService(env: Record<string, string> = {}, role: Role = 'all'): Promise<WholeService> {
  const directory = mkdtempSync(join(tmpdir(), 'forecastle-whole-'));
  const simulators = await Promise.all([startKalshi(WORLD), startPolymarket(WORLD), startLimitless(WORLD)]);
  const key = newApiKey();
  const database = TEST_SERVER ? await migratedDatabase() : null;
  const config = loadConfig({
    DATA_DIR: directory,
    NODE_ENV: 'test',
    LOG_LEVEL: 'fatal',
    PORT: '0',
    SQL_PORT: '0',
    SWEEP_SECONDS: '2',
    TRADES_SECONDS: '2',
    DEMO_API_KEY: key,
    ...(database ? { DATABASE_URL: database.url } : {}),
    ...Object.assign({}, ...simulators.map((simulator) => simulator.env)),
    ...env,
  });
  const service = await startService(config, role, createLog(config));
  for (const simulator of simulators) simulator.startTrading(3);
  const sqlUrl = readFileSync(join(directory, 'sql_url'), 'utf8').trim();
  const { origin, username, password } = new URL(sqlUrl);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return {
    service,
    directory,
    simulators,
    key,
    sqlUrl,
    get: (path) => fetch(`${service.url}${path}`, { headers: { 'x-api-key': key } }),
    async sql<Row>(statement: string, search: Record<string, string> = {}) {
      const reply = await fetch(`${origin}/?${String(new URLSearchParams({ default_format: 'JSON', ...search }))}`, {
        method: 'POST',
        body: statement,
        headers: { authorization },
      });
      const text = await reply.text();
      if (reply.status !== 200) throw new Error(`${text}\n${statement}`);
      return (JSON.parse(text) as { data: Row[] }).data;
    },
    async close() {
      await service.close();
      await database?.drop();
      await Promise.all(simulators.map((simulator) => simulator.close()));
      rmSync(directory, { recursive: true });
    },
  };
}

/** Resolves when `query` over the SQL port gives at least one row. */
export async function rowsOf(whole: WholeService, query: string): Promise<void> {
  for (const deadline = Date.now() + FILLED_WITHIN_MS; ; await sleep(300)) {
    if ((await whole.sql(query)).length > 0) return;
    if (Date.now() > deadline) throw new Error(`still no rows of ${query}`);
  }
}

/** Resolves when markets and trades of every platform are stored. */
export const filled = (whole: WholeService): Promise<void> =>
  rowsOf(
    whole,
    `SELECT 1 FROM (SELECT uniqExact(platform) AS n FROM v_trades WHERE market_key IN (SELECT market_key FROM v_markets)) WHERE n = 3`,
  );
