import { describe, expect, test } from 'vitest';
import type { StoredMarket } from '../../../src/platforms/contract.ts';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import { SETTINGS, cannedHttp, readContext, refuse } from '../../fixtures/canned-http.ts';
import { storedMarket } from '../../fixtures/stored-market.ts';

const FROM = Date.UTC(2026, 9, 6, 6) / 1000;
const SPAN = { interval: '5m', startTs: FROM, endTs: FROM + 3600 } as const;
const market = (metadata: StoredMarket['metadata'] = {}): StoredMarket =>
  storedMarket({ platform: 'limitless', ref: 'otr-1', title: 'OTR up or down', metadata });
const bar = (minutes: number, change: object = {}) => ({
  timestamp: FROM + minutes * 60,
  open: '86210310000000000000001',
  high: '86300000000000000000000',
  low: '86200000000000000000000',
  close: '86250500000000000000000',
  volume: '0',
  ...change,
});

async function read(answer: unknown, of = market()) {
  const http = cannedHttp(() => answer);
  const data = createLimitlessData({ http, settings: SETTINGS, now: () => FROM * 1000 });
  const context = readContext();
  const found = await data.oracleCandles!(of, SPAN, context);
  return { found, asked: http.asked, warnings: context.badRows };
}
const body = (...rows: unknown[]) => ({ source: 'chainlink', symbol: 'OTR/USD', interval: '5m', rows });

describe('bars of an oracle', () => {
  test('are asked in seconds, exact to the last digit, oldest first and within the span', async () => {
    const { found, asked, warnings } = await read(body(bar(60), bar(10), bar(5), bar(0), bar(-5), bar(5)));
    expect(asked).toEqual([`/markets/otr-1/oracle-candles?interval=5m&from=${FROM}&to=${FROM + 3600}`]);
    expect(found).toMatchObject({ source: 'chainlink', symbol: 'OTR/USD' });
    expect(found?.candles.map(({ startTs }) => startTs)).toEqual([FROM, FROM + 300, FROM + 600]);
    expect(found?.candles[0]?.open).toBe(86_210_310_000_000_000_000_001n);
    expect(warnings).toEqual([]);
  });

  test('may come as numbers, with times as text or in milliseconds', async () => {
    const numbers = { open: 8.621031e22, high: 8.63e22, low: 8.62e22, close: 8.62505e22 };
    const { found, warnings } = await read(
      body(bar(0, numbers), bar(5, { timestamp: String(FROM + 300) }), bar(10, { timestamp: (FROM + 600) * 1000 })),
    );
    expect(found?.candles.map(({ startTs }) => startTs)).toEqual([FROM, FROM + 300, FROM + 600]);
    expect(found?.candles[0]?.open).toBe(86_210_310_000_000_000_000_000n);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['a price in USD', { close: '86210.31' }],
    ['a whole price in USD', { close: 86210 }],
    ['no price', { open: null }],
    ['a price of 0', { low: '0' }],
    ['a price below 0', { low: '-5' }],
    ['a low above its close', { low: '86260000000000000000000' }],
    ['a high below its open', { high: '86210310000000000000000' }],
    ['no time', { timestamp: 'never' }],
    ['a time between two bars', { timestamp: FROM + 361 }],
  ])('with %s are left out and counted, and no neighbour', async (_, change) => {
    const { found, warnings } = await read(body(bar(0), bar(5, change), bar(10)));
    expect(found?.candles.map(({ startTs }) => startTs)).toEqual([FROM, FROM + 600]);
    expect(warnings).toEqual([expect.objectContaining({ platform: 'limitless', kind: 'candle' })]);
  });

  test('are none for a market that has no oracle', async () => {
    const absent = { message: 'Oracle candles not found for market: otr-1' };
    expect((await read(refuse('not_found', 404, absent))).found).toBeNull();
    expect((await read(refuse('refused', 400, absent))).found).toBeNull();
  });

  test('fail when a market with an oracle is refused, the platform is away, or the answer is no list', async () => {
    const withOracle = market({ oracle: { symbol: 'OTR/USD' } });
    await expect(read(refuse('refused', 400, { message: 'to is too late' }), withOracle)).rejects.toThrow();
    await expect(read(refuse('not_found', 404, undefined))).rejects.toThrow();
    await expect(read(refuse('unavailable', 503))).rejects.toThrow();
    await expect(read({ rows: 'none' })).rejects.toThrow();
  });
});
