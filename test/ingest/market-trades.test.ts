import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobRun } from '../../ingest/job-runner.ts';
import { FailureBackoff } from '../../ingest/failure-backoff.ts';
import { pollMarketTrades } from '../../ingest/trades.ts';
import { Watermarks } from '../../ingest/watermarks.ts';
import type { PlatformError } from '../../src/core/errors.ts';
import type { Platform } from '../../src/core/model.ts';
import type { MarketDirectory, PlatformData, TradeQuery } from '../../src/platforms/contract.ts';
import { microsecondText } from '../../src/stores/clickhouse/insert-rows.ts';
import { LEASE, type MarketStore, market, startMarketStore, usd } from '../helpers/market-store.ts';

const run: JobRun = {
  lease: LEASE,
  signal: new AbortController().signal,
  context: (priority) => ({ priority, onBadRow: () => {} }),
};
const directory = {
  byRef: async (_: Platform, refs: string[]) => new Map(refs.map((ref) => [ref, { ref }])),
} as unknown as MarketDirectory;
const platformThat = (does: Partial<PlatformData>): PlatformData => does as PlatformData;

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const tradesOf = (platform: Platform) => ({
  clickhouse: store.clickhouse,
  writer: store.writers[platform],
  watermarks: new Watermarks(store.clickhouse, platform),
  log: pino({ level: 'silent' }),
  directory,
  backfillDays: 7,
  now: Date.now,
  backoff: new FailureBackoff<PlatformError>(),
});

test('a market whose volume moved is read once more when no cache can answer with the page of the first read', async () => {
  const asked: (string | undefined)[] = [];
  const data = platformThat({
    platform: 'limitless',
    tradeOverlapMs: 300_000,
    async *trades({ sinceUs, market: of }: TradeQuery) {
      asked.push(of?.ref);
      yield { trades: [], completeFromUs: sinceUs };
    },
  });
  const now = Date.now();
  for (const seconds of [55, 70]) {
    const ref = `read-${seconds}-s-ago`;
    await store.list(market({ platform: 'limitless', ref, state: { volumeTotal: usd('5') } }));
    await store.clickhouse.insert('trade_coverage (platform, ref, complete_from, complete_to, marker, version)', [
      {
        platform: 'limitless',
        ref,
        complete_from: microsecondText((now - 8 * 86_400_000) * 1000),
        complete_to: microsecondText(now * 1000),
        marker: '5?',
        version: microsecondText((now - seconds * 1000) * 1000),
      },
    ]);
  }
  for (let polls = 0; polls < 2; polls++) await pollMarketTrades(tradesOf('limitless'), data, run);
  expect(asked).toEqual(['read-70-s-ago']);
});
