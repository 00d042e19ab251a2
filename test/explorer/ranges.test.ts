import { expect, test, vi } from 'vitest';
import { shownBars, type Dated } from '../../src/explorer/market/ranges.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 25, 12, 0, 30);
const ago = (hours: number): string => new Date(NOW - hours * HOUR_MS).toISOString();
const market: Dated = {
  status: 'open',
  created_at: ago(999),
  trading_start_at: ago(0.05),
  trading_end_at: ago(-0.05),
  resolved_at: null,
};

const shown = (change: Partial<Dated>, address = '') => {
  vi.setSystemTime(NOW);
  const { range, interval, startTs } = shownBars(new URLSearchParams(address), { ...market, ...change });
  return [range, interval, (NOW / 1000 - startTs) / 3600];
};

test('a chart opens in the range that a market has traded, a week at most', () => {
  vi.useFakeTimers();
  expect(shown({}).slice(0, 2)).toEqual(['6h', '1m']);
  expect(shown({ trading_start_at: ago(24.5) }).slice(0, 2)).toEqual(['1d', '5m']);
  expect(shown({ trading_start_at: ago(30) }).slice(0, 2)).toEqual(['1w', '1h']);
  expect(shown({ trading_start_at: ago(5000) }).slice(0, 2)).toEqual(['1w', '1h']);
  expect(shown({}, 'range=1w').slice(0, 2)).toEqual(['1w', '1h']);
  expect(shown({}, 'interval=15m').slice(0, 2)).toEqual(['6h', '15m']);
  vi.useRealTimers();
});

const all = (hours: number) => shown({ trading_start_at: ago(hours) }, 'range=all')[1];

test('all of a short life is shown in buckets that fill the chart, of a long one in days', () => {
  vi.useFakeTimers();
  expect([all(2), all(6), all(30), all(200), all(1000), all(5000)]).toEqual(['1m', '5m', '15m', '1h', '4h', '1d']);
  vi.useRealTimers();
});

test('ranges of a market that has ended reach back from its end', () => {
  vi.useFakeTimers();
  const ended = { status: 'settled', trading_start_at: ago(100.1), trading_end_at: ago(100) };
  expect(shown(ended)).toEqual(['6h', '1m', expect.closeTo(106, 1)]);
  expect(shown({ ...ended, trading_end_at: ago(-50), resolved_at: ago(100) })[2]).toBeCloseTo(106, 1);
  expect(shown({ ...ended, status: 'open' }, 'range=6h')[2]).toBeCloseTo(6, 1);
  vi.useRealTimers();
});
