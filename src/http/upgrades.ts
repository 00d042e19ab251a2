import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';

/** 500 ids of the longest kind, with three bytes per character. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

interface Upgrade {
  socket: Duplex;
  head: Buffer;
}

/** Lets a route become a WebSocket once its hooks have passed the request. */
export interface Upgrades {
  /** Whether the request asks for a WebSocket. */
  isAsked(request: FastifyRequest): boolean;
  /** Answers 101 and returns the socket; call it after reply.hijack(). */
  accept(request: FastifyRequest): Promise<WebSocket>;
}

/**
 * Handles requests with an Upgrade header: one for a WebSocket passes through the routes like any other; one for another protocol
 * (curl offers HTTP/2 that way) is answered as if it had no such header.
 */
export function takeUpgrades(app: FastifyInstance): Upgrades {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const waiting = new WeakMap<IncomingMessage, Upgrade & { response: ServerResponse }>();
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const cut = (): void => void socket.destroy();
    socket.on('error', cut);
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      socket.off('error', cut);
      withoutOffer(app, request, { socket, head });
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    // Nothing reads this connection any more: after end() alone it would not notice that the client closed it.
    response.on('finish', () => (socket as Socket).destroySoon());
    waiting.set(request, { socket, head, response });
    app.routing(request, response);
  });
  return {
    isAsked: (request) => waiting.has(request.raw),
    accept: (request) =>
      new Promise((resolve, reject) => {
        const upgrade = waiting.get(request.raw);
        if (!upgrade) return reject(new Error('no upgrade was requested'));
        const { socket, head, response } = upgrade;
        response.detachSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
        server.handleUpgrade(request.raw, socket, head, resolve);
      }),
  };
}

/** Replayed connections. Each replay adds the server's listeners again, so a second offer ends the connection. */
const begunAgain = new WeakSet<Duplex>();

/** Node stops parsing a connection that offers an upgrade: it is parsed again from the same request without the offer. */
function withoutOffer(app: FastifyInstance, request: IncomingMessage, { socket, head }: Upgrade): void {
  const { method = 'GET', url = '/', rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${request.httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!['upgrade', 'connection', 'http2-settings'].includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  if (begunAgain.has(socket)) lines.push('Connection: close');
  begunAgain.add(socket);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  app.server.emit('connection', socket);
}
