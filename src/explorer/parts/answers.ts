import type { z } from 'zod';
import type { CategoriesAnswer, CategoryAnswer, TrendingAnswer, TrendingItemAnswer } from '../../schemas/analytics.ts';
import type { EventAnswer, OneEventAnswer } from '../../schemas/events.ts';
import type { CalibrationAnswer, CalibrationBinAnswer } from '../../schemas/calibration.ts';
import type { MarketAnswer, MarketsAnswer, PriceHistoryAnswer } from '../../schemas/markets.ts';
import type { OrderBookAnswer } from '../../schemas/order-book.ts';
import type { HistoryAnswer, HistoryItemAnswer, SnapshotAnswer } from '../../schemas/metrics.ts';
import type { WhalesAnswer, WhaleTradeAnswer } from '../../schemas/whale-trades.ts';

/** Types of the API, from the schemas that its answers are checked against and its OpenAPI is made from. */
export type Event = z.output<typeof EventAnswer>;
export type Market = z.output<typeof MarketAnswer>;
export type Trade = z.output<typeof WhaleTradeAnswer>;
export type Bar = z.output<typeof HistoryItemAnswer>;
export type Snapshot = z.output<typeof SnapshotAnswer>;
export type OrderBook = z.output<typeof OrderBookAnswer>['data'];
export type TrendingMarket = z.output<typeof TrendingItemAnswer>;
export type Category = z.output<typeof CategoryAnswer>;
export type CalibrationBin = z.output<typeof CalibrationBinAnswer>;

export interface User {
  id: string;
  email: string;
  name: string;
  tier: 'free' | 'pro';
  created_at: string;
}
export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  expires_at: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}
export interface Credential {
  id: string;
  platform: string;
  label: string;
  is_default: boolean;
  created_at: string;
}
export interface Order {
  order_id: string;
  client_order_id: string;
  platform: string;
  market_id: string;
  side: string;
  outcome: string;
  type: string;
  price: number | null;
  size: number | null;
  filled_size: number | null;
  remaining_size: number | null;
  status: string;
  created_at: string;
}
export interface HealthCheck {
  name: string;
  status: 'ok' | 'degraded' | 'down';
  platform?: string;
  lag_seconds?: number | null;
  detail?: string;
  feed?: string;
  socket?: { connected: boolean; subscriptions: number; last_message_at: string | null; reconnects: number };
}
export interface Health {
  status: 'ok' | 'degraded' | 'down';
  checks: HealthCheck[];
  uptime_seconds: number;
  version: string;
}

/** What a GET of each path answers. */
export interface Answers {
  '/v1/api/markets': z.output<typeof MarketsAnswer>;
  '/v1/api/events/{id}': z.output<typeof OneEventAnswer>;
  '/v1/api/markets/id/{id}': z.output<typeof MarketsAnswer>;
  '/v1/api/markets/id/{id}/orderbook': z.output<typeof OrderBookAnswer>;
  '/v1/api/markets/price-history': z.output<typeof PriceHistoryAnswer>;
  '/v1/api/metrics/historical': z.output<typeof HistoryAnswer>;
  '/v1/api/metrics/snapshot': z.output<typeof SnapshotAnswer>;
  '/v1/api/trades/whales': z.output<typeof WhalesAnswer>;
  '/v1/api/analytics/trending': z.output<typeof TrendingAnswer>;
  '/v1/api/analytics/categories': z.output<typeof CategoriesAnswer>;
  '/v1/api/analytics/calibration': z.output<typeof CalibrationAnswer>;
  '/v1/api/orders': { orders: Order[] };
  '/v1/api/auth/me': { user: User };
  '/v1/api/auth/api-keys': { api_keys: ApiKey[] };
  '/v1/api/auth/credentials': { credentials: Credential[] };
  '/v1/api/health': Health;
  '/v1/api/openapi.json': object;
}
export type Path = keyof Answers;
