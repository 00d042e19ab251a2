import type { Clock } from '../core/time.ts';
import type { Settings } from '../core/settings.ts';
import type { Platform } from '../core/model.ts';
import { createKalshiSockets } from './kalshi/stream/sockets.ts';
import { createLimitlessSockets } from './limitless/stream/sockets.ts';
import { createPolymarketSockets } from './polymarket/stream/sockets.ts';
import type { PlatformSockets } from './sockets/contract.ts';

/** The sockets of every platform that has any. */
export const createPlatformSockets = (
  settings: Settings,
  clock: Clock,
): { readonly [P in Platform]?: PlatformSockets } => ({
  kalshi: createKalshiSockets(settings, clock),
  polymarket: createPolymarketSockets(settings),
  limitless: createLimitlessSockets(settings),
});
