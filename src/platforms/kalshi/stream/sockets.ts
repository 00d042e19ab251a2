import type { Settings } from '../../../core/settings.ts';
import type { Clock } from '../../../core/time.ts';
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
/**
 * Unlike pings, the answer proves that the subscriptions exist: books of quiet markets are silent for long, and the whole platform
 * during its weekly pause. Polls that find trades show whether an existing one brings nothing.
 */
const LIST = { text: JSON.stringify({ id: 0, cmd: 'list_subscriptions' }), everyMs: 8000 };

const common = {
  platform: 'kalshi',
  markets: 200,
  // The platform updates socket and feed separately: either may be seconds ahead.
  tradeDelaysMs: [0, 1000, 4000],
  // A key has twenty reads per second.
  tradeGapMs: 100,
  readEveryMs: 400,
  tradeReachMs: 5000,
} as const;

/** A connection with a signed upgrade that covers the whole platform, or the whole account of its key. */
export const signedChannel = (
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
  // Not pings: those of clients have been observed to end connections. The server pings every 10 s.
  heartbeat: LIST,
  silentMs: 25_000,
  // Pings continue after a subscription has ended.
  quietMs: 20_000,
  rotateMs: 60 * 60_000,
  bringsTrades,
  session: (_markets, send, clock) => new KalshiSession(feed(), send, clock),
});

/** Kalshi's socket, which requires a key: without one, `off` gives the reason. */
export function createKalshiSockets(
  settings: Pick<Settings, KalshiUrl | KalshiKeySetting>,
  clock: Clock,
): PlatformSockets {
  const key = operatorKey(settings);
  if ('missing' in key) return { ...common, channels: [], off: key.missing };
  const signer = kalshiSigner(key, clock.now);
  const url = settings.KALSHI_WS_URL;
  return {
    ...common,
    channels: [
      signedChannel('tape', url, signer, tapeFeed, true),
      signedChannel('tickers', url, signer, tickerFeed, false),
      {
        ...signedChannel('books', url, signer, tapeFeed, false),
        marketsPerSocket: BOOKS_PER_SOCKET,
        isForBooks: true,
        session: (markets, send, clock) => new KalshiSession(new BookFeed(markets, clock), send, clock),
      },
    ],
  };
}
