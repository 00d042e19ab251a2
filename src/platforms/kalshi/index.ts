import type { PlatformAdapters } from '../adapters.ts';
import { createKalshiData } from './data.ts';
import { createKalshiOrders } from './orders/adapter.ts';
import { createKalshiSockets } from './stream/sockets.ts';

/** Kalshi's adapters; manifest.ts has what is known of it without calls. */
export const kalshi: PlatformAdapters<'kalshi'> = {
  data: createKalshiData,
  orders: createKalshiOrders,
  sockets: createKalshiSockets,
};
