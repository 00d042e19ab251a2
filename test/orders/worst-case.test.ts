import { expect, test } from 'vitest';
import { ONE_PRICE, parsePrice, parseSize, parseUsd, usdText } from '../../src/core/decimal.ts';
import type { JsonObject, Platform, Side } from '../../src/core/model.ts';
import { worstCase } from '../../src/orders/placing/worst-case.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import { limitlessFillFee } from '../../src/platforms/limitless/fees.ts';
import { takerFeeBps, takerTotals } from '../simulators/limitless/fees.ts';

interface More {
  side?: Side;
  budget?: string;
}

const worst = (platform: Platform, metadata: JsonObject, price: string, size: string, more: More = {}) => {
  const { side = 'buy', budget } = more;
  const terms = { side, price: parsePrice(price), size: parseSize(size) };
  const spent = budget === undefined ? null : parseUsd(budget);
  const { usd, fee } = worstCase({ platform, metadata } as StoredMarket, terms, spent);
  return [usdText(usd), fee === null ? null : usdText(fee)];
};

test('an order costs its worst price × size, and the fee that the platform takes of one fill at that price', () => {
  expect(worst('kalshi', { fee: { multiplier: 1 } }, '0.5', '100')).toEqual(['50', '1.75']);
  expect(worst('kalshi', { fee: { multiplier: 1 } }, '0.52', '7')).toEqual(['3.64', '0.1224']);
  expect(worst('limitless', { fee: { enabled: false } }, '0.5', '10')).toEqual(['5', '0']);
});

test('an order for an amount that the platform spends itself costs that amount, whatever the book offers', () => {
  const fee = { enabled: true, rate: 0.05, exponent: 1 };
  expect(worst('polymarket', { fee }, '0.4', '10', { budget: '100' })).toEqual(['100', '3']);
  expect(worst('polymarket', { fee }, '0.4', '250', { budget: '99.99' })).toEqual(['99.99', '3']);
});

test('contracts that the platform keeps count at the worst price', () => {
  const [usd, fee] = worst('limitless', {}, '0.95', '100');
  expect([usd, fee]).toEqual(['95', '0.5035']);
});

test('the rate of a purchase on Limitless between two published prices is whole basis points, rounded up', () => {
  const fees = ['0.77', '0.785', '0.94'].map((price) => worst('limitless', {}, price, '100')[1]);
  // 117.6, 111.85 and 56 basis points.
  expect(fees).toEqual(['0.9086', '0.8792', '0.5264']);
});

test.each(['buy', 'sell'] as const)('the simulated Limitless charges no %s more at any price', (side) => {
  const size = parseSize('100');
  for (let tick = 1; tick < 1000; tick += 1) {
    const usd = (size * BigInt(tick)) / 1000n;
    const taker = side === 'buy' ? 'BUY' : 'SELL';
    const { contractsFee, usdFee } = takerTotals(taker, size, usd, takerFeeBps(taker, size, usd));
    const { paid, kept } = limitlessFillFee({}, parsePrice(tick / 1000), size, side);
    expect([tick, kept >= contractsFee && paid / ONE_PRICE >= usdFee]).toEqual([tick, true]);
  }
});

test('a sale on Limitless pays the published rate for sales, in USD', () => {
  const sale = (price: string) => worst('limitless', {}, price, '100', { side: 'sell' })[1];
  expect([sale('0.5'), sale('0.9'), sale('0.8'), sale('0.1')]).toEqual(['0.75', '0.702', '0.888', '0.078']);
  // Between two published prices the rate is at most that of the one nearer to 0.50.
  expect([sale('0.95'), sale('0.001'), sale('0.999')]).toEqual(['0.741', '0.00042', '0.41958']);
  expect(worst('limitless', { fee: { enabled: false } }, '0.9', '100', { side: 'sell' })).toEqual(['90', '0']);
});

test('what a sale on Kalshi brings is rounded down', () => {
  expect(worst('kalshi', { fee: { multiplier: 1 } }, '0.001', '1.08', { side: 'sell' })).toEqual([
    '0.00108',
    '0.00018',
  ]);
  expect(worst('kalshi', { fee: { multiplier: 1 } }, '0.001', '1.08')).toEqual(['0.00108', '0.00012']);
});

test('a fee that is not known is null, not zero', () => {
  expect(worst('kalshi', {}, '0.5', '100')).toEqual(['50', null]);
});
