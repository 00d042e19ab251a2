import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { backfillTrades } from '../../ingest/backfill.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import type { TradesDeps } from '../../ingest/trades.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import { LEASE, market, trade } from '../helpers/market-store.ts';

const run: JobRun = {
  lease: LEASE,
  signal: new AbortController().signal,
  context: (priority) => ({ priority, onBadRow: () => {} }),
};

test('a failed batch ends the backfill, not the process, with another batch under way', async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  onTestFinished(() => void process.off('unhandledRejection', hear));
  const startMs = Date.now();
  const of = market({ platform: 'kalshi', ref: 'KXBATCH-1' });
  let fail: () => void = Object;
  const first = new Promise<number>((_, reject) => {
    fail = () => reject(new Error('the insert failed'));
  });
  let writes = 0;
  let nowMs = startMs;
  const deps = {
    writer: {
      write: () => {
        writes += 1;
        if (writes > 1) setImmediate(fail);
        return writes === 1 ? first : Promise.resolve(1);
      },
    },
    watermarks: {
      read: async () => ({ fromUs: startMs * 1000, toUs: startMs * 1000, marker: '' }),
      move: async () => {},
    },
    directory: {},
    backfillDays: 7,
    // Each page is a batch.
    clock: { now: () => (nowMs += 5000) },
  } as unknown as TradesDeps;
  const data = {
    platform: 'kalshi',
    async *trades() {
      for (const hours of [1, 2, 3]) {
        const atMs = startMs - hours * 3_600_000;
        yield { trades: [trade({ of, atMs, price: '0.5', size: '1' })], completeFromUs: atMs * 1000 };
      }
    },
  } as unknown as PlatformData;
  await expect(backfillTrades(deps, data, run, () => {})).rejects.toThrow('the insert failed');
  for (let i = 0; i < 5; i += 1) await turn();
  expect(unheard).toEqual([]);
});
