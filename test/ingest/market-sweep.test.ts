import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { JobRun } from '../../ingest/job-runner.ts';
import { MarketSweeper } from '../../ingest/market-sweep.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { MarketWriter } from '../../src/markets/writer.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { LEASE, market } from '../helpers/market-store.ts';

const MINUTE = 60_000;
const run: JobRun = {
  lease: LEASE,
  signal: new AbortController().signal,
  context: (priority) => ({ priority, onBadRow: () => {} }),
};

test('a market that was long unknown and is listed again is asked for as soon as it is listed no more', async () => {
  let [now, asked, isListed] = [MINUTE, 0, false];
  const record = market({ platform: 'kalshi', ref: 'BACK' });
  const row = { ref: 'BACK', status: 'open', end_ms: 0, provisional: false };
  const data = {
    platform: 'kalshi',
    async *sweep() {
      yield { markets: isListed ? [record] : [], remaining: 0 };
    },
    async market() {
      asked += 1;
      return null;
    },
  };
  const sweeper = new MarketSweeper({
    clickhouse: { query: async () => [row] } as unknown as ClickHouse,
    writer: { write: async () => 0 } as unknown as MarketWriter,
    data: data as unknown as PlatformData,
    log: pino({ level: 'silent' }),
    now: () => now,
  });
  const pass = () => sweeper.sweep({ kind: 'open' }, run);
  for (let minutes = 0; minutes < 60 * 24; minutes += 1, now += MINUTE) await pass();
  const before = asked;
  isListed = true;
  await pass();
  isListed = false;
  now += MINUTE;
  await pass();
  expect(asked).toBe(before + 1);
});
