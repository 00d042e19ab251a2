import type { Settings } from '../../../core/settings.ts';
import type { PlatformSockets } from '../../sockets/contract.ts';
import type { PolymarketUrl } from '../manifest.ts';
import { activityChannel } from './activity.ts';
import { MarketSession } from './market-session.ts';

/** Clients got no changes with more than 500 tokens per socket; 200 are known to work. Each market has two. */
const MARKETS_PER_SOCKET = 100;
/** The first frame has the books of all tokens of a connection: 200 deep ones, of 21 KB each, exceed 4 MiB. */
const FRAME_BYTES = 16 * 1024 * 1024;

/** Polymarket's public sockets: trades of the whole platform, and books of the most traded markets. */
export const createPolymarketSockets = (settings: Pick<Settings, PolymarketUrl>): PlatformSockets => ({
  platform: 'polymarket',
  markets: 200,
  // The Data API shows a trade 5 to 12 seconds after its match.
  tradeDelaysMs: [0, 3000, 8000, 15_000],
  tradeGapMs: 2000,
  readEveryMs: 250,
  channels: [
    activityChannel(settings.POLYMARKET_LIVE_URL),
    {
      name: 'market',
      url: settings.POLYMARKET_WS_URL,
      marketsPerSocket: MARKETS_PER_SOCKET,
      frameBytes: FRAME_BYTES,
      heartbeat: { text: 'PING', everyMs: 10_000 },
      silentMs: 25_000,
      quietMs: 20_000,
      isUneven: true,
      rotateMs: 60 * 60_000,
      bringsTrades: false,
      session: (markets, send, clock) => new MarketSession(markets, send, clock),
    },
  ],
});
