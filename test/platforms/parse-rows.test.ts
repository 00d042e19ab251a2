import { expect, test } from 'vitest';
import { KalshiTrade } from '../../src/platforms/kalshi/trade.ts';
import { LimitlessMarket, LimitlessOrderBook, LimitlessTrade } from '../../src/platforms/limitless/wire.ts';
import { mapLimitlessMarket } from '../../src/platforms/limitless/market.ts';
import { dataTrade } from '../../src/platforms/polymarket/wire.ts';
import {
  wireBaseUnits,
  wireCents,
  wireLevelUnits,
  wirePrice,
  wireSize,
  wireUsd,
} from '../../src/platforms/parse-rows.ts';

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

test('base units with a fraction are in other units, and are refused instead of rounded', () => {
  for (const schema of [wireBaseUnits, wireLevelUnits]) {
    for (const whole of ['2500000', '2.5e6', '2500000.0', 2_500_000]) expect(schema.parse(whole)).toBe(2_500_000n);
    for (const part of ['2.5', 2.5, '0.000001', '25e-1', '0.99999999999999999999']) {
      expect(message(schema.safeParse(part))).toMatch(/^not a whole number of base units/);
    }
  }
  const trade = { createdAt: 'x', side: 0, price: 0.5, matchedSize: '2500000', tokenId: '1', txHash: '0x1' };
  expect(LimitlessTrade.safeParse(trade).success).toBe(true);
  expect(LimitlessTrade.safeParse({ ...trade, matchedSize: '2.5' }).success).toBe(false);
  const side = { bids: [1, 2, 3.5].map((size) => ({ price: 0.5, size })), asks: [] };
  expect(LimitlessOrderBook.parse(side).bids).toMatchObject({ leftOut: 1, levels: [{ size: 1n }, { size: 2n }] });
});

test('cents are whole: a fraction is in other units, and a number too large for an integer is a bad row', () => {
  expect(wireCents.parse(56)).toBe(5_600_000_000n);
  expect(wireCents.parse(0)).toBe(0n);
  for (const odd of [0.56, 55.5, 1e-7, 1e21, '56']) expect(wireCents.safeParse(odd).success).toBe(false);
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
