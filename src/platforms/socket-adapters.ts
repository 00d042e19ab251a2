import type { SocketUrls } from '../core/config.ts';
import type { Settings } from '../core/settings.ts';
import type { Platform } from '../core/model.ts';
import { createKalshiSockets } from './kalshi/stream/sockets.ts';
import { createLimitlessSockets } from './limitless/stream/sockets.ts';
import { createPolymarketSockets } from './polymarket/stream/sockets.ts';
import type { PlatformSockets } from './sockets/contract.ts';

/** What sockets are made from. */
export interface SocketAdapterDeps {
  urls: SocketUrls;
  /** Where the operator's keys are. */
  settings: Pick<Settings, 'KALSHI_API_KEY_ID' | 'KALSHI_PRIVATE_KEY'>;
}

/** The sockets of every platform that has some. */
export const createPlatformSockets = (deps: SocketAdapterDeps): { readonly [P in Platform]?: PlatformSockets } => ({
  kalshi: createKalshiSockets(deps.urls.kalshi, deps.settings),
  polymarket: createPolymarketSockets(deps.urls),
  limitless: createLimitlessSockets(deps.urls),
});
