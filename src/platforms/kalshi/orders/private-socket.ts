import { z } from 'zod';
import type { Settings } from '../../../core/settings.ts';
import { BadFrame, type SocketChannel } from '../../sockets/contract.ts';
import { parseFrame } from '../../sockets/frame.ts';
import type { KalshiUrl } from '../manifest.ts';
import type { KalshiSigner } from '../sign.ts';
import type { Feed } from '../stream/session.ts';
import { signedChannel } from '../stream/sockets.ts';

const id = z.string().min(1).max(200).optional().catch(undefined);
/** A frame of `fill` or of `user_order`. */
const ownMsg = z
  .object({ order_id: id, client_order_id: id })
  .refine((msg) => msg.order_id !== undefined || msg.client_order_id !== undefined, 'expected an id of an order');

/** Fills and order changes of the key's account; neither channel has sequence numbers or a replay. */
const ownFeed = (): Feed => ({
  start(send) {
    send('subscribe', { channels: ['user_orders', 'fill'] });
  },
  take({ type, msg }, emit) {
    if (type !== 'user_order' && type !== 'fill') throw new BadFrame(`unknown type ${type.slice(0, 60)}`);
    const { order_id: orderId, client_order_id: clientOrderId } = parseFrame(ownMsg, msg, type);
    emit({ kind: 'order', orderId, clientOrderId });
    return true;
  },
});

/** Kalshi's channels `user_orders` and `fill`, for the key of `signer`. */
export const privateChannel = (settings: Pick<Settings, KalshiUrl>, signer: KalshiSigner): SocketChannel =>
  signedChannel('orders', settings.KALSHI_WS_URL, signer, ownFeed, false);
