import type { Platform } from '../core/model.ts';
import { createKalshiOrders } from './kalshi/orders/adapter.ts';
import { createLimitlessOrders } from './limitless/orders/adapter.ts';
import type { PlatformOrders } from './order-contract.ts';
import type { AdapterDeps } from './contract.ts';
import { createPolymarketOrders } from './polymarket/orders/adapter.ts';

export type OrderAdapters = { readonly [P in Platform]?: PlatformOrders<P> };

/** The order adapter of every platform that has one. */
export const createPlatformOrders = (deps: AdapterDeps): OrderAdapters => ({
  kalshi: createKalshiOrders(deps),
  polymarket: createPolymarketOrders(deps),
  limitless: createLimitlessOrders(deps),
});
