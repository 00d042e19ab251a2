import { json, type SimReply } from '../lib/index.ts';
import { ok, type Call, type PublicRoute } from './call.ts';
import { timeText } from './units.ts';

const SHARDS = ['Default', 'Combos', 'Crypto & Commodities', 'Tennis, Baseball & Basketball'] as const;

const shardStatus = (index: number, description: string, state: object): object => ({
  exchange_index: index,
  description,
  ...state,
});

/** All shards are up or down together here. While the exchange is down the same body comes with a 503. */
export function exchangeStatus({ exchange }: Pick<Call, 'exchange'>): SimReply {
  const { exchangeActive, tradingActive, resumeMs, down } = exchange.status;
  const state = {
    exchange_active: exchangeActive && !down,
    trading_active: tradingActive && exchangeActive && !down,
    intra_exchange_transfers_active: exchangeActive && !down,
  };
  return json(down ? 503 : 200, {
    ...state,
    ...(resumeMs === null ? {} : { exchange_estimated_resume_time: timeText(resumeMs * 1000) }),
    exchange_index_statuses: SHARDS.map((description, index) => shardStatus(index, description, state)),
  });
}

function historicalCutoff({ exchange }: Call): SimReply {
  const { marketSettledMs, tradesCreatedMs, ordersUpdatedMs, positionsMs } = exchange.cutoff;
  return ok({
    market_settled_ts: timeText(marketSettledMs * 1000),
    trades_created_ts: timeText(tradesCreatedMs * 1000),
    orders_updated_ts: timeText(ordersUpdatedMs * 1000),
    market_positions_last_updated_ts: timeText(positionsMs * 1000),
  });
}

/** Endpoints whose cost is not the default of 10. */
const ENDPOINT_COSTS = [
  { method: 'DELETE', path: '/portfolio/events/orders/{order_id}', cost: 2 },
  { method: 'DELETE', path: '/portfolio/events/orders/batched', cost: 2 },
  { method: 'GET', path: '/portfolio/orders/{order_id}', cost: 2 },
] as const;

export const exchangeRoutes: readonly PublicRoute[] = [
  { method: 'GET', path: '/exchange/status', handle: exchangeStatus },
  { method: 'GET', path: '/historical/cutoff', handle: historicalCutoff },
  {
    method: 'GET',
    path: '/account/endpoint_costs',
    handle: () => ok({ default_cost: 10, endpoint_costs: ENDPOINT_COSTS }),
  },
];
