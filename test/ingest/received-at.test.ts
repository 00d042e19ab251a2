import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { Spool } from '../../ingest/spool/spool.ts';
import { TradeLog } from '../../ingest/trade-log.ts';
import { pollGlobalTrades } from '../../ingest/trades.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { startIngestRig } from '../helpers/ingest-rig.ts';
import { LEASE } from '../helpers/market-store.ts';
import { startKalshi } from '../simulators/kalshi.ts';
import { startPolymarket } from '../simulators/polymarket.ts';
import { tradeWriter } from '../helpers/trade-writer.ts';

const WORLD = { seed: 13, markets: 10, tradesPerMarket: 5, historyDays: 1 };
/** How long storing waits. */
const STORING_MS = 1500;
const log = pino({ level: 'silent' });

test.for([
  ['kalshi', startKalshi],
  ['polymarket', startPolymarket],
] as const)(
  'the event of a trade of %s says when its page came, however long storing takes',
  async ([platform, start]) => {
    const sim = await start(WORLD);
    sim.enforceLimits = false;
    const rig = await startIngestRig(sim, platform);
    const directory = await mkdtemp(join(tmpdir(), 'forecastle-received-'));
    const { clickhouse } = rig;
    const spool = await Spool.open(directory);
    const put = spool.put.bind(spool);
    vi.spyOn(spool, 'put').mockImplementation(async (...given) => {
      await sleep(STORING_MS);
      await put(...given);
    });
    const markets = new StoredMarkets(clickhouse, async () => null);
    const events = new TradeLog({
      clickhouse,
      shared: { publish: async () => {} },
      log,
      platform,
      markets,
      clock: systemClock,
    });
    const writer = tradeWriter({ clickhouse, spool, log, platform, events, clock: systemClock });
    await writer.open(LEASE, null);
    // Times of trades are whole seconds on Polymarket.
    await sleep(1000);
    sim.trade(10);
    rig.clock.now = Date.now();
    await rig.list();

    let cameMs = 0;
    const data: PlatformData = {
      ...rig.data,
      async *trades(...given) {
        for await (const page of rig.data.trades(...given)) {
          if (page.trades.length > 0) cameMs = Date.now();
          yield page;
        }
      },
    };
    const askedMs = Date.now();
    await pollGlobalTrades({ ...rig.deps(1), writer, clock: { now: Date.now } }, data, rig.run);
    const rows = await clickhouse.sql<{ data: string }>("SELECT data FROM event_log WHERE feed = 'trades'");
    const received = rows.map((row) => Date.parse((JSON.parse(row.data) as { received_at: string }).received_at));
    expect(received.length).toBeGreaterThan(0);
    expect(Math.min(...received)).toBeGreaterThanOrEqual(askedMs);
    expect(Math.max(...received)).toBeLessThanOrEqual(cameMs);
    await rig.close();
    await sim.close();
    await rm(directory, { recursive: true, force: true });
  },
);
