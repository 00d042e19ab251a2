import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { FastifyInstance } from 'fastify';

interface LateRequest {
  method: 'POST' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body: object;
}

/** Sends the headers of a request, lets `between` happen, then sends the body. The status of the answer; the app must listen. */
export async function statusOfLateBody(
  app: FastifyInstance,
  { method, url, headers, body }: LateRequest,
  between: () => Promise<unknown>,
): Promise<number> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const text = JSON.stringify(body);
  const lines = [
    `${method} ${url} HTTP/1.1`,
    'host: localhost',
    'expect: 100-continue',
    'content-type: application/json',
    `content-length: ${text.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  try {
    // The service has accepted the headers when it asks for the body.
    await once(socket, 'data');
    await between();
    socket.write(text);
    const [answer] = await once(socket, 'data');
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(String(answer))?.[1]);
  } finally {
    socket.destroy();
  }
}
