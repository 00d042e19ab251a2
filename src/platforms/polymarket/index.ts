import type { PlatformAdapters } from '../adapters.ts';
import { createPolymarketData } from './data.ts';
import { createPolymarketOrders } from './orders/adapter.ts';
import { createPolymarketSockets } from './stream/sockets.ts';

/** Polymarket's adapters; manifest.ts has what is known of it without calls. */
export const polymarket: PlatformAdapters<'polymarket'> = {
  data: createPolymarketData,
  orders: createPolymarketOrders,
  sockets: createPolymarketSockets,
};
