import type { SimClient } from '../../lib/index.ts';

/** A packet of the client, engine.io 4 and socket.io 5: engine type, socket type, namespace, ack id, body. */
const PACKET = /^(\d)(\d)?(?:(\/[^,]*),)?(\d+)?([\s\S]*)$/;

export const NAMESPACE = '/markets';

export interface ClientPacket {
  /** '3' pong, '40' connect, '42' event and so on. */
  type: string;
  namespace: string;
  body: string;
}

export function readPacket(text: string): ClientPacket | null {
  const [, engine, socket = '', namespace = '/', , body = ''] = PACKET.exec(text) ?? [];
  return engine === undefined ? null : { type: engine === '4' ? `4${socket}` : engine, namespace, body };
}

/** Sends an event of the namespace. */
export function emit(client: SimClient, name: string, payload: unknown): void {
  client.send(`42${NAMESPACE},${JSON.stringify([name, payload])}`);
}

/** An event of the client: its name and payload; null when it is none. */
export function readEvent({ body }: ClientPacket): { name: string; payload: unknown } | null {
  try {
    const [name, payload] = JSON.parse(body) as unknown[];
    return typeof name === 'string' ? { name, payload } : null;
  } catch {
    return null;
  }
}
