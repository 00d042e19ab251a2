import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { Spool } from '../../../ingest/spool/spool.ts';
import { TradeInserts } from '../../../ingest/spool/trade-inserts.ts';
import { TradeLog } from '../../../ingest/trade-log.ts';
import { parseDecimal, PRICE_SCALE, SIZE_SCALE } from '../../../src/core/decimal.ts';
import type { TradeRecord } from '../../../src/core/model.ts';
import { TradeCopier } from '../../../src/present/trades/copier.ts';
import { StoredMarkets } from '../../../src/markets/directory.ts';
import { groupedInserts } from '../../../src/stores/clickhouse/grouped-inserts.ts';
import type { Lease } from '../../../src/stores/shared/shared.ts';
import { FollowedTrades } from '../../../src/streams/log/followed.ts';
import type { TestApp } from '../../helpers/app.ts';
import { everySecond } from './every-second.ts';
import type { Refs } from './routes.ts';
import { tradeWriter } from '../../helpers/trade-writer.ts';

const PLATFORM = 'kalshi';
const WRITES_AT_ONCE = 4;

/** Ingestion that runs: `written` has the ids of its stored trades. */
interface Steady {
  readonly written: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Stores this many trades each second as the ingestion of a platform does, with events and copies of their markets. */
export async function ingestSteadily(service: TestApp, refs: Refs, perSecond: number): Promise<Steady> {
  const { postgres, log, clock, present, shared } = service.deps;
  const clickhouse = groupedInserts(service.deps.clickhouse, clock);
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-bench-spool-'));
  const publish = shared.publish.bind(shared);
  const followed = new FollowedTrades(clock);
  await followed.listen(shared);
  const spool = await Spool.open(directory);
  const inserts = new TradeInserts({ clickhouse, spool, clock, isUrgent: () => followed.isAny });
  const written = new Set<string>();
  const markets = new StoredMarkets(clickhouse, async () => null);
  const lease: Lease = { name: 'bench', renew: async () => true, remainingMs: () => 60_000, release: async () => {} };
  const copier = new TradeCopier({ clickhouse, postgres, log, clock }, PLATFORM);
  const writer = tradeWriter({
    copier,
    clickhouse,
    log,
    platform: PLATFORM,
    spool,
    inserts,
    events: new TradeLog({
      clickhouse,
      log,
      platform: PLATFORM,
      markets,
      shared: { publish },
      clock,
      isUrgent: inserts.isUrgent,
    }),
    onStored: (stored) => present.changed(PLATFORM, stored),
    clock,
  });
  await writer.open(lease, new Date());
  await copier.catchUp(clock.now());
  // Trades of the next second come while those of the last one wait for their group.
  const writes = new PQueue({ concurrency: WRITES_AT_ONCE });
  const stop = everySecond(async () => {
    const trades = newTrades(refs[PLATFORM], perSecond);
    void writes.add(async () => {
      await writer.write(trades, lease);
      for (const { tradeId } of trades) written.add(tradeId);
    });
    await writes.onSizeLessThan(1);
  });
  return {
    written,
    async stop() {
      await stop();
      await writes.onIdle();
      await present.settled();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Trades of now; like those of the fill they crowd in few markets. */
const newTrades = (refs: readonly string[], count: number): TradeRecord[] =>
  Array.from({ length: count }, () => ({
    platform: PLATFORM,
    ref: refs[Math.floor(refs.length * Math.random() ** 3)] ?? '',
    tradeId: randomUUID(),
    executedAtUs: Date.now() * 1000,
    side: 'buy',
    outcome: 'yes',
    outcomeIndex: 0,
    outcomeCount: 2,
    price: parseDecimal(`0.${10 + Math.floor(80 * Math.random())}`, PRICE_SCALE),
    size: parseDecimal(1 + Math.floor(100 * Math.random()), SIZE_SCALE),
    transactionHash: '',
    trader: null,
    isBlockTrade: false,
    quoteUsd: null,
  }));
