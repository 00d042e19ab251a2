import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { createFreshness } from '../../src/queries/freshness.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { silent } from '../helpers/silent-log.ts';

const START_MS = Date.UTC(2026, 0, 1);

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'], now: START_MS }));
afterEach(() => void vi.useRealTimers());

const at = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString();

/** A store whose watermarks are the time at which they are read; Polymarket has none. */
function store() {
  const reads: string[] = [];
  const query: ClickHouse['query'] = async (name, row) => {
    reads.push(name);
    return [row.parse({ platform: 'kalshi', listed_ms: Date.now(), traded_ms: Date.now() })];
  };
  return { reads, query };
}

test('watermarks are read once a second, however many answers state them', async () => {
  const { reads, query } = store();
  const freshness = createFreshness({ query }, createLocalShared(silent, systemClock));
  expect(await Promise.all([freshness.trades(['kalshi']), freshness.listings(['kalshi'])])).toEqual([at(0), at(0)]);
  vi.setSystemTime(START_MS + 500);
  vi.advanceTimersByTime(500);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  expect(reads).toHaveLength(1);
  vi.advanceTimersByTime(600);
  expect(await freshness.trades(['kalshi'])).not.toBe(at(0));
  expect(reads).toHaveLength(2);
});

test('a platform without a watermark leaves none for several', async () => {
  const freshness = createFreshness(store(), createLocalShared(silent, systemClock));
  expect(await freshness.trades(['kalshi', 'polymarket'])).toBeNull();
});

test('a store that fails returns nothing new, and is asked again', async () => {
  let broken = true;
  const query: ClickHouse['query'] = (...asked) =>
    broken ? Promise.reject(new Error('broken on purpose')) : store().query(...asked);
  const freshness = createFreshness({ query }, createLocalShared(silent, systemClock));
  await expect(freshness.trades(['kalshi'])).rejects.toThrow('broken on purpose');
  broken = false;
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
});
