import { expect, test } from 'vitest';
import { parsePrice, parseSize, parseUsd, usdText } from '../../src/core/decimal.ts';
import type { JsonObject, Platform } from '../../src/core/model.ts';
import { worstCase } from '../../src/orders/placing/worst-case.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';

const worst = (platform: Platform, metadata: JsonObject, price: string, size: string, budget: string | null = null) => {
  const terms = { price: parsePrice(price), size: parseSize(size) };
  const spent = budget === null ? null : parseUsd(budget);
  const { usd, fee } = worstCase({ platform, metadata } as StoredMarket, terms, spent);
  return [usdText(usd), fee === null ? null : usdText(fee)];
};

test('an order costs its worst price × size, and the fee that the platform takes of one fill at that price', () => {
  expect(worst('kalshi', { fee: { multiplier: 1 } }, '0.5', '100')).toEqual(['50', '1.75']);
  expect(worst('kalshi', { fee: { multiplier: 1 } }, '0.52', '7')).toEqual(['3.64', '0.1224']);
  expect(worst('limitless', { fee: { enabled: false } }, '0.5', '10')).toEqual(['5', '0']);
});

test('an amount that the platform spends itself counts whole, also if the book offers less', () => {
  const fee = { enabled: true, rate: 0.05, exponent: 1 };
  expect(worst('polymarket', { fee }, '0.4', '10', '100')).toEqual(['100', '3']);
  expect(worst('polymarket', { fee }, '0.4', '250', '99.99')).toEqual(['100', '3']);
});

test('contracts that the platform keeps count at the worst price', () => {
  const [usd, fee] = worst('limitless', {}, '0.95', '100');
  expect([usd, fee]).toEqual(['95', '0.5035']);
});

test('a fee that is not known is null, not zero', () => {
  expect(worst('kalshi', {}, '0.5', '100')).toEqual(['50', null]);
});
