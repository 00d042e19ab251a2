import { expect, test } from 'vitest';
import { KalshiTrade } from '../../src/platforms/kalshi/wire.ts';
import { LimitlessMarket, LimitlessTrade } from '../../src/platforms/limitless/wire.ts';
import { mapLimitlessMarket } from '../../src/platforms/limitless/market.ts';
import { dataTrade } from '../../src/platforms/polymarket/wire.ts';
import { wireBaseUnits, wireCents, wirePrice, wireSize, wireUsd } from '../../src/platforms/parse-rows.ts';

const message = (result: { error?: { issues: { message: string }[] } | undefined }) => result.error?.issues[0]?.message;

test('a number that no column of the store holds costs its row, not the batch', () => {
  expect(wireUsd.parse('999999999999.999999')).toBe(999_999_999_999_999_999n);
  expect(message(wireUsd.safeParse('1000000000000'))).toMatch(/larger than any such number can be: "1000000000000"/);
  expect(message(wireSize.safeParse(-1e12))).toMatch(/larger/);
  expect(message(wirePrice.safeParse('100000000'))).toMatch(/larger/);
  expect(message(wirePrice.safeParse('1e999'))).toMatch(/larger/);
  // 18 decimals of collateral are given in their own units.
  expect(wireBaseUnits.parse('123456789012345678901234')).toBe(123456789012345678901234n);
});

test('cents too small or too large to write without an exponent are a price or a bad row, never an exception', () => {
  expect(wireCents.parse(56)).toBe(5_600_000_000n);
  expect(wireCents.parse(1e-7)).toBe(10n);
  expect(message(wireCents.safeParse(1e21))).toMatch(/larger/);
});

test('a trade of an impossible size, or dated in milliseconds instead of seconds, is a bad row', () => {
  const kalshi = {
    trade_id: 'a',
    ticker: 'B',
    count_fp: '1e30',
    yes_price_dollars: '0.5',
    taker_side: 'yes',
    created_time: '2026-10-01T00:00:00Z',
  };
  expect(KalshiTrade.safeParse(kalshi).success).toBe(false);
  expect(KalshiTrade.safeParse({ ...kalshi, count_fp: '1e3' }).success).toBe(true);

  const limitless = { createdAt: 'x', side: 0, price: 0.5, matchedSize: '1', tokenId: '1', txHash: '0x1' };
  expect(LimitlessTrade.safeParse(limitless).success).toBe(true);
  expect(LimitlessTrade.safeParse({ ...limitless, matchedSize: '1000000000000000000' }).success).toBe(false);
  expect(LimitlessTrade.safeParse({ ...limitless, takerAmount: '1000000000000000000' }).success).toBe(false);

  const polymarket = {
    proxy_wallet: `0x${'a'.repeat(40)}`,
    side: 'BUY',
    token_id: '1',
    condition_id: `0x${'b'.repeat(64)}`,
    size: 1,
    price: 0.5,
    timestamp: 1_790_000_000,
    transaction_hash: `0x${'c'.repeat(64)}`,
  };
  expect(dataTrade.safeParse(polymarket).success).toBe(true);
  expect(dataTrade.safeParse({ ...polymarket, timestamp: 1_790_000_000_000 }).success).toBe(false);
});

test('a volume beyond all collateral there is leaves a Limitless market without one', () => {
  const raw = {
    slug: 'a-1',
    title: 'A',
    status: 'FUNDED',
    volume: '1000000000000000000',
    tokens: { yes: '1', no: '2' },
  };
  const { state } = mapLimitlessMarket({ row: LimitlessMarket.parse(raw), raw }, null, '2026-11-01T00:00:00.000Z');
  expect(state.volumeTotal).toBeNull();
});
