import type { SocketUrls } from '../core/config.ts';
import type { Platform } from '../core/model.ts';
import { createPolymarketSockets } from './polymarket/stream/sockets.ts';
import type { PlatformSockets } from './sockets/contract.ts';

/** What sockets are made from. */
export interface SocketAdapterDeps {
  urls: SocketUrls;
}

/** The sockets of every platform that has some. */
export const createPlatformSockets = (deps: SocketAdapterDeps): { readonly [P in Platform]?: PlatformSockets } => ({
  polymarket: createPolymarketSockets(deps.urls),
});
