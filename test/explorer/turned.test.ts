import { expect, test } from 'vitest';
import type { Bar } from '../../src/explorer/parts/answers.ts';
import { isTurned, shownTrade, turnedBar } from '../../src/explorer/market/turned.ts';

const MARKET = {
  outcomes: [
    { id: 'yes', name: 'Yes' },
    { id: 'no', name: 'No' },
  ],
};

const shown = (outcome: string, side: 'buy' | 'sell', price: number) =>
  shownTrade({ outcome, side, price }, MARKET, false);

test('a trade shows the price of the first outcome, and the direction in which it moves that price', () => {
  expect(shown('yes', 'buy', 0.7)).toEqual({ price: 0.7, move: 'up' });
  expect(shown('yes', 'sell', 0.7)).toEqual({ price: 0.7, move: 'down' });
  expect(shown('no', 'buy', 0.295)).toEqual({ price: 0.705, move: 'down' });
  expect(shown('no', 'sell', 0.3)).toEqual({ price: 0.7, move: 'up' });
});

test('turned to the second outcome, a trade shows its price and the opposite direction', () => {
  expect(shownTrade({ outcome: 'yes', side: 'buy', price: 0.7 }, MARKET, true)).toEqual({ price: 0.3, move: 'down' });
  expect(shownTrade({ outcome: 'no', side: 'buy', price: 0.3 }, MARKET, true)).toEqual({ price: 0.3, move: 'up' });
});

test('a market of three outcomes has no complement: a trade keeps its own price', () => {
  const three = { outcomes: [...MARKET.outcomes, { id: 'draw', name: 'Draw' }] };
  expect(shownTrade({ outcome: 'draw', side: 'sell', price: 0.2 }, three, false)).toEqual({ price: 0.2, move: 'down' });
  expect(isTurned(three, new URLSearchParams('outcome=no'))).toBe(false);
  expect(isTurned(MARKET, new URLSearchParams('outcome=no'))).toBe(true);
});

test('a bucket of the second outcome has the high where the first has its low, and the bid where it has its ask', () => {
  const bar = {
    timestamp: 60,
    price: { open: 0.4, high: 0.45, low: 0.38, close: null },
    liquidity: { best_bid: 0.4, best_ask: 0.43, spread: 0.03, midpoint: 0.415 },
  } as Bar;
  expect(turnedBar(bar)).toEqual({
    timestamp: 60,
    price: { open: 0.6, high: 0.62, low: 0.55, close: null },
    liquidity: { best_bid: 0.57, best_ask: 0.6, spread: 0.03, midpoint: 0.585 },
  });
});
