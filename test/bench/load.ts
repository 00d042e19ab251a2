import { connect } from 'node:net';
import { askThrough, requestText } from './plain-client.ts';

/** What a client is given: ask for `path` over `connections` at once for `ms`, with the keys in turn ([] for none). */
export interface LoadOrder {
  port: number;
  path: string;
  keys: string[];
  connections: number;
  ms: number;
}

/** A client in a process of its own: answers each LoadOrder with the number of whole answers; anything but 200 ends it. */
process.on('message', async (order: LoadOrder) => {
  const sockets = Array.from({ length: order.connections }, () => connect(order.port, '127.0.0.1'));
  const end = performance.now() + order.ms;
  let asked = 0;
  const next = (): string | null =>
    performance.now() < end ? requestText(order.path, order.keys[(asked += 1) % order.keys.length]) : null;
  // A client that sleeps has to be woken by whoever writes to it: on a virtual machine that costs a server more than the answer.
  let asking = true;
  const stayAwake = (): void => void (asking && setImmediate(stayAwake));
  stayAwake();
  const counts = await Promise.all(sockets.map((socket) => askThrough(socket, next)));
  asking = false;
  for (const socket of sockets) socket.destroy();
  process.send?.(counts.reduce((sum, count) => sum + count, 0));
});
