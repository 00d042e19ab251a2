import { connect, type Socket } from 'node:net';

/** What a client is told: ask for `path` over `connections` at once for `ms`, with the keys in turn ([] for none). */
export interface LoadOrder {
  port: number;
  path: string;
  keys: string[];
  connections: number;
  ms: number;
}

/**
 * A client in a process of its own, so that the server is what is measured: plain sockets that count the bytes of an answer and
 * ask again. Answers each LoadOrder with the number of whole answers; anything but 200 ends it.
 */
process.on('message', async (order: LoadOrder) => {
  const sockets = Array.from({ length: order.connections }, () => connect(order.port, '127.0.0.1'));
  const end = performance.now() + order.ms;
  let asked = 0;
  const request = (): string => {
    const key = order.keys[(asked += 1) % order.keys.length];
    return `GET ${order.path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${key === undefined ? '' : `x-api-key: ${key}\r\n`}\r\n`;
  };
  // A client that sleeps has to be woken by whoever writes to it: on a virtual machine that costs a server more than the answer.
  let asking = true;
  const stayAwake = (): void => void (asking && setImmediate(stayAwake));
  stayAwake();
  const counts = await Promise.all(sockets.map((socket) => askAgain(socket, request, end)));
  asking = false;
  process.send?.(counts.reduce((sum, count) => sum + count, 0));
});

const HEAD_END = Buffer.from('\r\n\r\n');

function askAgain(socket: Socket, request: () => string, end: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let done = 0;
    let head: Buffer | null = Buffer.alloc(0);
    let left = 0;
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.write(request());
    socket.on('data', (chunk: Buffer) => {
      if (head !== null) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const at = head.indexOf(HEAD_END);
        if (at < 0) return;
        const text = head.toString('latin1', 0, at);
        const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
        if (!text.startsWith('HTTP/1.1 200') || length === undefined) return reject(new Error(text.slice(0, 300)));
        left = Number(length) - (head.length - at - HEAD_END.length);
        head = null;
      } else {
        left -= chunk.length;
      }
      if (left > 0) return;
      done += 1;
      head = Buffer.alloc(0);
      if (performance.now() < end) {
        socket.write(request());
        return;
      }
      socket.destroy();
      resolve(done);
    });
  });
}
