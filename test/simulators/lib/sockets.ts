import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SimReply } from './server.ts';

/** One connected client of a simulated socket. */
export interface SimClient {
  /** Sends a frame, unless the socket is frozen; twice where duplicates are on. */
  send(value: unknown): void;
  /** Sends text whatever the faults are. */
  raw(text: string): void;
  readonly socket: WebSocket;
}

/** What happens on connections of one path. */
export interface SimSocketRoute {
  /** A status other than 101, or a reply, refuses the upgrade. */
  admit?(request: IncomingMessage): number | SimReply;
  connected(client: SimClient, request: IncomingMessage): void;
  message(client: SimClient, text: string): void;
  closed(client: SimClient): void;
}

/** The sockets of a simulator, with the faults that a test switches on. */
export interface SimSockets {
  /** Connections are open, and nothing but answers to signs of life is sent. */
  frozen: boolean;
  /** Not even those. */
  mute: boolean;
  /** Every frame is sent twice. */
  duplicates: boolean;
  /** Frames are sent in fragments of WebSocket. */
  split: boolean;
  /** New connections are refused with this status; null = admitted. */
  refuse: number | null;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Clients connected now. */
  clients(): SimClient[];
  /** Ends every connection: with a close frame of this code, or without a frame. */
  cut(code?: number): void;
  /** Sends text as it is to every client. */
  inject(text: string): void;
}

export interface SimSocketServer extends SimSockets {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Serves WebSockets by path, the query left out. */
export function createSimSockets(routes: Readonly<Record<string, SimSocketRoute>>): SimSocketServer {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const open = new Map<SimClient, SimSocketRoute>();
  let accepted = 0;
  const sockets: SimSocketServer = {
    frozen: false,
    mute: false,
    duplicates: false,
    split: false,
    refuse: null,
    get accepted() {
      return accepted;
    },
    clients: () => [...open.keys()],
    cut(code) {
      for (const { socket } of open.keys()) {
        if (code === undefined) socket.terminate();
        else socket.close(code);
      }
    },
    inject(text) {
      for (const client of open.keys()) client.raw(text);
    },
    upgrade(request, socket, head) {
      const route = routes[(request.url ?? '').split('?', 1)[0] ?? ''];
      const answer = sockets.refuse ?? (route ? (route.admit?.(request) ?? 101) : 404);
      if (!route || answer !== 101) {
        const { status, body } = typeof answer === 'number' ? { status: answer, body: '' } : answer;
        const head = `HTTP/1.1 ${status} Refused\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
        socket.end(`${head}\r\n\r\n${body}`);
        return;
      }
      server.handleUpgrade(request, socket, head, (client) => attach(client, route, request));
    },
  };
  const attach = (socket: WebSocket, route: SimSocketRoute, request: IncomingMessage): void => {
    accepted += 1;
    const client: SimClient = {
      socket,
      raw(text) {
        if (socket.readyState !== socket.OPEN) return;
        if (!sockets.split || text.length < 2) return void socket.send(text);
        const half = Math.floor(text.length / 2);
        socket.send(text.slice(0, half), { fin: false });
        socket.send(text.slice(half), { fin: true });
      },
      send(value) {
        if (sockets.frozen || sockets.mute) return;
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        client.raw(text);
        if (sockets.duplicates) client.raw(text);
      },
    };
    open.set(client, route);
    socket.on('message', (data: Buffer) => {
      if (!sockets.mute) route.message(client, data.toString());
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(client);
      route.closed(client);
    });
    route.connected(client, request);
  };
  return sockets;
}
