import type { PlatformAdapters } from '../adapters.ts';
import { createLimitlessData } from './data.ts';
import { createLimitlessOrders } from './orders/adapter.ts';
import { createLimitlessSockets } from './stream/sockets.ts';

/** Limitless's adapters; manifest.ts has what is known of it without calls. */
export const limitless: PlatformAdapters<'limitless'> = {
  data: createLimitlessData,
  orders: createLimitlessOrders,
  sockets: createLimitlessSockets,
};
