import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ClickHouse, openClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { newApiKey } from '../../../src/accounts/api-key-format.ts';
import { createLog } from '../../../src/core/log.ts';
import type { Platform } from '../../../src/core/model.ts';
import { startProcessOfTest } from '../../helpers/process-of-test.ts';
import { rollupDifferences } from '../../helpers/rollups.ts';
import { kalshiTrades } from '../../oracle/kalshi.ts';
import { limitlessTrades, listedMarkets } from '../../oracle/limitless.ts';
import { eventually } from '../../oracle/pipeline.ts';
import { polymarketTrades } from '../../oracle/polymarket.ts';
import { createRng } from '../../simulators/lib/index.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import type { LimitlessWorld } from '../../simulators/limitless/world.ts';
import { type PolymarketWorld, startPolymarket } from '../../simulators/polymarket.ts';
import type { Simulator } from '../../simulators/simulator.ts';

const KILLS = Number(process.env['KILLS'] ?? 5);
const DAYS = 8;

let directory: string;
let kalshi: Simulator<KalshiWorld>;
let polymarket: Simulator<PolymarketWorld>;
let limitless: Simulator<LimitlessWorld>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-crash-'));
  kalshi = await startKalshi({ seed: 11, markets: 60, tradesPerMarket: 150, historyDays: DAYS });
  polymarket = await startPolymarket({ seed: 11, markets: 60, tradesPerMarket: 150, historyDays: DAYS });
  limitless = await startLimitless({ seed: 11, markets: 1, tradesPerMarket: 60, historyDays: DAYS });
});

afterAll(async () => {
  for (const sim of [kalshi, polymarket, limitless]) await sim?.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
});

/** A trade in one line: what it is, when it was, and what was traded. */
type Line = string;
const line = (trade: {
  trade_id: string;
  outcome: string;
  side: string;
  price: number;
  size: number;
  transaction_hash: string;
  metadata: Record<string, unknown>;
}): Line =>
  [
    trade.trade_id,
    trade.outcome,
    trade.side,
    trade.price,
    trade.size,
    trade.metadata['executed_at'],
    trade.transaction_hash,
  ].join(' ');

const tickers = (): string[] => kalshi.world.markets.map(({ ticker }) => ticker);
const kalshiTruth = (): Line[] => tickers().flatMap((ticker) => kalshiTrades(kalshi.world, ticker).map(line));
const polymarketTruth = (): Line[] =>
  polymarket.world.markets.flatMap((market) => polymarketTrades(polymarket.world, market).map(line));
/** Limitless lists the trades of one market at a time: of those that were listed while somebody looked. */
const limitlessTruth = (slugs: ReadonlySet<string>): Line[] =>
  [...limitless.world.markets.values()].flatMap((market) =>
    market.kind === 'clob' && slugs.has(market.slug) ? limitlessTrades(limitless.world, market).map(line) : [],
  );

async function storedLines(store: ClickHouse, platform: Platform): Promise<Line[]> {
  const rows = await store.sql<Record<string, string>>(
    `SELECT trade_id, outcome, toString(side) AS side, price, size, toUnixTimestamp64Milli(executed_at) AS ms, transaction_hash
     FROM trades WHERE platform = {platform:String}`,
    { platform },
  );
  return rows.map(({ trade_id = '', outcome = '', side = '', price, size, ms, transaction_hash = '' }) =>
    line({
      trade_id,
      outcome,
      side,
      transaction_hash,
      price: Number(price),
      size: Number(size),
      metadata: { executed_at: new Date(Number(ms)).toISOString() },
    }),
  );
}

interface Counted {
  pagination: { total: number };
}

const sorted = (lines: readonly Line[]): Line[] => lines.toSorted();

test(
  `${KILLS} kills at random moments of ingestion lose no trade of any platform and count none twice, in any table`,
  { timeout: 600_000 + KILLS * 10_000 },
  async () => {
    const rng = createRng(7);
    const key = newApiKey();
    const env = {
      DATA_DIR: directory,
      DEMO_API_KEY: key,
      // Kalshi's budget is small: polls every second would leave the backfill nothing.
      TRADES_SECONDS: '2',
      SWEEP_SECONDS: '6',
      BACKFILL_DAYS: String(DAYS + 1),
      ...kalshi.env,
      ...polymarket.env,
      ...limitless.env,
    };
    kalshi.startTrading(15);
    polymarket.startTrading(15);
    const trading = setInterval(() => limitless.trade(1), 300);
    const stopTrading = (): void => {
      kalshi.startTrading(0);
      polymarket.startTrading(0);
      clearInterval(trading);
    };
    onTestFinished(stopTrading);
    for (let i = 0; i < KILLS; i++) {
      const service = startProcessOfTest('ingest', env);
      // Every fourth dies somewhere in its start, where it repairs what the one before left.
      await (i % 4 === 3 ? sleep(1200 + rng.next() * 1500) : service.ready.then(() => sleep(rng.next() * 1800)));
      service.kill('SIGKILL');
      await service.ended;
      // A lost spool must lose nothing either: no cursor has moved for what is in it.
      if (i % 5 === 4) await rm(join(directory, 'spool'), { recursive: true, force: true });
    }
    stopTrading();

    const service = startProcessOfTest('all', env);
    const url = await service.ready;
    const get = async <T>(path: string): Promise<T> => {
      const reply = await fetch(`${url}/v1/api/${path}`, { headers: { 'x-api-key': key } });
      if (!reply.ok) throw new Error(`${path} answered ${reply.status}`);
      return (await reply.json()) as T;
    };
    let asked = 0;
    const page = (): number => 100 + (asked++ % 100);
    const stored = async (platform: Platform): Promise<number> =>
      (await get<Counted>(`trades/whales?platform=${platform}&min_size=0&limit=${page()}`)).pagination.total;
    let slugs = new Set<string>();
    const behind = async (): Promise<string[]> => {
      // A key may ask 250 times a minute.
      await sleep(1500);
      const { markets } = await get<{ markets: { slug: string }[] }>(
        `markets?provider=limitless&limit=${page() + 200}`,
      );
      slugs = new Set(markets.map(({ slug }) => slug));
      const unlisted = listedMarkets(limitless.world).filter(({ slug }) => !slugs.has(slug));
      const [k, p, l] = [await stored('kalshi'), await stored('polymarket'), await stored('limitless')];
      const [kTruth, pTruth, lTruth] = [kalshiTruth(), polymarketTruth(), limitlessTruth(slugs)];
      return [
        ...unlisted.map(({ slug }) => `${slug} is not listed`),
        ...(k === kTruth.length ? [] : [`kalshi ${k} of ${kTruth.length}`]),
        ...(p === pTruth.length ? [] : [`polymarket ${p} of ${pTruth.length}`]),
        ...(l === lTruth.length ? [] : [`limitless ${l} of ${lTruth.length}`]),
      ];
    };
    expect(await eventually(behind, 180)).toEqual([]);
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);

    const config = loadConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' });
    const store = await openClickHouse(config, createLog(config));
    try {
      expect(sorted(await storedLines(store, 'kalshi'))).toEqual(sorted(kalshiTruth()));
      expect(sorted(await storedLines(store, 'polymarket'))).toEqual(sorted(polymarketTruth()));
      expect(sorted(await storedLines(store, 'limitless'))).toEqual(sorted(limitlessTruth(slugs)));
      expect(await rollupDifferences(store)).toEqual([]);
    } finally {
      await store.close();
    }
  },
);
