import type { Settings } from '../../../core/settings.ts';
import type { PlatformSockets, SocketChannel } from '../../sockets/contract.ts';
import type { KalshiUrl } from '../manifest.ts';
import { type KalshiKeySetting, operatorKey } from '../operator-key.ts';
import { kalshiSigner, type KalshiSigner } from '../sign.ts';
import { BookFeed } from './books.ts';
import { type Feed, KalshiSession } from './session.ts';
import { tapeFeed } from './tape.ts';
import { tickerFeed } from './tickers.ts';

/** The signed path, independent of the URL. */
const SIGNED = 'https://kalshi/trade-api/ws/v2';

/** Books of this many markets stay far below the thousands of frames per second that one reader can handle. */
const BOOKS_PER_SOCKET = 100;
/** Unlike pings, the answer proves that the subscription exists; books of quiet markets are silent for long. */
const LIST = { text: JSON.stringify({ id: 0, cmd: 'list_subscriptions' }), everyMs: 8000 };

const common = {
  platform: 'kalshi',
  markets: 200,
  // Socket and tape are fed separately: either may be seconds ahead.
  tradeDelaysMs: [0, 1000, 4000],
  // A key has twenty reads per second.
  tradeGapMs: 100,
  readEveryMs: 400,
  tradeReachMs: 5000,
} as const;

const wholePlatform = (
  name: string,
  url: string,
  signer: KalshiSigner,
  feed: () => Feed,
  bringsTrades: boolean,
): SocketChannel => ({
  name,
  url,
  headers: () => signer('GET', SIGNED),
  marketsPerSocket: null,
  // The server pings every 10 s; pings from clients have been observed to end connections.
  heartbeat: null,
  silentMs: 25_000,
  // Hundreds of trades a minute, except in the break on Thursdays. Pings continue while a subscription is silent.
  quietMs: 20_000,
  rotateMs: 60 * 60_000,
  bringsTrades,
  session: (_markets, send) => new KalshiSession(feed(), send),
});

/** Kalshi's socket, which requires a key: without one, `off` gives the reason. */
export function createKalshiSockets(settings: Pick<Settings, KalshiUrl | KalshiKeySetting>): PlatformSockets {
  const key = operatorKey(settings);
  if ('missing' in key) return { ...common, channels: [], off: key.missing };
  const signer = kalshiSigner(key, Date.now);
  const url = settings.KALSHI_WS_URL;
  return {
    ...common,
    channels: [
      wholePlatform('tape', url, signer, tapeFeed, true),
      wholePlatform('tickers', url, signer, tickerFeed, false),
      {
        ...wholePlatform('books', url, signer, tapeFeed, false),
        marketsPerSocket: BOOKS_PER_SOCKET,
        isForBooks: true,
        heartbeat: LIST,
        session: (markets, send) => new KalshiSession(new BookFeed(markets), send),
      },
    ],
  };
}
