import { expect, test } from 'vitest';
import { hourlyCalls } from '../../src/explorer/event/hourly.ts';

const HOUR = 3600;
const from = Date.UTC(2026, 9, 26) / 1000;

test.each([1, 3, 10])('a month of %d markets is requested to its last hour, in answers that are not cut', (count) => {
  const ids = Array.from({ length: count }, (_, n) => `M${n}`);
  const until = from + 721 * HOUR;
  const calls = hourlyCalls({ platform: 'kalshi', ids, from, until });
  expect(calls.at(-1)?.end_ts).toBe(until);
  expect(calls.map(({ start_ts: start }) => start)).toEqual([
    from,
    ...calls.slice(0, -1).map(({ end_ts: end }) => end),
  ]);
  for (const { start_ts: start, end_ts: end, limit } of calls)
    expect((count * (end - start)) / HOUR).toBeLessThanOrEqual(limit);
});
