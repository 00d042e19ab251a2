import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { badRequest } from '../core/errors.ts';

/** 500 ids of the longest kind, with three bytes per character. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Lets a route become a WebSocket once its hooks have passed the request. */
export interface Upgrades {
  /** Whether the request asks for a WebSocket. */
  isAsked(request: FastifyRequest): boolean;
  /** Answers 101 with these headers and returns the socket; then call reply.hijack(). 400 for a malformed handshake. */
  accept(request: FastifyRequest, headers: Readonly<Record<string, unknown>>): Promise<WebSocket>;
}

/** A handshake in progress. */
interface Handshake {
  headers: string[];
  refuse: (error: Error) => void;
}

/**
 * Passes requests with an Upgrade header through the routes like any other. If it asks for another protocol than WebSocket, its body is not
 * read, because Node reads nothing after the header, and the answer closes the connection.
 */
export function takeUpgrades(app: FastifyInstance): Upgrades {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const handshakes = new WeakMap<IncomingMessage, Handshake>();
  server.on('headers', (lines, request) => lines.push(...(handshakes.get(request)?.headers ?? [])));
  server.on('wsClientError', (error, _socket, request) => handshakes.get(request)?.refuse(error));
  const waiting = new WeakMap<IncomingMessage, { socket: Duplex; head: Buffer; response: ServerResponse }>();
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    // Nothing reads this connection any more: after end() alone it would not notice that the client closed it.
    response.on('finish', () => (socket as Socket).destroySoon());
    if (request.headers.upgrade?.toLowerCase() === 'websocket') waiting.set(request, { socket, head, response });
    app.routing(request, response);
  });
  return {
    isAsked: (request) => waiting.has(request.raw),
    accept: (request, headers) =>
      new Promise((resolve, reject) => {
        const upgrade = waiting.get(request.raw);
        if (!upgrade) return reject(new Error('no upgrade was requested'));
        const { socket, head, response } = upgrade;
        const ofAnswer = socket as Parameters<ServerResponse['assignSocket']>[0];
        response.detachSocket(ofAnswer);
        handshakes.set(request.raw, {
          headers: Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`),
          refuse: ({ message }) => {
            response.assignSocket(ofAnswer);
            reject(badRequest([{ field: 'Upgrade', expected: 'a WebSocket handshake (RFC 6455)', received: message }]));
          },
        });
        server.handleUpgrade(request.raw, socket, head, resolve);
      }),
  };
}
