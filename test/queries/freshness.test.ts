import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { Freshness } from '../../src/queries/freshness.ts';

const START_MS = Date.UTC(2026, 0, 1);

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START_MS }));
afterEach(() => void vi.useRealTimers());

/** A store whose answers wait until they are let out; each knows the time at which it was asked. */
function slowStore() {
  const held: (() => void)[] = [];
  const query: ClickHouse['query'] = async (_name, row) => {
    const reported = { platform: 'kalshi', listed_ms: Date.now(), traded_ms: Date.now() };
    await new Promise<void>((resolve) => held.push(resolve));
    return [row.parse(reported)];
  };
  const letOut = async (): Promise<void> => {
    for (const release of held.splice(0)) release();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { store: { query }, held, letOut };
}
const at = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString();

test('nobody waits for a newer watermark while the last one is some seconds old', async () => {
  const { store, held, letOut } = slowStore();
  const freshness = new Freshness(store);
  const first = Promise.all([freshness.trades(['kalshi']), freshness.listings(['kalshi'])]);
  expect(held).toHaveLength(1);
  await letOut();
  expect(await first).toEqual([at(0), at(0)]);

  vi.setSystemTime(START_MS + 3000);
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  expect(await freshness.trades(['kalshi'])).toBe(at(0));
  expect(held).toHaveLength(1);
  await letOut();
  expect(await freshness.trades(['kalshi'])).toBe(at(3));

  vi.setSystemTime(START_MS + 9000);
  const later = freshness.trades(['kalshi']);
  await letOut();
  expect(await later).toBe(at(9));
});

test('a store that fails returns nothing new, and is asked again', async () => {
  const { store, letOut } = slowStore();
  let broken = true;
  const freshness = new Freshness({
    query: (...asked) => (broken ? Promise.reject(new Error('broken on purpose')) : store.query(...asked)),
  });
  await expect(freshness.trades(['kalshi'])).rejects.toThrow('broken on purpose');
  broken = false;
  const next = freshness.trades(['kalshi']);
  await letOut();
  expect(await next).toBe(at(0));
});
