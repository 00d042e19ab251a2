import { z } from 'zod';
import type { Settings } from '../../../core/settings.ts';
import type { Emit, SocketChannel } from '../../sockets/contract.ts';
import { parseFrame } from '../../sockets/frame.ts';
import type { LimitlessCredential } from '../credential.ts';
import type { LimitlessUrl } from '../manifest.ts';
import { tokenHeaders } from '../signed-client.ts';
import { PING } from '../stream/packets.ts';
import { NamespaceSession } from '../stream/session.ts';
import { HANDSHAKE, namespaceChannel } from '../stream/sockets.ts';

const id = z.string().min(1).max(200).optional().catch(undefined);
/** From the engine (`OME`) and from the settlement on the chain alike, in no order. */
const orderEvent = z
  .object({ orderId: id, clientOrderId: id })
  .refine((event) => event.orderId !== undefined || event.clientOrderId !== undefined, 'expected an id of an order');
const REFUSED = /auth|api.?key|signature|token|forbidden/i;

/** Order events of the whole account of the token that signed the upgrade. */
class OrderEventSession extends NamespaceSession {
  isRefused = false;

  setMarkets(): void {}

  override take(frame: string, emit: Emit): boolean {
    // Limitless does not always confirm a subscription. A ping that follows without a refusal confirms it.
    return super.take(frame, emit) || frame === PING;
  }

  protected subscription() {
    return { name: 'subscribe_order_events' };
  }

  protected override subscribe(): boolean {
    const isAsked = super.subscribe();
    this.answered();
    return isAsked;
  }

  protected override refused(text: string): boolean {
    this.isRefused = REFUSED.test(text);
    return false;
  }

  protected event(name: string, payload: unknown, emit: Emit): boolean {
    if (name === 'orderEvent') emit({ kind: 'order', ...parseFrame(orderEvent, payload, name) });
    return name === 'system' || name === 'authenticated';
  }
}

/** Limitless' event `orderEvent` for the account of a token. The upgrade is signed, and its time is checked again by the subscription. */
export const privateChannel = (
  settings: Pick<Settings, LimitlessUrl>,
  credential: LimitlessCredential,
  now: () => number,
): SocketChannel => ({
  ...namespaceChannel(settings),
  name: 'orders',
  headers: async () => tokenHeaders(credential, { method: 'GET', target: HANDSHAKE, body: '' }, now()),
  marketsPerSocket: null,
  bringsTrades: false,
  session: (_markets, send, clock) => new OrderEventSession(send, clock),
});
