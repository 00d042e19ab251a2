import { expect, test } from 'vitest';
import type { MarketStatus } from '../../src/core/model.ts';
import { StatedMarkets } from '../../src/markets/stated-markets.ts';
import { market } from '../helpers/market-store.ts';

const MINUTE = 60_000;
const row = (tick: number) => {
  const one = market({ ref: '0xa', platform: 'polymarket', state: { status: 'open' } });
  return { ...one, info: { ...one.info, metadata: { ...one.info.metadata, tick_size: tick } } };
};
const tickOf = ({ info }: ReturnType<typeof row>) => info.metadata.tick_size;

test('a stated tick size counts at once and outweighs older rows, from any cache, for ten minutes', () => {
  let nowMs = 0;
  const stated = new StatedMarkets(() => nowMs);
  expect(stated.take(row(0.0001), { tickSize: 10_000_000n })).toBe(false);
  expect(stated.apply(row(0.0001)).info.metadata).toMatchObject({ tick_size: 0.001 });
  expect(stated.take(row(0.001), { tickSize: 10_000_000n })).toBe(true);
  nowMs = 9 * MINUTE;
  expect(stated.apply(row(0.0001)).info.metadata.tick_size).toBe(0.001);
  const other = market({ ref: '0xb', platform: 'polymarket' });
  expect(stated.apply(other)).toBe(other);
  nowMs = 11 * MINUTE;
  expect(tickOf(row(0.0001))).toBe(0.0001);
  expect(stated.apply(row(0.0001)).info.metadata.tick_size).toBe(0.0001);
});

test('the newest statement counts, and a status is shown only by a row that has it', () => {
  const stated = new StatedMarkets(() => 0);
  stated.take(row(0.01), { tickSize: 10_000_000n });
  stated.take(row(0.01), { tickSize: 1_000_000n });
  expect(stated.apply(row(0.01)).info.metadata.tick_size).toBe(0.0001);
  expect(stated.take(row(0.01), { status: 'settled' })).toBe(false);
  expect(stated.take(row(0.01), { status: 'open' })).toBe(true);
  expect(stated.take(row(0.01), {})).toBe(true);
});

const shown = (status: MarketStatus) => market({ ref: 'otter', platform: 'limitless', state: { status } });

test('a stated time of resolution counts once the platform shows the market as settled, however late', () => {
  let nowMs = 0;
  const stated = new StatedMarkets(() => nowMs);
  const resolvedAt = '2026-11-23T10:00:01.000Z';
  expect(stated.take(shown('closed'), { status: 'settled', resolvedAt })).toBe(false);
  expect(stated.apply(shown('closed')).state.resolvedAt).toBe(shown('closed').state.resolvedAt);
  nowMs = 60 * MINUTE;
  expect(stated.apply(shown('settled')).state.resolvedAt).toBe(resolvedAt);
  expect(stated.resolvedAt(shown('settled'))).toBe(resolvedAt);
  expect(
    stated.resolvedAt(market({ ref: 'badger', platform: 'limitless', state: { status: 'settled' } })),
  ).toBeUndefined();
});
