import { EventEmitter, once } from 'node:events';
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
  const freshness = createFreshness({ query }, createLocalShared(silent, systemClock), systemClock);
  expect(await Promise.all([freshness.trades(['kalshi']), freshness.listings(['kalshi'])])).toEqual([at(0), at(0)]);
  vi.setSystemTime(START_MS + 500);
  vi.advanceTimersByTime(500);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  expect(reads).toHaveLength(1);
  vi.advanceTimersByTime(600);
  await freshness.trades(['kalshi']);
  await vi.waitFor(async () => expect(await freshness.trades(['kalshi'])).not.toBe(at(0)));
  expect(reads).toHaveLength(2);
});

test('no answer waits for watermarks that are read again, unless those it knows are older than two seconds', async () => {
  const { query } = store();
  const held = new EventEmitter();
  let isSlow = false;
  const slow: ClickHouse['query'] = async (...asked) => {
    if (isSlow) await once(held, 'answer');
    return query(...asked);
  };
  const freshness = createFreshness({ query: slow }, createLocalShared(silent, systemClock), systemClock);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  isSlow = true;
  vi.advanceTimersByTime(1900);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  vi.advanceTimersByTime(200);
  const waiting = freshness.trades(['kalshi']);
  expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits');
  held.emit('answer');
  expect(await waiting).toBe(at(2.1));
});

test('a platform whose first watermark is awaited is answered with the newest ones', async () => {
  let rows: object[] = [];
  const query: ClickHouse['query'] = async (_name, row) => rows.map((one) => row.parse(one));
  const freshness = createFreshness({ query }, createLocalShared(silent, systemClock), systemClock);
  expect(await freshness.trades(['kalshi'])).toBeNull();
  rows = [{ platform: 'kalshi', listed_ms: START_MS, traded_ms: START_MS }];
  vi.advanceTimersByTime(1100);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
});

test('a store that fails leaves the known watermarks, then fails the answers', async () => {
  let isBroken = false;
  const { query } = store();
  const sometimes: ClickHouse['query'] = (...asked) =>
    isBroken ? Promise.reject(new Error('broken on purpose')) : query(...asked);
  const freshness = createFreshness({ query: sometimes }, createLocalShared(silent, systemClock), systemClock);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  isBroken = true;
  vi.advanceTimersByTime(1900);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  vi.advanceTimersByTime(200);
  await expect(freshness.trades(['kalshi'])).rejects.toThrow('broken on purpose');
});

test('a platform without a watermark leaves none for several', async () => {
  const freshness = createFreshness(store(), createLocalShared(silent, systemClock), systemClock);
  expect(await freshness.trades(['kalshi', 'polymarket'])).toBeNull();
});

test('a store that fails returns nothing new, and is asked again', async () => {
  let broken = true;
  const query: ClickHouse['query'] = (...asked) =>
    broken ? Promise.reject(new Error('broken on purpose')) : store().query(...asked);
  const freshness = createFreshness({ query }, createLocalShared(silent, systemClock), systemClock);
  await expect(freshness.trades(['kalshi'])).rejects.toThrow('broken on purpose');
  broken = false;
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
});
