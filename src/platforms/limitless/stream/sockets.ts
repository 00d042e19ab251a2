import type { Settings } from '../../../core/settings.ts';
import type { PlatformSockets, SocketChannel } from '../../sockets/contract.ts';
import type { LimitlessUrl } from '../manifest.ts';
import { BookSession } from './book-session.ts';
import { LifecycleSession } from './lifecycle-session.ts';
import { HOUR_MS } from '../../../core/time.ts';

/** Path and query of every upgrade. */
export const HANDSHAKE = '/socket.io/?EIO=4&transport=websocket';

/** What connections to the namespace have in common. */
export const namespaceChannel = (settings: Pick<Settings, LimitlessUrl>) =>
  ({
    url: `${settings.LIMITLESS_WS_URL}${HANDSHAKE}`,
    heartbeat: null,
    // Until the server announces its limits: the sum of those that it announces today.
    silentMs: 85_000,
    // Markets may be silent for an hour, and orders for ever.
    quietMs: null,
    // The platform ends connections after 24 hours.
    rotateMs: 20 * HOUR_MS,
  }) satisfies Partial<SocketChannel>;

/** Limitless' public sockets: books of the most traded open markets and of wanted ones; listings and resolutions. Trades have no socket. */
export function createLimitlessSockets(settings: Pick<Settings, LimitlessUrl>): PlatformSockets {
  const shared = namespaceChannel(settings);
  return {
    platform: 'limitless',
    markets: 600,
    // Trades are listed once they are mined; answers are cached for 30 seconds.
    tradeDelaysMs: [4000],
    tradeGapMs: 30_000,
    // A sixth of the platform's limit: most hints are cancelled orders.
    readEveryMs: 2000,
    channels: [
      {
        ...shared,
        name: 'books',
        // More markets on one connection have not been seen to work.
        marketsPerSocket: 100,
        bringsTrades: true,
        session: (markets, send, clock) => new BookSession(markets, send, clock),
      },
      {
        ...shared,
        name: 'lifecycle',
        marketsPerSocket: null,
        bringsTrades: false,
        session: (_markets, send, clock) => new LifecycleSession(send, clock),
      },
    ],
  };
}
