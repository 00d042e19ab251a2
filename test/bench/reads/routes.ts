import type { Platform } from '../../../src/core/model.ts';

/** References of the stored markets by platform, most traded first. */
export type Refs = Record<Platform, string[]>;

/** A read: which figures it counts to, its share of the mix in percent, and a call of it with random parameters. */
export interface ReadRoute {
  name: string;
  kind: 'present' | 'history';
  share: number;
  path(refs: Refs): string;
}

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const SORTS = ['volume_24h', 'volume_total', 'liquidity'];
const CATEGORIES = ['sports', 'crypto', 'politics', 'economy', 'finance', 'geopolitics', 'culture'];
const PAGE = 50;

const below = (limit: number): number => Math.floor(Math.random() * limit);
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const anyPlatform = (): Platform => oneOf(['kalshi', 'kalshi', 'polymarket', 'polymarket', 'limitless']);
/** Limitless lists no trades in markets/trades. */
const withTrades = (): Platform => oneOf(['kalshi', 'polymarket']);
const hoursAgo = (hours: number): number => (Math.floor(Date.now() / 1000 / HOUR_S) - hours) * HOUR_S;

function some(refs: Refs, platform: Platform, count: number): string {
  return Array.from({ length: count }, () => oneOf(refs[platform])).join(',');
}

/** The reads of the mix. Pages of a list differ in a bound that leaves nearly all of its markets, so that no two are alike. */
export const READ_ROUTES: readonly ReadRoute[] = [
  {
    name: 'markets/id',
    kind: 'present',
    share: 25,
    path: (refs) => {
      const platform = anyPlatform();
      return `markets/id/${oneOf(refs[platform])}?provider=${platform}`;
    },
  },
  {
    name: 'lists',
    kind: 'present',
    share: 15,
    path: () => {
      const category = below(2) === 0 ? '' : `&category=${oneOf(CATEGORIES)}`;
      const sort = `sort=${oneOf(SORTS)}&min_liquidity=${below(100_000) / 1000}`;
      return `markets?provider=${anyPlatform()}&limit=${PAGE}&${sort}${category}`;
    },
  },
  {
    name: 'search',
    kind: 'present',
    share: 10,
    path: (refs) => {
      const words = below(4) === 0 ? 'number' : `number%20${below(refs.kalshi.length * 2)}`;
      return `markets?provider=${anyPlatform()}&limit=${PAGE}&query=${words}&min_liquidity=${below(100_000) / 1000}`;
    },
  },
  {
    name: 'batches',
    kind: 'present',
    share: 5,
    path: (refs) => {
      const platform = anyPlatform();
      return `markets?provider=${platform}&market_ids=${some(refs, platform, 10)}`;
    },
  },
  {
    name: 'newest trades',
    kind: 'present',
    share: 15,
    path: (refs) => {
      const platform = withTrades();
      return `markets/trades?provider=${platform}&market_id=${oneOf(refs[platform])}&limit=${PAGE}`;
    },
  },
  {
    name: 'prices',
    kind: 'present',
    share: 5,
    path: (refs) => {
      const platform = anyPlatform();
      return `markets/prices?provider=${platform}&market_ids=${some(refs, platform, 10)}`;
    },
  },
  {
    name: 'snapshot',
    kind: 'present',
    share: 5,
    path: (refs) => {
      const platform = anyPlatform();
      return `metrics/snapshot?platform=${platform}&market_id=${oneOf(refs[platform])}`;
    },
  },
  {
    name: 'price-history',
    kind: 'history',
    share: 8,
    path: (refs) => {
      const platform = withTrades();
      const start = hoursAgo(24 + below(240));
      return `markets/price-history?provider=${platform}&market_ids=${oneOf(refs[platform])}&start_ts=${start}&end_ts=${start + 5 * DAY_S}&interval=60`;
    },
  },
  {
    name: 'metrics',
    kind: 'history',
    share: 4,
    path: (refs) => {
      const platform = withTrades();
      return `metrics/historical?platform=${platform}&market_id=${oneOf(refs[platform])}&interval=1h&start_ts=${hoursAgo(24 + below(144))}`;
    },
  },
  {
    name: 'whales',
    kind: 'history',
    share: 3,
    path: () => `trades/whales?limit=${PAGE}&sort=${oneOf(['time', 'size'])}&min_size=${1000 + below(4000)}`,
  },
  {
    name: 'trending',
    kind: 'history',
    share: 3,
    path: () => {
      const category = below(2) === 0 ? '' : `&category=${oneOf(CATEGORIES)}`;
      return `analytics/trending?window=${oneOf(['24h', '7d'])}&sort_by=${oneOf(['volume_change', 'price_change'])}&limit=${20 + below(80)}${category}`;
    },
  },
  {
    name: 'categories',
    kind: 'history',
    share: 2,
    path: () => `analytics/categories${oneOf(['', '?platform=kalshi', '?platform=polymarket'])}`,
  },
];
