import { z } from 'zod';
import { PlatformError } from '../../../core/errors.ts';
import type { Settings } from '../../../core/settings.ts';
import type { Clock } from '../../../core/time.ts';
import type { ApiKey } from '../api-keys.ts';
import type { PolymarketUrl } from '../manifest.ts';
import { BadFrame, type SocketChannel, type SocketSession } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';

/** With a rejected key, connections end before their first PONG, without a reason. After this many in a row the key counts as rejected. */
const MOST_UNANSWERED = 3;
/** By then the connection of a rejected key has ended. */
const PROBE_MS = 500;
/** Orders taken from one frame. */
const MOST_MAKERS = 500;

const orderId = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((id) => id.toLowerCase());
const noId = orderId.optional().catch(undefined);
const frameHead = z.object({ event_type: z.string() });
const orderFrame = z.object({ id: orderId });
/** The same trade comes with each status: MATCHED, MINED, CONFIRMED, RETRYING, FAILED. */
const tradeFrame = z
  .object({
    taker_order_id: noId,
    maker_orders: z
      .array(z.object({ order_id: noId }).catch({ order_id: undefined }))
      .nullish()
      .catch(null),
  })
  .transform(({ taker_order_id: taker, maker_orders: makers }) => [
    ...(taker === undefined ? [] : [taker]),
    ...(makers ?? []).slice(0, MOST_MAKERS).flatMap(({ order_id: id }) => id ?? []),
  ])
  .refine((ids) => ids.length > 0, 'expected an id of an order');

/** The API key of a wallet, as of now, and how to have it read again. */
interface KeyOfWallet {
  read(): Promise<ApiKey>;
  forget(): void;
}

/** Polymarket's user channel. Frames of trades also name orders of other users, which are not stored here. */
export function privateChannel(settings: Pick<Settings, PolymarketUrl>, key: KeyOfWallet): SocketChannel {
  let auth: ApiKey | null = null;
  let unanswered = 0;
  return {
    name: 'orders',
    // Beside the market channel: /ws/market, /ws/user.
    url: new URL('user', settings.POLYMARKET_WS_URL).href,
    async headers() {
      if (unanswered >= MOST_UNANSWERED) {
        throw new PlatformError('polymarket', 'unauthorized', { detail: 'the user channel ends at once' });
      }
      // A derived key ends when the wallet makes another one.
      if (unanswered > 0) key.forget();
      auth = await key.read();
      return {};
    },
    marketsPerSocket: null,
    heartbeat: { text: 'PING', everyMs: 10_000 },
    silentMs: 25_000,
    // PONG is the only sign: nothing proves the subscription.
    quietMs: null,
    rotateMs: 60 * 60_000,
    bringsTrades: false,
    session: (_markets, send, clock) =>
      userSession(send, clock, {
        start() {
          unanswered += 1;
          return auth;
        },
        answered: () => (unanswered = 0),
      }),
  };
}

function userSession(
  send: (text: string) => void,
  clock: Clock,
  login: { start(): ApiKey | null; answered(): void },
): SocketSession {
  return {
    start() {
      const key = login.start();
      if (key === null) return;
      const { key: apiKey, secret, passphrase } = key;
      send(JSON.stringify({ auth: { apiKey, secret, passphrase }, type: 'user', markets: [] }));
      clock.timeout(PROBE_MS, () => send('PING'));
    },
    setMarkets() {},
    take(frame, emit) {
      const text = frame.trim();
      if (text === '') return false;
      if (/^pong$/i.test(text)) {
        login.answered();
        return true;
      }
      const body = jsonOf(text);
      for (const one of Array.isArray(body) ? (body as unknown[]) : [body]) {
        const { event_type: type } = parseFrame(frameHead, one, 'frame');
        if (type === 'order') emit({ kind: 'order', orderId: parseFrame(orderFrame, one, type).id });
        else if (type === 'trade') {
          for (const id of parseFrame(tradeFrame, one, type)) emit({ kind: 'order', orderId: id });
        } else throw new BadFrame(`unknown type ${type.slice(0, 60)}`);
      }
      return false;
    },
  };
}
