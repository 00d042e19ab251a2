import type { Platform } from '../../src/core/model.ts';

/** One endpoint: how a call of it is made over a filled store. `atMost`: its target, in times of a SELECT 1 through the client. */
export interface Case {
  endpoint: string;
  platform: Platform;
  atMost?: number;
  path(market: string, turn: number): string;
}

const NOW_S = Math.floor(Date.now() / 1000);
const DAY_S = 86_400;

export const CASES: Case[] = [
  {
    endpoint: 'GET markets',
    atMost: 5,
    platform: 'polymarket',
    path: (_, turn) => `markets?provider=polymarket&limit=${50 + (turn % 50)}`,
  },
  {
    endpoint: 'GET markets, a rare word',
    platform: 'polymarket',
    path: (_, turn) => `markets?provider=polymarket&limit=50&query=number%20${1000 + turn}5`,
  },
  {
    endpoint: 'GET markets, a word of all',
    platform: 'polymarket',
    path: (_, turn) => `markets?provider=polymarket&limit=${50 + (turn % 50)}&query=number`,
  },
  {
    endpoint: 'GET search, a rare word',
    platform: 'polymarket',
    path: (_, turn) => `search?limit=${20 + (turn % 20)}&q=number%20${1000 + turn}5`,
  },
  {
    endpoint: 'GET search, a word of all',
    platform: 'polymarket',
    path: (_, turn) => `search?limit=${20 + (turn % 20)}&q=number`,
  },
  {
    endpoint: 'GET search, no word',
    platform: 'polymarket',
    path: (_, turn) => `search?types=markets&limit=${20 + (turn % 20)}&q=`,
  },
  {
    endpoint: 'GET markets/id',
    atMost: 2,
    platform: 'polymarket',
    path: (market) => `markets/id/${market}?provider=polymarket`,
  },
  {
    endpoint: 'GET markets/trades',
    atMost: 4,
    platform: 'polymarket',
    path: (market) => `markets/trades?provider=polymarket&market_id=${market}&limit=100`,
  },
  {
    endpoint: 'GET markets/price-history',
    atMost: 4,
    platform: 'kalshi',
    path: (market) =>
      `markets/price-history?provider=kalshi&market_ids=${market}&start_ts=${NOW_S - 5 * DAY_S}&end_ts=${NOW_S}&interval=60`,
  },
  {
    endpoint: 'GET trades/whales',
    atMost: 4,
    platform: 'kalshi',
    path: (_, turn) => `trades/whales?limit=${50 + (turn % 50)}&sort=${turn % 2 === 0 ? 'time' : 'size'}`,
  },
  {
    endpoint: 'GET analytics/trending',
    platform: 'kalshi',
    path: (_, turn) =>
      `analytics/trending?window=${turn % 2 === 0 ? '24h' : '7d'}&sort_by=${turn % 4 < 2 ? 'volume_change' : 'price_change'}`,
  },
  { endpoint: 'GET analytics/categories', platform: 'kalshi', path: () => 'analytics/categories' },
  {
    endpoint: 'GET metrics/historical',
    atMost: 4,
    platform: 'polymarket',
    path: (market) =>
      `metrics/historical?platform=polymarket&market_id=${market}&interval=1h&start_ts=${NOW_S - 7 * DAY_S}`,
  },
  {
    endpoint: 'GET metrics/snapshot',
    atMost: 4,
    platform: 'polymarket',
    path: (market) => `metrics/snapshot?platform=polymarket&market_id=${market}`,
  },
];
