import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { pino } from 'pino';
import { Pool } from 'undici';
import { z } from 'zod';
import { openClickHouse, type ClickHouse, type QueryParams } from '../../src/clickhouse.ts';
import { startTestApp } from '../helpers/app.ts';
import { fillStore } from './fill.ts';
import { migrateClickHouse } from '../../src/migrations.ts';

const log = pino({ level: 'silent' });
const TURN_MS = 400;
const TURNS = 10;
const CONNECTIONS = 8;
const USERS = 40;

/** One endpoint at one size of the store. */
export interface EndpointResult {
  endpoint: string;
  trades: number;
  /** Milliseconds of one uncached call after another, and of its SQL through the same client with nothing around it. */
  uncachedP50: number;
  uncachedP99: number;
  sqlP50: number;
  addedP50: number;
  /** Requests a second from the cache, and of a bare Fastify route that sends the same bytes. */
  cachedPerSecond: number;
  barePerSecond: number;
  ofBare: number;
}

interface Case {
  endpoint: string;
  path(market: string, turn: number): string;
  /** The statements behind it, as the handler runs them. */
  sql(store: ClickHouse, market: string, turn: number): Promise<unknown>;
}

const anyRow = z.looseObject({});
const ask = (store: ClickHouse, name: string, params: QueryParams) => store.query(name, anyRow, params);
const NOW_S = Math.floor(Date.now() / 1000);

const CASES: Case[] = [
  {
    endpoint: 'GET markets',
    path: (_, turn) => `markets?provider=kalshi&limit=${50 + (turn % 50)}`,
    sql: async (store, _, turn) => {
      const rows = await ask(store, 'markets_list', {
        platform: 'kalshi',
        as_of: new Date(Date.now() - 1000).toISOString().slice(0, 23).replace('T', ' '),
        sort: 'volume_24h',
        status: '',
        category: '',
        event_id: '',
        words: [],
        after_rank: '9223372036854775807',
        after_key: '0',
        limit: 51 + (turn % 50),
      });
      const page = (rows[0]?.['page'] ?? []) as [string, string][];
      const keys = page.slice(0, 50 + (turn % 50)).map(([, key]) => BigInt(key));
      await ask(store, 'markets_by_key', { platform: 'kalshi', keys, with_raw: false });
    },
  },
  {
    endpoint: 'GET markets/trades',
    path: (market, turn) => `markets/trades?provider=kalshi&market_id=${market}&limit=${100 + (turn % 100)}`,
    sql: async (store, market, turn) => {
      await ask(store, 'market_trades', {
        platform: 'kalshi',
        ref: market,
        before: '2199-01-01 00:00:00',
        before_order: 0n,
        before_id: '',
        limit: 101 + (turn % 100),
      });
      await ask(store, 'market_trade_count', { platform: 'kalshi', ref: market });
    },
  },
  {
    endpoint: 'GET markets/price-history',
    path: (market, turn) =>
      `markets/price-history?provider=kalshi&market_ids=${market}&start_ts=${NOW_S - 5 * 86_400 - turn * 60}&end_ts=${NOW_S}&interval=60`,
    sql: async (store, market, turn) => {
      const coverage = (ref: string) => ask(store, 'trade_coverage', { platform: 'kalshi', ref });
      await Promise.all([coverage(''), coverage(market)]);
      const start = Math.floor((NOW_S - 5 * 86_400 - turn * 60) / 3600) * 3600;
      await ask(store, 'bars', { platform: 'kalshi', ref: market, series: 0, step: 3600, start, end: NOW_S });
    },
  },
];

/** Latency and throughput of the stored endpoints over a store of `trades` trades in `markets` markets. */
export async function benchApi(trades: number, markets: number): Promise<EndpointResult[]> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-'));
  const store = await openClickHouse(
    { dataDir: directory, CLICKHOUSE_MEMORY_MB: 6000 } as Parameters<typeof openClickHouse>[0],
    log,
  );
  try {
    await migrateClickHouse(store, log);
    const refs = await fillStore(store, { trades, markets });
    // Allowances of a second and many users: what is measured must not be the limiter's refusal.
    const service = await startTestApp({
      clickhouse: store,
      checked: false,
      env: { LOG_LEVEL: 'warn' },
      rates: { windowSeconds: 1 },
    });
    const users = await Promise.all(Array.from({ length: USERS }, () => service.newKey('pro')));
    const keys = users.map((user) => user.key);
    const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const results: EndpointResult[] = [];
    for (const one of CASES) results.push(await measure(one, { url, keys, store, trades, refs: refs['kalshi'] ?? [] }));
    await service.close();
    return results;
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(
  one: Case,
  {
    url,
    keys,
    store,
    trades,
    refs,
  }: { url: string; keys: string[]; store: ClickHouse; trades: number; refs: string[] },
): Promise<EndpointResult> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  let calls = 0;
  const get = async (path: string): Promise<Buffer> => {
    calls += 1;
    const key = keys[calls % keys.length] ?? '';
    const reply = await pool.request({ method: 'GET', path: `/v1/api/${path}`, headers: { 'x-api-key': key } });
    const body = Buffer.from(await reply.body.arrayBuffer());
    if (reply.statusCode !== 200) throw new Error(`${path}: ${reply.statusCode} ${body.toString().slice(0, 300)}`);
    return body;
  };
  const market = (turn: number): string => refs[turn % refs.length] ?? '';
  const uncached: number[] = [];
  const bare: number[] = [];
  // Turn about, so that both see the same machine.
  for (let turn = 0; turn < 60; turn++) {
    uncached.push(await timeMs(() => get(one.path(market(turn), turn))));
    bare.push(await timeMs(() => one.sql(store, market(turn + 1000), turn)));
  }
  const path = one.path(market(1), 1);
  const bytes = await get(path);
  const plain = Fastify();
  plain.get('/*', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
  const plainPool = new Pool(await plain.listen({ host: '127.0.0.1', port: 0 }), { connections: CONNECTIONS });
  const [cachedPerSecond, barePerSecond] = await throughputs(
    () => get(path),
    async () => {
      const reply = await plainPool.request({ method: 'GET', path: `/v1/api/${path}` });
      await reply.body.arrayBuffer();
    },
  );
  await Promise.all([pool.close(), plainPool.close(), plain.close()]);
  const [uncachedP50, uncachedP99, sqlP50] = [
    percentile(uncached, 0.5),
    percentile(uncached, 0.99),
    percentile(bare, 0.5),
  ];
  return {
    endpoint: one.endpoint,
    trades,
    uncachedP50,
    uncachedP99,
    sqlP50,
    addedP50: uncachedP50 - sqlP50,
    cachedPerSecond,
    barePerSecond,
    ofBare: cachedPerSecond / barePerSecond,
  };
}

const timeMs = async (run: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await run();
  return performance.now() - started;
};

/** Calls a second of each, in turns of a fraction of a second, so that both see the same machine. */
async function throughputs(...runs: [() => Promise<unknown>, () => Promise<unknown>]): Promise<[number, number]> {
  const done: [number, number] = [0, 0];
  const turn = async (which: 0 | 1): Promise<void> => {
    const end = performance.now() + TURN_MS;
    const client = async (): Promise<void> => {
      while (performance.now() < end) {
        await runs[which]();
        done[which] += 1;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
  };
  for (let i = 0; i < TURNS; i++) {
    await turn(0);
    await turn(1);
  }
  return [perSecond(done[0]), perSecond(done[1])];
}

const perSecond = (count: number): number => Math.round((count * 1000) / (TURN_MS * TURNS));

const percentile = (values: number[], p: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN;
};
