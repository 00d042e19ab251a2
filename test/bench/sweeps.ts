import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { MarketSweeper } from '../../ingest/markets/market-sweep.ts';
import { loadConfig } from '../../src/core/config.ts';
import { parseUsd } from '../../src/core/decimal.ts';
import type { MarketRecord } from '../../src/core/model.ts';
import { partsOf } from '../../src/core/parts.ts';
import { MINUTE_MS, systemClock } from '../../src/core/time.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { Projector } from '../../src/present/projector.ts';
import { migratePostgres, openPostgres } from '../../src/stores/postgres/client.ts';
import { LEASE, market, quotes } from '../helpers/market-store.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { processesOf, processorSeconds } from '../helpers/process-memory.ts';
import { memoryOf, partOf } from './memory.ts';

/** A sweep, until its markets are in both stores: seconds by the clock, and of processor by part. */
export interface SweepCost {
  clockSeconds: number;
  node: number;
  clickhouse: number;
  postgres: number;
}

export interface SweepsResult {
  markets: number;
  first: SweepCost;
  /** A minute later: nothing changed, nothing is due. */
  unchanged: SweepCost;
  /** Another minute later: three markets of 100 have another price and volume. */
  changed: SweepCost;
  /** Megabytes of all processes after it. */
  memoryMb: number;
}

const log = pino({ level: 'silent' });
const PAGE = 1000;
/** Of 100 markets. */
const CHANGED = 3;
const EVENT = 5;

/** A market of the listing of a round; `fetchedAt` moves a minute with each round. */
function listed(n: number, round: number, startMs: number): MarketRecord {
  const isChanged = round === 2 && n % 100 < CHANGED;
  const cents = 5 + ((n * 7 + (isChanged ? 1 : 0)) % 90);
  const price = (cents / 100).toFixed(2);
  return market({
    platform: 'kalshi',
    ref: `KXSWEPT-${n}`,
    title: `Will number ${n} come out on top?`,
    description: 'Resolves to the first outcome if it happens.',
    eventId: `KXSWEPT-E${Math.floor(n / EVENT)}`,
    eventName: `Event ${Math.floor(n / EVENT)}`,
    tradingEndAt: new Date(startMs + 30 * 86_400_000).toISOString(),
    fetchedAt: new Date(startMs + round * MINUTE_MS).toISOString(),
    state: {
      quotes: quotes(price, price, price),
      volumeTotal: parseUsd(String(n % 2 === 0 ? n + (isChanged ? 1 : 0) : 0)),
    },
  });
}

/** Seconds of processor since they started, of this process and of those below it. */
function processorByPart(): Omit<SweepCost, 'clockSeconds'> {
  const spent = { node: 0, clickhouse: 0, postgres: 0 };
  for (const pid of processesOf(process.pid)) spent[partOf(process.pid, pid)] += processorSeconds(pid);
  return spent;
}

/** Sweeps a listing of one platform for the first time, unchanged and with some changes. What makes up the listing is not measured. */
export async function benchSweeps(count: number): Promise<SweepsResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'forecastle-bench-sweeps-'));
  const { clickhouse } = await openOwnClickHouse(2000);
  const postgres = await openPostgres(loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir }), log);
  try {
    await migratePostgres(postgres, log);
    const startMs = Date.now();
    const present = new Projector({ clickhouse, postgres, log, clock: systemClock });
    const writer = new MarketWriter(clickhouse, systemClock, { present });
    let round = 0;
    let pages: MarketRecord[][] = [];
    const data: Pick<PlatformData, 'platform'> & Pick<PlatformData, 'sweep'> = {
      platform: 'kalshi',
      async *sweep() {
        for (const markets of pages) yield { markets, remaining: 0 };
      },
    };
    const now = (): number => startMs + round * MINUTE_MS;
    const sweeper = new MarketSweeper({ clickhouse, writer, data: data as PlatformData, log, clock: { now } });
    const { signal } = new AbortController();
    const run = { lease: LEASE, signal, context: () => ({ priority: 'poll' as const, onBadRow: () => {} }) };
    const sweep = async (after: () => Promise<void> = async () => {}): Promise<SweepCost> => {
      const records = Array.from({ length: count }, (_, n) => listed(n, round, startMs));
      pages = [...partsOf(records, PAGE)];
      const [before, startedMs] = [processorByPart(), performance.now()];
      await sweeper.sweep({ kind: 'open' }, run);
      await present.settled();
      await after();
      const [spent, clockSeconds] = [processorByPart(), (performance.now() - startedMs) / 1000];
      round += 1;
      return {
        clockSeconds,
        node: spent.node - before.node,
        clickhouse: spent.clickhouse - before.clickhouse,
        postgres: spent.postgres - before.postgres,
      };
    };
    // PostgreSQL does this by itself within a minute, which would count to a later sweep.
    const first = await sweep(async () => void (await postgres.db.execute(sql`VACUUM ANALYZE`)));
    const unchanged = await sweep();
    const changed = await sweep();
    const memoryMb = memoryOf(process.pid).total;
    await present.close();
    return { markets: count, first, unchanged, changed, memoryMb };
  } finally {
    await postgres.close();
    await clickhouse.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
