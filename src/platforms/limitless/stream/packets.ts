import { z } from 'zod';
import { BadFrame } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';

/** The only socket.io namespace in use, as written in packets. */
const NAMESPACE = '/markets,';

/** Text packets of engine.io 4 and socket.io 5, as far as a client of public data receives them. */
type Packet =
  /** Without a packet for `silentMs` the server is gone. */
  | { kind: 'open'; silentMs: number }
  | { kind: 'ping' }
  | { kind: 'joined' }
  /** The server ended or rejected the connection, or its namespace. */
  | { kind: 'ended'; reason: string }
  | { kind: 'event'; name: string; payload: unknown }
  /** Acknowledgements, other namespaces, no-ops. */
  | { kind: 'other' };

export const PING = '2';
export const PONG = '3';
export const JOIN = `40${NAMESPACE}`;
export const eventPacket = (name: string, payload?: object): string =>
  `42${NAMESPACE}${JSON.stringify(payload === undefined ? [name] : [name, payload])}`;

const ms = z.number().int().positive().max(600_000);
const openPacket = z
  .object({ pingInterval: ms, pingTimeout: ms.catch(60_000) })
  .transform(({ pingInterval, pingTimeout }) => pingInterval + pingTimeout);
const event = z.tuple([z.string()]).rest(z.unknown());
const refusal = z.object({ message: z.string() }).catch({ message: '' });

/** Throws BadFrame. */
export function readPacket(frame: string): Packet {
  switch (frame[0]) {
    case '0':
      return { kind: 'open', silentMs: parseFrame(openPacket, jsonOf(frame.slice(1)), 'open') };
    case '1':
      return { kind: 'ended', reason: 'ended by the server' };
    case PING:
      return { kind: 'ping' };
    case '3':
    case '6':
      return { kind: 'other' };
    case '4':
      return socketPacket(frame);
    default:
      throw new BadFrame(`no packet: ${frame.slice(0, 60)}`);
  }
}

function socketPacket(frame: string): Packet {
  const [, type, namespace = '/', body = ''] = /^4(\d)(?:(\/[^,]*),?)?(.*)$/s.exec(frame) ?? [];
  if (type === undefined || type > '4') throw new BadFrame(`no packet: ${frame.slice(0, 60)}`);
  if (`${namespace},` !== NAMESPACE || type === '3') return { kind: 'other' };
  if (type === '0') return { kind: 'joined' };
  if (type === '1') return { kind: 'ended', reason: 'unsubscribed by the server' };
  if (type === '4') return { kind: 'ended', reason: `refused: ${refusal.parse(jsonOf(body)).message.slice(0, 100)}` };
  // An id before the array requests an acknowledgement, which no server has done so far.
  const [name, payload] = parseFrame(event, jsonOf(body.replace(/^\d+/, '')), 'event');
  return { kind: 'event', name, payload };
}
