import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClickHouse } from '../src/clickhouse.ts';
import { loadConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { startProcess } from './helpers/process.ts';
import { rollupDifferences } from './helpers/rollups.ts';
import { createRng } from './simulators/lib/index.ts';
import { type KalshiWorld, startKalshi } from './simulators/kalshi.ts';
import { startLimitless } from './simulators/limitless.ts';
import type { LimitlessWorld } from './simulators/limitless/world.ts';
import type { Simulator } from './simulators/simulator.ts';

const KILLS = 20;
const DAYS = 10;

let directory: string;
let kalshi: Simulator<KalshiWorld>;
let limitless: Simulator<LimitlessWorld>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-crash-'));
  kalshi = await startKalshi({ seed: 11, markets: 60, tradesPerMarket: 250, historyDays: DAYS });
  limitless = await startLimitless({ seed: 11, historyDays: DAYS });
});

afterAll(async () => {
  await kalshi.close();
  await limitless.close();
  await rm(directory, { recursive: true, force: true });
});

test(
  `${KILLS} kills at random moments of ingestion lose no trade and count none twice, in any table`,
  { timeout: 400_000 },
  async () => {
    const rng = createRng(7);
    const env = {
      DATA_DIR: directory,
      PLATFORMS: 'kalshi,limitless',
      // The platform's budget is small: polls every second would leave the backfill nothing.
      TRADES_SECONDS: '2',
      SWEEP_SECONDS: '6',
      BACKFILL_DAYS: String(DAYS + 1),
      ...kalshi.env,
      ...limitless.env,
    };
    kalshi.startTrading(20);
    limitless.startTrading(5);
    for (let i = 0; i < KILLS; i++) {
      const service = startProcess('ingest', env);
      await service.ready;
      await sleep(Math.floor(rng.next() * 2500));
      service.kill('SIGKILL');
      await service.ended;
      // A lost spool must lose nothing either: no cursor has moved for what is in it.
      if (i % 5 === 4) await rm(join(directory, 'spool'), { recursive: true, force: true });
    }
    kalshi.startTrading(0);
    limitless.startTrading(0);
    const config = loadConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' });
    const truthCount = kalshi.world.trades.length;
    for (let round = 0; round < 5; round++) {
      const service = startProcess('ingest', env);
      await service.ready;
      await sleep(12_000);
      service.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      const store = await openClickHouse(config, createLog(config));
      const [row] = await store.sql<{ n: string }>(`SELECT count() AS n FROM trades WHERE platform = 'kalshi'`);
      await store.close();
      if (Number(row?.n) >= truthCount) break;
    }

    const store = await openClickHouse(config, createLog(config));
    try {
      const stored = await store.sql<{ trade_id: string; price: string; size: string; outcome: string; us: string }>(
        `SELECT trade_id, price, size, outcome, toUnixTimestamp64Micro(executed_at) AS us FROM trades WHERE platform = 'kalshi' ORDER BY trade_id`,
      );
      const truth = kalshi.world.trades
        .map((t) => ({
          trade_id: t.tradeId,
          price: String(Number(t.takerSide === 'yes' ? t.yesPrice : t.noPrice)),
          size: String(Number(t.count)),
          outcome: t.takerSide,
          us: String(t.timeUs),
        }))
        .toSorted((a, b) => (a.trade_id < b.trade_id ? -1 : 1));
      expect(stored.length).toBe(truth.length);
      expect(stored).toEqual(truth);
      expect(await rollupDifferences(store)).toEqual([]);
    } finally {
      await store.close();
    }
  },
);
