import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import { type OrderBook, type Platform, PLATFORMS } from '../../../src/core/model.ts';
import { systemClock } from '../../../src/core/time.ts';
import { MarketWriter } from '../../../src/markets/writer.ts';
import type { PlatformData, StoredMarket } from '../../../src/platforms/contract.ts';
import { matcherOf } from '../../helpers/matcher.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { quantile } from '../quantile.ts';
import { startUncached, timeMs } from '../uncached-service.ts';
import { questionsOf } from './questions.ts';

export interface MatchesResult {
  markets: number;
  pairs: number;
  identical: number;
  /** Matching all markets for the first time, by the clock and of this process' cores. */
  firstSeconds: number;
  firstCoreSeconds: number;
  /** What this process takes more with the index than without it, after a collection, and at the peak of matching. */
  moreMb: number;
  peakMb: number;
  /** A look that finds nothing, and one that finds a new market, to its stored verdicts. */
  idleMs: number;
  newMarketMs: number;
  /** GET matches of a market, nothing cached. */
  getP50: number;
  getP99: number;
  /** GET gaps of a market, and of the newest pairs: books of 100 levels that come at once, nothing cached. */
  gapsP50: number;
  gapsP99: number;
  newestGapsP50: number;
}

const WRITE_ROWS = 5000;
const READS = 400;
const NEWEST_READS = 40;
const LEVELS = 100;
const MB = 1024 * 1024;
const { signal } = new AbortController();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const memoryMb = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MB;
};

const levels = (from: number, step: number) =>
  Array.from({ length: LEVELS }, (_, n) => ({ price: parsePrice((from + n * step) / 1000), size: parseSize(25) }));

/** A platform that answers every book at once. */
function booksOf(platform: Platform): PlatformData {
  const side = { bids: levels(450, -1), asks: levels(460, 1) };
  const orderBook = async ({ platformId }: StoredMarket): Promise<OrderBook> => ({
    platform,
    platformId,
    timestamp: new Date().toISOString(),
    exchangeAt: null,
    yes: side,
    no: side,
    minOrderSize: null,
    tickSize: null,
    negRisk: false,
    lastTradePrice: null,
    leftOut: 0,
    raw: {},
  });
  return { platform, orderBook } as unknown as PlatformData;
}

/** Matches markets in the shapes of the three platforms for the first time, then one more, then asks for matches. */
export async function benchMatches(count: number): Promise<MatchesResult> {
  const { clickhouse } = await openOwnClickHouse(2000);
  const writer = new MarketWriter(clickhouse, systemClock);
  try {
    for (const platform of PLATFORMS) {
      let group = [];
      for (const record of questionsOf(platform, Math.floor(count / PLATFORMS.length))) {
        group.push(record);
        if (group.length < WRITE_ROWS) continue;
        await writer.write(platform, group);
        group = [];
      }
      if (group.length > 0) await writer.write(platform, group);
    }
    const matcher = matcherOf(clickhouse, systemClock);
    const step = async (): Promise<number> => {
      const startMs = performance.now();
      for (const platform of PLATFORMS) await matcher.step(platform, signal);
      return performance.now() - startMs;
    };
    const beforeMb = memoryMb();
    const beforeRssMb = process.memoryUsage.rss() / MB;
    let peakMb = 0;
    const watch = setInterval(() => (peakMb = Math.max(peakMb, process.memoryUsage.rss() / MB - beforeRssMb)), 200);
    const cpu = process.cpuUsage();
    const firstMs = await step();
    const { user, system } = process.cpuUsage(cpu);
    clearInterval(watch);
    const moreMb = memoryMb() - beforeMb;
    const idleMs = await step();
    for (const record of questionsOf('polymarket', 1)) {
      Object.assign(record.info, { ref: 'fresh', platformId: 'fresh', slug: 'fresh' });
      await writer.write('polymarket', [record]);
    }
    const newMarketMs = await step();
    const sum = await clickhouse.sql<{ pairs: string; identical: string }>(
      `SELECT count() AS pairs, countIf(relation = 'identical') AS identical FROM matches FINAL WHERE NOT is_withdrawn`,
    );
    const keys = await clickhouse.sql<{ ref: string }>(
      `SELECT ref FROM markets WHERE platform = 'kalshi' AND market_key IN (SELECT a_key FROM matches) ORDER BY cityHash64(ref) LIMIT ${READS}`,
    );
    const platforms = Object.fromEntries(PLATFORMS.map((platform) => [platform, booksOf(platform)]));
    const service = await startUncached(clickhouse, { platforms });
    const timesOf = async (paths: readonly string[]): Promise<number[]> => {
      const times: number[] = [];
      for (const path of paths) times.push(await timeMs(() => service.get(path)));
      return times;
    };
    const ofMarkets = keys.map(({ ref }) => `platform=kalshi&market_id=${encodeURIComponent(ref)}`);
    const times = await timesOf(ofMarkets.map((query) => `matches?${query}`));
    const gapTimes = await timesOf(ofMarkets.map((query) => `matches/gaps?size=1000&${query}`));
    const newestTimes = await timesOf(Array.from({ length: NEWEST_READS }, () => 'matches/gaps?size=1000&limit=10'));
    await service.close();
    return {
      markets: count,
      pairs: Number(sum[0]?.pairs),
      identical: Number(sum[0]?.identical),
      firstSeconds: firstMs / 1000,
      firstCoreSeconds: (user + system) / 1e6,
      moreMb,
      peakMb,
      idleMs,
      newMarketMs,
      getP50: quantile(times, 0.5),
      getP99: quantile(times, 0.99),
      gapsP50: quantile(gapTimes, 0.5),
      gapsP99: quantile(gapTimes, 0.99),
      newestGapsP50: quantile(newestTimes, 0.5),
    };
  } finally {
    await clickhouse.close();
  }
}
