import type { z } from 'zod';
import type { CredentialsAnswer, KeysAnswer, OrderLimitsAnswer, UserAnswer } from '../../schemas/account.ts';
import type { CategoriesAnswer, CategoryAnswer, TrendingAnswer } from '../../schemas/analytics.ts';
import type { EventsAnswer, ListedEventAnswer, OneEventAnswer, SearchAnswer } from '../../schemas/events.ts';
import type { CalibrationAnswer, CalibrationBinAnswer } from '../../schemas/calibration.ts';
import type { HealthAnswer } from '../../schemas/health.ts';
import type { MarketAnswer, MarketsAnswer } from '../../schemas/markets.ts';
import type { PriceHistoryAnswer } from '../../schemas/price-history.ts';
import type {
  GapsAnswer,
  GivenVerdictAnswer,
  MatchAnswer,
  MatchesAnswer,
  TakenVerdictAnswer,
} from '../../schemas/matches.ts';
import type { OrderBookAnswer } from '../../schemas/order-book.ts';
import type { OneOrderAnswer, OrdersAnswer } from '../../schemas/orders.ts';
import type { AccountEventsAnswer, SessionsAnswer } from '../../schemas/sessions.ts';
import type { HistoryAnswer, HistoryItemAnswer, SnapshotAnswer } from '../../schemas/metrics.ts';
import type {
  WalletAnswer,
  WalletPositionsAnswer,
  WalletTradesAnswer,
  WatchedWalletsAnswer,
} from '../../schemas/wallets.ts';
import type { WhalesAnswer, WhaleTradeAnswer } from '../../schemas/whale-trades.ts';

/** API types, inferred from the schemas that its answers are checked against and its OpenAPI is generated from. */
export type Event = z.output<typeof ListedEventAnswer>;
export type Market = z.output<typeof MarketAnswer>;
export type Trade = z.output<typeof WhaleTradeAnswer>;
export type Bar = z.output<typeof HistoryItemAnswer>;
export type Snapshot = z.output<typeof SnapshotAnswer>;
export type OrderBook = z.output<typeof OrderBookAnswer>['data'];
export type Category = z.output<typeof CategoryAnswer>;
export type CalibrationBin = z.output<typeof CalibrationBinAnswer>;
export type User = z.output<typeof UserAnswer>['user'];
export type ApiKey = z.output<typeof KeysAnswer>['api_keys'][number];
export type Order = z.output<typeof OrdersAnswer>['orders'][number];

export type Match = z.output<typeof MatchAnswer>;
export type Gap = z.output<typeof GapsAnswer>['matches'][number];

/** The answer to a GET, by path; other methods stand before the path. */
export interface Answers {
  '/v1/api/markets': z.output<typeof MarketsAnswer>;
  '/v1/api/search': z.output<typeof SearchAnswer>;
  '/v1/api/events': z.output<typeof EventsAnswer>;
  '/v1/api/events/{id}': z.output<typeof OneEventAnswer>;
  '/v1/api/markets/id/{id}': z.output<typeof MarketsAnswer>;
  '/v1/api/markets/id/{id}/orderbook': z.output<typeof OrderBookAnswer>;
  '/v1/api/markets/price-history': z.output<typeof PriceHistoryAnswer>;
  '/v1/api/matches': z.output<typeof MatchesAnswer>;
  '/v1/api/matches/gaps': z.output<typeof GapsAnswer>;
  'POST /v1/api/matches/{id}/verdict': z.output<typeof GivenVerdictAnswer>;
  'DELETE /v1/api/matches/{id}/verdict': z.output<typeof TakenVerdictAnswer>;
  '/v1/api/metrics/historical': z.output<typeof HistoryAnswer>;
  '/v1/api/metrics/snapshot': z.output<typeof SnapshotAnswer>;
  '/v1/api/trades/whales': z.output<typeof WhalesAnswer>;
  '/v1/api/analytics/trending': z.output<typeof TrendingAnswer>;
  '/v1/api/analytics/categories': z.output<typeof CategoriesAnswer>;
  '/v1/api/analytics/calibration': z.output<typeof CalibrationAnswer>;
  '/v1/api/orders': z.output<typeof OrdersAnswer>;
  'POST /v1/api/orders': z.output<typeof OneOrderAnswer>;
  '/v1/api/auth/me': z.output<typeof UserAnswer>;
  '/v1/api/auth/api-keys': z.output<typeof KeysAnswer>;
  '/v1/api/auth/sessions': z.output<typeof SessionsAnswer>;
  '/v1/api/auth/events': z.output<typeof AccountEventsAnswer>;
  '/v1/api/auth/order-settings': z.output<typeof OrderLimitsAnswer>;
  '/v1/api/auth/watched-wallets': z.output<typeof WatchedWalletsAnswer>;
  '/v1/api/wallets/{address}': z.output<typeof WalletAnswer>;
  '/v1/api/wallets/{address}/trades': z.output<typeof WalletTradesAnswer>;
  '/v1/api/wallets/{address}/positions': z.output<typeof WalletPositionsAnswer>;
  '/v1/api/auth/credentials': z.output<typeof CredentialsAnswer>;
  '/v1/api/health': z.output<typeof HealthAnswer>;
  '/v1/api/openapi.json': object;
}
export type Path = keyof Answers;
