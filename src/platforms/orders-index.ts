import type { Platform } from '../schemas.ts';
import { createKalshiOrders } from './kalshi/orders.ts';
import { createLimitlessOrders } from './limitless/orders.ts';
import type { PlatformOrders } from './orders.ts';
import type { AdapterDeps } from './platform.ts';
import { createPolymarketOrders } from './polymarket/orders.ts';

export type OrderAdapters = { readonly [P in Platform]?: PlatformOrders<P> };

/** The order side of every platform that has one. */
export const createPlatformOrders = (deps: AdapterDeps): OrderAdapters => ({
  kalshi: createKalshiOrders(deps),
  polymarket: createPolymarketOrders(deps),
  limitless: createLimitlessOrders(deps),
});
