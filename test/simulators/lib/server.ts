import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Fault, SimClock } from '../simulator.ts';
import { pause, realClock } from './clock.ts';

/** A request as a simulated platform sees it. */
export interface SimRequest {
  method: string;
  /** Path as sent, still percent-encoded, without query. */
  path: string;
  /** Path and query exactly as sent, for signatures over them. */
  target: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
}

export interface SimReply {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** Changes an answer of a simulated platform. */
export type ReplyEdit = (request: SimRequest, reply: SimReply) => SimReply;

export type SimHandler = (request: SimRequest) => SimReply | Promise<SimReply>;

/** The HTTP side of a simulator; spread or wrapped into the Simulator of simulator.ts. */
export interface SimServer {
  /** http://127.0.0.1:PORT, no trailing slash. */
  readonly origin: string;
  readonly requests: Map<string, number>;
  /** Counts every 429 the handler answered. */
  readonly refused: { count: number };
  inject(fault: Fault): void;
  clearFaults(): void;
  /** Every answer passes through `edit` from now on; null: answers are as they are. */
  rewrite(edit: ReplyEdit | null): void;
  /** Drops every connection, hung ones included. */
  close(): Promise<void>;
}

/** Paths counted; those asked longest ago are dropped beyond them. */
const MOST_PATHS = 5000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** A JSON answer. */
export const json = (status: number, value: unknown, headers?: Record<string, string>): SimReply => ({
  status,
  body: typeof value === 'string' ? value : JSON.stringify(value),
  headers: { 'content-type': 'application/json', ...headers },
});

/** Listens on 127.0.0.1, any port. Faults are tried in the order they were injected; a used-up fault is dropped. */
export async function createSimServer(options: {
  handle: SimHandler;
  /** By which slow answers are late; default: the machine's. */
  clock?: SimClock;
  /** Takes requests for a WebSocket; without it they are refused. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}): Promise<SimServer> {
  const requests = new Map<string, number>();
  const refused = { count: 0 };
  let faults: Fault[] = [];
  let edit: ReplyEdit | null = null;

  const takeFault = (line: string): Fault | undefined => {
    const fault = faults.find((one) => new RegExp(one.match.source, one.match.flags.replace(/[gy]/g, '')).test(line));
    if (fault && --fault.times <= 0) faults = faults.filter((one) => one !== fault);
    return fault;
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const method = incoming.method ?? 'GET';
    const target = incoming.url ?? '/';
    const path = target.split('?', 1)[0] ?? '/';
    const key = `${method} ${path}`;
    const times = requests.get(key) ?? 0;
    requests.delete(key);
    requests.set(key, times + 1);
    for (const oldest of requests.keys()) {
      if (requests.size <= MOST_PATHS) break;
      requests.delete(oldest);
    }
    const body = await readBody(incoming);
    const fault = takeFault(`${method} ${target}`);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'reset') return void incoming.socket.resetAndDestroy();
    if (fault?.kind === 'status') {
      return send(response, { status: fault.status ?? 500, body: fault.body ?? '', headers: fault.headers });
    }
    const query = new URLSearchParams(target.slice(path.length + 1));
    const request = { method, path, target, query, headers: flatHeaders(incoming), body };
    const given = await options.handle(request);
    const reply = edit ? edit(request, given) : given;
    if (reply.status === 429) refused.count += 1;
    if (fault?.kind === 'after') return void incoming.socket.resetAndDestroy();
    if (fault?.kind === 'slow') await pause(options.clock ?? realClock, fault.delayMs ?? 1000);
    if (fault?.kind === 'cut') return cut(response, reply);
    send(response, reply);
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      // A defect of the simulator must be loud in the test that met it.
      process.stderr.write(`simulator: ${error instanceof Error ? error.stack : String(error)}\n`);
      if (response.headersSent) response.destroy();
      else send(response, { status: 500, body: `simulator defect: ${String(error)}` });
    });
  });
  server.keepAliveTimeout = 60_000;
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    if (options.upgrade) options.upgrade(request, socket, head);
    else socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    refused,
    inject: (fault) => void faults.push({ ...fault }),
    clearFaults() {
      faults = [];
    },
    rewrite(next) {
      edit = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of upgraded) socket.destroy();
      }),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new RangeError(`request body over ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function flatHeaders(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

function send(response: ServerResponse, reply: SimReply): void {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, 'content-length': body.length });
  response.end(body);
}

/** Promises the whole answer, sends half of it and breaks the connection. */
function cut(response: ServerResponse, reply: SimReply): void {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, 'content-length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.socket?.destroy());
}
