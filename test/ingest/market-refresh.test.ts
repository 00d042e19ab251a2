import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { StatedMarket } from '../../src/platforms/sockets/contract.ts';
import { MarketRefresh } from '../../ingest/live/market-refresh.ts';

const log = pino({ level: 'silent' });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a market that its platform lists late is read again, however many were listed late before', async () => {
  const reads = new Map<string, number>();
  const read = async (id: string): Promise<boolean> => {
    reads.set(id, (reads.get(id) ?? 0) + 1);
    return reads.get(id) === 2;
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  for (let n = 0; n < 1100; n += 1) {
    refresh.add(`late ${n}`);
    await vi.advanceTimersByTimeAsync(20);
  }
  await vi.advanceTimersByTimeAsync(30_000);
  refresh.add('one more');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(reads.get('one more')).toBe(2);
  refresh.stop();
});

test('a market that stays unknown is read twice for each announcement', async () => {
  let reads = 0;
  const read = async (): Promise<boolean> => {
    reads += 1;
    return false;
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  for (const expected of [2, 4]) {
    refresh.add('A');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(reads).toBe(expected);
  }
  refresh.stop();
});

test('a market is read again only when the caches of its platform have let the old answer go', async () => {
  let reads = 0;
  const read = async (): Promise<boolean> => {
    reads += 1;
    return false;
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  refresh.add('A');
  await vi.advanceTimersByTimeAsync(15_000);
  expect(reads).toBe(1);
  await vi.advanceTimersByTimeAsync(6000);
  expect(reads).toBe(2);
  refresh.stop();
});

const away = async (): Promise<boolean> => {
  throw new Error('away');
};
test.each([
  ['whose reading failed', away, {}],
  ['that its platform shows in its old status', async (): Promise<boolean> => false, { status: 'settled' }],
] as const)('a market %s is read once more', async (_what, first, stated) => {
  const asked: unknown[] = [];
  const read = (id: string, wanted: StatedMarket): Promise<boolean> => {
    asked.push([id, wanted]);
    return asked.length === 1 ? first() : Promise.resolve(true);
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  refresh.add('A', stated);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual([
    ['A', stated],
    ['A', stated],
  ]);
  refresh.stop();
});

test('a stated change is read again until the platform shows it, a bounded number of times', async () => {
  const readAt: number[] = [];
  const begun = Date.now();
  let isShown = false;
  const read = async (): Promise<boolean> => {
    readAt.push(Math.round((Date.now() - begun) / 1000));
    return isShown;
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  refresh.add('A', { tickSize: 10_000_000n });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(readAt).toEqual([0, 20, 60, 140, 300, 600]);
  readAt.length = 0;
  refresh.add('A', { tickSize: 100_000_000n });
  await vi.advanceTimersByTimeAsync(30_000);
  isShown = true;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(readAt).toHaveLength(3);
  refresh.stop();
});

test('a stated result is read again for long enough that its platform shows it, a bounded number of times', async () => {
  const readAt: number[] = [];
  const begun = Date.now();
  const read = async (): Promise<boolean> => {
    readAt.push(Math.round((Date.now() - begun) / 1000));
    return false;
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  refresh.add('A', { status: 'settled' });
  await vi.advanceTimersByTimeAsync(7_200_000);
  expect(readAt).toEqual([0, 20, 60, 140, 300, 600, 1200, 2400]);
  refresh.stop();
});

test('what is announced anew is not replaced by an older statement that is due to be read again', async () => {
  const asked: [string, StatedMarket][] = [];
  const read = async (id: string, stated: StatedMarket): Promise<boolean> => {
    asked.push([id, stated]);
    if (id === 'slow') await new Promise((resolve) => setTimeout(resolve, 30_000));
    return id === 'slow' || asked.length > 1;
  };
  const refresh = new MarketRefresh({ clock: systemClock, log, read, everyMs: 1 });
  refresh.add('A', { tickSize: 10_000_000n });
  await vi.advanceTimersByTimeAsync(10_000);
  refresh.add('slow');
  refresh.add('A', { tickSize: 100_000_000n });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.filter(([id]) => id === 'A')).toEqual([
    ['A', { tickSize: 10_000_000n }],
    ['A', { tickSize: 100_000_000n }],
  ]);
  refresh.stop();
});
