import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemClock } from '../../src/core/time.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import { MarketSweeper } from '../../ingest/markets/market-sweep.ts';
import { Spool } from '../../ingest/spool/spool.ts';
import { TradeWriter } from '../../ingest/trade-writer.ts';
import type { TradesDeps } from '../../ingest/trades.ts';
import { FailureBackoff } from '../../ingest/failure-backoff.ts';
import { Watermarks } from '../../ingest/watermarks.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { loadConfig } from '../../src/core/config.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { createPlatforms } from '../../src/platforms/registry.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import type { Simulator } from '../simulators/simulator.ts';
import { LEASE } from './market-store.ts';
import { openOwnClickHouse } from './own-clickhouse.ts';
import { silent } from './silent-log.ts';
import { noCopier, noListeners, tradeWriter } from './trade-writer.ts';

/** The parts of one platform's ingestion over its simulator, to be run one by one, at whatever time `clock` says it is. */
export interface IngestRig {
  readonly clickhouse: ClickHouse;
  /** What CLICKHOUSE_URL of another process must be. */
  readonly url: string;
  readonly data: PlatformData;
  readonly markets: MarketWriter;
  readonly sweeper: MarketSweeper;
  readonly writer: TradeWriter;
  /** Where batches wait that are not acknowledged. */
  readonly spoolDirectory: string;
  readonly clock: { now: number };
  readonly run: JobRun;
  /** Names of the rows that were skipped. */
  readonly badRows: string[];
  /** One pass over the open markets, recorded as the runner of jobs does. */
  list(): Promise<void>;
  deps(backfillDays: number): TradesDeps;
  tradeIds(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startIngestRig(
  sim: Simulator<unknown>,
  platform: 'kalshi' | 'polymarket' | 'limitless',
): Promise<IngestRig> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-rig-'));
  const spoolDirectory = join(directory, 'spool');
  const { clickhouse, url } = await openOwnClickHouse();
  const shared = { ...createLocalShared(silent, systemClock), takeBudget: async () => 0 };
  const http = createPlatformHttp({ shared, log: silent, clock: systemClock });
  const clock = { now: Date.now() };
  const settings = loadConfig({ DATA_DIR: directory, ...sim.env });
  const data = createPlatforms({ http, settings, now: () => clock.now })[platform];
  const marketWriter = new MarketWriter(clickhouse, systemClock, {
    onChanged: (_platform, refs) => storedMarkets.forget(platform, refs),
  });
  const storedMarkets = new StoredMarkets(clickhouse, async (_platform, id) => {
    const market = await data.market(id, { priority: 'live', onBadRow: () => {} });
    if (market) await marketWriter.write(platform, [market], { isUrgent: true });
    return market?.info.ref ?? null;
  });
  const log = pino({ level: 'silent' });
  const writer = tradeWriter({
    clickhouse,
    spool: await Spool.open(spoolDirectory),
    log,
    platform,
    clock: systemClock,
  });
  const badRows: string[] = [];
  const backoff: TradesDeps['backoff'] = new FailureBackoff({ now: () => clock.now });
  const sweeper = new MarketSweeper({ clickhouse, writer: marketWriter, data, log, clock: { now: () => clock.now } });
  const run: JobRun = {
    lease: LEASE,
    signal: new AbortController().signal,
    context: (priority) => ({ priority, onBadRow: ({ id }) => badRows.push(id) }),
  };
  return {
    clickhouse,
    url,
    data,
    markets: marketWriter,
    writer,
    spoolDirectory,
    clock,
    badRows,
    sweeper,
    run,
    async list() {
      const { freshTo } = await sweeper.sweep({ kind: 'open' }, run);
      const at = freshTo.toISOString();
      const times = { started_at: at, finished_at: at, fresh_to: at };
      await clickhouse.insert('ingestion_runs', [{ platform, job: 'markets', ok: true, ...times }]);
    },
    deps: (backfillDays) => ({
      clickhouse,
      log,
      writer,
      watermarks: new Watermarks(clickhouse, platform, systemClock, noCopier),
      directory: storedMarkets,
      backfillDays,
      clock: { now: () => clock.now },
      backoff,
      ...noListeners,
    }),
    async tradeIds() {
      const rows = await clickhouse.sql<{ trade_id: string }>('SELECT trade_id FROM trades');
      return rows.map(({ trade_id }) => trade_id).toSorted();
    },
    async close() {
      await http.close();
      await shared.close();
      await clickhouse.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
